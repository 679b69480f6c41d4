//! Readings that come late: the cases of `SOTTO_CASES` that are about order, end to end. Each has its files, the runs of
//! the agent, the question, and the right result.

mod lost;

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::session::{self, send_text, sotto};

/// The folder of a case; `None` if there are no cases on this machine.
pub(crate) fn case(name: &str) -> Option<PathBuf> {
    let Some(cases) = std::env::var_os("SOTTO_CASES") else {
        eprintln!("skipped: SOTTO_CASES names no folder of cases");
        return None;
    };
    Some(PathBuf::from(cases).join(name))
}

/// A plant with the channels of a case, whose device has sent the files of its runs.
pub(crate) struct Plant {
    pub(crate) outside: tempfile::TempDir,
    _cloud: tokio::runtime::Runtime,
}

impl Plant {
    pub(crate) fn new(zone: &str, channels: &[[&str; 5]], question: &str) -> Self {
        let outside = tempfile::tempdir().unwrap();
        let folder = outside.path();
        let run = |arguments: &[&str]| sotto(folder, arguments).unwrap();
        run(&["init", "plant", "--time-zone", zone]);
        for [name, unit, range, resolution, every] in channels {
            let channel = ["channel", "add", name, "--unit", unit, "--range", range];
            run(&[&channel[..], &["--resolution", resolution, "--every", every]].concat());
        }
        run(&["question", "add", "q", question]);
        let cloud = session::serve(folder);
        let names: Vec<&str> = channels.iter().map(|channel| channel[0]).collect();
        run(&["device", "add", "gw", "--channels", &names.join(",")]);
        Self { outside, _cloud: cloud }
    }

    pub(crate) fn of_case(case: &Path) -> (Self, Value) {
        let facts: Value = serde_json::from_slice(&std::fs::read(case.join("case.json")).unwrap()).unwrap();
        let channels: Vec<Vec<&str>> = facts["channels"]
            .as_array()
            .unwrap()
            .iter()
            .map(|channel| channel.as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect())
            .collect();
        let channels: Vec<[&str; 5]> = channels.iter().map(|words| words[..5].try_into().unwrap()).collect();
        let plant = Self::new(
            facts["time_zone"].as_str().unwrap_or("UTC"),
            &channels,
            facts["ask"].as_str().unwrap(),
        );
        for run in facts["run"].as_array().unwrap() {
            let file = run.as_str().unwrap().strip_prefix("--csv ").unwrap();
            plant.send(&std::fs::read_to_string(case.join(file)).unwrap());
        }
        (plant, facts)
    }

    pub(crate) fn send(&self, text: &str) {
        send_text(self.outside.path(), "gw.bundle", text);
    }

    pub(crate) fn ask(&self, question: &str) -> Value {
        let said = sotto(self.outside.path(), &["ask", question, "--json"]).unwrap();
        serde_json::from_str(&said).unwrap()
    }

    /// Returns value, count and missing of each row of a question.
    fn rows(&self, question: &str) -> Vec<(f64, u64, u64)> {
        let answer = self.ask(question);
        let of = |row: &Value| {
            let number = |field: &str| row[field].as_u64().unwrap();
            (row["value"].as_f64().unwrap_or_default(), number("count"), number("missing"))
        };
        answer["rows"].as_array().unwrap().iter().map(of).collect()
    }

    /// Asserts that no note of an answer speaks of readings that are left out, or that two windows have.
    pub(crate) fn has_no_notes(&self, question: &str) {
        let answer = self.ask(question);
        // Windows that several groups share are no fault.
        let is_fault = |note: &&Value| !note.as_str().is_some_and(|note| note.contains("longer than a"));
        let faults = answer["notes"].as_array().map_or(0, |notes| notes.iter().filter(is_fault).count());
        assert_eq!(faults, 0, "{}", answer["notes"]);
    }
}

/// Checks a case: `days` are runs of days with equal numbers of readings.
fn is_right(name: &str, days: &[(usize, u64)], missing: u64) {
    let Some(case) = case(name) else { return };
    let (plant, facts) = Plant::of_case(&case);
    let question = facts["ask"].as_str().unwrap();
    let answer = plant.ask(question);
    for row in answer["rows"].as_array().unwrap() {
        let result = row["name"].as_str().unwrap().split('(').next().unwrap();
        let right = facts["right"][result].as_f64().unwrap();
        assert!((row["value"].as_f64().unwrap() - right).abs() < 1e-6, "{name}: {row}, not {right}");
        assert_eq!(row["count"], facts["right"]["count"], "{name}: {row}");
        assert_eq!(row["missing"], missing, "{name}: {row}");
    }
    plant.has_no_notes(question);
    // Readings a day, as runs of equal days.
    let by_day: Vec<u64> = plant.rows("count(temp) by day").iter().map(|(_, count, _)| *count).collect();
    let expected: Vec<u64> =
        days.iter().flat_map(|(days, readings)| std::iter::repeat_n(*readings, *days)).collect();
    assert_eq!(by_day, expected, "{name}");
    // Sent once more, nothing changes.
    for run in facts["run"].as_array().unwrap() {
        let file = run.as_str().unwrap().strip_prefix("--csv ").unwrap();
        plant.send(&std::fs::read_to_string(case.join(file)).unwrap());
    }
    let again = plant.ask(question);
    assert_eq!(again["rows"], answer["rows"], "{name}");
}

#[test]
fn a_buffer_that_comes_after_the_days_around_it_takes_its_place() {
    is_right("late-buffer", &[(20, 24)], 0);
}

#[test]
fn an_older_file_may_come_second() {
    // 165 days lie between the files.
    is_right("second-file-older", &[(200, 24), (165, 0), (100, 24)], 165 * 24);
}

#[test]
fn the_newest_row_may_come_first() {
    is_right("newest-first", &[(100, 24)], 0);
}

#[test]
fn the_hour_that_clocks_repeat_is_read_from_its_end_too() {
    is_right("fall-back-newest-first", &[(1, 6)], 0);
}

/// Late readings of one day come in two more runs, the last of which lacks a reading of one channel.
#[test]
fn supplements_count_by_day_and_by_window() {
    let channels = [["heat", "kW", "0..10", "0.1", "1h"], ["flow", "kW", "0..10", "0.1", "1h"]];
    let plant = Plant::new("UTC", &channels, "sum(heat), covariance(heat, flow), max(heat) by day");
    let value = |hour: u32| format!("{}.{}", hour % 10, hour / 10);
    let row = |day: u32, hour: u32| format!("2024-01-{day:02}T{hour:02}:00:00Z,{0},{0}\n", value(hour));
    let rows = |day: u32, hours: &[u32]| hours.iter().map(|hour| row(day, *hour)).collect::<String>();
    let head = "time,heat,flow\n";
    let first: Vec<u32> = (0..24).filter(|hour| ![3, 7, 8].contains(hour)).collect();
    plant.send(&format!("{head}{}{}", rows(1, &first), rows(2, &[0, 1])));
    plant.send(&format!("{head}{}{}", rows(1, &[3]), rows(2, &[2, 3])));
    plant.send(&format!("{head}2024-01-01T07:00:00Z,7.1,\n"));
    let by_day = plant.rows("count(heat) by day");
    assert_eq!(by_day, [(23.0, 23, 1), (4.0, 4, 0)]);
    assert_eq!(plant.rows("count(flow) by day"), [(22.0, 22, 2), (4.0, 4, 0)]);
    let coverage: Vec<f64> = plant.rows("coverage(heat) by day").iter().map(|(share, ..)| *share).collect();
    assert!((coverage[0] - 23.0 / 24.0).abs() < 1e-12 && coverage[1] == 1.0, "{coverage:?}");
    let whole = plant.ask("coverage(flow), count(flow) / 28");
    assert!((whole["rows"][0]["value"].as_f64().unwrap() - 26.0 / 28.0).abs() < 1e-12, "{whole}");
    // Supplements over the span of a window are in its row.
    assert_eq!(plant.rows("count(heat) by window"), [(23.0, 23, 1), (2.0, 2, 0), (2.0, 2, 0)]);
    let sum = |hours: &[u32]| hours.iter().map(|hour| value(*hour).parse::<f64>().unwrap()).sum::<f64>();
    let (mut all, second) = (first, [0, 1, 2, 3]);
    all.push(3);
    let sums: Vec<f64> = plant.rows("sum(heat) by day").iter().map(|(value, ..)| *value).collect();
    for (sum, right) in sums.iter().zip([sum(&all) + 7.1, sum(&second)]) {
        assert!((sum - right).abs() < 1e-6, "{sum}, not {right}");
    }
    for question in ["sum(heat), max(heat) by day", "covariance(heat, flow) by day", "mean(heat) by hour"] {
        plant.has_no_notes(question);
    }
    let joint = plant.rows("covariance(heat, flow) by day");
    assert_eq!((joint[0].1, joint[1].1), (22, 4), "where both channels have a reading");
    // Without its spool, the agent has the ticks of its windows from the cloud.
    std::fs::remove_dir_all(plant.outside.path().join("gw.spool")).unwrap();
    plant.send(&format!("{head}{}{}", rows(1, &all), rows(2, &[0, 1, 2, 3, 4])));
    assert_eq!(plant.rows("count(heat) by day"), [(23.0, 23, 1), (5.0, 5, 0)]);
    plant.has_no_notes("sum(heat) by day");
}

/// Fourteen years lie between two rows: the hours without windows are left out, and a note says how many.
#[test]
fn hours_of_a_long_time_without_windows_are_told() {
    let plant = Plant::new("UTC", &[["heat", "kW", "0..10", "0.1", "1h"]], "mean(heat) by hour");
    plant.send("time,heat\n2010-03-01T05:00:00Z,1.5\n2024-02-29T23:00:00Z,2.5\n");
    let answer = plant.ask("mean(heat) by hour");
    let (rows, notes) = (answer["rows"].as_array().unwrap(), answer["notes"].as_array().unwrap());
    let values: Vec<f64> = rows.iter().filter_map(|row| row["value"].as_f64()).collect();
    assert_eq!(values, [1.5, 2.5]);
    // 14 years with 4 leap days have 5,114 days. The windows are of whole days.
    let [total, shown] = [5_114 * 24, 48];
    assert_eq!(rows.len(), shown);
    let note = notes[0].as_str().unwrap();
    let said = format!(
        "from 2010-03-01 to 2024-03-01 there are {total} groups by hour, more than 100000: the {shown} with windows"
    );
    assert!(
        note.starts_with(&said) && note.contains(&format!("{} without are left out", total - shown)),
        "{note}"
    );
    assert_eq!(notes.len(), 1, "{notes:?}");
    plant.has_no_notes("mean(heat) by day");
}
