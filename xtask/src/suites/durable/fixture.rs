//! A plant with a boiler whose temperature is known at every hour.

use super::Site;
use anyhow::{Result, ensure};
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// The longest wait of these cases.
pub(super) const LONGEST: Duration = Duration::from_secs(30);

/// The channel's options.
pub(super) const CHANNEL: [&str; 6] = ["--range", "-20..120", "--resolution", "0.5", "--every", "1h"];
/// The question that the device was enrolled for.
pub(super) const QUESTION: &str = "count(temperature), mean(temperature) by day";

/// Returns a plant with one device, whose cloud does not run yet.
pub(super) fn plant(sotto: &Path) -> Result<Site> {
    let site = Site::new(sotto, "UTC")?;
    site.sotto(&[&["channel", "add", "temperature"], &CHANNEL[..]].concat())?;
    site.sotto(&["question", "add", "daily", QUESTION])?;
    site.sotto(&["device", "add", "boiler", "--channels", "temperature"])?;
    Ok(site)
}

/// Returns the temperature at an hour, counted from the first of January.
pub(super) fn temperature(hour: u32) -> f64 {
    f64::from(hour * 7 % 83) / 2.0
}

/// Returns a file of `count` days, which begins `from` days after the first of January 2025.
pub(super) fn days(from: u32, count: u32) -> String {
    let mut text = "time,temperature\n".to_owned();
    for hour in from * 24..(from + count) * 24 {
        let (day, clock) = (1 + hour / 24, hour % 24);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "2025-01-{day:02}T{clock:02}:00:00Z,{}", temperature(hour));
    }
    text
}

/// Returns the faults of the answer by day, which must have exactly these days, each complete.
pub(super) fn whole_days(site: &Site, days: std::ops::Range<u32>) -> Result<Vec<String>> {
    Ok(judge(&site.ask("daily", &[])?, days))
}

/// Judges an answer as [`whole_days`] does.
pub(super) fn judge(answer: &Value, days: std::ops::Range<u32>) -> Vec<String> {
    let mut faults = Vec::new();
    let rows = answer["rows"].as_array().map_or(&[][..], Vec::as_slice);
    let means: Vec<&Value> = rows.iter().filter(|row| row["name"] == "mean(temperature)").collect();
    if means.len() != days.len() {
        faults.push(format!("{} days, not {}", means.len(), days.len()));
    }
    for (row, day) in means.iter().zip(days) {
        let hours = day * 24..(day + 1) * 24;
        let mean = hours.map(temperature).sum::<f64>() / 24.0;
        let (value, bound) = (row["value"].as_f64(), row["bound"].as_f64());
        let right =
            value.zip(bound).is_some_and(|(value, bound)| (value - mean).abs() <= bound && bound < 1.0);
        if !right || row["count"] != 24 || row["missing"] != 0 {
            faults.push(format!("day {day} with mean {mean}: {row}"));
        }
    }
    faults
}

/// Returns the fault unless `right` is true.
pub(super) fn holds(right: bool, found: impl FnOnce() -> String) -> Vec<String> {
    (!right).then(found).into_iter().collect()
}

/// Returns the messages in the boiler's spool with their names, once there are `count`.
pub(super) fn waiting(site: &Site, spool: &str, count: usize) -> Result<Vec<(String, Vec<u8>)>> {
    let begin = Instant::now();
    loop {
        let mut all = Vec::new();
        for entry in fs::read_dir(site.folder().join(spool)).into_iter().flatten() {
            let path = entry?.path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            // ORDER.STREAM.SEQUENCE.envelope
            let Some((_, key)) = name.strip_suffix(".envelope").and_then(|name| name.split_once('.')) else {
                continue;
            };
            all.push((format!("boiler.{key}"), fs::read(&path)?));
        }
        if all.len() >= count {
            all.sort();
            return Ok(all);
        }
        ensure!(begin.elapsed() < LONGEST, "{} messages are in the spool, not {count}", all.len());
        thread::sleep(Duration::from_millis(20));
    }
}
