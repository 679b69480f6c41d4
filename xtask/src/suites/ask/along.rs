//! Functions along groups, compared with plain sums over the groups of readings in the clear.

use super::Cases;
use super::series::{Series, instant};
use super::site::Site;
use anyhow::Result;
use serde_json::Value;

const DAY: f64 = 86_400_000.0;

/// A group of one device: its time, and the readings of the first channel.
struct Group {
    from: i64,
    to: i64,
    values: Vec<f64>,
}

impl Group {
    fn sum(&self) -> Option<f64> {
        (!self.values.is_empty()).then(|| self.values.iter().sum())
    }

    fn mean(&self) -> Option<f64> {
        self.sum().map(|sum| sum / self.values.len() as f64)
    }
}

/// Asks for all functions by day, for each device. `spans` are the times of its windows.
pub(super) fn run(cases: &mut Cases, site: &Site, series: &Series, spans: &[(i64, i64)]) -> Result<()> {
    let name = series.channels[0].name;
    let names = [
        format!("cumulative(count({name}))"),
        format!("cumulative(sum({name}))"),
        format!("difference(mean({name}))"),
        format!("ewma(mean({name}), 0.3)"),
        format!("ewma(mean({name}), half_life 3d)"),
        format!("rate(energy({name}))"),
        format!("mean({name}) offset 1w"),
        format!("mean({name}) - mean({name}) offset previous"),
        format!("degree_days({name}, below 21)"),
    ];
    let answer = site.ask(&format!("{} by day per device", names.join(", ")), &[])?;
    let mut faults = Vec::new();
    for ((at, device), span) in series.devices.iter().enumerate().zip(spans) {
        let rows = rows(&answer, device);
        let groups = groups(series, at, &rows, &names[0]);
        if groups.len() < 20 {
            faults.push(format!("{device} has {} groups", groups.len()));
        }
        for (name, of) in names.iter().zip(0..) {
            let found = rows.iter().filter(|row| row["name"] == *name.as_str());
            for (row, group) in found.zip(0..) {
                // The last day is not over: the note says up to which time the earlier one counts.
                if matches!(of, 6 | 7) && group + 1 == groups.len() {
                    continue;
                }
                let truth = truth(&groups, of, group, *span, series.period);
                faults.extend(
                    fault(row, truth, of == 0)
                        .map(|why| format!("{name} of {device} at {}: {why}", row["from"])),
                );
            }
        }
    }
    let silent = answer["notes"].to_string().contains("passed over");
    faults.extend((!silent).then(|| format!("no note on groups without a value: {}", answer["notes"])));
    let told = answer["notes"].to_string().contains("the last group is not over yet");
    faults.extend((!told).then(|| format!("no note on the last group: {}", answer["notes"])));
    faults.truncate(6);
    cases.case("along groups by day", faults);
    before_since(cases, site, series)
}

/// Asks for a week, of which the first days need readings before it, and compares with the same days of the whole time.
fn before_since(cases: &mut Cases, site: &Site, series: &Series) -> Result<()> {
    let name = series.channels[0].name;
    let text = format!(
        "mean({name}), moving_average({name}, 4), difference(mean({name})), mean({name}) offset 1w, mean({name}) offset previous \
         by day per device"
    );
    let whole = site.ask(&text, &[])?;
    for period in ["since 2025-03-20", "since 2025-03-20 until 2025-03-27", "over 7d"] {
        let answer = site.ask(&format!("{text} {period}"), &[])?;
        let rows = |answer: &Value| answer["rows"].as_array().cloned().unwrap_or_default();
        let mut faults = Vec::new();
        let all = rows(&whole);
        for row in rows(&answer) {
            let same = |other: &&Value| ["from", "device", "name"].iter().all(|key| other[key] == row[key]);
            let Some(other) = all.iter().find(same) else {
                faults.push(format!("{} at {} is not asked for", row["name"], row["from"]));
                continue;
            };
            // The time cuts the first day of the last seven, which the second is compared with, too.
            let differs = row["name"].as_str().is_some_and(|name| name.starts_with("difference"));
            let is_cut = period.starts_with("over") && (differs || other["count"] != row["count"]);
            let near = |key: &str| match (row[key].as_f64(), other[key].as_f64()) {
                (Some(one), Some(other)) => (one - other).abs() < 1e-9,
                (one, other) => one == other,
            };
            let is_same = near("value") && near("bound");
            if !is_cut && !is_same {
                faults.push(format!(
                    "{} at {}: {} is not {}, {}",
                    row["name"], row["from"], row["value"], other["value"], row["why"]
                ));
            }
        }
        if rows(&answer).len() < 5 * 2 * 7 {
            faults.push(format!("{} rows", rows(&answer).len()));
        }
        faults.truncate(6);
        cases.case(&format!("values of earlier groups {period}"), faults);
    }
    // Rows stay those that are asked for, also where the time begins within a group.
    for period in ["since 2025-03-19T12:00", "over 10d"] {
        let rows = |text: String| -> Result<Vec<Value>> {
            let answer = site.ask(&format!("{text} by week {period}"), &[])?;
            let rows = answer["rows"].as_array().cloned().unwrap_or_default();
            Ok(rows.into_iter().filter(|row| row["name"] == *format!("mean({name})")).collect())
        };
        let (alone, beside) =
            (rows(format!("mean({name})"))?, rows(format!("mean({name}), moving_average({name}, 2)"))?);
        let fault = (alone != beside || alone.is_empty()).then(|| format!("{beside:?} are not {alone:?}"));
        cases.case(&format!("rows beside a moving average {period}"), fault.into_iter().collect());
    }
    Ok(())
}

fn rows<'a>(answer: &'a Value, device: &str) -> Vec<&'a Value> {
    let rows = answer["rows"].as_array().map_or(&[][..], Vec::as_slice);
    rows.iter().filter(|row| row["device"] == *device).collect()
}

/// Returns the groups of a device, from the rows of one result.
fn groups(series: &Series, device: usize, rows: &[&Value], name: &str) -> Vec<Group> {
    let of = |row: &&&Value| {
        let time = |key: &str| row[key].as_str().and_then(instant).unwrap_or_default();
        let (from, to) = (time("from"), time("to"));
        let mine = |at: i64, of: usize| (from..to).contains(&at) && of == device;
        let samples = series.samples.iter().filter(|sample| mine(sample.at, sample.device));
        Group { from, to, values: samples.filter_map(|sample| sample.values[0]).collect() }
    };
    rows.iter().filter(|row| row["name"] == *name).map(|row| of(&row)).collect()
}

/// Returns the value of the function at this position in a group.
fn truth(groups: &[Group], of: usize, at: usize, span: (i64, i64), period: i64) -> Option<f64> {
    let group = &groups[at];
    let upto = || groups[..=at].iter();
    match of {
        // No readings are counted as 0.
        0 => return Some(upto().map(|group| group.values.len() as f64).sum()),
        6 => return groups[at.checked_sub(7)?].mean(),
        _ => {}
    }
    let own = group.mean()?;
    let mean = |weight: &dyn Fn(usize) -> f64| {
        let weighted = || upto().zip(0..).filter_map(|(group, other)| Some((group.mean()?, weight(other))));
        weighted().map(|(value, weight)| value * weight).sum::<f64>()
            / weighted().map(|(_, weight)| weight).sum::<f64>()
    };
    match of {
        1 => Some(upto().filter_map(Group::sum).sum()),
        2 => Some(own - groups[at.checked_sub(1)?].mean()?),
        3 => Some(mean(&|other| 0.7_f64.powi((at - other) as i32))),
        4 => Some(mean(&|other| (-((group.from - groups[other].from) as f64) / DAY / 3.0).exp2())),
        7 => Some(own - groups[at.checked_sub(1)?].mean()?),
        8 => {
            let ticks = (group.to - group.from + period / 2) / period;
            let covered = 4 * group.values.len() as i64 >= 3 * ticks;
            covered.then(|| (21.0 - own).max(0.0))
        }
        _ => {
            let seconds = (group.to.min(span.1) - group.from.max(span.0)) as f64 / 1000.0;
            Some(group.sum()? * period as f64 / 3_600_000.0 / seconds)
        }
    }
}

fn fault(row: &Value, truth: Option<f64>, exact: bool) -> Option<String> {
    match (row["value"].as_f64(), row["bound"].as_f64(), truth) {
        (None, None, None) => None,
        (Some(value), Some(bound), Some(truth)) => {
            let near = (value - truth).abs() <= bound + 1e-9 * (1.0 + truth.abs());
            (!near || (exact && bound != 0.0)).then(|| format!("{value} ± {bound} is not {truth}"))
        }
        (value, _, truth) => Some(format!("{value:?} is not {truth:?}, {}", row["why"])),
    }
}
