//! The engines: list, install, and serve our own.

use std::io::{BufRead as _, Write as _};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use sotto_harness::{ENGINES, Engine, Installed, LabError, Process};

use crate::output::say;

/// Time limit of an engine's start: an interpreter with its libraries takes some seconds on a small machine.
const LIMIT: Duration = Duration::from_secs(60);

/// The environment variable that names the emulator to start this program with, if it needs one.
const EMULATOR: &str = "SOTTO_LAB_EMULATOR";

/// Returns our own engine, which is this program, so that one file is enough on a device.
pub(super) fn ours() -> anyhow::Result<Installed> {
    let program = std::env::current_exe().context("this program does not know where it is")?;
    let mut arguments = vec!["serve".into()];
    // A program of another architecture needs its emulator to start.
    if let Some(emulator) = std::env::var_os(EMULATOR).filter(|name| !name.is_empty()) {
        arguments.insert(0, program.into_os_string());
        return Ok(Installed { name: "sotto".to_owned(), program: emulator.into(), arguments });
    }
    Ok(Installed { name: "sotto".to_owned(), program, arguments })
}

/// Returns an engine that is installed; ours always is.
pub(super) fn installed(engine: &Engine) -> anyhow::Result<Installed> {
    if engine.name == "sotto" { ours() } else { Ok(engine.installed()?) }
}

/// Prints the table of engines.
pub(super) fn list() -> anyhow::Result<ExitCode> {
    let mut table = super::table::empty(&["engine", "library", "version", "schemes", "comparisons", "state"]);
    for engine in ENGINES {
        let none = || [const { String::new() }; 3];
        let ([version, schemes, comparisons], state) = match installed(engine) {
            Err(_) => (none(), format!("absent: sotto-lab install {}", engine.name)),
            Ok(installed) => match asked(&installed) {
                Ok(told) => (told, "ready".to_owned()),
                Err(error) => (none(), error.to_string()),
            },
        };
        table.add_row([engine.name, engine.library, &version, &schemes, &comparisons, &state]);
    }
    say(table);
    Ok(ExitCode::SUCCESS)
}

/// Returns an engine's version, schemes and methods of comparison.
fn asked(installed: &Installed) -> Result<[String; 3], LabError> {
    let version = Process::start(installed, LIMIT)?.version()?;
    Ok([version.version, version.schemes.join(", "), version.comparisons.join(", ")])
}

/// Installs engines one after the other; a failure does not keep the others from being installed.
pub(super) fn install(names: &[String]) -> anyhow::Result<ExitCode> {
    let all = names.iter().any(|name| name == "all");
    let known = || ENGINES.iter().map(|engine| engine.name).collect::<Vec<_>>().join(", ");
    for name in names.iter().filter(|name| *name != "all") {
        anyhow::ensure!(
            ENGINES.iter().any(|engine| engine.name == name),
            "there is no engine {name}; the engines are {}",
            known()
        );
    }
    let mut failed = false;
    let chosen = ENGINES.iter().filter(|engine| all || names.iter().any(|name| name == engine.name));
    for engine in chosen.filter(|engine| engine.name != "sotto") {
        eprintln!("installing {} …", engine.name);
        match engine.install() {
            Ok(_) => say(format!("{} is installed", engine.name)),
            Err(error) => {
                failed = true;
                eprintln!("sotto: {error}");
            }
        }
    }
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Answers each line of standard input with one line, until the input ends.
pub(super) fn serve() -> anyhow::Result<ExitCode> {
    let mut engine = sotto_engine::Engine::default();
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        writeln!(out, "{}", engine.answer(&line?))?;
        out.flush()?;
    }
    Ok(ExitCode::SUCCESS)
}
