//! Answers as CSV, Parquet and xlsx, read back by other readers, beside the JSON form.

use std::path::Path;

use calamine::{Data, DataType as _, Reader as _, Xlsx, open_workbook};
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::Field;
use serde_json::Value;

use crate::plant::Plant;
use crate::session;

const QUESTION: &str = "sum(heat) as total, mean(flow) by day per device";

/// Returns the values of a result in the JSON form.
fn told(answer: &Value, name: &str, key: &str) -> Vec<f64> {
    let rows = answer["rows"].as_array().unwrap().iter().filter(|row| row["name"] == name);
    rows.map(|row| row[key].as_f64().unwrap()).collect()
}

fn ask(folder: &Path, question: &str, files: &[&str]) -> Value {
    let (code, said) = session::output(folder, &[&["ask", question, "--json"], files].concat());
    assert_eq!(code, 0, "{said}");
    serde_json::from_str(&said).unwrap()
}

#[test]
fn a_parquet_file_has_the_values_of_the_answer() {
    let plant = Plant::new();
    let answer = ask(plant.folder(), QUESTION, &["--parquet", "a.parquet"]);
    let file = std::fs::File::open(plant.folder().join("a.parquet")).unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    let rows: Vec<Vec<(String, Field)>> =
        reader.get_row_iter(None).unwrap().map(|row| row.unwrap().into_columns()).collect();
    let column = |name: &str| -> Vec<Field> {
        rows.iter().map(|row| row.iter().find(|(known, _)| known == name).unwrap().1.clone()).collect()
    };
    for (result, key, name) in
        [("total", "value", "total"), ("total", "bound", "total ±"), ("mean(flow)", "value", "mean(flow)")]
    {
        let expected: Vec<Field> = told(&answer, result, key).into_iter().map(Field::Double).collect();
        assert_eq!(column(name), expected, "{name}");
    }
    // 2024-01-01 and the day after in UTC.
    assert_eq!(
        column("from"),
        [Field::TimestampMillis(1_704_067_200_000), Field::TimestampMillis(1_704_153_600_000)]
    );
    assert_eq!(column("device"), vec![Field::Str("boiler".to_owned()); 2]);
    assert_eq!(column("readings"), vec![Field::Long(24); 2]);
}

#[test]
fn a_sheet_has_dates_units_and_values() {
    let plant = Plant::new();
    let answer = ask(plant.folder(), QUESTION, &["--xlsx", "a.xlsx"]);
    let mut book: Xlsx<_> = open_workbook(plant.folder().join("a.xlsx")).unwrap();
    let about = book.worksheet_range("about").unwrap();
    assert_eq!(about.get_value((0, 1)).and_then(Data::get_string), answer["question"].as_str());
    let sheet = book.worksheet_range("answer").unwrap();
    let text = |line: u32| -> Vec<String> {
        (0..sheet.width() as u32)
            .map(|column| sheet.get_value((line, column)).map(ToString::to_string).unwrap_or_default())
            .collect()
    };
    assert_eq!(
        text(0),
        [
            "from",
            "to",
            "utc_offset",
            "device",
            "total",
            "total ±",
            "mean(flow)",
            "mean(flow) ±",
            "readings",
            "missing",
            "assurance",
            "why"
        ]
    );
    assert_eq!(text(1)[..7], ["UTC", "UTC", "of from", "", "kW", "kW", "kW"]);
    let value = |line: u32, column: u32| sheet.get_value((line, column)).unwrap();
    for line in [2, 3] {
        let at = line as usize - 2;
        assert_eq!(value(line, 4).get_float(), Some(told(&answer, "total", "value")[at]));
        assert_eq!(value(line, 7).get_float(), Some(told(&answer, "mean(flow)", "bound")[at]));
        let date = value(line, 0).get_datetime().unwrap();
        assert!(date.is_datetime());
        // 2024-01-01 is day 45,292.
        assert_eq!(date.as_f64(), 45_292.0 + at as f64);
        assert_eq!(value(line, 2).get_string(), Some("+00:00"));
    }
}

#[test]
fn groups_that_recur_have_columns_and_a_kept_answer_is_written_again() {
    let plant = Plant::new();
    let question = "mean(heat) by weekday and hour of day";
    let answer = ask(plant.folder(), question, &["--csv", "a.csv"]);
    let text = std::fs::read_to_string(plant.folder().join("a.csv")).unwrap();
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(lines[0][..5], ["from", "to", "weekday", "hour_of_day", "mean(heat) [kW]"]);
    let rows = answer["rows"].as_array().unwrap();
    assert_eq!(lines.len(), rows.len() + 1);
    for (line, row) in lines[1..].iter().zip(rows) {
        assert_eq!(line[3].parse::<u64>().ok(), row["recurs"]["hour_of_day"].as_u64());
        assert_eq!(Some(line[2]), row["recurs"]["weekday"].as_str());
        assert_eq!(line[4].parse::<f64>().ok(), row["value"].as_f64());
    }
    let kept = session::sotto(plant.folder(), &["answers"]).unwrap();
    let name = kept.split_whitespace().next().unwrap();
    session::sotto(plant.folder(), &["answers", name, "--csv", "b.csv"]).unwrap();
    assert_eq!(std::fs::read_to_string(plant.folder().join("b.csv")).unwrap(), text);
}
