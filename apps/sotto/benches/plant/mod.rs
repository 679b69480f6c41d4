//! A plant whose device has sent readings of two channels, one a minute, in windows of an hour, and a cloud on loopback.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde_json::Value;
use tokio::runtime::Runtime;

use crate::session;

/// 2024-01-01T00:00:00Z.
const START: i64 = 1_704_067_200;
const MINUTES: i64 = 24 * 60;

/// A plant with readings. The cloud ends with it.
pub(crate) struct Plant {
    folder: tempfile::TempDir,
    _cloud: Runtime,
}

impl Plant {
    /// Makes a plant with these questions and lets its device send `days` days of readings.
    pub(crate) fn new(questions: &[&[&str]], days: i64) -> Self {
        // A file a window: in memory, where there is such a folder.
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        let run = |words: &[&str]| session::sotto(folder.path(), words).unwrap();
        run(&["init", "plant", "--time-zone", "UTC"]);
        for name in ["heat", "flow"] {
            let range = ["--unit", "kW", "--range", "0..100", "--resolution", "0.1", "--every", "1m"];
            run(&[&["channel", "add", name][..], &range].concat());
        }
        for question in questions {
            run(&[&["question", "add"], *question].concat());
        }
        let cloud = session::serve(folder.path());
        run(&["device", "add", "boiler", "--channels", "heat,flow"]);
        let mut text = "time,heat,flow\n".to_owned();
        for minute in 0..days * MINUTES {
            let time = Timestamp::from_second(START + 60 * minute).unwrap();
            let heat = 500 + (f64::sin(minute as f64 / 700.0) * 400.0) as i64;
            writeln!(text, "{time},{},{}", heat as f64 / 10.0, (minute * 7 % 1000) as f64 / 10.0).unwrap();
        }
        session::send_text(folder.path(), "boiler.bundle", &text);
        Self { folder, _cloud: cloud }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Runs `sotto`; returns its time and its output.
    pub(crate) fn run(&self, words: &[&str]) -> (Duration, Vec<u8>) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sotto"));
        command.args(words).current_dir(self.path()).env_remove("SOTTO_PLANT");
        let begin = Instant::now();
        let done = command.output().unwrap();
        let time = begin.elapsed();
        assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
        (time, done.stdout)
    }

    /// Like [`Plant::run`], with `--json`; returns the document.
    pub(crate) fn document(&self, words: &[&str]) -> (Duration, Value) {
        let (time, said) = self.run(&[words, &["--json"]].concat());
        (time, serde_json::from_slice(&said).unwrap())
    }
}

/// Returns the numbers of the command line: the days of readings of each plant.
pub(crate) fn days_asked(default: &[i64]) -> Vec<i64> {
    let asked: Vec<i64> = std::env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    if asked.is_empty() { default.to_vec() } else { asked }
}
