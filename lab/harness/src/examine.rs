//! Examines engines: which ones run, which can be installed here, and which obstacle the others meet. Installs and
//! builds nothing.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde::Serialize;

use crate::engine::{Engine, Recipe};
use crate::install::{Installed, interpreter, last_lines};
use crate::process::Process;

/// Time limit of an installed engine's answer.
const LIMIT: Duration = Duration::from_secs(60);

/// Keeps rustup from downloading a missing toolchain.
const NO_DOWNLOAD: (&str, &str) = ("RUSTUP_AUTO_INSTALL", "0");

/// An engine's state on this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Installed; it was started and told its version.
    Ready,
    /// Not installed; its prerequisites are here. Nothing was built or run.
    Installable,
    /// Cannot be installed here, or does not start.
    Unavailable,
}

/// The result of examining an engine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Examination {
    /// The engine's name.
    pub engine: &'static str,
    /// The library that the engine drives.
    pub library: &'static str,
    /// The engine's state.
    pub state: State,
    /// Versions found, of the engine, or of the programs and packages that it needs.
    pub found: Vec<String>,
    /// The reason why it is unavailable. None if it is not.
    pub reason: Option<String>,
    /// The next step. None if the engine is ready.
    pub advice: Option<String>,
}

/// A missing prerequisite and the way to get it.
struct Obstacle {
    reason: String,
    advice: String,
}

impl Obstacle {
    fn new(reason: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { reason: reason.into(), advice: advice.into() }
    }
}

impl Engine {
    /// Examines the engine. Starts it if it is installed, else looks for the programs that installing it needs, and
    /// with `online` asks the package registry for wheels that fit this Python.
    pub fn examine(&self, installed: Option<&Installed>, online: bool) -> Examination {
        let mut found = Vec::new();
        let (obstacle, state) = match installed {
            Some(installed) => (self.answers(installed, &mut found), State::Ready),
            None => (self.can_be_installed(online, &mut found), State::Installable),
        };
        let (state, reason, advice) = match (obstacle, state) {
            (Err(obstacle), _) => (State::Unavailable, Some(obstacle.reason), Some(obstacle.advice)),
            (Ok(()), State::Installable) => (state, None, Some(format!("sotto-lab install {}", self.name))),
            (Ok(()), _) => (state, None, None),
        };
        Examination { engine: self.name, library: self.library, state, found, reason, advice }
    }

    fn answers(&self, installed: &Installed, found: &mut Vec<String>) -> Result<(), Obstacle> {
        let version = Process::start(installed, LIMIT).and_then(|mut process| process.version());
        let version = version.map_err(|error| {
            let again = format!("`sotto-lab install {}`", self.name);
            let folder = format!("engines/{}", self.name);
            Obstacle::new(
                format!("is installed and does not run: {error}"),
                format!("delete {folder} in the cache folder, then {again}"),
            )
        })?;
        found.push(version.version);
        Ok(())
    }

    fn can_be_installed(&self, online: bool, found: &mut Vec<String>) -> Result<(), Obstacle> {
        match self.recipe {
            Recipe::Workspace => return Err(Obstacle::new("is not built", self.how)),
            Recipe::Go => self.has_go(found)?,
            Recipe::Cargo { toolchain: Some(toolchain) } => has_toolchain(toolchain, found)?,
            Recipe::Cargo { toolchain: None } => self.has_cargo(found)?,
            Recipe::Python { version, build } => self.has_python(version, build.is_some(), online, found)?,
        }
        let Some(log) = self.failed_log() else { return Ok(()) };
        let again = format!("`sotto-lab install {}` tries again", self.name);
        Err(Obstacle::new(format!("the last installation failed: {}", last_lines(log.as_bytes())), again))
    }

    fn has_go(&self, found: &mut Vec<String>) -> Result<(), Obstacle> {
        let least = self.declared("go.mod", "go ").unwrap_or_default();
        let said = said(Command::new("go").arg("version").env("GOTOOLCHAIN", "local"));
        let said =
            said.ok_or_else(|| Obstacle::new("Go is missing", format!("install Go {least} or later: `go`")))?;
        let version = said.split_whitespace().find_map(|word| word.strip_prefix("go1.")).unwrap_or_default();
        found.push(format!("Go 1.{version}"));
        newer(&format!("1.{version}"), &least, "Go")
    }

    fn has_cargo(&self, found: &mut Vec<String>) -> Result<(), Obstacle> {
        let missing = || Obstacle::new("cargo is missing", "install Rust: `cargo` and `rustc`");
        let said = said(Command::new("cargo").arg("--version").env(NO_DOWNLOAD.0, NO_DOWNLOAD.1))
            .ok_or_else(missing)?;
        found.push(said.split(" (").next().unwrap_or_default().to_owned());
        let version = said.split_whitespace().nth(1).unwrap_or_default();
        let least = self.declared("Cargo.toml", "rust-version = ").unwrap_or_default();
        newer(version, &least, "Rust")
    }

    fn has_python(
        &self,
        version: Option<&str>,
        builds: bool,
        online: bool,
        found: &mut Vec<String>,
    ) -> Result<(), Obstacle> {
        let python = interpreter(version);
        let name = format!("Python {}", version.unwrap_or("3"));
        let said_version = said(Command::new(&python).arg("--version")).ok_or_else(|| {
            Obstacle::new(format!("{name} is missing"), format!("install {name} with venv"))
        })?;
        found.push(said_version.clone());
        said(Command::new(&python).args(["-c", "import ensurepip, venv; print('ok')"])).ok_or_else(|| {
            Obstacle::new(format!("{said_version} has no venv"), "install its venv (Debian: python3-venv)")
        })?;
        if builds {
            has_tool("cmake", "CMake", found)?;
            has_tool("c++", "a C++ compiler", found)?;
        }
        if online { self.has_wheels(&python, &said_version, found) } else { Ok(()) }
    }

    /// Asks the registry for the wheels of `requirements.txt` without installing them.
    fn has_wheels(&self, python: &Path, version: &str, found: &mut Vec<String>) -> Result<(), Obstacle> {
        let pins: Vec<&str> =
            self.file("requirements.txt").lines().filter(|line| line.contains("==")).collect();
        let mut pip = Command::new(python);
        pip.args(["-m", "pip", "install", "--dry-run", "--ignore-installed", "--no-deps", "--no-input"]);
        pip.args(["--quiet", "--disable-pip-version-check", "--timeout", "10", "--retries", "1"]);
        pip.args(["--only-binary", ":all:"]).args(&pins).stdin(Stdio::null());
        let unasked = |why: &str| format!("packages not looked up: {why}");
        let Ok(output) = pip.output() else {
            found.push(unasked("pip does not start"));
            return Ok(());
        };
        let text = String::from_utf8_lossy(&output.stderr);
        if output.status.success() {
            found.extend(pins.iter().map(|pin| pin.replace("==", " ")));
        } else if text.contains("No module named pip") || text.contains("no such option") {
            found.push(unasked("pip is absent or older than 22.2"));
        } else {
            return Err(refused(&text, &pins, version));
        }
        Ok(())
    }

    /// Returns the rest of the first line of a file that begins with `key`, without quotes.
    fn declared(&self, name: &str, key: &str) -> Option<String> {
        let line = self.file(name).lines().find_map(|line| line.strip_prefix(key))?;
        Some(line.trim().trim_matches('"').to_owned())
    }

    /// Returns the text of an embedded file, empty if there is none.
    fn file(&self, name: &str) -> &'static str {
        self.files.iter().find(|(known, _)| *known == name).map_or("", |(_, text)| text)
    }
}

/// Explains pip's refusal: no wheel for this Python, or no answer.
fn refused(text: &str, pins: &[&str], version: &str) -> Obstacle {
    let lacking = pins.iter().find(|pin| text.contains(&format!("No matching distribution found for {pin}")));
    match lacking {
        Some(pin) => Obstacle::new(
            format!("no wheel of {} for {version} on this system", pin.replace("==", " ")),
            "use a system and a Python that the package has a wheel for",
        ),
        None => Obstacle::new(
            format!("the package registry gave no answer: {}", last_lines(text.as_bytes())),
            "check the network and pip's settings, or give --offline",
        ),
    }
}

fn has_toolchain(toolchain: &str, found: &mut Vec<String>) -> Result<(), Obstacle> {
    if said(Command::new("rustup").arg("--version")).is_none() {
        return Err(Obstacle::new(
            format!("rustup is missing, which starts Rust's toolchain {toolchain}"),
            format!("install rustup, then `rustup toolchain install {toolchain}`"),
        ));
    }
    let missing = || {
        Obstacle::new(
            format!("Rust's toolchain {toolchain} is missing"),
            format!("rustup toolchain install {toolchain}"),
        )
    };
    let said = said(
        Command::new("rustup")
            .args(["run", toolchain, "rustc", "--version"])
            .env(NO_DOWNLOAD.0, NO_DOWNLOAD.1),
    )
    .ok_or_else(missing)?;
    found.push(said);
    Ok(())
}

fn has_tool(program: &str, name: &str, found: &mut Vec<String>) -> Result<(), Obstacle> {
    let missing = || Obstacle::new(format!("{name} is missing"), format!("install {name}: `{program}`"));
    found.push(said(Command::new(program).arg("--version")).ok_or_else(missing)?);
    Ok(())
}

/// Refuses a version below the least one. An empty least version allows all.
fn newer(version: &str, least: &str, name: &str) -> Result<(), Obstacle> {
    let numbers =
        |text: &str| text.split(['.', '-']).map_while(|part| part.parse().ok()).collect::<Vec<u32>>();
    if numbers(version) >= numbers(least) {
        return Ok(());
    }
    Err(Obstacle::new(
        format!("{name} {version} is older than {least}"),
        format!("install {name} {least} or later"),
    ))
}

/// Returns the first line that a program prints. None if it does not start or fails.
fn said(command: &mut Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).lines().next()?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{LATTIGO, SEAL, TFHE_RS};

    #[test]
    fn versions_are_compared_by_numbers() {
        assert!(newer("1.26.8", "1.24.0", "Go").is_ok() && newer("1.95.0-nightly", "", "Rust").is_ok());
        let old = newer("1.9.1", "1.24.0", "Go").err().unwrap();
        assert_eq!(old.reason, "Go 1.9.1 is older than 1.24.0");
        assert_eq!(LATTIGO.declared("go.mod", "go ").as_deref(), Some("1.24.0"));
        assert_eq!(TFHE_RS.declared("Cargo.toml", "rust-version = ").as_deref(), Some("1.91"));
    }

    #[test]
    fn a_refusal_of_pip_names_the_package_or_says_that_nobody_answered() {
        let pins = ["numpy==2.2.6", "tenseal==0.3.18"];
        let lacking = "ERROR: No matching distribution found for tenseal==0.3.18";
        assert_eq!(
            refused(lacking, &pins, "Python 3.99.0").reason,
            "no wheel of tenseal 0.3.18 for Python 3.99.0 on this system"
        );
        assert!(
            refused("ERROR: timed out", &pins, "Python 3.11.7")
                .reason
                .contains("no answer: ERROR: timed out")
        );
    }

    #[test]
    fn an_engine_that_does_not_start_is_unavailable_and_one_that_answers_is_ready() {
        let shell = |script: &str| Installed {
            name: "seal".into(),
            program: "sh".into(),
            arguments: vec!["-c".into(), script.into()],
        };
        let broken = SEAL.examine(Some(&shell("echo 'cannot load libseal.so' >&2; exit 1")), false);
        assert_eq!(broken.state, State::Unavailable);
        assert!(broken.reason.as_ref().unwrap().contains("cannot load libseal.so"), "{broken:?}");
        assert!(broken.advice.as_ref().unwrap().contains("engines/seal"), "{broken:?}");
        let answer =
            r#"{"engine":"seal","library":"SEAL","version":"4.3","schemes":["bfv"],"flags":"-","threads":1}"#;
        let ready = SEAL.examine(Some(&shell(&format!("read l; echo '{answer}'"))), false);
        assert_eq!((ready.state, ready.found, ready.reason), (State::Ready, vec!["4.3".to_owned()], None));
    }
}
