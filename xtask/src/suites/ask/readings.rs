//! Results that are computed from readings: first and last, times of extremes, episodes, sums beyond a limit, differences, lines
//! over gaps, spectra; on generated readings of two devices that come in two parts, and on the data sets.

use std::fs;
use std::path::PathBuf;

use super::Cases;
use super::datasets::{File, files};
use super::generator::{csv, generated};
use super::plain_readings::{BANDS, lines, power, readings, truth};
use super::series::{By, Channel, Series, instant};
use super::site::Site;
use anyhow::{Context as _, Result};
use jiff::Timestamp;
use serde_json::Value;

const HOUR: i64 = 3_600_000;
const DAY: f64 = 86_400_000.0;

pub(super) fn run(cases: &mut Cases) -> Result<()> {
    let channels = vec![
        Channel { name: "temperature", unit: "°C", low: -20.0, high: 60.0, resolution: 0.1 },
        Channel { name: "flow", unit: "°C", low: 0.0, high: 20.0, resolution: 0.05 },
    ];
    let mut series = Series::new("Europe/Vienna", HOUR / 6, channels, vec!["boiler", "tank"])?;
    // The clocks go forward on the fourth day.
    generated(&mut series, "2025-03-26T23:00:00Z", 9 * 24 * 6)?;
    let mut site = Site::new(cases.sotto(), "Europe/Vienna")?;
    for channel in &series.channels {
        site.channel(channel, "10m")?;
    }
    site.sotto(&["question", "add", "means", "mean(temperature), mean(flow) by day"])?;
    site.start_cloud()?;
    for (at, device) in series.devices.iter().enumerate() {
        site.sotto(&["device", "add", device, "--channels", "temperature,flow"])?;
        // Every seventh row comes late, in windows of its own.
        let all = csv(&series, at);
        let early = all.lines().enumerate().filter(|(at, _)| at % 7 != 3).map(|(_, line)| line);
        site.write(&format!("{device}.csv"), early.collect::<Vec<_>>().join("\n"))?;
        site.agent(device, &["--csv", &format!("{device}.csv")])?;
        site.write(&format!("{device}.csv"), all)?;
        site.agent(device, &["--csv", &format!("{device}.csv")])?;
    }
    let limits = [24.03, 10.07];
    judged(cases, "generated", &site, &series, limits)?;
    night(cases, &site, &series, limits)?;
    across(cases, &site, &series)?;
    bounded(cases, &site)?;
    cases.case("nothing is left behind", site.close()?);
    Ok(())
}

/// Runs the data sets.
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

fn dataset(cases: &mut Cases, file: &File, path: &str, text: &str) -> Result<()> {
    let (series, mut site) = file.series_and_site(cases, text)?;
    let names: Vec<&str> = file.channels.iter().map(|channel| channel.name).collect();
    site.start_cloud()?;
    for (device, args) in file.devices {
        site.sotto(&["device", "add", device, "--channels", &names.join(",")])?;
        site.agent(device, &[&["--csv", path], *args].concat())?;
    }
    let limit = |channel: &Channel| {
        let third = channel.low + (channel.high - channel.low) / 3.0;
        ((third / channel.resolution).round() + 0.3) * channel.resolution
    };
    let limits = [limit(&file.channels[0]), file.channels.get(1).map_or(0.0, limit)];
    judged(cases, file.name, &site, &series, limits)?;
    cases.case(&format!("{}: nothing is left behind", file.name), site.close()?);
    Ok(())
}

/// The results of a channel that are asked for.
fn results(channel: &Channel, limit: f64) -> Vec<String> {
    let name = channel.name;
    vec![
        format!("first({name})"),
        format!("last({name})"),
        format!("time_of_max({name})"),
        format!("time_of_min({name})"),
        format!("longest({name} > {limit})"),
        format!("episodes({name} <= {limit})"),
        format!("degree_hours({name}, below {limit})"),
        format!("degree_hours({name}, above {limit})"),
    ]
}

fn judged(cases: &mut Cases, title: &str, site: &Site, series: &Series, limits: [f64; 2]) -> Result<()> {
    for (at, channel) in series.channels.iter().enumerate() {
        for (by, per_device) in [(By::All, true), (By::Day, true), (By::Day, false), (By::SixHours, true)] {
            let device = if per_device { " per device" } else { "" };
            let text = format!("{}{}{device}", results(channel, limits[at]).join(", "), by.clause());
            let answer = site.ask(&text, &[])?;
            let faults = judge(series, &answer, |_| true, (at, limits[at]));
            cases.case(&format!("{title}: readings of {}{}{device}", channel.name, by.clause()), faults);
            let noted = answer["notes"].to_string().contains("computed from readings");
            if !noted {
                cases.case(&format!("{title}: a note names the readings"), vec![answer["notes"].to_string()]);
            }
        }
        let text = format!("interpolate({}) per device", channel.name);
        let answer = site.ask(&text, &[])?;
        cases.case(&format!("{title}: {text}"), on_lines(series, &answer, at));
        let text = format!("spectrum({}, {BANDS}) by week per device", channel.name);
        let answer = site.ask(&text, &[])?;
        cases.case(&format!("{title}: {text}"), spectra(series, &answer, at));
    }
    if let [x, y] = &series.channels[..]
        && x.unit == y.unit
    {
        for (by, device) in [(By::Day, ""), (By::Hour, " per device"), (By::All, "")] {
            let text = format!("max({0} - {1}), min({0} - {1}){2}{device}", x.name, y.name, by.clause());
            let answer = site.ask(&text, &[])?;
            cases.case(&format!("{title}: {text}"), judge(series, &answer, |_| true, (0, 0.0)));
        }
    }
    Ok(())
}

/// Conditions on the time cut episodes.
fn night(cases: &mut Cases, site: &Site, series: &Series, limits: [f64; 2]) -> Result<()> {
    let at_night = |at: i64| {
        let local = Timestamp::from_millisecond(at).unwrap_or_default().to_zoned(series.zone.clone());
        !(6..22).contains(&local.hour())
    };
    for by in ["", " by day", " by weekday and hour of day"] {
        let text = format!(
            "{}{by} per device where time 22:00-06:00",
            results(&series.channels[0], limits[0]).join(", ")
        );
        let answer = site.ask(&text, &[])?;
        let faults = if by.contains("weekday") {
            // Of 56 rows at most, the episodes are in one each.
            let rows = answer["rows"].as_array().map_or(0, Vec::len);
            (rows == 0).then(|| "no row".to_owned()).into_iter().collect()
        } else {
            judge(series, &answer, at_night, (0, limits[0]))
        };
        cases.case(&format!("readings at night{by}"), faults);
    }
    Ok(())
}

/// Channels of two devices are compared at common ticks.
fn across(cases: &mut Cases, site: &Site, series: &Series) -> Result<()> {
    let [x, y] = ["temperature of boiler", "flow of tank"];
    let text = format!("correlation({x}, {y}), covariance({x}, {y}), regression({y} ~ {x}) by day");
    let answer = site.ask(&text, &[])?;
    let rows = answer["rows"].as_array().map_or(&[][..], Vec::as_slice);
    let mut faults: Vec<String> =
        (rows.len() < 28).then(|| format!("{} rows", rows.len())).into_iter().collect();
    for row in rows {
        let time = |key: &str| row[key].as_str().and_then(instant).unwrap_or_default();
        let group = (time("from"), time("to"));
        let of = |device: &str, at: usize| readings(series, group, Some(device), at, &|_| true).remove(0);
        let (of_x, of_y) = (of("boiler", 0), of("tank", 1));
        let both =
            of_x.iter().filter_map(|(at, x)| Some((*x, of_y.iter().find(|(other, _)| other == at)?.1)));
        let both: Vec<(f64, f64)> = both.collect();
        let n = both.len() as f64;
        let mean = |of: fn(&(f64, f64)) -> f64| both.iter().map(of).sum::<f64>() / n;
        let (mx, my) = (mean(|two| two.0), mean(|two| two.1));
        let sum =
            |of: &dyn Fn(f64, f64) -> f64| both.iter().map(|(x, y)| of(x - mx, y - my)).sum::<f64>() / n;
        let (xx, xy, yy) = (sum(&|x, _| x * x), sum(&|x, y| x * y), sum(&|_, y| y * y));
        let name = row["name"].as_str().unwrap_or_default();
        let right = match name.split('(').next().unwrap_or_default() {
            _ if both.is_empty() => f64::NAN,
            "correlation" => xy / (xx * yy).sqrt(),
            "covariance" => xy,
            _ if name.ends_with(".slope") => xy / xx,
            _ => my - mx * xy / xx,
        };
        let is_right = match row["value"].as_f64() {
            Some(found) => (found - right).abs() < 1e-6 && row["count"].as_u64() == Some(both.len() as u64),
            // Few readings may be equal but for the resolution.
            None => right.is_nan() || both.len() < 12 && row["why"].is_string(),
        };
        faults.extend((!is_right).then(|| format!("{row} is not {right} of {n}")));
    }
    faults.truncate(6);
    cases.case("channels of two devices", faults);
    Ok(())
}

/// A question for which too many bytes would come down is refused before any does.
fn bounded(cases: &mut Cases, site: &Site) -> Result<()> {
    let text = "longest(temperature > 24)";
    let refused = site.try_sotto(&["ask", text, "--fetch", "2kB", "--no-keep"])?;
    let told = refused.stderr;
    let kilobytes = |text: &str, before: &str| -> Option<f64> {
        text.split_once(before)?.1.split_once(" kB")?.0.parse().ok()
    };
    let most = kilobytes(&told, "of which ");
    let right = refused.status.code() == Some(4) && told.contains("--fetch 1MB") && most.is_some();
    cases.case("too many bytes are refused", (!right).then_some(told).into_iter().collect());
    let note = site.ask(text, &["--fetch", "1MB", "--no-cache"])?["notes"].to_string();
    let came = kilobytes(&note, "came down, ");
    let right = came.zip(most).is_some_and(|(came, most)| came <= most && 1.5 * came >= most);
    let wrong = || format!("{came:?} kB came down, {most:?} at most: {note}");
    cases.case("no more bytes come down than were told", (!right).then(wrong).into_iter().collect());
    let refused = site.try_sotto(&["ask", "skewness(temperature)", "--fetch", "2kB", "--no-keep"])?;
    let told = refused.stderr;
    let right = refused.status.code() == Some(4)
        && told.contains("--fetch 1MB")
        && told.contains("sotto question add")
        && kilobytes(&told, "of which ").is_some();
    cases.case("readings to compare are bounded, too", (!right).then_some(told).into_iter().collect());
    let last = site.ask("last(temperature)", &["--fetch", "5kB"])?;
    let note = last["notes"].to_string();
    let few =
        note.contains("those of 2 windows of 2 devices") || note.contains("those of 4 windows of 2 devices");
    cases.case("the last reading takes the last windows", (!few).then_some(note).into_iter().collect());
    Ok(())
}

/// Returns the faults of an answer about a channel, with its limit, on the times that count.
fn judge(
    series: &Series,
    answer: &Value,
    counts: impl Fn(i64) -> bool,
    (at, limit): (usize, f64),
) -> Vec<String> {
    let rows = answer["rows"].as_array().map_or(&[][..], Vec::as_slice);
    let mut faults: Vec<String> = rows.is_empty().then(|| "no row".to_owned()).into_iter().collect();
    let channel = &series.channels[at];
    for row in rows {
        let time = |key: &str| row[key].as_str().and_then(instant);
        let group = (time("from").unwrap_or_default(), time("to").unwrap_or_default());
        let name = row["name"].as_str().unwrap_or_default();
        let of = readings(series, group, row["device"].as_str(), at, &counts);
        let other = readings(series, group, row["device"].as_str(), series.channels.len() - 1, &counts);
        let found = row["value"].as_f64().zip(row["bound"].as_f64());
        let (right, found) = match (truth(series, name, &of, &other, limit), found) {
            (None, found) => (found.is_none(), found),
            (Some(_), None) => (false, None),
            (Some((value, when)), Some((found, bound))) => {
                // Rounded readings are compared, and are off by half of a step.
                let count = of.iter().map(Vec::len).sum::<usize>() as f64;
                let most = match name.split('(').next().unwrap_or_default() {
                    "first" | "last" => channel.half(),
                    "max" | "min" => series.channels.iter().map(Channel::half).sum(),
                    "degree_hours" => channel.half() * count * series.period as f64 / HOUR as f64,
                    _ => 0.0,
                };
                // The values are those of the rounded readings.
                let near = (value - found).abs() <= 1e-9 * value.abs().max(1.0);
                (near && bound <= most * (1.0 + 1e-9) + 1e-9 && time("at") == when, Some((found, bound)))
            }
        };
        if !right {
            faults.push(format!(
                "{name} at {} of {}: {found:?} at {} is not {:?}",
                row["from"],
                row["device"],
                row["at"],
                truth(series, name, &of, &other, limit)
            ));
        }
    }
    faults.truncate(6);
    faults
}

fn on_lines(series: &Series, answer: &Value, at: usize) -> Vec<String> {
    let rows = answer["rows"].as_array().map_or(&[][..], Vec::as_slice);
    let mut faults = Vec::new();
    for device in &series.devices {
        let mut all = readings(series, (i64::MIN, i64::MAX), Some(device), at, &|_| true);
        let right = lines(&all.remove(0), series.period);
        let found: Vec<(i64, f64, bool)> = rows
            .iter()
            .filter(|row| row["device"] == *device)
            .filter_map(|row| {
                let between = row["interpolated"] == true;
                Some((instant(row["from"].as_str()?)?, row["value"].as_f64()?, between))
            })
            .collect();
        let same = |(a, b): (&(i64, f64, bool), &(i64, f64, bool))| {
            a.0 == b.0 && a.2 == b.2 && (a.1 - b.1).abs() < 1e-6
        };
        if right.len() != found.len() || !right.iter().zip(&found).all(same) {
            let first = right.iter().zip(&found).find(|two| !same(*two));
            faults.push(format!("{device}: {} values, not {}: {first:?}", found.len(), right.len()));
        }
    }
    faults
}

fn spectra(series: &Series, answer: &Value, at: usize) -> Vec<String> {
    let rows = answer["rows"].as_array().map_or(&[][..], Vec::as_slice);
    let (mut faults, mut judged) = (Vec::new(), 0);
    for of_group in rows.chunk_by(|a, b| a["from"] == b["from"] && a["device"] == b["device"]) {
        let row = &of_group[0];
        let time = |key: &str| row[key].as_str().and_then(instant).unwrap_or_default();
        let all = readings(series, (time("from"), time("to")), row["device"].as_str(), at, &|_| true);
        let of = all.into_iter().next().unwrap_or_default();
        let values = lines(&of, series.period);
        let between = values.iter().filter(|(_, _, between)| *between).count();
        let has_one = of_group.iter().all(|row| row["value"].is_number());
        // Few frequencies have fewer bands, and a long series takes this check long.
        if values.len() > 2500 {
            continue;
        }
        if between as f64 > 0.05 * values.len() as f64 || values.len() < 4 {
            faults.extend(has_one.then(|| format!("{} has a spectrum in spite of gaps", row["from"])));
            continue;
        }
        if values.len() < 128 {
            continue;
        }
        judged += 1;
        let series_of: Vec<f64> = values.iter().map(|(_, value, _)| *value).collect();
        let right = power(&series_of);
        let first = DAY / (values.len() as f64 * series.period as f64);
        if of_group.len() != right.len() {
            faults.push(format!("{}: {} bands, not {BANDS}: {row}", row["from"], of_group.len()));
            continue;
        }
        for (band, (row, right)) in of_group.iter().zip(&right).enumerate() {
            let value = row["value"].as_f64().unwrap_or(f64::NAN);
            let low = row["bin"][0].as_f64().unwrap_or(f64::NAN);
            let in_place = (low - first * f64::from(1 << band)).abs() < 1e-9 * low.abs();
            if !in_place || (value - right).abs() > 1e-6 * right.abs().max(1e-6) {
                faults.push(format!("{} {}: {value} is not {right}", row["from"], row["name"]));
            }
        }
    }
    println!("{judged} spectra judged");
    faults.truncate(6);
    faults
}
