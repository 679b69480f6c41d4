//! Types of times, names in structures, conditions, heads of sheets, tables of databases.

use super::{csv, none, read, rows, same_as_csv, table, *};

/// Returns the options for channels `a` and `b`, which share the column `temp`.
fn by_sensor(options: &mut FileOptions) {
    options.columns = ["a", "b"].map(|name| (name.to_owned(), format!("temp[sensor={name}]"))).to_vec();
}

#[test]
fn times_have_types_of_their_own() {
    let names = ["temp", "hum"];
    for (file, words) in [
        ("openpyxl.xlsx", "timestamps, local"),
        ("pandas.parquet", "timestamps, local"),
        ("zstd.feather", "timestamps, local"),
        ("text-times.xlsx", "YYYY-MM-DD, local"),
    ] {
        assert_eq!(same_as_csv(file, &names, none).time_format.as_deref(), Some(words), "{file}");
    }
    // The same times in UTC: nothing is skipped, and the rows of the CSV are read as if the plant were there.
    let utc = |options: &mut FileOptions| options.zone = Clock::utc();
    let plain = read(&data("rows.csv"), &names, utc).unwrap().rows;
    assert_eq!(plain.len(), 40);
    for file in ["utc.parquet", "utc.feather", "int96.parquet"] {
        let there = read(&data(file), &names, none).unwrap();
        assert_eq!(
            (there.rows, there.facts.time_format.as_deref()),
            (plain.clone(), Some("timestamps")),
            "{file}"
        );
    }
    for file in ["halves.parquet", "halves.feather"] {
        let facts = same_as_csv(file, &names, |options| options.time = vec!["date".into(), "clock".into()]);
        assert_eq!(facts.time_columns, ["date", "clock"]);
    }
    // A format for texts does not change what times of a type mean.
    same_as_csv("openpyxl.xlsx", &names, |options| options.time_format = Some("%d.%m.%Y".into()));
}

#[test]
fn rows_are_chosen_by_dictionaries_and_other_types() {
    let only = |name: &str, value: &str| {
        let condition = (name.to_owned(), value.to_owned());
        move |options: &mut FileOptions| options.conditions = vec![condition]
    };
    for file in
        ["pandas.parquet", "zstd.parquet", "polars.arrow", "pandas.feather", "deltas.arrows", "openpyxl.xlsx"]
    {
        let expected: Vec<Row> = csv(&["a", "b"], by_sensor);
        let there = read(&data(file), &["a", "b"], by_sensor).unwrap().rows;
        assert_eq!(there[there.len() - 30..], expected[expected.len() - 30..], "{file}");
        let count = |name, value| read(&data(file), &["temp"], only(name, value)).unwrap().rows.len();
        // The first batch of the stream knows sensor `a` alone.
        let before = if file == "deltas.arrows" { 4 } else { 0 };
        assert_eq!(count("sensor", "b") + before, 19, "{file}");
        assert_eq!(
            (count("sensor", "c"), count("power", "1000.037"), count("note", "x, \"y\"")),
            (0, 1, 13),
            "{file}"
        );
    }
    let count = |file, name, value| read(&data(file), &["temp"], only(name, value)).unwrap().rows.len();
    assert_eq!(count("halves.parquet", "date", "2026-03-29"), 36, "times of 00:00");
}

#[test]
fn structures_have_names_with_points() {
    for file in ["nested.parquet", "nested.feather"] {
        let columns = |options: &mut FileOptions| {
            options.columns = vec![("temp".into(), "air.temp".into()), ("hum".into(), "Air.Hum".into())];
        };
        let read = read(&data(file), &["temp", "hum", "power"], columns).unwrap();
        assert_eq!(read.rows, csv(&["temp", "hum", "power"], none), "{file}");
    }
}

#[test]
fn sheets_have_heads_words_and_names_again() {
    let facts = same_as_csv("heads.xlsx", &["temp", "hum", "power"], none);
    assert_eq!((facts.header_line, facts.table.as_deref()), (Some(4), Some("Sheet")));
    assert_eq!(
        (&facts.words[..], &facts.names_again.first[..]),
        (&["°C".to_owned(), "%".into(), "kW".into()][..], &[26][..])
    );
    assert_eq!(facts.left_out[0].lines.first[0], 9, "rows have the numbers of the sheet");
    same_as_csv("heads.xlsx", &["temp", "hum"], |options| options.header_line = Some(4));
    same_as_csv("heads.xlsx", &["temp", "hum"], |options| options.skip_lines = 2);
    let numbered = |options: &mut FileOptions| {
        (options.header, options.skip_lines, options.time) = (false, 1, vec!["1".into()]);
        options.columns = vec![("temp".into(), "2".into()), ("hum".into(), "3".into())];
    };
    same_as_csv("openpyxl.xlsx", &["temp", "hum"], numbered);
}

#[test]
fn one_of_several_tables_is_read() {
    let facts = same_as_csv("sheets.xlsx", &["temp", "hum"], table("First"));
    assert_eq!(facts.table.as_deref(), Some("First"));
    same_as_csv("sheets.xlsx", &["temp"], table("first"));
    let second = read(&data("sheets.xlsx"), &["temp"], table("Second")).unwrap().rows;
    assert_ne!(second, csv(&["temp"], none));
    assert_eq!(
        same_as_csv("rows.sqlite", &["temp", "hum", "power"], |options| {
            options.table = Some("readings".into());
        })
        .table
        .as_deref(),
        Some("readings")
    );
}

#[test]
fn databases_hold_times_as_text_integers_and_reals() {
    let names = ["temp", "hum", "power"];
    let only = |columns: &'static str| {
        move |options: &mut FileOptions| {
            options.time = vec![columns.to_owned()];
            options.zone = Clock::utc();
        }
    };
    let utc = read(&data("rows.csv"), &names, |options| options.zone = Clock::utc()).unwrap().rows;
    for file in ["rows.sqlite", "wal.sqlite"] {
        // The name of the time's column tells the table.
        same_as_csv(file, &names, |options| options.time = vec!["time".into()]);
        let seconds = read(&data(file), &names, only("at")).unwrap();
        let whole = |row: &Row| (row.0.replace(".25Z", "Z"), row.1.clone());
        assert_eq!(seconds.rows, utc.iter().map(whole).collect::<Vec<_>>());
        assert_eq!(
            (seconds.facts.table.as_deref(), seconds.facts.time_format.as_deref()),
            (Some("seconds"), Some("seconds since 1970"))
        );
        assert_eq!(read(&data(file), &names, only("ts")).unwrap().rows, utc);
        // A view is read if it is named.
        let view = |options: &mut FileOptions| {
            (options.table, options.zone) = (Some("joined".into()), Clock::utc());
            by_sensor(options);
        };
        let expected = read(&data("rows.csv"), &["a", "b"], |options| {
            options.zone = Clock::utc();
            by_sensor(options);
        });
        assert_eq!(read(&data(file), &["a", "b"], view).unwrap().rows, expected.unwrap().rows);
    }
}

#[test]
fn nothing_is_written_beside_a_database() {
    let folder = tempfile::tempdir().unwrap();
    // A name that an address would read as options.
    let path = folder.path().join("a b?mode=rwc&x#%41.sqlite");
    std::fs::copy(data("wal.sqlite"), &path).unwrap();
    let before = std::fs::read(&path).unwrap();
    let time = |options: &mut FileOptions| options.time = vec!["time".into()];
    assert_eq!(read(&path, &["temp"], time).unwrap().rows, csv(&["temp"], none));
    let mut source = FileSource::open(
        FileOptions { paths: vec![path.clone()], time: vec!["time".into()], ..FileOptions::default() },
        &channels(&["temp"]),
        Stop::new(),
    )
    .unwrap();
    source.next_row().unwrap();
    let names = || {
        std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>()
    };
    assert_eq!(names(), [path.file_name().unwrap()], "while it is read");
    assert_eq!(rows(&mut source).unwrap().len(), 39);
    drop(source);
    assert_eq!((std::fs::read(&path).unwrap(), names().len()), (before, 1));
}
