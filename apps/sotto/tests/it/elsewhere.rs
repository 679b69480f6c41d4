//! Sums of exported windows that another engine adds up, here this test: `sotto-cloud export`, `sotto open`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::Field;
use serde_json::Value;

use crate::session::{self, sotto};

/// Whole numbers and texts of a window, by column.
type Window = (BTreeMap<String, i64>, BTreeMap<String, String>);

/// The columns by which the windows of a start are told.
const START: [&str; 4] = ["device", "stream", "header", "salt"];

fn exported(folder: &Path) -> Vec<Window> {
    let config = session::config(folder);
    let to = folder.join("export");
    let _ = fs::remove_dir_all(&to);
    sotto_cloud::inspect::export(&config, &to, None).unwrap();
    let mut windows = Vec::new();
    for file in files(&to) {
        let reader = SerializedFileReader::new(File::open(file).unwrap()).unwrap();
        for row in reader.get_row_iter(None).unwrap() {
            let (row, mut window) = (row.unwrap(), Window::default());
            for (name, field) in row.get_column_iter() {
                match field {
                    Field::Long(number) | Field::TimestampMillis(number) => {
                        window.0.insert(name.clone(), *number);
                    }
                    Field::Str(text) => {
                        window.1.insert(name.clone(), text.clone());
                    }
                    _ => {}
                }
            }
            windows.push(window);
        }
    }
    windows
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let inside = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    inside.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// Adds windows up by start and group, as `select … group by` does; writes the rows as CSV.
fn summed(windows: &[Window], group: impl Fn(&Window) -> i64) -> String {
    let mut groups: BTreeMap<(Vec<String>, i64), Vec<&Window>> = BTreeMap::new();
    for window in windows {
        let start = START.map(|name| window.1[name].clone()).to_vec();
        groups.entry((start, group(window))).or_default().push(window);
    }
    let sums: Vec<&String> = windows[0].0.keys().filter(|name| name.starts_with("part")).collect();
    let mut text = format!("{},min(number),max(number),count_star(),min(start),max(start)", START.join(","));
    sums.iter().for_each(|name| write!(text, ",sum({name})").unwrap());
    for ((start, _), windows) in groups {
        let of =
            |name: &str| windows.iter().filter_map(|window| window.0.get(name).copied()).collect::<Vec<_>>();
        let ends = |name: &str| (*of(name).iter().min().unwrap(), *of(name).iter().max().unwrap());
        let (numbers, starts) = (ends("number"), ends("start"));
        write!(text, "\n{},{},{},{}", start.join(","), numbers.0, numbers.1, windows.len()).unwrap();
        write!(text, ",{},{}", starts.0, starts.1).unwrap();
        for name in &sums {
            let sum = Some(of(name)).filter(|of| !of.is_empty()).map(|of| of.iter().sum::<i64>());
            write!(text, ",{}", sum.map_or_else(|| "NULL".to_owned(), |sum| sum.to_string())).unwrap();
        }
    }
    text + "\n"
}

fn opened(folder: &Path, text: &str) -> Result<Vec<Value>, String> {
    fs::write(folder.join("sums.csv"), text).unwrap();
    let said = sotto(folder, &["open", "sums.csv", "--json"])?;
    Ok(serde_json::from_str(&said).unwrap())
}

#[test]
fn sums_of_another_engine_are_the_answers_or_are_refused() {
    let outside = tempfile::tempdir().unwrap();
    let folder = outside.path();
    session::init(folder, "mean(heat), stddev(heat) by day");
    let _cloud = session::serve(folder);
    sotto(folder, &["device", "add", "boiler", "--channels", "heat,flow"]).unwrap();
    session::send_days(folder, "boiler.bundle", 0..6, 0);
    let windows = exported(folder);
    assert_eq!(windows.len(), 6);
    let text = summed(&windows, |_| 0);
    let rows = opened(folder, &text).unwrap();
    let asked = sotto(folder, &["ask", "mean(heat), stddev(heat), count(heat)", "--json"]).unwrap();
    let asked: Value = serde_json::from_str(&asked).unwrap();
    let (row, heat) = (&rows[0], &rows[0]["channels"][0]);
    assert_eq!((rows.len(), &row["windows"], &heat["channel"]), (1, &6.into(), &"heat".into()), "{row}");
    assert_eq!(heat["readings"], 6 * 24);
    for (name, value) in [("mean", 0), ("stddev", 1)] {
        let expected = asked["rows"][value]["value"].as_f64().unwrap();
        assert!((heat[name]["value"].as_f64().unwrap() - expected).abs() < 1e-9, "{name}: {heat} {asked}");
    }
    // By day: each row alone.
    let by_day = summed(&windows, |window| window.0["start"]);
    assert_eq!(opened(folder, &by_day).unwrap().len(), 6);
    let shown = sotto(folder, &["open", "sums.csv"]).unwrap();
    assert!(shown.contains("boiler") && shown.contains("Tags fit"), "{shown}");
    // A lie about any sum, about the windows, about their number.
    let (head, line) = text.trim_end().split_once('\n').unwrap();
    let cells: Vec<&str> = line.split(',').collect();
    for at in 4..cells.len() {
        if head.split(',').nth(at).is_some_and(|name| name.contains("(start)")) {
            continue;
        }
        let mut changed: Vec<String> = cells.iter().map(|cell| (*cell).to_owned()).collect();
        // There is no window above the largest number: a smaller one leaves one out.
        let by = if head.split(',').nth(at) == Some("max(number)") { -1 } else { 1 };
        changed[at] = (cells[at].parse::<i64>().unwrap() + by).to_string();
        let refused = opened(folder, &format!("{head}\n{}\n", changed.join(","))).unwrap_err();
        assert!(
            refused.contains("is not the sum of") || refused.contains("are not known"),
            "{at}: {refused}"
        );
    }
    // An integer that overflowed, and one that is none.
    let mut changed = cells.clone();
    let last = changed.len() - 1;
    changed[last] = "-5";
    assert!(opened(folder, &format!("{head}\n{}\n", changed.join(","))).unwrap_err().contains("negative"));
    changed[last] = "5.5";
    assert!(opened(folder, &format!("{head}\n{}\n", changed.join(","))).unwrap_err().contains("BIGINT"));
    let other = text.replace("boiler", "../boiler");
    assert!(opened(folder, &other).unwrap_err().contains("../boiler"));
}

#[test]
fn exports_have_the_windows_that_count() {
    let outside = tempfile::tempdir().unwrap();
    let folder = outside.path();
    session::init(folder, "mean(heat) by day");
    let _cloud = session::serve(folder);
    sotto(folder, &["device", "add", "boiler", "--channels", "heat"]).unwrap();
    session::send_days(folder, "boiler.bundle", 0..4, 0);
    let before = summed(&exported(folder), |_| 0);
    // Other readings of two of the days: their windows come in the place of the first ones.
    session::send_days_with(folder, "boiler.bundle", 1..3, 10, &["--correct"]);
    let windows = exported(folder);
    assert_eq!(windows.len(), 4, "{windows:?}");
    let mean = |rows: &[Value]| {
        let (mut readings, mut sum) = (0.0, 0.0);
        for row in rows {
            readings += row["channels"][0]["readings"].as_f64().unwrap();
            sum += row["channels"][0]["sum"]["value"].as_f64().unwrap();
        }
        sum / readings
    };
    let rows = opened(folder, &summed(&windows, |_| 0)).unwrap();
    let asked: Value =
        serde_json::from_str(&sotto(folder, &["ask", "mean(heat)", "--json"]).unwrap()).unwrap();
    let expected = asked["rows"][0]["value"].as_f64().unwrap();
    assert!((mean(&rows) - expected).abs() < 1e-9, "{rows:?} {asked}");
    assert!(rows.iter().all(|row| row["replaced"].as_array().unwrap().is_empty()), "{rows:?}");
    // Sums of the export before are those of the windows then, and say so.
    let earlier = opened(folder, &before).unwrap();
    assert_eq!(earlier[0]["replaced"], serde_json::json!(["heat"]), "{earlier:?}");
    assert!((mean(&earlier) - expected).abs() > 0.1);
    // Deleted windows are in no export.
    sotto(folder, &["forget", "--device", "boiler", "--before", "2024-01-02", "--yes"]).unwrap();
    assert_eq!(exported(folder).len(), 3);
}
