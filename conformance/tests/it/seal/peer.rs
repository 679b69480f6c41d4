//! A library that reads and writes SEAL's files, as a Python program in the environment of one of the lab's engines.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use sotto_harness::{Engine, PYFHEL, SEAL};

/// A program and the engine in whose environment it runs.
pub(crate) struct Peer {
    engine: &'static Engine,
    program: (&'static str, &'static str),
}

const CONVERSATION: (&str, &str) = ("conversation.py", include_str!("conversation.py"));

/// SEAL in the TenSEAL wheel.
pub(crate) static WHEEL: Peer = Peer { engine: &SEAL, program: ("wheel.py", include_str!("wheel.py")) };
/// SEAL in Pyfhel.
pub(crate) static BGV: Peer = Peer { engine: &PYFHEL, program: ("pyfhel_bgv.py", include_str!("pyfhel.py")) };

/// The answers of a peer: slots by name.
pub(crate) type Slots = BTreeMap<String, Vec<f64>>;

/// A folder with the files of one exchange, removed in the end.
pub(crate) struct Exchange {
    folder: tempfile::TempDir,
    python: PathBuf,
    program: &'static str,
}

impl Peer {
    /// Makes an exchange. Prints a note and returns None if the engine is not installed, unless `SOTTO_SEAL` requires
    /// it.
    pub(crate) fn exchange(&self, request: &Value) -> Option<Exchange> {
        let installed = match self.engine.installed() {
            Ok(installed) => installed,
            Err(error) if std::env::var_os("SOTTO_SEAL").is_some_and(|asked| asked == self.engine.name) => {
                panic!("{error}")
            }
            Err(error) => {
                println!("skipped: {error}");
                return None;
            }
        };
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [CONVERSATION, self.program] {
            fs::write(folder.path().join(name), text).unwrap();
        }
        let exchange = Exchange { folder, python: installed.program, program: self.program.0 };
        exchange.write("request.json", request.to_string().as_bytes());
        Some(exchange)
    }
}

impl Exchange {
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        Path::new(self.folder.path()).join(name)
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    pub(crate) fn write(&self, name: &str, bytes: &[u8]) {
        fs::write(self.path(name), bytes).unwrap();
    }

    /// Adds a field to the request.
    pub(crate) fn ask(&self, name: &str, value: &Value) {
        let mut request: Value = serde_json::from_slice(&self.read("request.json")).unwrap();
        request[name] = json!(value);
        self.write("request.json", request.to_string().as_bytes());
    }

    /// Runs an action of the peer.
    pub(crate) fn run(&self, action: &str, names: &[&str]) -> Slots {
        let mut command = Command::new(&self.python);
        command.current_dir(self.folder.path());
        command.arg(self.program).arg(action).arg(self.folder.path()).args(names);
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{action}: {said}");
        serde_json::from_str(text.lines().last().unwrap_or_default()).unwrap()
    }
}
