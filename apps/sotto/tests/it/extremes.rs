//! Extremes to the resolution: values of single windows, which come down window by window.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::late::{Plant, case};
use crate::session::{send_text, sotto};

const HEAT: [[&str; 5]; 1] = [["heat", "kW", "0..100", "0.1", "1h"]];
/// Half of the resolution, and f64's rounding.
const HALF: f64 = 0.05 + 1e-9;

/// Readings in tenths of a kilowatt, by hour since the start of 2024.
type Readings = BTreeMap<u32, u32>;

/// Returns readings that follow no clock: two hours of each day lack one.
fn readings(days: u32) -> Readings {
    let hours = (0..24 * days).filter(|hour| !matches!(hour % 24, 5 | 17));
    hours.map(|hour| (hour, 100 + (hour * 7919 + hour * hour * 31) % 613)).collect()
}

fn file(readings: &Readings) -> String {
    let row = |(hour, tenths): (&u32, &u32)| {
        let (day, hour) = (hour / 24 + 1, hour % 24);
        format!("2024-01-{day:02}T{hour:02}:00:00Z,{}.{}\n", tenths / 10, tenths % 10)
    };
    "time,heat\n".to_owned() + &readings.iter().map(row).collect::<String>()
}

fn number(row: &Value, key: &str) -> f64 {
    row[key].as_f64().unwrap_or_else(|| panic!("{key} of {row}"))
}

/// Returns the hours since the start of 2024 at which a row begins and ends.
fn hours(row: &Value) -> std::ops::Range<u32> {
    let hour = |key: &str| {
        let time = row[key].as_str().unwrap();
        let [day, hour] = [8..10, 11..13].map(|digits| time[digits].parse::<u32>().unwrap());
        24 * (day - 1) + hour
    };
    hour("from")..hour("to")
}

/// Checks every row of a question for extremes. `widest` is the largest bound that a row may have.
fn are_right(plant: &Plant, question: &str, readings: &Readings, widest: f64) -> usize {
    let answer = plant.ask(question);
    let rows = answer["rows"].as_array().unwrap();
    for row in rows {
        let inside: Vec<u32> = readings.range(hours(row)).map(|(_, tenths)| *tenths).collect();
        assert_eq!(row["count"], inside.len(), "{question}: {row}");
        let (Some(least), Some(largest)) = (inside.iter().min(), inside.iter().max()) else {
            assert!(row["value"].is_null(), "{question}: {row}");
            continue;
        };
        let right = match row["name"].as_str().unwrap().split('(').next().unwrap() {
            "min" => f64::from(*least) / 10.0,
            "max" => f64::from(*largest) / 10.0,
            "range" => f64::from(largest - least) / 10.0,
            other => panic!("{other}"),
        };
        let (value, bound) = (number(row, "value"), number(row, "bound"));
        assert!((value - right).abs() <= bound + 1e-9, "{question}: {row}, not {right}");
        let widest = if row["name"].as_str().unwrap().starts_with("range") { 2.0 * widest } else { widest };
        assert!(bound <= widest, "{question}: {row}");
    }
    rows.len()
}

#[test]
fn the_case_of_extremes_is_right() {
    let Some(case) = case("extremes") else { return };
    let (plant, facts) = Plant::of_case(&case);
    let question = facts["ask"].as_str().unwrap();
    let answer = plant.ask(question);
    let right: Vec<f64> =
        serde_json::from_value::<Vec<[f64; 2]>>(facts["right"]["rows"].clone()).unwrap().concat();
    let rows = answer["rows"].as_array().unwrap();
    assert_eq!(rows.len(), right.len());
    for (row, right) in rows.iter().zip(right) {
        assert!((number(row, "value") - right).abs() < 1e-9, "{row}, not {right}");
        assert!(number(row, "bound") <= facts["right"]["bound at most"].as_f64().unwrap() + 1e-9, "{row}");
    }
    plant.has_no_notes(question);
}

/// Windows that a group cuts, windows of late readings, and times that begin within a window.
#[test]
fn extremes_are_those_of_the_readings_however_windows_are_cut() {
    let plant = Plant::new("UTC", &HEAT, "min(heat), max(heat), range(heat) by day");
    let all = readings(4);
    let is_late = |hour: &u32| (30..34).contains(hour);
    let (late, first): (Readings, Readings) = all.iter().partition(|(hour, _)| is_late(hour));
    plant.send(&file(&first));
    plant.send(&file(&late));
    let extremes = "min(heat), max(heat), range(heat)";
    let time = "since 2024-01-01T07:00 until 2024-01-03T09:00";
    let within: Readings = all.range(7..57).map(|(hour, tenths)| (*hour, *tenths)).collect();
    for (clauses, readings, rows) in [
        ("by day", &all, 12),
        ("by hour", &all, 3 * 96),
        ("by window", &all, 12),
        ("by week", &all, 3),
        ("", &all, 3),
        (time, &within, 3),
        (&format!("{time} by day"), &within, 9),
    ] {
        let question = format!("{extremes} {clauses}");
        assert_eq!(are_right(&plant, &question, readings, HALF), rows, "{question}");
        plant.has_no_notes(&question);
    }
    // Each window comes down by itself: two values in 3 bytes, their tag, and the head of a sum.
    let plan = sotto(plant.outside.path(), &["plan", "--json"]).unwrap();
    let plan: Value = serde_json::from_str(&plan).unwrap();
    let held = &plan["devices"]["gw"][0]["window_by_window"];
    assert_eq!((&held["values"], &held["bytes_sent"]), (&2.into(), &11.into()), "{held}");
    let plan = sotto(plant.outside.path(), &["plan"]).unwrap();
    assert!(plan.contains("2 values of each window come down by themselves"), "{plan}");
}

/// Windows with counts by bin alone, as earlier versions sent them, give intervals; windows of a later bundle do not.
#[test]
fn windows_with_bins_alone_answer_within_a_bin() {
    let plant = Plant::new("UTC", &HEAT, "quantile(heat, 0.5) by day");
    let folder = plant.outside.path();
    let all = readings(4);
    let before: Readings = all.iter().filter(|(hour, _)| **hour < 48).map(|(a, b)| (*a, *b)).collect();
    plant.send(&file(&before));
    let bin = 100.0 / 32.0 + 0.2;
    assert_eq!(are_right(&plant, "min(heat), max(heat), range(heat) by day", &before, bin), 6);
    let said = sotto(folder, &["question", "add", "e", "min(heat), max(heat), range(heat) by day"]).unwrap();
    assert!(said.contains("does not send the smallest reading of heat"), "{said}");
    sotto(folder, &["device", "renew", "gw", "--bundle", "later.bundle"]).unwrap();
    let after: Readings = all.iter().filter(|(hour, _)| **hour >= 48).map(|(a, b)| (*a, *b)).collect();
    send_text(folder, "later.bundle", &file(&after));
    assert_eq!(are_right(&plant, "e", &all, bin), 12);
    assert_eq!(are_right(&plant, "min(heat), max(heat) since 2024-01-03 by day", &all, HALF), 4);
    assert_eq!(are_right(&plant, "min(heat), max(heat)", &all, bin), 2);
    plant.has_no_notes("e");
    // Beside a quantile, whose counts are in both bundles, extremes stay those of the windows.
    let both = plant.ask("min(heat), quantile(heat, 0.5) since 2024-01-03");
    assert!(number(&both["rows"][0], "bound") <= HALF, "{}", both["rows"]);
    assert_eq!(both["rows"][1]["count"], 44, "{}", both["rows"]);
}
