//! Installs engines, and finds installed ones.

use std::ffi::OsString;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::engine::{Engine, Recipe};
use crate::error::LabError;

/// A file that is written when an installation is complete, and removed before one begins.
const COMPLETE: &str = "complete";
/// The file with the output of all steps of an installation.
const LOG: &str = "install.log";

/// An engine that can be started.
#[derive(Clone, Debug)]
pub struct Installed {
    /// The engine's name.
    pub name: String,
    /// The program to start.
    pub program: PathBuf,
    /// The program's arguments.
    pub arguments: Vec<OsString>,
}

/// Returns the folder for files that can be made again: SOTTO_CACHE, else XDG_CACHE_HOME/sotto, else ~/.cache/sotto.
///
/// # Errors
/// `NoCache` if none of the variables is set.
pub fn cache_folder() -> Result<PathBuf, LabError> {
    cache_among(|name| std::env::var_os(name))
}

fn cache_among(variable: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf, LabError> {
    let folder = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    folder("SOTTO_CACHE")
        .or_else(|| folder("XDG_CACHE_HOME").map(|cache| cache.join("sotto")))
        .or_else(|| folder("HOME").map(|home| home.join(".cache/sotto")))
        .ok_or(LabError::NoCache)
}

impl Engine {
    /// Returns the engine, if it is installed with the files that this program embeds.
    ///
    /// # Errors
    /// `NotInstalled` if it is not, `NoCache` without a cache folder.
    pub fn installed(&self) -> Result<Installed, LabError> {
        if self.recipe == Recipe::Workspace {
            return self.beside_us();
        }
        self.installed_in(&self.folder()?)
    }

    /// Installs the engine, unless it is installed already.
    ///
    /// # Errors
    /// `Install` or `Start` if a step fails, `File` if a file cannot be written, `NoCache` without a cache folder.
    pub fn install(&self) -> Result<Installed, LabError> {
        if let Ok(installed) = self.installed() {
            return Ok(installed);
        }
        if self.recipe == Recipe::Workspace {
            return self.beside_us();
        }
        let folder = self.folder()?;
        self.write_files(&folder)?;
        let log = folder.join(LOG);
        fs::write(&log, "").map_err(LabError::file(&log))?;
        for mut step in self.steps(&folder) {
            self.run(&mut step, &log)?;
        }
        let complete = folder.join(COMPLETE);
        fs::write(&complete, "").map_err(LabError::file(complete))?;
        self.installed_in(&folder)
    }

    /// Returns the output of the last installation. None if there was none.
    pub fn install_log(&self) -> Option<String> {
        let bytes = fs::read(self.folder().ok()?.join(LOG)).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Returns the log of the last installation, if it failed with the files that this program embeds.
    pub(crate) fn failed_log(&self) -> Option<String> {
        let folder = self.folder().ok()?;
        let failed = !folder.join(COMPLETE).is_file() && self.has_same_files(&folder);
        self.install_log().filter(|log| failed && !log.is_empty())
    }

    fn folder(&self) -> Result<PathBuf, LabError> {
        Ok(cache_folder()?.join("engines").join(self.name))
    }

    fn installed_in(&self, folder: &Path) -> Result<Installed, LabError> {
        if !folder.join(COMPLETE).is_file() || !self.has_same_files(folder) {
            return Err(LabError::NotInstalled { engine: self.name, how: self.how });
        }
        let (program, arguments) = match self.recipe {
            Recipe::Python { .. } => (python(folder), vec![folder.join("engine.py").into_os_string()]),
            Recipe::Go | Recipe::Workspace => (executable(folder, "engine"), Vec::new()),
            Recipe::Cargo { .. } => (executable(&folder.join("target/release"), "engine"), Vec::new()),
        };
        Ok(Installed { name: self.name.to_owned(), program, arguments })
    }

    /// Returns true if the folder has the files that this program embeds, unchanged.
    fn has_same_files(&self, folder: &Path) -> bool {
        let same = |(name, text): &(&str, &str)| {
            fs::read_to_string(folder.join(name)).is_ok_and(|there| there == *text)
        };
        self.files.iter().all(same)
    }

    /// Returns the engine that cargo has built beside the running program, or beside its parent folder if that is a
    /// test.
    fn beside_us(&self) -> Result<Installed, LabError> {
        let us = std::env::current_exe().map_err(LabError::file("this program"))?;
        let name = format!("sotto-engine{}", std::env::consts::EXE_SUFFIX);
        let found =
            us.ancestors().skip(1).take(2).map(|folder| folder.join(&name)).find(|path| path.is_file());
        let program = found.ok_or(LabError::NotInstalled { engine: self.name, how: self.how })?;
        Ok(Installed { name: self.name.to_owned(), program, arguments: Vec::new() })
    }

    fn write_files(&self, folder: &Path) -> Result<(), LabError> {
        fs::create_dir_all(folder).map_err(LabError::file(folder))?;
        let complete = folder.join(COMPLETE);
        if complete.exists() {
            fs::remove_file(&complete).map_err(LabError::file(&complete))?;
        }
        for (name, text) in self.files {
            let path = folder.join(name);
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent).map_err(LabError::file(parent))?;
            }
            fs::write(&path, text).map_err(LabError::file(&path))?;
        }
        Ok(())
    }

    fn steps(&self, folder: &Path) -> Vec<Command> {
        let in_folder = |program: &Path, arguments: &[&str]| {
            let mut command = Command::new(program);
            command.args(arguments).current_dir(folder);
            command
        };
        match self.recipe {
            Recipe::Python { version, build } => {
                let packages = ["-m", "pip", "install", "--no-input", "--quiet", "-r", "requirements.txt"];
                let mut steps = vec![
                    in_folder(&interpreter(version), &["-m", "venv", "--clear", "venv"]),
                    in_folder(&python(folder), &packages),
                ];
                steps.extend(build.map(|program| in_folder(&python(folder), &[program])));
                steps
            }
            Recipe::Go => {
                let mut build = in_folder(Path::new("go"), &["build", "-mod=readonly", "-o", "engine", "."]);
                // Use the installed Go: another version would be downloaded.
                build.env("GOTOOLCHAIN", "local").env("GOWORK", "off");
                if has_level_3() {
                    build.env("GOAMD64", "v3");
                }
                vec![build]
            }
            Recipe::Cargo { toolchain } => {
                let words = ["cargo", "build", "--release", "--locked"];
                // rustup runs a named toolchain only if it is there, whatever the environment asks for.
                let mut build = match toolchain {
                    Some(name) => in_folder(Path::new("rustup"), &[&["run", name][..], &words].concat()),
                    None => in_folder(Path::new(words[0]), &words[1..]),
                };
                // Compile for this processor; our own engine chooses its code at run time.
                build.env("RUSTFLAGS", "-C target-cpu=native").env_remove("CARGO_TARGET_DIR");
                vec![build]
            }
            Recipe::Workspace => Vec::new(),
        }
    }

    fn run(&self, step: &mut Command, log: &Path) -> Result<(), LabError> {
        let words = std::iter::once(step.get_program()).chain(step.get_args());
        let shown = words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
        let mut file =
            fs::OpenOptions::new().append(true).create(true).open(log).map_err(LabError::file(log))?;
        let mut note = |text: &[u8]| file.write_all(text).map_err(LabError::file(log));
        note(format!("$ {shown}\n").as_bytes())?;
        let output = match step.stdin(Stdio::null()).output() {
            Ok(output) => output,
            Err(source) => {
                note(format!("{source}\n").as_bytes())?;
                return Err(LabError::Start { program: shown, source });
            }
        };
        let printed = [output.stdout, output.stderr].concat();
        note(&printed)?;
        if output.status.success() {
            return Ok(());
        }
        Err(LabError::Install { engine: self.name, step: shown, output: last_lines(&printed) })
    }
}

/// Returns a Python interpreter of a version: a program of that name that starts, else the one of a version switcher,
/// else the name, so that the failure shows it.
pub(crate) fn interpreter(version: Option<&str>) -> PathBuf {
    let Some(version) = version else { return PathBuf::from("python3") };
    let name = format!("python{version}");
    let succeeds = |command: &mut Command| command.output().ok().filter(|output| output.status.success());
    if succeeds(Command::new(&name).arg("--version")).is_none()
        && let Some(found) = succeeds(Command::new("pyenv").args(["prefix", version]))
    {
        return Path::new(String::from_utf8_lossy(&found.stdout).trim()).join("bin").join(name);
    }
    PathBuf::from(name)
}

/// Returns true if the processor has the instructions of Go's level x86-64-v3.
fn has_level_3() -> bool {
    #[cfg(target_arch = "x86_64")]
    return is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("movbe");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

fn python(folder: &Path) -> PathBuf {
    if cfg!(windows) { folder.join("venv/Scripts/python.exe") } else { folder.join("venv/bin/python") }
}

fn executable(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
}

/// Returns the last ten lines, joined to one.
pub(crate) fn last_lines(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(10)..].join(" | ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::SEAL;

    #[test]
    fn the_cache_is_where_the_environment_says() {
        let among = |given: &[(&str, &str)]| {
            let given: Vec<_> = given.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
            cache_among(move |name| given.iter().find(|(k, _)| k == name).map(|(_, v)| v.into())).ok()
        };
        let all = [("SOTTO_CACHE", "s"), ("XDG_CACHE_HOME", "x"), ("HOME", "h")];
        assert_eq!(among(&all), Some("s".into()));
        assert_eq!(among(&all[1..]), Some("x/sotto".into()));
        assert_eq!(among(&all[2..]), Some("h/.cache/sotto".into()));
        assert_eq!(among(&[("SOTTO_CACHE", ""), ("HOME", "h")]), Some("h/.cache/sotto".into()));
        assert_eq!(among(&[]), None);
    }

    #[test]
    fn an_engine_is_installed_when_it_is_complete_and_unchanged() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        assert!(SEAL.installed_in(path).is_err());
        SEAL.write_files(path).unwrap();
        assert!(matches!(SEAL.installed_in(path), Err(LabError::NotInstalled { engine: "seal", .. })));
        fs::write(path.join(COMPLETE), "").unwrap();
        let installed = SEAL.installed_in(path).unwrap();
        assert!(installed.program.starts_with(path) && installed.arguments.len() == 1);
        fs::write(path.join("engine.py"), "changed").unwrap();
        assert!(SEAL.installed_in(path).is_err());
        SEAL.write_files(path).unwrap();
        assert!(!path.join(COMPLETE).exists(), "a new installation begins");
    }

    #[test]
    fn a_step_that_fails_is_told_with_its_last_words() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join(LOG);
        let mut step = Command::new("sh");
        step.args(["-c", "echo first; echo why >&2; exit 3"]);
        let error = SEAL.run(&mut step, &log).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("seal") && text.contains("first | why"), "{text}");
        let error = SEAL.run(&mut Command::new("no-such-program-at-all"), &log).unwrap_err();
        let log = fs::read_to_string(log).unwrap();
        assert!(log.starts_with("$ sh -c") && log.contains("\nwhy\n$ no-such-program-at-all\n"), "{log}");
        assert!(error.to_string().contains("cannot start no-such-program-at-all"), "{error}");
    }
}
