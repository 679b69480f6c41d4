//! `sotto forget`: deletes windows and answers.

use std::io::{BufRead as _, IsTerminal as _, Write as _};
use std::process::ExitCode;

use sotto_owner::question::When;
use sotto_owner::{Forgotten, OwnerError, moment};

use super::{Place, show};
use crate::output::say;
use crate::run::Run;

/// Exit code of a command that was not confirmed.
pub(super) const NOT_CONFIRMED: u8 = 2;

/// Arguments of `sotto forget`.
#[derive(clap::Args, Debug)]
pub(crate) struct Forget {
    /// The device
    #[arg(long, value_name = "NAME", add = clap_complete::ArgValueCompleter::new(crate::complete::device))]
    device: String,
    /// Delete windows that end before this time: 2014-01-31 or 2014-01-31T12:00, in the plant's time zone
    #[arg(long, value_name = "TIME", required_unless_present = "all")]
    before: Option<String>,
    /// Delete all windows that have arrived
    #[arg(long, conflicts_with = "before")]
    all: bool,
    /// Do not ask for confirmation
    #[arg(long)]
    yes: bool,
    /// Print the counts as one JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: Place,
}

impl Run for Forget {
    fn run(self) -> anyhow::Result<ExitCode> {
        let plant = self.place.open()?;
        let Forget { device, before, .. } = &self;
        let (until, when) = match before {
            Some(before) => {
                let when: When = before.parse().map_err(|error| OwnerError::Question(format!("{error}")))?;
                (
                    Some(moment(&when, &plant.settings().clock().map_err(OwnerError::from)?)?),
                    format!("that end before {before}"),
                )
            }
            None => (None, "that have arrived".to_owned()),
        };
        let asked =
            format!("All windows of {device} {when} are deleted from the cloud, with the answers about them");
        if !self.yes && !confirmed(&asked)? {
            return Ok(ExitCode::from(NOT_CONFIRMED));
        }
        let forgotten = plant.forget(device, until)?;
        if self.json {
            say(serde_json::to_string_pretty(&forgotten)?);
            return Ok(ExitCode::SUCCESS);
        }
        let Forgotten { windows, bytes, jobs, outputs, answers, backups } = forgotten;
        say(format!(
            "{device}: {} with {bytes} bytes deleted in the cloud,",
            show::counted(windows, "window")
        ));
        say(format!(
            "  {} with {} that had computed on them, and {} here",
            show::counted(jobs, "job"),
            show::counted(outputs, "output"),
            show::counted(answers as u64, "answer")
        ));
        say("The cloud does not take windows of that time again. Copies may remain:");
        say("  on the device: its files, and messages in its spool until it learns of the order");
        say(
            "  of the cloud's store: backups, versions that a bucket keeps, `orphans` and `before-restore-…` in its folder, blocks of its disk",
        );
        for place in backups {
            say(format!("  in the cloud's backup {place}, until it is too old there"));
        }
        say("  here: answers that you saved elsewhere, as pages or as JSON, and backups of this folder");
        say(
            "All but your answers are ciphertexts. `sotto device remove --destroy-secret` makes those of a device unreadable.",
        );
        Ok(ExitCode::SUCCESS)
    }
}

/// Asks for confirmation on a terminal; without a terminal, returns false.
pub(super) fn confirmed(asked: &str) -> anyhow::Result<bool> {
    let stdin = std::io::stdin();
    if !stdin.is_terminal() {
        eprintln!("sotto: {asked}: pass --yes to confirm; nothing was deleted");
        return Ok(false);
    }
    eprint!("{asked}. Type yes to go on: ");
    std::io::stderr().flush()?;
    let mut line = String::new();
    stdin.lock().read_line(&mut line)?;
    let confirmed = line.trim() == "yes";
    if !confirmed {
        eprintln!("Nothing was deleted.");
    }
    Ok(confirmed)
}
