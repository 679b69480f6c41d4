//! Engines: listed, installed, and our own.

use std::io::{BufRead as _, Write as _};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use sotto_lab::{ENGINES, Engine, Installed, LabError, Process};

use crate::output::say;

/// Starting an interpreter with its libraries takes some seconds on a small machine.
const LIMIT: Duration = Duration::from_secs(60);

/// The variable that names what starts this program, where that is an emulator.
const EMULATOR: &str = "SOTTO_LAB_EMULATOR";

/// Our own engine: this very program, so that one file is enough on a device.
pub(super) fn ours() -> anyhow::Result<Installed> {
    let program = std::env::current_exe().context("this program does not know where it is")?;
    let mut arguments = vec!["lab".into(), "serve".into()];
    // A program of another architecture does not start by its name.
    if let Some(emulator) = std::env::var_os(EMULATOR).filter(|name| !name.is_empty()) {
        arguments.insert(0, program.into_os_string());
        return Ok(Installed { name: "sotto".to_owned(), program: emulator.into(), arguments });
    }
    Ok(Installed { name: "sotto".to_owned(), program, arguments })
}

fn installed(engine: &Engine) -> anyhow::Result<Installed> {
    if engine.name == "sotto" { ours() } else { Ok(engine.installed()?) }
}

/// The table of engines.
pub(super) fn list() -> anyhow::Result<ExitCode> {
    let mut table = super::table::empty(&["engine", "library", "version", "schemes", "state"]);
    for engine in ENGINES {
        let (version, schemes, state) = match installed(engine) {
            Err(_) => (String::new(), String::new(), format!("absent: sotto lab install {}", engine.name)),
            Ok(installed) => match asked(&installed) {
                Ok((version, schemes)) => (version, schemes, "ready".to_owned()),
                Err(error) => (String::new(), String::new(), error.to_string()),
            },
        };
        table.add_row([engine.name, engine.library, &version, &schemes, &state]);
    }
    say(table);
    Ok(ExitCode::SUCCESS)
}

fn asked(installed: &Installed) -> Result<(String, String), LabError> {
    let version = Process::start(installed, LIMIT)?.version()?;
    Ok((version.version, version.schemes.join(", ")))
}

/// Installs engines, one after the other; one that fails keeps no other from it.
pub(super) fn install(names: &[String]) -> anyhow::Result<ExitCode> {
    let all = names.iter().any(|name| name == "all");
    let known = || ENGINES.iter().map(|engine| engine.name).collect::<Vec<_>>().join(", ");
    for name in names.iter().filter(|name| *name != "all") {
        anyhow::ensure!(
            ENGINES.iter().any(|engine| engine.name == name),
            "there is no engine {name}; there is {}",
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

/// One line in, one line out, until the input ends.
pub(super) fn serve() -> anyhow::Result<ExitCode> {
    let mut engine = sotto_engine::Engine::default();
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        writeln!(out, "{}", engine.answer(&line?))?;
        out.flush()?;
    }
    Ok(ExitCode::SUCCESS)
}
