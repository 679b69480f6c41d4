//! Asks sotto and databases in the clear the same questions about the same readings: `lab/price/price.py`.

use anyhow::Result;

use super::compile::passes;
use crate::cargo;
use crate::suite::{Context, Outcome};

pub(crate) fn run(context: &Context) -> Result<Outcome> {
    let program = context.built()?.program("sotto")?;
    let Some(folder) = program.parent() else { anyhow::bail!("sotto is in no folder") };
    let mut python = cargo::command("python3");
    python.args(["lab/price/price.py", "--days", "15", "--bin"]).arg(folder);
    passes(context, python)
}
