//! Runs every worked example; each fails if its answer is wrong.

use super::compile::passes;
use crate::cargo;
use crate::suite::{Context, Outcome};
use anyhow::Result;
use std::path::Path;

pub(crate) fn run(context: &Context) -> Result<Outcome> {
    let built = context.built()?;
    let names = names(&context.root.join("examples"))?;
    let mut faults = Vec::new();
    for name in &names {
        println!("{name}:");
        let command = cargo::command(built.example("examples", name)?);
        if let Outcome::Failed(found) = passes(context, command)? {
            faults.extend(found);
        }
    }
    if names.is_empty() {
        faults.push("there are no examples".to_owned());
    }
    Ok(Outcome::from_faults(faults))
}

/// Returns the names of all files of the folder but `lib.rs`, which holds only the description. A file that the
/// manifest does not declare fails to run.
fn names(folder: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if path.extension().is_some_and(|extension| extension == "rs") && stem != "lib" {
            names.push(stem);
        }
    }
    names.sort();
    Ok(names)
}
