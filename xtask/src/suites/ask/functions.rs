//! Every function of the language on generated readings of two devices.

use super::each::{Each, each};
use super::generator::{csv, generated};
use super::judge::{Query, spans};
use super::series::{By, Channel, Sample, Series};
use super::site::Site;
use super::truth::{CONSTANT, FACTORS, OfReadings, Statistic as S};
use super::{Cases, devices};
use anyhow::{Context as _, Result};

const POLYNOMIAL: &[f64] = &[3.0, -0.5, 0.02];
const CUBIC: &[f64] = &[0.0, 1.0, 0.0, 0.001];
const HOUR: i64 = 3_600_000;

/// The root of the mean square.
pub(super) const RMS: OfReadings = OfReadings {
    function: "rms",
    value: |x| (x.iter().map(|x| x * x).sum::<f64>() / x.len() as f64).sqrt(),
    bound: Channel::half,
};

/// The largest reading less the smallest. Each is known to the resolution.
const RANGE: OfReadings = OfReadings {
    function: "range",
    value: |x| x.iter().fold(f64::MIN, |a, b| a.max(*b)) - x.iter().fold(f64::MAX, |a, b| a.min(*b)),
    bound: |channel| 2.0 * channel.half(),
};

/// Every statistic of the first channel, and of both channels.
pub(super) const ALL: &[S] = &[
    S::Count(0),
    S::Sum(0),
    S::Mean(0),
    S::Variance(0),
    S::Stddev(0),
    S::Readings(0, &RMS),
    S::Energy(0),
    S::Weights(0, &[1.0, 2.0, 3.5]),
    S::HalfLife(0, "6h", 6 * HOUR),
    S::MeanLessTwo(0),
    S::MeanOverStddev(0),
    S::MeanTimesCount(0),
];
pub(super) const PAIRS: &[S] = &[
    S::Mean(1),
    S::Variance(1),
    S::Covariance(0, 1),
    S::Correlation(0, 1),
    S::Slope(0, 1),
    S::Intercept(0, 1),
    S::Slope(1, 0),
    S::Intercept(1, 0),
];
const REAL: &[S] = &[
    S::SumPolynomial(0, POLYNOMIAL),
    S::MeanPolynomial(0, POLYNOMIAL),
    S::MeanPolynomial(1, CUBIC),
    S::MeanLinear(CONSTANT, FACTORS),
    S::CountPolynomial(0, POLYNOMIAL, 3.5),
    S::CountPolynomial(1, CUBIC, -1000.0),
    S::TimeLinear(CONSTANT, FACTORS, 10.25),
];
/// Statistics that need no reading, and few weights.
const EDGES: &[S] = &[
    S::MeanPolynomial(0, &[5.0, 0.0]),
    S::SumPolynomial(1, &[1.0, 0.0, 0.0]),
    S::HalfLife(0, "10m", HOUR / 6),
    S::HalfLife(1, "30d", 720 * HOUR),
    S::Weights(0, &[0.0, 0.0, 1.0]),
    S::Weights(1, &[-1.0, 4.0]),
    S::Weights(0, &[-1.0, 1.0]),
    S::Weights(1, &[1.0, -2.0, 1.0]),
];
const RANGES: &[S] = &[S::Readings(0, &RANGE), S::Readings(1, &RANGE), S::Count(1)];
const MOVING: &[S] = &[S::MovingAverage(0, 3), S::Mean(0), S::MovingAverage(1, 2)];
/// The declared questions, by name. The moving ones work only with groups by the clock.
const QUESTIONS: &[(&str, &[S])] =
    &[("single", ALL), ("pairs", PAIRS), ("real", REAL), ("ranges", RANGES), ("moving", MOVING)];

fn channels() -> Vec<Channel> {
    vec![
        Channel { name: "temperature", unit: "°C", low: -20.0, high: 60.0, resolution: 0.1 },
        Channel { name: "flow", unit: "l/s", low: 0.0, high: 20.0, resolution: 0.05 },
    ]
}

pub(super) fn by_day(cases: &mut Cases) -> Result<()> {
    days(cases, false)
}

pub(super) fn by_day_thoroughly(cases: &mut Cases) -> Result<()> {
    days(cases, true)
}

fn days(cases: &mut Cases, thorough: bool) -> Result<()> {
    let mut series = Series::new("Europe/Vienna", HOUR / 6, channels(), vec!["boiler", "tank"])?;
    generated(&mut series, "2025-03-03T23:00:00Z", 32 * 24 * 6)?;
    let site = prepared(cases, &series, "10m", By::Day)?;
    let bys = [By::All, By::Day, By::Week, By::Month, By::Window];
    every(cases, &site, &series, "by day", &bys, thorough)?;
    // Windows of a day are divided into hours by their ticks.
    let spans = spans_of(&site, &series)?;
    for per_device in [true, false] {
        let asked = Query { statistics: PAIRS, by: By::Hour, per_device, spans: &spans };
        cases.asked(&format!("by day: pairs{}", asked.clauses()), &site, &series, &asked, "");
    }
    for by in [By::Day, By::Week, By::All] {
        let asked = Query { statistics: EDGES, by, per_device: false, spans: &spans };
        cases.asked(&format!("by day: edges{}", asked.clauses()), &site, &series, &asked, "");
    }
    for by in [By::SixHours, By::MonthFrom21, By::Quarter, By::Year] {
        let asked = Query { statistics: PAIRS, by, per_device: true, spans: &spans };
        cases.asked(&format!("by day: pairs{}", asked.clauses()), &site, &series, &asked, "");
    }
    super::along::run(cases, &site, &series, &spans)?;
    periods(cases, &site, &series)?;
    devices::run(cases, &site, &series)?;
    cases.case("nothing is left behind", site.close()?);
    Ok(())
}

pub(super) fn by_hour(cases: &mut Cases) -> Result<()> {
    hours(cases, 10, &[By::Hour, By::Day], false)
}

pub(super) fn by_hour_longer(cases: &mut Cases) -> Result<()> {
    hours(cases, 72, &[By::Hour, By::Day, By::Window, By::All], true)
}

fn hours(cases: &mut Cases, count: i64, bys: &[By], thorough: bool) -> Result<()> {
    let mut series = Series::new("Europe/Vienna", HOUR / 12, channels(), vec!["boiler", "tank"])?;
    // The clocks go forward after five hours.
    generated(&mut series, "2025-03-29T20:00:00Z", count * 12)?;
    let site = prepared(cases, &series, "5m", By::Hour)?;
    every(cases, &site, &series, "by hour", bys, thorough)?;
    let spans = spans_of(&site, &series)?;
    for per_device in [true, false] {
        let asked = Query { statistics: PAIRS, by: By::QuarterHour, per_device, spans: &spans };
        cases.asked(&format!("by hour: pairs{}", asked.clauses()), &site, &series, &asked, "");
    }
    cases.case("nothing is left behind", site.close()?);
    Ok(())
}

/// Returns a site whose devices carry all questions, with all readings in the cloud.
fn prepared(cases: &Cases, series: &Series, every: &str, by: By) -> Result<Site> {
    let mut site = Site::new(cases.sotto(), "Europe/Vienna")?;
    for channel in &series.channels {
        site.channel(channel, every)?;
    }
    site.write("model.json", r#"{"intercept": 2.0, "coefficients": {"temperature": 0.5, "flow": -0.25}}"#)?;
    for (name, statistics) in QUESTIONS {
        let asked = Query { statistics, by, per_device: false, spans: &[] };
        site.sotto(&["question", "add", name, &asked.text(series)])?;
    }
    for (at, device) in series.devices.iter().enumerate() {
        site.sotto(&["device", "add", device, "--channels", "temperature,flow"])?;
        site.write(&format!("{device}.csv"), csv(series, at))?;
    }
    site.start_cloud()?;
    for device in &series.devices {
        site.agent(device, &["--csv", &format!("{device}.csv")])?;
    }
    Ok(site)
}

/// Returns the first and the last time of each device's windows.
pub(super) fn spans_of(site: &Site, series: &Series) -> Result<Vec<(i64, i64)>> {
    let count = Query { statistics: &[S::Count(0)], by: By::Window, per_device: true, spans: &[] };
    Ok(spans(series, &site.ask(&count.text(series), &[])?))
}

fn every(
    cases: &mut Cases,
    site: &Site,
    series: &Series,
    title: &str,
    bys: &[By],
    thorough: bool,
) -> Result<()> {
    let spans = spans_of(site, series)?;
    for by in bys {
        for per_device in [true, false] {
            let moving = !matches!(by, By::All | By::Window);
            for (name, statistics) in QUESTIONS.iter().filter(|(name, _)| moving || *name != "moving") {
                // Real answers are computed window by window, whatever the groups: one grouping suffices.
                let once = matches!((by, per_device), (By::Hour | By::Day, true) | (By::Month, false));
                if *name == "real" && !thorough && !once {
                    continue;
                }
                let asked = Query { statistics, by: *by, per_device, spans: &spans };
                cases.asked(&format!("{title}: {name}{}", asked.clauses()), site, series, &asked, "");
            }
        }
    }
    for (text, of) in [
        (format!("polynomial(flow, {})", super::truth::list(CUBIC)), Each::Polynomial(1, CUBIC)),
        ("linear(model.json)".to_owned(), Each::Linear),
    ] {
        let text = format!("{text} by day per device");
        let found = match site.ask(&text, &[]) {
            Ok(answer) => each(series, &answer, &of),
            Err(error) => vec![format!("{error:#}")],
        };
        cases.case(&format!("{title}: {text}"), found);
    }
    Ok(())
}

/// Tests `over`, `since`, `until` and `where device in`.
fn periods(cases: &mut Cases, site: &Site, series: &Series) -> Result<()> {
    let statistics = &[S::Count(0), S::Mean(0), S::Variance(0)];
    let last = series.samples.last().context("samples")?.at + series.period;
    let cut = |from: i64, to: i64, device: Option<usize>| {
        let inside = |sample: &&Sample| {
            (from..to).contains(&sample.at) && device.is_none_or(|device| sample.device == device)
        };
        Series { samples: series.samples.iter().filter(inside).copied().collect(), ..series.clone() }
    };
    let local = |text: &str| series.local(text).context("a time");
    // Windows are days: those that began before `over` or `since` are cut by reading.
    // Seven calendar days earlier at the same time of day; the clocks change on neither day.
    let begins = series.group(By::Day, last).0;
    let week = (0..7).fold(begins, |day, _| series.group(By::Day, day - 1).0) + (last - begins);
    let (march, half) = (local("2025-03-20T00:00")?, local("2025-03-20T12:00")?);
    let (april, next) = (local("2025-04-01T00:00")?, series.group(By::Day, march).1);
    let all = i64::MAX;
    for (period, cut) in [
        (" over 7d", cut(week, all, None)),
        (" since 2025-03-20", cut(march, all, None)),
        (" since 2025-03-20T12:00", cut(half, all, None)),
        (" until 2025-04-01", cut(0, april, None)),
        (" until 2025-03-20T12:00", cut(0, half, None)),
        (" since 2025-03-20 until 2025-04-01", cut(march, april, None)),
        (" since 2025-03-20T00:00 until 2025-03-21", cut(march, next, None)),
        (" during 2025-03-20", cut(march, next, None)),
        (" during 2025-Q2", cut(april, all, None)),
    ] {
        let asked = Query { statistics, by: By::Day, per_device: false, spans: &[] };
        cases.asked(&format!("count, mean, variance{period} by day"), site, &cut, &asked, period);
    }
    let asked = Query { statistics, by: By::Week, per_device: false, spans: &[] };
    let text = asked.text(series) + " where device in (tank)";
    let found = site.ask(&text, &[]).map(|answer| asked.judge(&cut(0, all, Some(1)), &answer));
    cases.case(&text, found.unwrap_or_else(|error| vec![format!("{error:#}")]));
    let text = asked.text(series);
    let answer = site.ask(&text, &["--since", "2025-03-20", "--until", "2025-04-01"])?;
    cases.case(&format!("{text} --since --until"), {
        let cut = cut(march, april, None);
        asked.judge(&cut, &answer)
    });
    Ok(())
}
