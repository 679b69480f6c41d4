//! `sotto check`: missing files of the plant's folder, and the commands that mend it.

use std::process::ExitCode;

use serde_json::json;
use sotto_owner::Fault;

use super::Place;
use crate::output::say;
use crate::run::Run;

/// Readings that no file of the folder can decrypt.
const LOST: u8 = 8;

/// Arguments of `sotto check`.
#[derive(clap::Args, Debug)]
pub(crate) struct Check {
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: Place,
}

impl Run for Check {
    fn run(self) -> anyhow::Result<ExitCode> {
        let plant = self.place.open()?;
        let faults = plant.check()?;
        if self.json {
            say(serde_json::to_string_pretty(&json!({"version": 1, "faults": faults}))?);
        } else if faults.is_empty() {
            say(format!("{}: nothing is missing, and nothing is open to others", plant.folder().display()));
        }
        for Fault { file, what, cure, lost } in faults.iter().filter(|_| !self.json) {
            let lost = if *lost { "lost, unless a copy of it exists elsewhere: " } else { "" };
            say(format!("{file}: {lost}{what}\n  {cure}"));
        }
        Ok(match faults.iter().any(|fault| fault.lost) {
            true => ExitCode::from(LOST),
            false if faults.is_empty() => ExitCode::SUCCESS,
            false => ExitCode::from(3),
        })
    }
}
