//! Readings at frequencies whose period is no whole number of milliseconds: 60 Hz, 120 Hz and 44.1 Hz, in files with times in
//! milliseconds, read in two runs. Answers are compared with sums over the rows.

use std::f64::consts::TAU;
use std::fmt::Write as _;

use anyhow::{Context as _, Result};
use jiff::Timestamp;
use serde_json::Value;

use super::Cases;
use super::plain_readings::{BANDS, power};
use super::refusals::refusal;
use super::series::instant;
use super::site::Site;

/// 40 s before an hour of the plant's clock, at the beginning of a period of all frequencies.
const BEGIN: &str = "2025-03-01T15:59:20Z";
const SECONDS: i64 = 150;
const RESOLUTION: f64 = 0.01;

/// A frequency as it is declared: readings in some seconds, and the sine that is read.
struct Frequency {
    every: &'static str,
    readings: i64,
    seconds: i64,
    hertz: f64,
    /// True if the times of the file are rounded to the nearest millisecond, false if they are cut.
    is_rounded: bool,
}

/// A row of the file, with the time of its tick in milliseconds since 1970.
struct Row {
    tick: i64,
    value: f64,
}

/// The time of a value, in milliseconds since 1970, and the value.
type Timed = (Option<i64>, f64);

pub(super) fn run(cases: &mut Cases) -> Result<()> {
    let all = [
        Frequency { every: "60Hz", readings: 60, seconds: 1, hertz: 7.5, is_rounded: true },
        Frequency { every: "1/120s", readings: 120, seconds: 1, hertz: 50.0, is_rounded: false },
        Frequency { every: "44.1Hz", readings: 441, seconds: 10, hertz: 5.0, is_rounded: true },
    ];
    for frequency in &all {
        of(cases, frequency).with_context(|| frequency.every)?;
    }
    refused(cases)
}

fn of(cases: &mut Cases, frequency: &Frequency) -> Result<()> {
    let Frequency { every, readings, seconds, .. } = frequency;
    let (rows, lines) = rows(frequency)?;
    let mut site = Site::new(cases.sotto(), "America/New_York")?;
    let range = ["--range", "-400..400", "--resolution", "0.01", "--every", every];
    site.sotto(&[&["channel", "add", "mains", "--unit", "V"], &range[..]].concat())?;
    site.sotto(&["question", "add", "hourly", "rms(mains) by hour"])?;
    site.start_cloud()?;
    site.sotto(&["device", "add", "meter", "--channels", "mains"])?;
    site.write("all.csv", lines.concat())?;
    let found =
        site.program("sotto-agent", &["check", "--bundle", "meter.bundle", "--csv", "all.csv", "--json"])?;
    let found: Value = serde_json::from_str(&found).context("the check is no JSON")?;
    let period = &found["times"]["period_ms"];
    let of_check = (period[0].as_i64(), period[1].as_i64());
    let is_it = of_check.0.zip(of_check.1).is_some_and(|(ms, of)| ms * readings == 1000 * seconds * of);
    let fault = || format!("the check finds {period}");
    cases.case(&format!("{every}: the period of the file"), (!is_it).then(fault).into_iter().collect());
    // The second run goes on between two whole milliseconds' ticks, and reads the first rows again.
    site.write("first.csv", lines[..=lines.len() / 3 + 1].concat())?;
    site.agent("meter", &["--csv", "first.csv"])?;
    site.agent("meter", &["--csv", "all.csv"])?;
    let asked = "count(mains), mean(mains), rms(mains), energy(mains), max(mains), time_of_max(mains)";
    for by in [" by 1s", " by 1m", " by hour", " by day", ""] {
        let answer = site.ask(&format!("{asked}{by}"), &[])?;
        let faults = judge(frequency, &rows, &answer);
        cases.case(&format!("{every}: sums and readings{by}"), faults);
    }
    let end = instant(BEGIN).context("a time")? + 80_000;
    let since = Timestamp::from_millisecond(end - 20_000)?;
    let between = format!(" since {since} until {}", Timestamp::from_millisecond(end)?);
    let answer = site.ask(&format!("spectrum(mains, {BANDS}){between}"), &[])?;
    cases.case(&format!("{every}: spectrum"), spectrum(frequency, &rows, &answer, end));
    let answer = site.ask(&format!("interpolate(mains){between}"), &[])?;
    cases.case(&format!("{every}: interpolate"), times(&rows, &answer, end));
    cases.case(&format!("{every}: nothing is left behind"), site.close()?);
    Ok(())
}

/// Returns the rows that count, and the lines of their file. Rows of the first minute are missing here and there.
fn rows(frequency: &Frequency) -> Result<(Vec<Row>, Vec<String>)> {
    let Frequency { readings, seconds, hertz, is_rounded, .. } = frequency;
    let (begin, mut rows, mut lines) =
        (instant(BEGIN).context("a time")?, Vec::new(), vec!["time,mains\n".to_owned()]);
    for row in 0..SECONDS * readings / seconds {
        if row < 60 * readings / seconds && row % 97 == 5 {
            continue;
        }
        let phase = row as f64 * *seconds as f64 / *readings as f64;
        let value = (325.0 * (TAU * hertz * phase + 0.3).sin() / RESOLUTION).round() * RESOLUTION;
        let tick = begin + 1000 * row * seconds / readings;
        let time = if *is_rounded { begin + (1000.0 * phase).round() as i64 } else { tick };
        let mut line = String::new();
        writeln!(line, "{},{value:.2}", Timestamp::from_millisecond(time)?)?;
        lines.push(line);
        rows.push(Row { tick, value });
    }
    Ok((rows, lines))
}

fn judge(frequency: &Frequency, rows: &[Row], answer: &Value) -> Vec<String> {
    let answered = answer["rows"].as_array().map_or(&[][..], Vec::as_slice);
    let mut faults: Vec<String> = answered.is_empty().then(|| "no row".to_owned()).into_iter().collect();
    let (mut counted, hours) = (0, frequency.seconds as f64 / frequency.readings as f64 / 3600.0);
    for row in answered {
        let time = |key: &str| row[key].as_str().and_then(instant);
        let (from, to) = (time("from").unwrap_or(i64::MIN), time("to").unwrap_or(i64::MAX));
        let of: Vec<&Row> = rows.iter().filter(|row| (from..to).contains(&row.tick)).collect();
        let (count, sum) = (of.len() as f64, of.iter().map(|row| row.value).sum::<f64>());
        let largest = of.iter().map(|row| row.value).fold(f64::NEG_INFINITY, f64::max);
        let at = of.iter().find(|row| (row.value - largest).abs() < RESOLUTION / 2.0).map(|row| row.tick);
        let name = row["name"].as_str().unwrap_or_default();
        let right = match name.split('(').next().unwrap_or_default() {
            "count" => {
                counted += of.len();
                count
            }
            "mean" => sum / count,
            "rms" => (of.iter().map(|row| row.value * row.value).sum::<f64>() / count).sqrt(),
            "energy" => sum * hours,
            "max" => largest,
            // A time is a number of seconds.
            "time_of_max" => at.map_or(f64::NAN, |at| at as f64 / 1000.0),
            _ => f64::NAN,
        };
        let found = row["value"].as_f64().unwrap_or(f64::NAN);
        let is_then = !name.starts_with("time_of_max") || time("at") == at;
        if (found - right).abs() > 1e-9 * right.abs().max(1.0) || !is_then {
            faults.push(format!(
                "{name} from {}: {found} at {} is not {right} at {at:?}",
                row["from"], row["at"]
            ));
        }
    }
    if counted != rows.len() {
        faults.push(format!("{counted} of {} readings count", rows.len()));
    }
    faults.truncate(4);
    faults
}

/// Compares the bands of 20 s before a time with the definition of the transform, and the band of the sine with its power.
fn spectrum(frequency: &Frequency, rows: &[Row], answer: &Value, end: i64) -> Vec<String> {
    let values: Vec<f64> =
        rows.iter().filter(|row| (end - 20_000..end).contains(&row.tick)).map(|row| row.value).collect();
    let right = power(&values);
    let first = 86_400.0 * frequency.readings as f64 / (frequency.seconds as f64 * values.len() as f64);
    let bands = answer["rows"].as_array().map_or(&[][..], Vec::as_slice);
    let mut faults = Vec::new();
    if bands.len() != right.len() {
        faults.push(format!("{} bands: {answer}", bands.len()));
    }
    let mut is_sine = false;
    for (band, (row, right)) in bands.iter().zip(&right).enumerate() {
        let value = row["value"].as_f64().unwrap_or(f64::NAN);
        let [low, high] = [0, 1].map(|end| row["bin"][end].as_f64().unwrap_or(f64::NAN));
        let in_place = (low - first * f64::from(1 << band)).abs() < 1e-9 * low.abs();
        if !in_place || (value - right).abs() > 1e-6 * right.abs().max(1e-3) {
            faults.push(format!("{}: {value} is not {right}", row["name"]));
        }
        let has_sine = (low..high).contains(&(86_400.0 * frequency.hertz));
        is_sine |= has_sine && (value - 325.0 * 325.0 / 2.0).abs() < 1.0;
    }
    faults.extend((!is_sine).then(|| format!("{} Hz are not in their band: {answer}", frequency.hertz)));
    faults
}

/// Compares the times of the readings of 20 s before a time with those of the ticks.
fn times(rows: &[Row], answer: &Value, end: i64) -> Vec<String> {
    let right: Vec<(Option<i64>, f64)> = rows
        .iter()
        .filter(|row| (end - 20_000..end).contains(&row.tick))
        .map(|row| (Some(row.tick), row.value))
        .collect();
    let answered = answer["rows"].as_array().map_or(&[][..], Vec::as_slice);
    let found =
        |row: &Value| (row["from"].as_str().and_then(instant), row["value"].as_f64().unwrap_or(f64::NAN));
    let found: Vec<Timed> = answered.iter().map(found).collect();
    let is_right =
        |((at, value), (then, right)): (&Timed, &Timed)| at == then && (value - right).abs() < 1e-9;
    let all = found.len() == right.len() && found.iter().zip(&right).all(is_right);
    let fault = || format!("{} values, not {}: {:?}", found.len(), right.len(), found.first());
    (!all).then(fault).into_iter().collect()
}

/// Periods and kinds that are refused with the reason.
fn refused(cases: &mut Cases) -> Result<()> {
    let site = Site::new(cases.sotto(), "UTC")?;
    let add = ["channel", "add", "x", "--range", "0..9", "--resolution", "1", "--every"];
    for (more, code, words) in [
        (&["2000Hz"][..], 2, &["1000Hz", "milliseconds"][..]),
        (&["0.5ms"], 2, &["at least 1ms"]),
        (&["16.66667ms"], 2, &["1/60s"]),
        (&["60Hz", "--kind", "counter"], 2, &["60Hz", "whole milliseconds"]),
    ] {
        let done = site.try_sotto(&[&add[..], more].concat())?;
        cases.case(&format!("refused: --every {}", more.join(" ")), refusal(&done, code, words));
    }
    site.sotto(&[&add[..], &["60Hz"]].concat())?;
    site.sotto(&["question", "add", "cubes", "mean(polynomial(x, [0, 0, 0, 1]))"])?;
    let done = site.try_sotto(&["device", "add", "meter", "--channels", "x"])?;
    cases.case("refused: ciphertexts at 60 Hz", refusal(&done, 4, &["60Hz", "whole milliseconds"]));
    Ok(())
}
