//! `sotto cache`: sums of earlier answers, which a question does not ask for again.

use std::process::ExitCode;

use clap::Subcommand;
use serde_json::json;
use sotto_owner::{CachedSums, Plant, bytes_in_words};

use super::{Place, show};
use crate::output::say;
use crate::run::Run;

/// Arguments of `sotto cache`.
#[derive(clap::Args, Debug)]
pub(crate) struct Cache {
    #[command(subcommand)]
    command: Option<Command>,
    /// Print one JSON document
    #[arg(long, global = true)]
    json: bool,
    #[command(flatten)]
    place: Place,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Delete the cache: the next question asks the cloud for all of its sums
    Clear,
}

impl Run for Cache {
    fn run(self) -> anyhow::Result<ExitCode> {
        let plant = self.place.open()?;
        let size = match self.command {
            None => plant.cached_sums()?,
            Some(Command::Clear) => plant.clear_cache()?,
        };
        if self.json {
            let CachedSums { sums, streams, bytes, most_bytes, oldest_ms, newest_ms } = size;
            let (oldest, newest) = (time(&plant, oldest_ms)?, time(&plant, newest_ms)?);
            let is_cleared = self.command.is_some();
            say(serde_json::to_string_pretty(&json!({
                "version": 1, "cleared": is_cleared, "sums": sums, "streams": streams, "bytes": bytes, "most_bytes": most_bytes,
                "oldest": oldest, "newest": newest
            }))?);
            return Ok(ExitCode::SUCCESS);
        }
        let all = format!(
            "{} of {}, {}",
            show::counted(size.sums, "sum"),
            show::counted(size.streams, "stream"),
            bytes_in_words(size.bytes)
        );
        match self.command {
            Some(Command::Clear) => say(format!("{all}: deleted")),
            None => {
                say(format!("{all} of at most {}", bytes_in_words(size.most_bytes)));
                if let (Some(oldest), Some(newest)) =
                    (time(&plant, size.oldest_ms)?, time(&plant, size.newest_ms)?)
                {
                    say(format!("oldest of {oldest}, newest of {newest}"));
                }
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Returns a time by the plant's clock, as RFC 3339.
fn time(plant: &Plant, at: Option<i64>) -> anyhow::Result<Option<String>> {
    let clock = plant.settings().clock().map_err(sotto_owner::OwnerError::from)?;
    Ok(at.map(|at| clock.rfc3339(at)))
}
