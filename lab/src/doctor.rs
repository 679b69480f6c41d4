//! `sotto-lab doctor`.

use std::process::ExitCode;

use sotto_harness::{ENGINES, Engine, Examination, State};

use crate::engines::installed;
use crate::output::say;

/// Arguments of `sotto-lab doctor`.
#[derive(clap::Args, Debug)]
pub(super) struct Arguments {
    /// Print JSON, one engine a line.
    #[arg(long)]
    json: bool,
    /// Do not ask the package registry for wheels that fit this Python.
    #[arg(long)]
    offline: bool,
}

/// Runs the command.
pub(super) fn run(arguments: &Arguments) -> ExitCode {
    let examine = |engine: &&Engine| engine.examine(installed(engine).ok().as_ref(), !arguments.offline);
    let examined: Vec<Examination> = ENGINES.iter().map(examine).collect();
    if arguments.json {
        for one in &examined {
            say(serde_json::json!(one));
        }
    } else {
        show(&examined);
    }
    let unavailable = examined.iter().any(|one| one.state == State::Unavailable);
    if unavailable { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Prints a line for each engine, and how many of them were only checked.
fn show(examined: &[Examination]) {
    for one in examined {
        say(format!("{:<16} {:<12} {}", one.engine, word(one.state), details(one)));
    }
    let of = |state: State| examined.iter().filter(|one| one.state == state).count();
    say(format!(
        "{} started and answered, {} only checked (nothing was built or run), {} unavailable",
        of(State::Ready),
        of(State::Installable),
        of(State::Unavailable)
    ));
}

/// Returns the word for a state.
fn word(state: State) -> &'static str {
    match state {
        State::Ready => "ready",
        State::Installable => "installable",
        State::Unavailable => "unavailable",
    }
}

/// Returns the reason, the versions found and the next step, as far as there are any.
fn details(one: &Examination) -> String {
    let found = (!one.found.is_empty()).then(|| format!("found {}", one.found.join(", ")));
    let checked = (one.state == State::Installable).then(|| "only checked, not run".to_owned());
    let next = one.advice.as_ref().map(|advice| format!("next: {advice}"));
    [one.reason.clone(), checked, found, next].into_iter().flatten().collect::<Vec<_>>().join("; ")
}
