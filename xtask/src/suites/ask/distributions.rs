//! Counts above a limit, extremes, quantiles and histograms, on the data sets and on a file with gaps, duplicates and
//! restarts.

use super::Cases;
use super::datasets::{File, files};
use super::generator::Numbers;
use super::series::{By, Channel, Sample, Series, instant};
use super::site::Site;
use anyhow::{Context as _, Result};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;

/// Bins of the declared histogram, and of quantiles.
const BINS: usize = 16;
/// Distance of equal numbers in steps of the resolution.
const NEAR: f64 = 1e-6;
const SHARES: [f64; 3] = [0.0, 0.5, 0.95];

/// Runs every data set.
pub(super) fn on_datasets(cases: &mut Cases) -> Result<()> {
    let Some(folder) = std::env::var_os("SOTTO_DATASETS").map(PathBuf::from) else {
        println!("skipped: SOTTO_DATASETS names no folder of data sets");
        return Ok(());
    };
    for file in files() {
        let path = folder.join(file.name);
        let text = fs::read_to_string(&path).with_context(|| format!("{} cannot be read", path.display()))?;
        dataset(cases, &file, &path.to_string_lossy(), &text).with_context(|| file.name)?;
    }
    Ok(())
}

/// Returns a question's results for a channel: counts above and below `limit`, the share and the time between it and a
/// quarter of the range below, extremes, a histogram, quantiles.
fn question(channel: &Channel, limit: f64) -> String {
    let name = channel.name;
    let quantiles: Vec<String> = SHARES.iter().map(|share| format!("quantile({name}, {share})")).collect();
    let low = lower(channel, limit);
    format!(
        "count({name} > {limit}), count({name} <= {limit}), count({low} <= {name} <= {limit}), share({low} < {name} <= {limit}), \
         share({name} > {limit}), min({name}), max({name}), histogram({name}, {BINS}), {}",
        quantiles.join(", ")
    )
}

/// Returns the lower limit of a condition between two numbers, on the grid of readings.
fn lower(channel: &Channel, limit: f64) -> f64 {
    limit - ((channel.high - channel.low) / 4.0 / channel.resolution).round() * channel.resolution
}

/// Returns the limit that is asked for: a third of the range, on the grid of readings.
fn limit(channel: &Channel) -> f64 {
    let third = channel.low + (channel.high - channel.low) / 3.0;
    (third / channel.resolution).round() * channel.resolution
}

fn dataset(cases: &mut Cases, file: &File, path: &str, text: &str) -> Result<()> {
    let devices = file.devices.iter().map(|(name, _)| *name).collect();
    let mut series = Series::new(file.zone, file.period, file.channels.clone(), devices)?;
    let rows = (file.rows)(&series, text);
    series.take(rows);
    let mut site = Site::new(cases.sotto(), file.zone)?;
    for channel in &file.channels {
        site.channel(channel, file.every)?;
        let text = format!("{} by day", question(channel, limit(channel)));
        site.sotto(&["question", "add", channel.name, &text])?;
    }
    let names: Vec<&str> = file.channels.iter().map(|channel| channel.name).collect();
    site.start_cloud()?;
    for (device, args) in file.devices {
        site.sotto(&["device", "add", device, "--channels", &names.join(",")])?;
        site.agent(device, &[&["--csv", path], *args].concat())?;
    }
    for (at, channel) in file.channels.iter().enumerate() {
        for (by, limit, exact) in [
            (By::Day, limit(channel), true),
            (By::Month, limit(channel), true),
            (By::All, limit(channel) + 1.0, false),
        ] {
            let answer = site.ask(&format!("{}{}", question(channel, limit), by.clause()), &[])?;
            let faults = judge(&series, at, &answer, limit, exact, by);
            let name = format!("{}: distribution of {}{}", file.name, channel.name, by.clause());
            cases.case(&name, faults);
        }
    }
    cases.case(&format!("{}: nothing is left behind", file.name), site.close()?);
    Ok(())
}

/// Runs a file with gaps and duplicates that grows, and that is sent again with a new bundle.
pub(super) fn on_random_windows(cases: &mut Cases) -> Result<()> {
    const MINUTE: i64 = 60_000;
    let channel = Channel { name: "load", unit: "kW", low: -5.0, high: 30.0, resolution: 0.05 };
    let mut series = Series::new("Europe/Vienna", MINUTE, vec![channel.clone()], vec!["press"])?;
    let (begin, mut numbers) = (instant("2026-03-28T20:30:00Z").context("a time")?, Numbers(23));
    let (mut rows, mut text) = (Vec::new(), "time,load\n".to_owned());
    let mut tick = 0;
    while tick < 2400 {
        // A gap of up to five hours, over the night in which the clocks change.
        tick += if numbers.next() < 0.01 { (numbers.next() * 300.0) as i64 } else { 1 };
        let at = begin + tick * MINUTE;
        let copies = if numbers.next() < 0.1 { 2 } else { 1 };
        let mut taken = Vec::new();
        for _ in 0..copies {
            let value =
                ((12.0 + 9.0 * (tick as f64 / 50.0).sin() + 12.0 * numbers.next()) * 100.0).round() / 100.0;
            text += &format!("{},{value}\n", jiff::Timestamp::from_millisecond(at)?);
            taken.extend((value <= channel.high).then_some(value));
        }
        // A tick has the mean of its readings.
        if !taken.is_empty() {
            let value = taken.iter().sum::<f64>() / taken.len() as f64;
            rows.push(Sample { at, device: 0, values: [Some(value), None] });
        }
    }
    series.take(rows);
    let limit = limit(&channel);
    let mut site = Site::new(cases.sotto(), "Europe/Vienna")?;
    site.channel(&channel, "1m")?;
    // First without bins, so that the owner compares readings; then with bins.
    site.sotto(&["question", "add", "means", "mean(load) by hour"])?;
    site.sotto(&["device", "add", "press", "--channels", "load"])?;
    site.start_cloud()?;
    let lines: Vec<&str> = text.lines().collect();
    for part in [lines.len() / 3, lines.len() / 2, lines.len()] {
        site.write("press.csv", lines[..part].join("\n"))?;
        site.agent("press", &["--csv", "press.csv"])?;
    }
    let ask = |site: &Site, by: By| site.ask(&format!("{}{}", question(&channel, limit), by.clause()), &[]);
    let answer = ask(&site, By::Hour)?;
    cases.case("readings that are fetched, by hour", judge(&series, 0, &answer, limit, true, By::Hour));
    let noted = answer["notes"].to_string().contains("were fetched to compare them");
    cases.case(
        "a note says that readings are fetched",
        (!noted).then(|| answer["notes"].to_string()).into_iter().collect(),
    );
    site.sotto(&["question", "add", "load", &format!("{} by hour", question(&channel, limit))])?;
    site.sotto(&["device", "renew", "press", "--bundle", "again.bundle"])?;
    fs::rename(site.folder().join("again.bundle"), site.folder().join("press.bundle"))?;
    // Half of the file: windows of both bundles, which overlap.
    site.write("press.csv", lines[..lines.len() / 2].join("\n"))?;
    site.agent("press", &["--csv", "press.csv"])?;
    for (name, sent) in [("windows of two bundles", false), ("windows of the new bundle", true)] {
        if sent {
            site.write("press.csv", lines.join("\n"))?;
            site.agent("press", &["--csv", "press.csv"])?;
        }
        for by in [By::Hour, By::Day, By::All] {
            let answer = ask(&site, by)?;
            cases.case(&format!("{name}{}", by.clause()), judge(&series, 0, &answer, limit, true, by));
        }
    }
    cases.case("nothing is left behind", site.close()?);
    Ok(())
}

/// Runs comparisons in the cloud, with limits that nobody declared: readings of one digit and of two, with gaps.
pub(super) fn on_comparable_channels(cases: &mut Cases) -> Result<()> {
    const HOUR: i64 = 3_600_000;
    for (name, resolution) in [("one digit", 0.5), ("two digits", 0.05)] {
        let channel = Channel { name: "load", unit: "kW", low: -5.0, high: 30.0, resolution };
        let mut series = Series::new("Europe/Vienna", HOUR, vec![channel.clone()], vec!["press"])?;
        let (begin, mut numbers) = (instant("2026-03-27T23:00:00Z").context("a time")?, Numbers(31));
        let (mut rows, mut text) = (Vec::new(), "time,load\n".to_owned());
        for tick in (0..96).filter(|tick| tick % 11 != 5) {
            let steps = (numbers.next() * 35.0 / resolution).round();
            let at = begin + tick * HOUR;
            let value = -5.0 + steps * resolution;
            rows.push(Sample { at, device: 0, values: [Some(value), None] });
            text += &format!("{},{value}\n", jiff::Timestamp::from_millisecond(at)?);
        }
        series.take(rows);
        let mut site = Site::new(cases.sotto(), "Europe/Vienna")?;
        let resolution = resolution.to_string();
        let declared = ["--unit", "kW", "--range", "-5..30", "--resolution", &resolution, "--every", "1h"];
        site.sotto(&[&["channel", "add", "load"], &declared[..], &["--comparable"]].concat())?;
        site.sotto(&["device", "add", "press", "--channels", "load"])?;
        site.start_cloud()?;
        site.write("press.csv", text)?;
        site.agent("press", &["--csv", "press.csv"])?;
        // In the range, at its ends, and beyond it, where no comparison is needed.
        for limit in [12.0, -5.0, 29.5, 30.0, 40.0] {
            let question =
                format!("count(load > {limit}), count(load <= {limit}), share(load > {limit}) by day");
            let answer = site.ask(&question, &[])?;
            let mut faults = judge(&series, 0, &answer, limit, true, By::Day);
            if answer["notes"].to_string().contains("were fetched") {
                faults.push("the readings were fetched: the cloud did not compare them".into());
            }
            if (answer["jobs"] == 0) != (limit >= 30.0) {
                faults.push(format!("the cloud ran {} jobs", answer["jobs"]));
            }
            cases.case(&format!("compared in the cloud, {name}: {limit}"), faults);
        }
        cases.case("nothing is left behind", site.close()?);
    }
    Ok(())
}

/// Returns a reading's value on the grid: two neighbours if it lies between them.
fn rounded(channel: &Channel, value: f64) -> [f64; 2] {
    let centre = f64::midpoint(channel.low, channel.high);
    let at = (value - centre) / channel.resolution;
    [-NEAR, NEAR].map(|tie| centre + (at + 0.5 + tie).floor() * channel.resolution)
}

/// Returns the smallest and the largest number of readings for which a condition on the rounded value holds.
fn counts(channel: &Channel, values: &[f64], holds: impl Fn(f64) -> bool) -> (f64, f64) {
    let each = values.iter().map(|value| rounded(channel, *value).map(&holds));
    let (all, any): (Vec<bool>, Vec<bool>) = each.map(|[a, b]| (a && b, a || b)).unzip();
    let number = |of: &[bool]| of.iter().filter(|yes| **yes).count() as f64;
    (number(&all), number(&any))
}

/// Returns the faults of an answer about one channel. `exact` says that the limit is a declared one.
fn judge(series: &Series, at: usize, answer: &Value, limit: f64, exact: bool, by: By) -> Vec<String> {
    let channel = &series.channels[at];
    let (name, step) = (channel.name, channel.resolution);
    let rows = answer["rows"].as_array().map_or(&[][..], Vec::as_slice);
    let (mut faults, mut readings) = (Vec::new(), 0);
    let width = (channel.high - channel.low) / BINS as f64;
    let mut groups: Vec<(i64, i64)> = Vec::new();
    for row in rows {
        let time = |key: &str| row[key].as_str().and_then(instant).unwrap_or_default();
        let (from, to) = (time("from"), time("to"));
        let inside = series.samples.iter().filter(|sample| (from..to).contains(&sample.at));
        let mut values: Vec<f64> = inside.filter_map(|sample| sample.values[at]).collect();
        values.sort_by(f64::total_cmp);
        if groups.last() != Some(&(from, to)) {
            groups.push((from, to));
            readings += values.len();
        }
        let (Some(value), Some(bound)) = (row["value"].as_f64(), row["bound"].as_f64()) else {
            let empty = values.is_empty();
            faults.extend((!empty).then(|| format!("{} has no value", row["name"])));
            continue;
        };
        let text = row["name"].as_str().unwrap_or_default();
        let above = |x: f64| x > limit + NEAR * step;
        // The largest bound that is right, and the true value or its ends.
        let between = |x: f64, first: bool| {
            let low = lower(channel, limit);
            !above(x) && if first { x >= low - NEAR * step } else { x > low + NEAR * step }
        };
        let part = |(low, high): (f64, f64)| {
            let all = values.len().max(1) as f64;
            (low / all, high / all)
        };
        let declared = if exact { 1e-12 } else { f64::INFINITY };
        let (most, (low, high)) = if text.starts_with(&format!("share({name} >")) {
            (declared, part(counts(channel, &values, above)))
        } else if text.starts_with("share(") {
            (declared, part(counts(channel, &values, |x| between(x, false))))
        } else if text.contains(&format!(" <= {name} <= ")) {
            (if exact { 0.0 } else { f64::INFINITY }, counts(channel, &values, |x| between(x, true)))
        } else if text.starts_with(&format!("count({name} >")) {
            (if exact { 0.0 } else { f64::INFINITY }, counts(channel, &values, above))
        } else if text.starts_with("count(") {
            (if exact { 0.0 } else { f64::INFINITY }, counts(channel, &values, |x| !above(x)))
        } else if row["bin"].is_array() {
            let end = |at: usize| row["bin"][at].as_f64().unwrap_or(f64::NAN);
            let first = (end(0) - channel.low).abs() < NEAR * step;
            let last = (end(1) - channel.high).abs() < NEAR * step;
            let is_in = |x: f64| (first || x >= end(0) - NEAR * step) && (last || x < end(1) - NEAR * step);
            (0.0, counts(channel, &values, is_in))
        } else if values.is_empty() {
            faults.push(format!("{text} has a value without a reading"));
            continue;
        } else {
            let share = match text.split('(').next() {
                Some("min") => 0.0,
                Some("max") => 1.0,
                _ => text
                    .trim_end_matches(')')
                    .rsplit(' ')
                    .next()
                    .and_then(|s| s.parse().ok())
                    .unwrap_or(f64::NAN),
            };
            let rank = ((share * values.len() as f64 - 1e-9).ceil() as usize).clamp(1, values.len());
            // Each window holds its extremes.
            let most = if text.starts_with('m') { step / 2.0 } else { width / 2.0 + 1.5 * step };
            (most, (values[rank - 1], values[rank - 1]))
        };
        if value < low - bound - 1e-9 || value > high + bound + 1e-9 {
            faults.push(format!("{text} at {}: {value} ± {bound} is not {low} to {high}", row["from"]));
        }
        if bound > most * (1.0 + 1e-9) {
            faults.push(format!("{text} at {}: the bound {bound} is above {most}", row["from"]));
        }
    }
    let all = series.samples.iter().filter(|sample| sample.values[at].is_some()).count();
    if readings != all {
        faults.push(format!("the groups{} have {readings} readings, not {all}", by.clause()));
    }
    faults.truncate(6);
    faults
}
