//! Tags, calls about devices that they name, places of devices, days of the calendar.

use super::Cases;
use super::judge::Query;
use super::series::{By, Sample, Series, instant};
use super::site::Site;
use super::truth::Statistic as S;
use anyhow::{Context as _, Result};
use jiff::Timestamp;
use serde_json::Value;

const STATISTICS: &[S] = &[S::Count(0), S::Mean(0), S::Variance(0)];

/// Asks on a site with the devices boiler and tank, and two channels.
pub(super) fn run(cases: &mut Cases, site: &Site, series: &Series) -> Result<()> {
    site.sotto(&["device", "tag", "boiler", "barn", "north"])?;
    site.sotto(&["device", "tag", "tank", "barn"])?;
    tags(cases, site, series);
    dates(cases, site, series)?;
    calls(cases, site, series)?;
    ranks(cases, site, series)
}

fn cut(series: &Series, keep: impl Fn(&Sample) -> bool) -> Series {
    let samples = series.samples.iter().filter(|sample| keep(sample)).copied().collect();
    Series { samples, ..series.clone() }
}

fn asked(cases: &mut Cases, site: &Site, series: &Series, (by, clause): (By, &str)) {
    let asked = Query { statistics: STATISTICS, by, per_device: false, spans: &[] };
    let text = asked.text(series) + clause;
    let found = site.ask(&text, &[]).map(|answer| asked.judge(series, &answer));
    cases.case(&text, found.unwrap_or_else(|error| vec![format!("{error:#}")]));
}

fn tags(cases: &mut Cases, site: &Site, series: &Series) {
    asked(cases, site, &cut(series, |sample| sample.device == 0), (By::Week, " where tag in (north)"));
    asked(cases, site, series, (By::Week, " where tag in (barn, north)"));
    // Rows of tags overlap.
    let (text, all) = ("sum(temperature) per tag".to_owned(), [None, Some(0)]);
    let found = site.ask(&text, &[]).map(|answer| {
        let sums = all.map(|device| Some(values(series, 0, device, |_| true).iter().sum()));
        near(&answer, &sums)
    });
    cases.case(&text, found.unwrap_or_else(|error| vec![format!("{error:#}")]));
}

fn dates(cases: &mut Cases, site: &Site, series: &Series) -> Result<()> {
    let days = ["2025-03-05", "2025-03-29", "2025-03-30", "2025-03-31"];
    site.write(
        "shut.txt",
        "# the clocks go forward on Sunday\n2025-03-29..2025-03-31\n2025-03-05 # a fair\n",
    )?;
    let is_shut = |at: i64| {
        let local = Timestamp::from_millisecond(at).unwrap_or_default().to_zoned(series.zone.clone());
        days.contains(&local.date().to_string().as_str())
    };
    let within = cut(series, |sample| is_shut(sample.at));
    asked(cases, site, &within, (By::All, " where date in shut.txt"));
    let list = " where date in (2025-03-05, 2025-03-29..2025-03-31)";
    asked(cases, site, &within, (By::All, list));
    let others = cut(series, |sample| !is_shut(sample.at));
    asked(cases, site, &others, (By::Week, " where date not in shut.txt"));
    Ok(())
}

/// Returns the readings of a channel at the times that count, of one device or of all.
fn values(series: &Series, channel: usize, device: Option<usize>, counts: impl Fn(i64) -> bool) -> Vec<f64> {
    let of = |sample: &&Sample| device.is_none_or(|device| sample.device == device) && counts(sample.at);
    series.samples.iter().filter(of).filter_map(|sample| sample.values[channel]).collect()
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Returns the faults of an answer whose rows have these values in order.
fn near(answer: &Value, expected: &[Option<f64>]) -> Vec<String> {
    let rows = answer["rows"].as_array().map_or(&[][..], Vec::as_slice);
    if rows.len() != expected.len() {
        return vec![format!("{} rows, not {}", rows.len(), expected.len())];
    }
    let wrong = |(row, expected): (&Value, &Option<f64>)| match (row["value"].as_f64(), expected) {
        (None, None) => None,
        (Some(value), Some(truth))
            if (value - truth).abs() <= row["bound"].as_f64().unwrap_or_default() + 1e-9 * truth.abs() =>
        {
            None
        }
        _ => Some(format!("{row} is not {expected:?}")),
    };
    rows.iter().zip(expected).filter_map(wrong).take(6).collect()
}

/// Returns the days of an answer that has one row or several a day.
fn days_of(answer: &Value) -> Result<Vec<(i64, i64)>> {
    let mut days = Vec::new();
    for row in answer["rows"].as_array().context("rows")? {
        let time = |key: &str| row[key].as_str().and_then(instant).context("a time");
        let day = (time("from")?, time("to")?);
        if days.last() != Some(&day) {
            days.push(day);
        }
    }
    Ok(days)
}

fn calls(cases: &mut Cases, site: &Site, series: &Series) -> Result<()> {
    let between = "mean(temperature of boiler) - mean(temperature of tank) by day";
    let from_all = "mean(temperature) - mean(temperature of all devices) by day per device";
    let answer = site.ask(between, &[])?;
    let expected: Vec<Option<f64>> = days_of(&answer)?
        .into_iter()
        .map(|(from, to)| {
            let of = |device| mean(&values(series, 0, Some(device), |at| from <= at && at < to));
            of(0).zip(of(1)).map(|(boiler, tank)| boiler - tank)
        })
        .collect();
    cases.case(between, near(&answer, &expected));
    let answer = site.ask(from_all, &[])?;
    let mut expected = Vec::new();
    for (from, to) in days_of(&answer)? {
        let of = |device| mean(&values(series, 0, device, |at| from <= at && at < to));
        expected.extend([0, 1].map(|device| of(Some(device)).zip(of(None)).map(|(one, all)| one - all)));
    }
    cases.case(from_all, near(&answer, &expected));
    Ok(())
}

fn ranks(cases: &mut Cases, site: &Site, series: &Series) -> Result<()> {
    let text = "top 1 device of mean(flow) by day";
    let answer = site.ask(text, &[])?;
    let largest = |(from, to): (i64, i64)| {
        let of = |device| mean(&values(series, 1, Some(device), |at| from <= at && at < to));
        [of(0), of(1)].into_iter().flatten().reduce(f64::max)
    };
    let expected: Vec<Option<f64>> = days_of(&answer)?.into_iter().map(largest).collect();
    let mut faults = near(&answer, &expected);
    let place = |row: &Value| row["rank"]["place"] == 1;
    if !answer["rows"].as_array().is_some_and(|rows| rows.iter().all(place)) {
        faults.push("a row is not of the first place".to_owned());
    }
    cases.case(text, faults);
    Ok(())
}
