//! Rows a second from a file to packed windows, on one core: rows in the order of time and shuffled.
//!
//! `cargo bench -p sotto-agent --bench read` prints the best of several rounds for each format; `-- csv` for one of
//! them. A row has a time, two channels and a column that nobody wants.
#![allow(missing_docs, clippy::unwrap_used)]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use sotto_agent::encrypt::{EncryptError, Encrypted, Encryption, Encryptor, Unencrypted};
use sotto_agent::source::{FileOptions, FileSource};
use sotto_agent::spool::{Cuts, Sent};
use sotto_agent::stop::Stop;
use sotto_agent::streams::Stream;
use sotto_agent::windows::{Options, Windows};
use sotto_pack::{Channel, Clock, Cut, Encoding, Layout, Span};
use sotto_rlwe::{KeyId, ParameterId};

const ROWS: usize = 1_000_000;
const ROUNDS: usize = 5;
/// 2026-03-01T00:00:00Z.
const START: i64 = 1_772_323_200;

/// An encryptor that is never called: windows are packed, not encrypted.
struct Never;

impl Encryptor for Never {
    fn parameters(&self) -> ParameterId {
        ParameterId([0; 32])
    }

    fn key(&self) -> KeyId {
        KeyId([0; 16])
    }

    fn slot_shape(&self) -> (u32, u32) {
        (2, 4096)
    }

    fn frame_bytes(&self) -> usize {
        0
    }

    fn check(&self, _: &Layout) -> Result<(), EncryptError> {
        Ok(())
    }

    fn encrypt(&self, _: Unencrypted) -> Result<Encrypted, EncryptError> {
        Err(EncryptError::NoSlots)
    }
}

/// A reading each second.
#[derive(Clone, Copy)]
struct Reading {
    at: i64,
    /// Tenths of a degree.
    temperature: i64,
    humidity: i64,
}

fn readings() -> Vec<Reading> {
    let reading = |row: usize| {
        let wave = (row as f64 / 7200.0).sin();
        let noise = (row.wrapping_mul(0x9e37_79b9) >> 7) % 10;
        let humidity = 50 + (wave * 30.0) as i64;
        Reading { at: START + row as i64, temperature: (wave * 150.0) as i64 + noise as i64, humidity }
    };
    (0..ROWS).map(reading).collect()
}

/// Fisher and Yates, with numbers of a fixed generator.
fn shuffled(mut readings: Vec<Reading>) -> Vec<Reading> {
    let mut state = 1_u64;
    for last in (1..readings.len()).rev() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        readings.swap(last, (state >> 33) as usize % (last + 1));
    }
    readings
}

fn csv(readings: &[Reading], path: &Path) {
    let mut text = String::from("time,temperature,humidity,status\n");
    for Reading { at, temperature, humidity } in readings {
        let time = Timestamp::from_second(*at).unwrap().strftime("%Y-%m-%d %H:%M:%S");
        writeln!(text, "{time},{},{humidity},ok", *temperature as f64 / 10.0).unwrap();
    }
    std::fs::write(path, text).unwrap();
}

/// Writes a file of a format.
type Write = fn(&[Reading], &Path);

const FORMATS: [(&str, Write); 1] = [("csv", csv)];

fn channels() -> Vec<Channel> {
    let channel = |name: &str, minimum, maximum, resolution| Channel {
        name: name.to_owned(),
        minimum,
        maximum,
        resolution: Some(resolution),
        ..Channel::default()
    };
    vec![channel("temperature", -40.0, 60.0, 0.1), channel("humidity", 0.0, 100.0, 1.0)]
}

/// Reads a file into packed windows; returns the time.
fn read(path: PathBuf) -> Duration {
    let begin = Instant::now();
    let options = FileOptions { paths: vec![path], ..FileOptions::default() };
    let source = Box::new(FileSource::open(options, &channels(), Stop::new()).unwrap());
    let layout = Layout::smallest(channels(), 3600, 4096, 2, Encoding::Integer { bits: 12 }).unwrap();
    let encryption = Encryption::Ciphertexts { encryptor: Box::new(Never), header: None };
    let stream = Stream { name: "s".to_owned(), layout, encryption, message_bytes: 0 };
    let cut = Cut { span: Span::Hour, period: 1000, ticks: 3600 };
    let cuts = Cuts::new(Clock::utc(), [("s".to_owned(), cut)].into());
    let options = Options { future: true, ..Options::default() };
    let mut windows = Windows::new(source, &[stream], &cuts, |_| Sent::default(), Stop::new(), &options);
    let mut taken = 0;
    while let Some(closed) = windows.next_closed().unwrap() {
        taken += closed.window.packed.readings();
    }
    assert_eq!(taken, 2 * ROWS as u64);
    begin.elapsed()
}

fn main() {
    let asked: Vec<String> = std::env::args().skip(1).filter(|name| !name.starts_with('-')).collect();
    let folder = tempfile::tempdir().unwrap();
    println!("{:<10} {:>12} {:>18} {:>18}", "", "bytes", "rows/s, in order", "rows/s, shuffled");
    for (name, write) in FORMATS {
        if !asked.is_empty() && !asked.iter().any(|wanted| wanted == name) {
            continue;
        }
        let (ordered, other) = (folder.path().join(name), folder.path().join(format!("{name}-shuffled")));
        write(&readings(), &ordered);
        write(&shuffled(readings()), &other);
        let bytes = std::fs::metadata(&ordered).unwrap().len();
        let rate = |path: &PathBuf| {
            let best = (0..ROUNDS).map(|_| read(path.clone())).min().unwrap();
            (ROWS as f64 / best.as_secs_f64()).round()
        };
        println!("{name:<10} {bytes:>12} {:>18} {:>18}", rate(&ordered), rate(&other));
    }
}
