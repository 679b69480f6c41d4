//! Values at single readings.

use super::series::{Series, instant};
use super::truth::{CONSTANT, FACTORS, Group, linear, polynomial};
use serde_json::Value;

/// A function with a value at each reading.
pub(super) enum Each {
    Polynomial(usize, &'static [f64]),
    Linear,
}

/// Returns the faults of the values at single readings.
pub(super) fn each(series: &Series, answer: &Value, of: &Each) -> Vec<String> {
    let mut wanted: Vec<(&str, i64, f64)> = Vec::new();
    for sample in &series.samples {
        let value = match of {
            Each::Polynomial(channel, c) => sample.values[*channel].map(|x| polynomial(c, x)),
            Each::Linear => {
                let group = Group { from: 0, to: 0, samples: vec![*sample] };
                linear(&group, CONSTANT, FACTORS).first().copied()
            }
        };
        wanted.extend(value.map(|value| (series.devices[sample.device], sample.at, value)));
    }
    let rows = answer["rows"].as_array().map_or(&[][..], Vec::as_slice);
    let told: Vec<&Value> = rows.iter().filter(|row| !row["value"].is_null()).collect();
    let mut faults = Vec::new();
    if told.len() != wanted.len() {
        faults.push(format!("{} values, not {}", told.len(), wanted.len()));
    }
    let mut found = std::collections::BTreeMap::new();
    for row in &told {
        let at = row["from"].as_str().and_then(instant).unwrap_or_default();
        found.insert((row["device"].as_str().unwrap_or_default(), at), *row);
        if !row["name"].as_str().unwrap_or_default().ends_with(']') || row["count"] != 1 {
            faults.push(format!("the row {row} is not of one reading"));
        }
    }
    for (device, at, truth) in wanted {
        let row = found.get(&(device, at));
        let value = row.and_then(|row| Some((row["value"].as_f64()?, row["bound"].as_f64()?)));
        match value {
            Some((value, bound)) if (value - truth).abs() <= bound => {}
            other => faults.push(format!("{device} at {at}: {other:?} is not {truth}")),
        }
    }
    faults.truncate(6);
    faults
}
