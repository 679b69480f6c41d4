//! Virtual environments of Python.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use crate::cargo;

/// A virtual environment, which sees no packages but its own.
pub(crate) struct Venv(PathBuf);

impl Venv {
    /// Makes the environment, or takes the one that the folder has.
    pub(crate) fn new(folder: &Path) -> Result<Self> {
        let new = Self(folder.to_owned());
        if !new.program().is_file() {
            let mut make = cargo::command("python3");
            make.args(["-m", "venv"]).arg(folder);
            ensure!(make.status()?.success(), "python3 -m venv {} failed", folder.display());
        }
        Ok(new)
    }

    /// Returns the environment with pandas beside the programs, for every suite that compares with it.
    pub(crate) fn with_pandas(programs: &Path) -> Result<Self> {
        let venv = Self::new(&programs.join("pandas-venv"))?;
        let found = venv.python().args(["-c", "import pandas"]).output();
        if !found.is_ok_and(|done| done.status.success()) {
            venv.install(&["pandas"])?;
        }
        Ok(venv)
    }

    /// Returns its interpreter as a command, which finds the programs of installed packages.
    pub(crate) fn python(&self) -> Command {
        let mut python = cargo::command(self.program());
        let path = std::env::var_os("PATH").unwrap_or_default();
        let own = std::iter::once(self.0.join("bin")).chain(std::env::split_paths(&path));
        if let Ok(path) = std::env::join_paths(own) {
            python.env("PATH", path);
        }
        python.env_remove("PYTHONPATH");
        python
    }

    /// Returns the folder of its programs.
    pub(crate) fn programs(&self) -> PathBuf {
        self.0.join("bin")
    }

    /// Returns the command that installs packages: add their names.
    pub(crate) fn pip(&self) -> Command {
        let mut install = self.python();
        install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
        install
    }

    pub(crate) fn install(&self, packages: &[&str]) -> Result<()> {
        ensure!(self.pip().args(packages).status()?.success(), "pip cannot install {packages:?}");
        Ok(())
    }

    fn program(&self) -> PathBuf {
        self.0.join("bin/python")
    }
}

/// Servers of a program that prints a JSON object once they listen. They end when it is dropped.
pub(crate) struct Servers {
    process: Child,
    ports: Value,
}

impl Drop for Servers {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Servers {
    pub(crate) fn start(mut command: Command) -> Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().context("the servers cannot be started")?;
        let mut line = String::new();
        BufReader::new(process.stdout.take().context("no output")?).read_line(&mut line)?;
        let servers = Self { process, ports: serde_json::from_str(&line).unwrap_or_default() };
        ensure!(servers.ports.is_object(), "the servers do not start: {line}");
        Ok(servers)
    }

    /// Returns the port of a server; 0 if there is none of this name.
    pub(crate) fn port(&self, name: &str) -> u64 {
        self.ports[name].as_u64().unwrap_or_default()
    }
}
