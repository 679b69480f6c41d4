//! `sotto top`: the devices of a plant on a terminal, again and again.

mod columns;
mod detail;
mod draw;
mod look;
mod plain;
mod screen;
mod state;
#[cfg(test)]
mod tests;
mod text;

use std::io::{IsTerminal as _, stdin, stdout};
use std::process::ExitCode;
use std::time::Duration;

use sotto_owner::{Every, OwnerError};

use super::Place;
use crate::output::say;
use crate::run::Run;
use look::Look;
use state::State;

/// The width of a frame as plain text, in characters, if nothing tells another one.
const WIDTH: u16 = 100;

/// Arguments of `sotto top`.
#[derive(clap::Args, Debug)]
pub(crate) struct Top {
    /// The time between two looks at the cloud: 5s, 1m
    #[arg(long, value_name = "TIME", default_value = "5s")]
    every: Every,
    /// Print one frame as plain text, and end. So does an output that is no terminal
    #[arg(long)]
    once: bool,
    /// Refused: `sotto status --json` has the same as JSON
    #[arg(long, hide = true)]
    json: bool,
    #[command(flatten)]
    place: Place,
}

impl Run for Top {
    fn run(self) -> anyhow::Result<ExitCode> {
        if self.json {
            let reason = "`sotto top` shows a screen for people: `sotto status --json` has the same as JSON";
            return Err(OwnerError::Argument(reason.to_owned()).into());
        }
        // A question for the passphrase would stand in the middle of the screen.
        let plant = self.place.open_unasked()?;
        let every = Duration::from_millis(self.every.milliseconds().max(1000).into());
        if self.once || !stdout().is_terminal() || !stdin().is_terminal() {
            let look = Look::at(&plant);
            let code = ExitCode::from(look.exit_code());
            let mut state = State::new(every);
            state.take(look);
            say(plain::plain(&mut state, width(), look::now()).trim_end());
            return Ok(code);
        }
        screen::run(plant, State::new(every))?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Returns the width of the terminal, or that in the environment variable `COLUMNS`.
fn width() -> u16 {
    let of_terminal = stdout().is_terminal().then(ratatui::crossterm::terminal::size).and_then(Result::ok);
    let told = || std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let width = of_terminal.map(|(width, _)| width).or_else(told).unwrap_or(WIDTH);
    width.clamp(40, 400)
}
