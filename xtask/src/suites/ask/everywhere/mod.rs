//! Each function, grouping and condition on four real files in six zones, beside pandas.

use std::path::PathBuf;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::super::venv::Venv;
use super::{Cases, Site};

/// The script that reads the files and computes what pandas says.
const SCRIPT: &str = include_str!("everywhere.py");

/// A file of readings and the zone of its plant.
struct Place {
    /// The variable that names the folder of the file.
    folder: &'static str,
    file: &'static str,
    columns: &'static [&'static str],
    /// The time of the first reading.
    start: &'static str,
    /// Seconds between two readings, and the same in words.
    period: (&'static str, &'static str),
    range: &'static str,
    resolution: &'static str,
    zone: &'static str,
}

/// The readings of each place pass a change of its clocks, but for Kolkata, which has none.
const PLACES: [Place; 6] = [
    Place {
        folder: "SOTTO_DATASETS",
        file: "seattle-temps.csv",
        columns: &["temp"],
        start: "2010-01-01T08:00",
        period: ("3600", "1h"),
        range: "-20..120",
        resolution: "0.1",
        zone: "America/Los_Angeles",
    },
    Place {
        folder: "SOTTO_DATASETS",
        file: "seattle-temps.csv",
        columns: &["temp"],
        start: "2023-09-20T11:00",
        period: ("1800", "30m"),
        range: "-20..120",
        resolution: "0.1",
        zone: "Pacific/Auckland",
    },
    Place {
        folder: "SOTTO_DATASETS",
        file: "water-flow.csv",
        columns: &["Water flow [l/s]"],
        start: "2022-03-20T10:00",
        period: ("3600", "1h"),
        range: "0..150",
        resolution: "0.01",
        zone: "Europe/Vienna",
    },
    Place {
        folder: "SOTTO_DATASETS",
        file: "sensor-network.csv",
        columns: &["temperature", "humidity"],
        start: "2010-05-09T16:30",
        period: ("300", "5m"),
        range: "-40..120",
        resolution: "0.01",
        zone: "Asia/Kolkata",
    },
    Place {
        folder: "SOTTO_DATASETS",
        file: "sensor-network.csv",
        columns: &["humidity", "temperature"],
        start: "2021-03-25T00:00",
        period: ("600", "10m"),
        range: "-40..120",
        resolution: "0.01",
        zone: "Australia/Lord_Howe",
    },
    Place {
        folder: "SOTTO_CASES",
        file: "extremes/a.csv",
        columns: &["temp"],
        start: "2024-10-25T02:30",
        period: ("3600", "1h"),
        range: "-40..100",
        resolution: "0.1",
        zone: "America/St_Johns",
    },
];

pub(super) fn run(cases: &mut Cases) -> Result<()> {
    for place in &PLACES {
        match std::env::var_os(place.folder).map(PathBuf::from) {
            Some(folder) => one(cases, place, &folder.join(place.file).to_string_lossy())
                .with_context(|| format!("{} in {}", place.file, place.zone))?,
            None => println!("skipped: {} names no folder", place.folder),
        }
    }
    Ok(())
}

fn one(cases: &mut Cases, place: &Place, path: &str) -> Result<()> {
    let mut site = Site::new(cases.sotto(), place.zone)?;
    site.write("everywhere.py", SCRIPT)?;
    let venv = Venv::with_pandas(cases.sotto().parent().context("the program has no folder")?)?;
    let script = |args: &[&str]| -> Result<Vec<u8>> {
        let done = venv.python().arg("everywhere.py").args(args).current_dir(site.folder()).output()?;
        ensure!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        Ok(done.stdout)
    };
    let (seconds, every) = place.period;
    script(&[&["readings", path, place.start, seconds], place.columns].concat())?;
    let questions: Vec<Value> = serde_json::from_slice(&script(&["answers", place.zone, seconds])?)?;
    let names = &["x", "y"][..place.columns.len()];
    for name in names {
        let add = ["channel", "add", name, "--range", place.range, "--resolution", place.resolution];
        site.sotto(&[&add[..], &["--every", every]].concat())?;
    }
    for (number, text) in
        ["stddev(x), kurtosis(x) by day", "covariance(x, y) by day"].iter().take(names.len()).enumerate()
    {
        site.sotto(&["question", "add", &format!("declared{number}"), text])?;
    }
    let mut channels = names.to_vec();
    if names.len() > 1 {
        site.sotto(&["channel", "derive", "z = x - y"])?;
        channels.push("z");
    }
    site.sotto(&["device", "add", "place", "--channels", &channels.join(",")])?;
    site.start_cloud()?;
    site.agent("place", &["--csv", "data.csv"])?;
    for question in &questions {
        let text = question["sotto"].as_str().context("a question without a text")?;
        let found = match site.ask(text, &[]) {
            Ok(answer) => faults(question, &answer),
            Err(error) => vec![format!("{error:#}")],
        };
        cases.case(&format!("{} in {}: {}", place.file, place.zone, question["name"]), found);
    }
    cases.case(&format!("{} in {}: nothing is left behind", place.file, place.zone), site.close()?);
    Ok(())
}

/// Returns the differences of an answer from pandas, whose rows are those of groups with readings, unless it has `whole`.
fn faults(question: &Value, answer: &Value) -> Vec<String> {
    let all = answer["rows"].as_array().map_or(&[][..], Vec::as_slice);
    let rows: Vec<&Value> = all.iter().filter(|row| question["whole"] == true || row["count"] != 0).collect();
    let right = question["right"].as_array().map_or(&[][..], Vec::as_slice);
    if rows.len() != right.len() {
        return vec![format!("{} rows, not {}: {}", rows.len(), right.len(), answer["notes"])];
    }
    let differs = |(row, right): (&&Value, &Value)| {
        let is_right = match (row["value"].as_f64(), right.as_f64()) {
            (Some(value), Some(right)) => {
                let bound = row["bound"].as_f64().unwrap_or_default();
                (value - right).abs() <= bound + 1e-8 * right.abs().max(1.0)
            }
            // A value may be undetermined, with a reason.
            (None, right) => right.is_none() || row["why"].is_string(),
            (Some(_), None) => false,
        };
        (!is_right).then(|| format!("pandas says {right}: {row}"))
    };
    rows.into_iter().zip(right).filter_map(|(row, right)| differs((&row, right))).take(3).collect()
}
