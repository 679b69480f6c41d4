//! Tables in binary files, compared with the CSV of the same rows. `tests/data/tables/make.py` wrote them with pandas,
//! pyarrow, polars, DuckDB, openpyxl, XlsxWriter and SQLite.

mod damaged;
mod kinds;
mod refused;

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use sotto_agent::source::{FileFacts, FileOptions, FileSource, Source, SourceError};
use sotto_agent::stop::Stop;
use sotto_pack::{Channel, Clock, LeftOut, Reason};

use crate::rows::Values;

/// A row: its time, and its values.
type Row = (String, Values);

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tables").join(name)
}

fn channels(names: &[&str]) -> Vec<Channel> {
    let channel = |name: &&str| Channel {
        name: (*name).to_owned(),
        unit: if *name == "temp" { "°C".to_owned() } else { String::new() },
        minimum: -100.0,
        maximum: 10_000.0,
        resolution: Some(0.001),
        ..Channel::default()
    };
    names.iter().map(channel).collect()
}

/// A file that was read to its end.
struct Read {
    rows: Vec<Row>,
    left_out: LeftOut,
    facts: FileFacts,
}

/// Reads a file twice, the second time after a restart.
fn read(path: &Path, names: &[&str], change: impl FnOnce(&mut FileOptions)) -> Result<Read, SourceError> {
    let zone = Clock::new("Europe/Vienna").unwrap();
    let mut options = FileOptions { paths: vec![path.to_owned()], zone, ..FileOptions::default() };
    change(&mut options);
    let mut source = FileSource::open(options, &channels(names), Stop::new())?;
    assert!(!source.paced());
    let first = rows(&mut source)?;
    let (left_out, facts) = (source.take_left_out(), source.facts().remove(0));
    source.restart()?;
    assert_eq!(rows(&mut source)?, first, "after a restart");
    Ok(Read { rows: first, left_out, facts })
}

fn rows(source: &mut FileSource) -> Result<Vec<Row>, SourceError> {
    let text = |at: i64| Timestamp::from_millisecond(at).unwrap().to_string();
    Ok(crate::rows::rows(source)?.into_iter().map(|(at, values)| (text(at), values)).collect())
}

fn none(_: &mut FileOptions) {}

fn table(name: &str) -> impl FnOnce(&mut FileOptions) {
    let name = name.to_owned();
    move |options| options.table = Some(name)
}

/// Reads the CSV of the same rows.
fn csv(names: &[&str], change: impl FnOnce(&mut FileOptions)) -> Vec<Row> {
    let read = read(&data("rows.csv"), names, change).unwrap();
    assert_eq!(
        read.left_out.count(Reason::NoSuchTime),
        2 * names.len() as u64,
        "the clocks of Vienna go forward"
    );
    read.rows
}

#[track_caller]
fn same_as_csv(file: &str, names: &[&str], change: impl FnOnce(&mut FileOptions)) -> FileFacts {
    let read = read(&data(file), names, change).unwrap_or_else(|error| panic!("{file}: {error}"));
    assert_eq!(read.rows, csv(names, |_| {}), "{file}");
    assert_eq!(read.left_out.count(Reason::NoSuchTime), 2 * names.len() as u64, "{file}");
    read.facts
}

#[test]
fn tables_give_the_rows_of_the_csv() {
    let all = ["temp", "hum", "power"];
    for file in [
        "pandas.parquet",
        "none.parquet",
        "gzip.parquet",
        "lz4.parquet",
        "zstd.parquet",
        "pages-2.parquet",
        "encodings.parquet",
        "kinds.parquet",
        "kinds-2.parquet",
        "polars.parquet",
        "duckdb.parquet",
        "pandas.feather",
        "zstd.feather",
        "kinds.feather",
        "polars.arrow",
        "deltas.arrows",
        "openpyxl.xlsx",
        "text-times.xlsx",
    ] {
        let facts = same_as_csv(file, &all, none);
        let format = match file.rsplit('.').next().unwrap() {
            "feather" | "arrows" => "arrow",
            ending => ending,
        };
        assert_eq!((facts.format, facts.rows), (format, 40), "{file}");
        assert_eq!(facts.left_out.iter().map(|fault| fault.lines.count).sum::<u64>(), 15, "{file}");
        assert_eq!(facts.encoding, None, "{file}");
    }
}
