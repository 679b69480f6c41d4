//! Random histories of a plant's folder: files are lost, older copies come back, names, zones and settings change,
//! commands are killed. Then the advice on the screen is followed literally.
//!
//! No command changes or removes a secret. After the advice every reading is answered whose secret exists in the folder, a
//! copy of it or a bundle; the others are told as lost. No answer on the way is wrong, and none is short without a note.

mod advice;
mod answers;
mod history;
mod operation;
mod settings;
mod world;

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

use super::ask::{Cases, Numbers, Site, run_parts};
use crate::suite::{Context, Outcome};
use history::{History, Template};

/// The file of the passphrase for plants and backups: `SOTTO_PASSPHRASE_FILE` names it.
const PASSPHRASE: &str = "passphrase";

/// The seed of the usual run, so that it does not depend on chance. The deep one draws its own.
const FIRST_SEED: u64 = 1;

/// Faults after which no more histories are run.
const MOST_FAULTS: usize = 5;

/// Runs histories for 30 s.
pub(crate) fn run(context: &Context) -> Result<Outcome> {
    run_parts(
        context,
        &[("seconds of histories", |cases| {
            histories(cases, Some(FIRST_SEED), Duration::from_secs(30), u64::MAX)
        })],
    )
}

/// Runs 10,000 histories.
pub(crate) fn deep(context: &Context) -> Result<Outcome> {
    run_parts(context, &[("10,000 histories", |cases| histories(cases, None, Duration::MAX, 10_000))])
}

/// Runs random histories until a time or a number is reached. The seed of the first is `SOTTO_SEED`, else the
/// usual one, else random.
fn histories(cases: &mut Cases, usual: Option<u64>, time: Duration, most: u64) -> Result<()> {
    let template = Template::new(cases.sotto())?;
    let seed = std::env::var("SOTTO_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed: u64 = seed.or(usual).unwrap_or_else(|| u64::from(std::process::id()) << 20);
    let (begin, mut done, mut faults) = (Instant::now(), 0, Vec::new());
    while begin.elapsed() < time && done < most && faults.len() < MOST_FAULTS {
        let history = History::random(&mut Numbers(seed + done));
        let found =
            template.fault(&history).with_context(|| format!("SOTTO_SEED={}: {history}", seed + done));
        if let Some(fault) = found? {
            let (shortest, fault) = template.shortest(history, fault)?;
            let found = format!("SOTTO_SEED={}: {shortest}: {fault}", seed + done);
            println!("{found}");
            faults.push(found);
        }
        done += 1;
        if done % 500 == 0 {
            println!("{done} histories, {:.0} s", begin.elapsed().as_secs_f64());
        }
    }
    cases.case(&format!("{done} histories from SOTTO_SEED={seed}"), faults);
    Ok(())
}
