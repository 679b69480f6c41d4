//! Devices whose windows share masks must give the same answers as devices without shared masks.

use super::Cases;
use super::generator::{Numbers, csv};
use super::judge::Query;
use super::series::{By, Channel, Sample, Series, instant};
use super::site::Site;
use super::truth::Statistic as S;
use anyhow::{Context as _, Result};
use serde_json::Value;
use std::fs;

const MINUTES: i64 = 60_000;
const DEVICES: [&str; 6] = ["meter-0", "meter-1", "meter-2", "meter-3", "meter-4", "meter-5"];
const DAYS: i64 = 4;
const ASKED: &[S] = &[S::Count(0), S::Sum(0), S::Mean(0), S::Variance(0), S::Count(1), S::Mean(1)];

/// Returns readings of power and voltage every quarter of an hour. One device lacks readings, one begins a day later.
fn series() -> Result<Series> {
    let channel = |name, unit, high| Channel { name, unit, low: 0.0, high, resolution: 0.5 };
    let channels = vec![channel("power", "kW", 100.0), channel("voltage", "V", 400.0)];
    let mut series = Series::new("Europe/Berlin", 15 * MINUTES, channels, DEVICES.to_vec())?;
    let (begin, mut numbers) = (instant("2026-02-28T23:00:00Z").context("a time")?, Numbers(9));
    let mut rows = Vec::new();
    for device in 0..DEVICES.len() {
        let first = if device == 1 { 96 } else { 0 };
        for tick in first..96 * DAYS {
            let lacks = device == 2 && tick % 7 == 3;
            let power = (!lacks).then(|| 30.0 + 3.0 * device as f64 + 20.0 * numbers.next());
            let values = [power, Some(230.0 + 10.0 * numbers.next())];
            rows.push(Sample { at: begin + tick * 15 * MINUTES, device, values });
        }
    }
    series.take(rows);
    Ok(series)
}

/// Returns a plant whose devices have sent all readings; the last device is stopped during the third day and started
/// again.
fn plant(cases: &Cases, series: &Series, shared: bool) -> Result<Site> {
    let mut site = Site::new(cases.sotto(), "Europe/Berlin")?;
    if shared {
        let file = site.folder().join("plant/sotto.toml");
        let text = fs::read_to_string(&file)?.replace("\n[cloud]", "\nshare_masks = true\n\n[cloud]");
        fs::write(&file, text)?;
    }
    for channel in &series.channels {
        site.channel(channel, "15m")?;
    }
    let asked = Query { statistics: ASKED, by: By::Day, per_device: false, spans: &[] };
    site.sotto(&["question", "add", "daily", &asked.text(series)])?;
    for device in DEVICES {
        site.sotto(&["device", "add", device, "--channels", "power,voltage"])?;
    }
    site.start_cloud()?;
    for (at, device) in DEVICES.into_iter().enumerate() {
        let (name, text) = (format!("{device}.csv"), csv(series, at));
        if device == DEVICES[5] {
            let part: Vec<&str> = text.lines().take(1 + 2 * 96 + 40).collect();
            site.write(&name, part.join("\n") + "\n")?;
            site.agent(device, &["--csv", &name])?;
        }
        site.write(&name, &text)?;
        site.agent(device, &["--csv", &name])?;
    }
    Ok(site)
}

pub(super) fn run(cases: &mut Cases) -> Result<()> {
    let series = series()?;
    let (shared, alone) = (plant(cases, &series, true)?, plant(cases, &series, false)?);
    for by in [By::Day, By::All, By::Week] {
        for per_device in [false, true] {
            let asked = Query { statistics: ASKED, by, per_device, spans: &[] };
            let name = format!("shared masks{}{}", by.clause(), if per_device { " per device" } else { "" });
            cases.asked(&name, &shared, &series, &asked, "");
            let text = asked.text(&series);
            let found = same(&shared.ask(&text, &[])?, &alone.ask(&text, &[])?);
            cases.case(&format!("{name}: as without"), found);
        }
    }
    let [question, plan] = ["sum(power) by day", "plan"];
    let jobs = |site: &Site| -> Result<u64> { site.ask(question, &[])?["jobs"].as_u64().context("jobs") };
    // With shared masks: one sum a day, and two windows of the day that the stop cut in two. Without: one sum a device,
    // and three for the device whose windows have three lengths.
    let found = (jobs(&shared)?, jobs(&alone)?);
    let expected = (DAYS as u64 + 2, DEVICES.len() as u64 - 1 + 3);
    cases.case("one sum for each mask", wrong(found != expected, || format!("{found:?}, not {expected:?}")));
    let told = shared.sotto(&[plan])?.contains("share_masks");
    cases.case("the plan tells of shared masks", wrong(!told, || "it does not".to_owned()));
    let told = alone.sotto(&[plan])?.contains("share_masks");
    cases.case("and only of those", wrong(told, || "it does".to_owned()));
    for site in [shared, alone] {
        cases.case("nothing is left behind", site.close()?);
    }
    Ok(())
}

fn wrong(is: bool, fault: impl FnOnce() -> String) -> Vec<String> {
    is.then(fault).into_iter().collect()
}

/// Compares two answers in all but costs and times; returns the differences.
fn same(shared: &Value, alone: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    for field in ["took_part", "windows", "left_out", "notes"] {
        faults.extend(wrong(shared[field] != alone[field], || {
            format!("{field}: {} is not {}", shared[field], alone[field])
        }));
    }
    let part = shared["took_part"].as_object().map_or(0, serde_json::Map::len);
    faults.extend(wrong(part != DEVICES.len(), || format!("{part} devices took part")));
    let rows = |answer: &Value| answer["rows"].as_array().cloned().unwrap_or_default();
    let (shared, alone) = (rows(shared), rows(alone));
    faults.extend(wrong(shared.is_empty() || shared.len() != alone.len(), || "other rows".to_owned()));
    for (shared, alone) in shared.iter().zip(&alone) {
        let near = |field: &str| match (shared[field].as_f64(), alone[field].as_f64()) {
            (Some(shared), Some(alone)) => (shared - alone).abs() <= 1e-9 * alone.abs().max(1.0),
            (shared, alone) => shared == alone,
        };
        let exact = ["from", "to", "device", "name", "unit", "count", "missing"];
        let all = exact.iter().all(|field| shared[*field] == alone[*field]) && near("value") && near("bound");
        faults.extend(wrong(!all, || format!("{shared} is not {alone}")));
    }
    faults.truncate(6);
    faults
}
