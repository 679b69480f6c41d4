//! The small files of `SOTTO_CASES`: the rows that are read, compared with the right results as far as reading decides.

use std::path::{Path, PathBuf};

use serde_json::Value;
use sotto_agent::source::{FileOptions, FileSource, Source, SourceError};
use sotto_agent::stop::Stop;
use sotto_pack::{Channel, Clock};

/// The channels and the right results of a case.
struct Case {
    folder: PathBuf,
    channels: Vec<Channel>,
    right: Value,
}

impl Case {
    /// Returns a case; `None` if `SOTTO_CASES` does not name the folder.
    fn read(name: &str) -> Option<Self> {
        let Some(folder) = std::env::var_os("SOTTO_CASES") else {
            eprintln!("skipped: SOTTO_CASES does not name the folder of the cases");
            return None;
        };
        let folder = Path::new(&folder).join(name);
        let case: Value = serde_json::from_slice(&std::fs::read(folder.join("case.json")).unwrap()).unwrap();
        let channel = |fields: &Value| {
            let text = |index: usize| fields[index].as_str().unwrap().to_owned();
            let range = text(2);
            let (minimum, maximum) = range.split_once("..").unwrap();
            Channel {
                name: text(0),
                unit: text(1),
                minimum: minimum.parse().unwrap(),
                maximum: maximum.parse().unwrap(),
                resolution: text(3).parse().ok(),
                ..Channel::default()
            }
        };
        let channels = case["channels"].as_array().unwrap().iter().map(channel).collect();
        Some(Self { folder, channels, right: case["right"].clone() })
    }

    fn open(&self, file: &str, change: impl FnOnce(&mut FileOptions)) -> Result<FileSource, SourceError> {
        let mut options = FileOptions { paths: vec![self.folder.join(file)], ..FileOptions::default() };
        change(&mut options);
        FileSource::open(options, &self.channels, Stop::new())
    }

    /// Returns the times, and the readings of each channel.
    fn rows(&self, file: &str, change: impl FnOnce(&mut FileOptions)) -> (Vec<String>, Vec<Vec<f64>>) {
        let mut source = self.open(file, change).unwrap();
        let (mut times, mut readings) = (Vec::new(), vec![Vec::new(); self.channels.len()]);
        loop {
            match source.next_row() {
                Ok(row) => {
                    times.push(jiff::Timestamp::from_millisecond(row.at).unwrap().to_string());
                    for (readings, value) in readings.iter_mut().zip(row.values.iter()) {
                        readings.extend(*value);
                    }
                }
                Err(SourceError::Ended) => return (times, readings),
                Err(error) => panic!("{error}"),
            }
        }
    }

    fn number(&self, name: &str) -> f64 {
        self.right[name].as_f64().unwrap()
    }
}

fn sum(readings: &[f64]) -> f64 {
    readings.iter().sum()
}

#[test]
fn columns_that_are_exchanged_midway_are_followed() {
    let Some(case) = Case::read("columns-exchanged-midway") else { return };
    let (_, readings) = case.rows("a.csv", |_| {});
    assert_eq!(readings[0].len() as f64, case.number("count"));
    assert_eq!(sum(&readings[0]) / case.number("count"), case.number("mean"));
}

#[test]
fn year_month_day_and_hour_are_columns() {
    let Some(case) = Case::read("four-time-columns") else { return };
    let (times, readings) = case.rows("a.csv", |_| {});
    assert_eq!(times, ["2013-03-01T00:00:00Z", "2013-03-01T01:00:00Z", "2013-03-01T02:00:00Z"]);
    assert_eq!(readings[0].len() as f64, case.number("count"));
    assert!((sum(&readings[0]) - case.number("sum")).abs() < 1e-9);
    let named = ["hour", "day", "month", "year"].map(str::to_owned).to_vec();
    assert_eq!(case.rows("a.csv", |options| options.time = named).0, times);
}

#[test]
fn the_last_hour_of_a_day_is_24_00() {
    let Some(case) = Case::read("hour-24") else { return };
    let (times, readings) = case.rows("a.csv", |options| options.time = vec!["date".into(), "time".into()]);
    assert_eq!((times[22].as_str(), times[23].as_str()), ("2024-01-01T23:00:00Z", "2024-01-02T00:00:00Z"));
    assert_eq!((readings[0].len() as f64, sum(&readings[0])), (case.number("count"), case.number("sum")));
}

#[test]
fn nan_in_json_costs_one_member() {
    let Some(case) = Case::read("nan-in-json") else { return };
    let (times, readings) = case.rows("a.jsonl", |_| {});
    assert_eq!(times.len(), 24);
    assert_eq!(readings[0].len() as f64, case.number("count(temp)"));
    assert_eq!(readings[1].len() as f64, case.number("count(hum)"));
    assert_eq!(sum(&readings[0]) / 24.0, case.number("mean(temp)"));
}

#[test]
fn a_point_between_thousands_is_asked_about() {
    let Some(case) = Case::read("thousands-dot") else { return };
    let error = case.open("a.csv", |_| {}).err().unwrap().to_string();
    for part in ["line 3", "1.002 or 1002", "--decimal .", "--thousands ."] {
        assert!(error.contains(part), "{error}");
    }
    let decimal = sotto_agent::source::Decimal::Comma;
    let (_, readings) = case.rows("a.csv", |options| options.decimal = Some(decimal));
    assert_eq!(sum(&readings[0]), case.number("sum"));
}

#[test]
fn a_logger_has_four_lines_of_head() {
    let Some(case) = Case::read("toa5") else { return };
    let column = vec![("temp".to_owned(), "AirTC_Avg".to_owned())];
    let (times, readings) = case.rows("a.dat", |options| options.columns = column);
    assert_eq!(times.len(), 3);
    assert_eq!((readings[0].len() as f64, sum(&readings[0])), (case.number("count"), case.number("sum")));
}

#[test]
fn an_unclosed_quote_swallows_no_row() {
    let Some(case) = Case::read("unclosed-quote") else { return };
    let (_, readings) = case.rows("a.csv", |_| {});
    assert_eq!(readings[0], [1.0, 2.0, 3.0, 4.0, 5.0], "{}", case.right);
    let mut source = case.open("a.csv", |_| {}).unwrap();
    while source.next_row().is_ok() {}
    let facts = source.facts().remove(0);
    assert_eq!((facts.mended_quotes.count, &facts.mended_quotes.first[..]), (1, &[3][..]));
}

#[test]
fn the_repeated_hour_is_told_by_the_order_of_the_rows() {
    let Some(case) = Case::read("fall-back-newest-first") else { return };
    let vienna = |options: &mut FileOptions| options.zone = Clock::new("Europe/Vienna").unwrap();
    let (times, _) = case.rows("a.csv", vienna);
    let hours = ["03", "02", "01", "00"].map(|hour| format!("2024-10-27T{hour}:00:00Z"));
    let before = ["23", "22"].map(|hour| format!("2024-10-26T{hour}:00:00Z"));
    assert_eq!(times, [&hours[..], &before].concat());
}
