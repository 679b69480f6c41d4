//! A plant with readings, and `sotto` run without a terminal.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use tokio::runtime::Runtime;

use crate::session::{self, HOURS, send};

const PASSPHRASE: &str = "correct horse";

/// A plant with a device that has sent two days of readings, and the file of a passphrase beside it.
pub(crate) struct Plant {
    outside: tempfile::TempDir,
    _cloud: Runtime,
}

impl Plant {
    pub(crate) fn new() -> Self {
        let outside = tempfile::tempdir().unwrap();
        let folder = outside.path();
        let run = |arguments: &[&str]| session::sotto(folder, arguments).unwrap();
        run(&["init", "plant", "--time-zone", "UTC"]);
        for name in ["heat", "flow"] {
            let channel = ["channel", "add", name, "--unit", "kW", "--range", "0..10", "--resolution", "0.1"];
            run(&[&channel[..], &["--every", "1h"]].concat());
        }
        run(&["question", "add", "daily", "sum(heat), mean(flow) by day"]);
        let cloud = session::serve(folder);
        run(&["device", "add", "boiler", "--channels", "heat,flow"]);
        send(folder, "boiler.bundle");
        let plant = Self { outside, _cloud: cloud };
        plant.write_passphrase("passphrase", PASSPHRASE);
        plant
    }

    pub(crate) fn folder(&self) -> &Path {
        self.outside.path()
    }

    pub(crate) fn write_passphrase(&self, file: &str, passphrase: &str) {
        let path = self.folder().join(file);
        fs::write(&path, format!("{passphrase}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    }

    /// Runs `sotto` with the passphrase in a file, and kills it after a time. Returns true if it had ended before.
    pub(crate) fn killed(&self, arguments: &[&str], after: Duration) -> bool {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sotto"));
        command.args(arguments).args(["--passphrase-file", "passphrase"]).current_dir(self.folder());
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(after);
        let has_ended = child.try_wait().unwrap().is_some();
        let _ = child.kill();
        child.wait().unwrap();
        has_ended
    }

    /// Runs `sotto` without a terminal, and with an environment.
    pub(crate) fn with(&self, variables: &[(&str, &Path)], arguments: &[&str]) -> Result<String, String> {
        let mut command = Command::new("setsid");
        command.arg("-w").arg(env!("CARGO_BIN_EXE_sotto")).args(arguments).current_dir(self.folder());
        for name in ["SOTTO_PLANT", "SOTTO_PASSPHRASE_FILE", "CREDENTIALS_DIRECTORY"] {
            command.env_remove(name);
        }
        let done = command.envs(variables.iter().copied()).output().unwrap();
        let [said, error] = [done.stdout, done.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        if done.status.success() { Ok(said) } else { Err(error) }
    }

    pub(crate) fn alone(&self, arguments: &[&str]) -> Result<String, String> {
        self.with(&[], arguments)
    }

    /// Runs `sotto` with the passphrase in a file.
    pub(crate) fn given(&self, arguments: &[&str]) -> Result<String, String> {
        self.alone(&[arguments, &["--passphrase-file", "passphrase"]].concat())
    }

    pub(crate) fn secret(&self, name: &str) -> Vec<u8> {
        fs::read(self.folder().join("plant/secrets").join(name)).unwrap()
    }

    /// True if a key file is sealed under the plant's key.
    pub(crate) fn is_sealed(&self, name: &str) -> bool {
        self.secret(name)[10] == 3
    }
}

pub(crate) const ASK: [&str; 6] = ["ask", "sum(heat)", "--since", "2024-01-01", "--until", "2024-01-03"];

/// Returns true if an answer has the sum of all readings.
pub(crate) fn is_whole(answer: &str) -> bool {
    let sum: f64 = (0..HOURS).map(|hour| f64::from(hour) / 10.0).sum();
    answer.contains(&format!("{sum:.1}"))
}
