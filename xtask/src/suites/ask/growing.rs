//! Questions while data arrives: a file grows, and the cloud is stopped and killed meanwhile.

use super::Cases;
use super::generator::{Numbers, csv};
use super::judge::Query;
use super::series::{By, Channel, Sample, Series, instant};
use super::site::Site;
use super::truth::Statistic as S;
use anyhow::{Context as _, Result, bail};
use serde_json::Value;
use std::fs::File;
use std::io::Write as _;
use std::thread;
use std::time::{Duration, Instant};

const MINUTE: i64 = 60_000;
/// Rows of each piece of the file.
const PIECE: usize = 400;
const PIECES: usize = 4;
const ASKED: &[S] = &[S::Count(0), S::Sum(0), S::Mean(0), S::Variance(0)];

pub(super) fn run(cases: &mut Cases) -> Result<()> {
    let channel = Channel { name: "power", unit: "kW", low: 0.0, high: 50.0, resolution: 0.01 };
    let mut whole = Series::new("UTC", MINUTE, vec![channel], vec!["pump"])?;
    let (begin, mut numbers) = (instant("2026-01-31T20:00:00Z").context("a time")?, Numbers(3));
    whole.take((0..(PIECE * PIECES) as i64).map(|tick| {
        let value = 20.0 + 15.0 * (tick as f64 / 97.0).sin() + numbers.next();
        Sample { at: begin + tick * MINUTE, device: 0, values: [Some(value), None] }
    }));
    let text = csv(&whole, 0);
    let lines: Vec<&str> = text.lines().collect();
    let mut site = Site::new(cases.sotto(), "UTC")?;
    site.channel(&whole.channels[0], "1m")?;
    let asked = Query { statistics: ASKED, by: By::Hour, per_device: false, spans: &[] };
    site.sotto(&["question", "add", "hourly", &asked.text(&whole)])?;
    site.sotto(&["device", "add", "pump", "--channels", "power"])?;
    site.start_cloud()?;
    let mut file = File::create(site.folder().join("pump.csv"))?;
    writeln!(file, "{}", lines[0])?;
    let mut agent = site.start_agent("pump", &["--csv", "pump.csv", "--follow"])?;
    for (piece, signal) in [None, Some("TERM"), Some("KILL"), Some("TERM")].into_iter().enumerate() {
        if let Some(signal) = signal {
            site.stop_cloud(signal)?;
        }
        for line in &lines[1 + piece * PIECE..][..PIECE] {
            writeln!(file, "{line}")?;
        }
        if signal.is_some() {
            site.start_cloud()?;
        }
        // All hours except the unfinished one.
        let least = (piece + 1) * PIECE - 60;
        let found = until(&site, &whole, &asked, least).unwrap_or_else(|error| vec![format!("{error:#}")]);
        let name = signal.map_or_else(String::new, |signal| format!(" after the cloud's SIG{signal}"));
        cases.case(&format!("questions while data arrives, piece {}{name}", piece + 1), found);
    }
    // A stop sends the unfinished window.
    agent.end("TERM")?;
    cases.asked("after the agent's stop: all", &site, &whole, &asked, "");
    cases.case("nothing is left behind", site.close()?);
    Ok(())
}

/// Asks until at least `least` readings have arrived; every answer must be right for the readings that it covers.
fn until(site: &Site, whole: &Series, asked: &Query<'_>, least: usize) -> Result<Vec<String>> {
    let begin = Instant::now();
    loop {
        // Before the first window an answer names that cause by its exit code; the document is the same.
        let text = asked.text(whole);
        let done = site.try_sotto(&["ask", &text, "--json", "--unchecked", "--no-keep"])?;
        let answer: Value = serde_json::from_str(&done.stdout).with_context(|| done.stderr.clone())?;
        let rows = answer["rows"].as_array().context("rows")?;
        let counts = rows.iter().filter(|row| row["name"] == "count(power)");
        let count = counts.filter_map(|row| row["count"].as_u64()).sum::<u64>() as usize;
        let first = Series { samples: whole.samples[..count].to_vec(), ..whole.clone() };
        let found = asked.judge(&first, &answer);
        if !found.is_empty() || count >= least {
            return Ok(found);
        }
        if begin.elapsed() > Duration::from_secs(40) {
            bail!("{count} readings have arrived after {:?}, not {least}", begin.elapsed());
        }
        thread::sleep(Duration::from_millis(100));
    }
}
