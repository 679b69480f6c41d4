//! Readings of two channels, and the CSV file that has them.

use std::fmt::Write as _;
use std::path::Path;

use jiff::Timestamp;
use sotto_pack::Channel;

/// 2026-03-01T00:00:00Z.
const START: i64 = 1_772_323_200;

/// The readings of a row.
#[derive(Clone, Copy)]
pub(crate) struct Reading {
    /// Seconds since 1970.
    pub(crate) at: i64,
    /// Tenths of a degree.
    pub(crate) temperature: i64,
    pub(crate) humidity: i64,
}

/// Returns readings in steps of `period` seconds.
pub(crate) fn readings(rows: usize, period: i64) -> Vec<Reading> {
    let reading = |row: usize| {
        let wave = (row as f64 / 7200.0).sin();
        let noise = (row.wrapping_mul(0x9e37_79b9) >> 7) % 10;
        let humidity = 50 + (wave * 30.0) as i64;
        let temperature = (wave * 150.0) as i64 + noise as i64;
        Reading { at: START + period * row as i64, temperature, humidity }
    };
    (0..rows).map(reading).collect()
}

/// Writes rows with a time, both channels and a column that nobody wants.
pub(crate) fn csv(readings: &[Reading], path: &Path) {
    let mut text = String::from("time,temperature,humidity,status\n");
    for Reading { at, temperature, humidity } in readings {
        let time = Timestamp::from_second(*at).unwrap().strftime("%Y-%m-%d %H:%M:%S");
        writeln!(text, "{time},{},{humidity},ok", *temperature as f64 / 10.0).unwrap();
    }
    std::fs::write(path, text).unwrap();
}

/// The channels of the rows.
pub(crate) fn channels() -> Vec<Channel> {
    let channel = |name: &str, minimum, maximum, resolution| Channel {
        name: name.to_owned(),
        minimum,
        maximum,
        resolution: Some(resolution),
        ..Channel::default()
    };
    vec![channel("temperature", -40.0, 60.0, 0.1), channel("humidity", 0.0, 100.0, 1.0)]
}
