//! Files as they occur in practice, compared with expectations written by hand.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use proptest::prelude::*;
use sotto_agent::source::{Decimal, Encoding, FileOptions, FileSource, FormatName, Source, SourceError};
use sotto_agent::stop::Stop;
use sotto_pack::Reason::{self, Empty, NoSuchTime, NoTime, NotANumber, Text};
use sotto_pack::{Channel, Clock, Period};
use tempfile::TempDir;

type Values = Vec<Result<f64, Reason>>;

/// The files of a test, and the options to read them.
struct Files {
    folder: TempDir,
    options: FileOptions,
}

impl Files {
    fn new(texts: &[&[u8]]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut options = FileOptions::default();
        for (number, text) in texts.iter().enumerate() {
            let path = folder.path().join(format!("{number}.csv"));
            std::fs::write(&path, text).unwrap();
            options.paths.push(path);
        }
        Self { folder, options }
    }

    fn with(mut self, change: impl FnOnce(&mut FileOptions)) -> Self {
        change(&mut self.options);
        self
    }

    fn open(&self, channels: &[&str]) -> Result<FileSource, SourceError> {
        FileSource::open(self.options.clone(), &named(channels), Stop::new())
    }

    /// Returns all rows: the time as RFC 3339, and values or reasons.
    fn rows(&self, channels: &[&str]) -> Vec<(String, Values)> {
        let mut source = self.open(channels).unwrap();
        std::iter::from_fn(|| row(&mut source)).collect()
    }

    /// Returns the times of all rows, and the counts of `NoTime` and `NoSuchTime`.
    fn times(&self) -> (Vec<String>, u64, u64) {
        let mut source = self.open(&["x"]).unwrap();
        let times = std::iter::from_fn(|| row(&mut source)).map(|(at, _)| at).collect();
        let left_out = source.take_left_out();
        assert!(source.take_left_out().is_empty(), "counts are taken once");
        (times, left_out.count(NoTime), left_out.count(NoSuchTime))
    }

    /// Returns the error of opening the files, or of the first row with an error.
    fn error(&self, channels: &[&str]) -> SourceError {
        let mut source = match self.open(channels) {
            Err(error) => return error,
            Ok(source) => source,
        };
        loop {
            match source.next_row() {
                Ok(_) => {}
                Err(error) => return error,
            }
        }
    }

    /// Checks that the error's text contains each of the words.
    #[track_caller]
    fn refused(&self, channels: &[&str], words: &[&str]) {
        let error = self.error(channels).to_string();
        assert!(words.iter().all(|word| error.contains(word)), "{error}");
    }
}

fn file(text: &str) -> Files {
    Files::new(&[text.as_bytes()])
}

fn named(names: &[&str]) -> Vec<Channel> {
    let channel =
        |name: &&str| Channel { name: (*name).to_owned(), minimum: 0.0, maximum: 1.0, ..Channel::default() };
    names.iter().map(channel).collect()
}

fn row(source: &mut FileSource) -> Option<(String, Values)> {
    let row = match source.next_row() {
        Ok(row) => row,
        Err(SourceError::Ended) => return None,
        Err(error) => panic!("{error}"),
    };
    assert_eq!((row.values.len(), row.missing.len()), (source.channels().len(), source.channels().len()));
    let value = |(value, reason): (&Option<f64>, &Option<Reason>)| match (value, reason) {
        (Some(value), None) => Ok(*value),
        (None, Some(reason)) => Err(*reason),
        both => panic!("{both:?}"),
    };
    let values = row.values.iter().zip(&row.missing).map(value).collect();
    Some((Timestamp::from_millisecond(row.at).unwrap().to_string(), values))
}

fn at(time: &str, values: &[Result<f64, Reason>]) -> (String, Values) {
    (time.to_owned(), values.to_vec())
}

fn vienna(options: &mut FileOptions) {
    options.zone = Clock::new("Europe/Vienna").unwrap();
}

#[test]
fn several_columns_are_read_by_their_names() {
    let text = "\u{feff}Time ,note,\"Water flow [l/s]\", Temperature\r\n\
        2022-03-20T11:00:00+01:00,\"a, \"\"b\"\"\",100.59,\"21.5\"\r\n\
        \r\n\
        2022-03-20 12:00:00.250Z,x,-3e2,\n\
        2022-03-20T12:00:01Z,x,nan\r\
        2022-03-20T12:00:02Z,x,21 l,N/A,,\n\
        2022-03-20T12:00:03Z,x,1,2,3\n\
        2022-03-20T12:00:04Z,x, 7 , \"8\"";
    let files = file(text).with(|options| options.columns.push(("flow".into(), "Water flow [l/s]".into())));
    let expected = [
        at("2022-03-20T10:00:00Z", &[Ok(21.5), Ok(100.59)]),
        at("2022-03-20T12:00:00.25Z", &[Err(Empty), Ok(-300.0)]),
        at("2022-03-20T12:00:01Z", &[Err(Empty), Err(NotANumber)]),
        at("2022-03-20T12:00:02Z", &[Err(Empty), Err(Text)]),
        // More values than names: no value can be assigned.
        at("2022-03-20T12:00:03Z", &[Err(Text), Err(Text)]),
        // Blanks may stand before a quote.
        at("2022-03-20T12:00:04Z", &[Ok(8.0), Ok(7.0)]),
    ];
    assert_eq!(files.rows(&["temperature", "flow"]), expected);
    assert!(!files.open(&["temperature", "flow"]).unwrap().paced());
}

#[test]
fn delimiters_and_decimals_are_guessed_or_named() {
    let zeit = |text: &str| file(text).with(|options| options.time = vec!["Zeit".into()]);
    let german = "Zeit;x;y\n2014-02-14;3,25;7\n2014-02-15;1.234,5;-0,5\n2014-02-16;1,234,567;2\n";
    let expected = [
        at("2014-02-14T00:00:00Z", &[Ok(3.25), Ok(7.0)]),
        at("2014-02-15T00:00:00Z", &[Ok(1234.5), Ok(-0.5)]),
        // Groups of thousands with the decimal mark between them.
        at("2014-02-16T00:00:00Z", &[Err(Text), Ok(2.0)]),
    ];
    assert_eq!(zeit(german).rows(&["x", "y"]), expected);
    for delimiter in ["\t", "|"] {
        assert_eq!(zeit(&german.replace(';', delimiter)).rows(&["x", "y"]), expected);
    }
    assert_eq!(zeit(&format!("sep=;\r\n{german}")).rows(&["x", "y"]), expected);
    // One column has decimal points, the other decimal commas.
    let mixed = "time;x;y\n2014-02-14;3,25;7.5\n";
    file(mixed).refused(&["x", "y"], &["0.csv", "--decimal ,", "--decimal ."]);
    let named = |decimal| file(mixed).with(|options| options.decimal = Some(decimal));
    assert_eq!(named(Decimal::Comma).rows(&["x", "y"]), [at("2014-02-14T00:00:00Z", &[Ok(3.25), Err(Text)])]);
    assert_eq!(named(Decimal::Point).rows(&["x", "y"]), [at("2014-02-14T00:00:00Z", &[Err(Text), Ok(7.5)])]);
    assert_eq!(file(mixed).rows(&["x"]), [at("2014-02-14T00:00:00Z", &[Ok(3.25)])]);
    // Between commas, numbers with a decimal comma stand in quotes.
    assert_eq!(file("time,x\n2014-02-14,\"3,25\"\n").rows(&["x"])[0].1, [Ok(3.25)]);
    let both = file("time,x\n2014-02-14,\"3,25\"\n2014-02-15,3.25\n").rows(&["x"]);
    assert_eq!((&both[0].1[..], &both[1].1[..]), (&[Err(Text)][..], &[Ok(3.25)][..]));
    let blanks = file("time x\n2014-02-14T00:00 4\n").with(|options| options.delimiter = Some(' '));
    assert_eq!(blanks.rows(&["x"]), [at("2014-02-14T00:00:00Z", &[Ok(4.0)])]);
    file("x\n1\n").with(|options| options.delimiter = Some('·')).refused(&["x"], &["--delimiter"]);
    file("time,x\n2014-02-14,3,14\n").refused(&["x"], &["line 2", "3 values", "2 names", "--delimiter"]);
}

#[test]
fn files_without_a_header_number_their_columns() {
    let files = file("2014-02-14 06:00;1,5;2\n2014-02-14 07:00;2,5;3\n").with(|options| {
        (options.header, options.time) = (false, vec!["1".into()]);
        options.columns = vec![("a".into(), "3".into()), ("b".into(), "2".into())];
    });
    let expected =
        [at("2014-02-14T06:00:00Z", &[Ok(2.0), Ok(1.5)]), at("2014-02-14T07:00:00Z", &[Ok(3.0), Ok(2.5)])];
    assert_eq!(files.rows(&["a", "b"]), expected);
}

#[test]
fn files_follow_one_another_with_their_own_headers_and_formats() {
    let texts: [&[u8]; 4] = [
        b"time,x,y\n2014-02-14T06:00Z,1,2\n",
        b"y;x;date\n4,5;3;15.02.2014 06:00",
        b"time,x,y\n",
        b"{\"time\":1392534000,\"x\":5,\"y\":\"6\"}\n",
    ];
    let expected = [
        at("2014-02-14T06:00:00Z", &[Ok(1.0), Ok(2.0)]),
        at("2014-02-15T06:00:00Z", &[Ok(3.0), Ok(4.5)]),
        at("2014-02-16T07:00:00Z", &[Ok(5.0), Ok(6.0)]),
    ];
    assert_eq!(Files::new(&texts).rows(&["x", "y"]), expected);
    Files::new(&[b"time,x\n2014-02-14,1\n", b"time,z\n1,2\n"]).refused(&["x"], &["1.csv", "\"x\"", "\"z\""]);
    Files::new(&[b"time,x\n2014-02-14,1\n", b""]).refused(&["x"], &["1.csv", "empty"]);
}

#[test]
fn json_lines_are_read() {
    let text = r#"{"time": "2026-03-01T06:00:00Z", "temperature": 21.5, "air": {"humidity": "40", "p.q": 1}}

        {"time": "2026-03-01T06:00:01Z", "temperature": null, "air": {"humidity": "wet"}, "more": [1, {}]}
        {"time": "2026-03-01T06:00:02Z", "temperature": -4e1, "air.humidity": 3}
        {"temperature": 1}
        {"time": "2026-03-01T06:00:03Z", "temperature": {"a": 1}
        [1, 2]
        {"time": "2026-03-01T06:00:04Z", "Temperature": 1e999, "air": 7}"#;
    let files = file(text).with(|options| options.columns.push(("h".into(), "air.humidity".into())));
    let expected = [
        at("2026-03-01T06:00:00Z", &[Ok(21.5), Ok(40.0)]),
        at("2026-03-01T06:00:01Z", &[Err(Empty), Err(Text)]),
        at("2026-03-01T06:00:02Z", &[Ok(-40.0), Ok(3.0)]),
        // A number beyond all costs its own member alone.
        at("2026-03-01T06:00:04Z", &[Err(NotANumber), Err(Empty)]),
    ];
    let mut source = files.open(&["temperature", "h"]).unwrap();
    let rows: Vec<_> = std::iter::from_fn(|| row(&mut source)).collect();
    assert_eq!(rows, expected);
    assert_eq!(source.take_left_out().count(NoTime), 3 * 2);
    file("{\"time\":1392534000,\"temperature\":1}\n")
        .refused(&["temprature"], &["\"temperature\"", "did you mean"]);
    file("{\"time\":").refused(&["x"], &["line 1", "JSON"]);
    let named = file("\n{\"x\":1}").with(|options| {
        (options.format, options.start) = (Some(FormatName::JSON_LINES), Some("2026-03-01".into()));
    });
    assert_eq!(named.rows(&["x"]), [at("2026-03-01T00:00:00Z", &[Ok(1.0)])]);
}

#[test]
fn times_have_the_forms_that_loggers_write() {
    for (text, expected) in [
        ("2014-02-14T21:30:00Z", "2014-02-14T21:30:00Z"),
        ("2014-02-14T21:30:00.123456+01:00", "2014-02-14T20:30:00.123Z"),
        ("2014-02-14 21:30:00 -0530", "2014-02-15T03:00:00Z"),
        ("2014-02-14t21:30z", "2014-02-14T21:30:00Z"),
        ("2014-02-14 21:30:00 UTC", "2014-02-14T21:30:00Z"),
        ("20140214T213015Z", "2014-02-14T21:30:15Z"),
        ("1392413400", "2014-02-14T21:30:00Z"),
        ("1392413400.1239", "2014-02-14T21:30:00.123Z"),
        ("1.3924134e9", "2014-02-14T21:30:00Z"),
        ("1392413400123", "2014-02-14T21:30:00.123Z"),
        ("1392413400123456", "2014-02-14T21:30:00.123Z"),
        ("1392413400123456789", "2014-02-14T21:30:00.123Z"),
        ("-1392413400.5", "1925-11-17T02:29:59.5Z"),
        // Local times of Vienna.
        ("2014-02-14 21:30:00", "2014-02-14T20:30:00Z"),
        ("2014-02-14T21:30", "2014-02-14T20:30:00Z"),
        ("2014/07/01 00:00", "2014-06-30T22:00:00Z"),
        ("14.02.2014 21:30", "2014-02-14T20:30:00Z"),
        ("1.2.2014  7:05", "2014-02-01T06:05:00Z"),
        ("14/02/2014 21:30", "2014-02-14T20:30:00Z"),
        ("02/14/2014 9:30:05 PM", "2014-02-14T20:30:05Z"),
        ("2/14/2014 12:05 am", "2014-02-13T23:05:00Z"),
        ("2014-02-14", "2014-02-13T23:00:00Z"),
        ("13/03/2004 18.30.05", "2004-03-13T17:30:05Z"),
        ("14.2.2014 21.30", "2014-02-14T20:30:00Z"),
        ("20140214T2130", "2014-02-14T20:30:00Z"),
        ("201402142130", "2014-02-14T20:30:00Z"),
        ("20140214213005", "2014-02-14T20:30:05Z"),
        ("2016-12-31T23:59:60Z", "2016-12-31T23:59:59Z"),
    ] {
        let (times, no_time, _) = file(&format!("x,time\n1,\"{text}\"\n")).with(vienna).times();
        assert_eq!((times, no_time), (vec![expected.to_owned()], 0), "{text}");
    }
    for wrong in [
        "1",
        "20149999",
        // Whole days of a spreadsheet, or a count of something.
        "45292",
        "2014-02-30",
        "30/30/2014",
        "14.02.14",
        "2014-02-14 25:00",
        "2014-02-14T21:30+25:00",
        "x",
        "2014-02-14T21:30Zz",
        "2014-02-1421:30",
        "2014-02/14",
        "21:30",
        "2014-02-14T",
        "-",
        "1e99",
        "nan",
    ] {
        let named = file(&format!("x,when\n1,{wrong}\n")).with(|options| options.time = vec!["when".into()]);
        named.refused(&["x"], &["line 2", "\"when\"", "--time-format"]);
    }
}

#[test]
fn the_format_is_that_of_the_first_rows() {
    let (times, no_time, _) = file(
        "time,x\n2014-02-14T21:30Z,1\n2014-02-14 22:30,2\n,3\n1392413400,4\n2014-02-14 23:30:01.5+00:00,5\n",
    )
    .times();
    assert_eq!(
        (&times[..], no_time),
        (&["2014-02-14T21:30:00Z".into(), "2014-02-14T23:30:01.5Z".into()][..], 3)
    );
    // The unit is that of the first number. Smaller ones are times of a clock that was not set.
    let (times, ..) = file("time,x\n1392413400,1\n100,2\n").times();
    assert_eq!(times, ["2014-02-14T21:30:00Z", "1970-01-01T00:01:40Z"]);
    let (times, no_time, _) = file("time,x\n100,1\n1392413400,2\n1392413400123,3\n").times();
    assert_eq!((times, no_time), (vec!["1970-01-01T00:01:40Z".into(), "2014-02-14T21:30:00Z".into()], 1));
    let (times, no_time, _) = file("time,x\n1392413400123,1\n1392413400,2\n").times();
    assert_eq!((times, no_time), (vec!["2014-02-14T21:30:00.123Z".into()], 1), "never mixed");
    // Day and month: a later row resolves the order.
    let (times, no_time, _) =
        file("time,x\n01/02/2014 00:00,1\n02/02/2014 00:00,2\n13/02/2014 00:00,3\n").times();
    assert_eq!(
        (&times[..2], no_time),
        (&["2014-02-01T00:00:00Z".into(), "2014-02-02T00:00:00Z".into()][..], 0)
    );
    let (times, no_time, _) = file("time,x\n01/02/2014,1\n02/13/2014,3\n13/02/2014,4\n").times();
    assert_eq!(
        (&times[..], no_time),
        (&["2014-01-02T00:00:00Z".into(), "2014-02-13T00:00:00Z".into()][..], 1)
    );
    let ambiguous = "time,x\n01/02/2014 10:00:00,1\n02/03/2014 10:00:00,2\n";
    file(ambiguous).refused(&["x"], &["0.csv", "'%d/%m/%Y %H:%M:%S'", "'%m/%d/%Y %H:%M:%S'"]);
    // The row that resolves the order comes too late.
    let late = format!("time,x\n{}13/02/2014,3\n", "01/02/2014,1\n".repeat(1000));
    assert!(matches!(file(&late).error(&["x"]), SourceError::AmbiguousTime { rows: 1000, .. }));
    // The file before resolves the order.
    let two = Files::new(&[b"time,x\n13/02/2014,1\n", b"time,x\n01/02/2014,2\n"]);
    assert_eq!(two.times().0[1], "2014-02-01T00:00:00Z");
    let format = |format: &str| file(ambiguous).with(|options| options.time_format = Some(format.into()));
    assert_eq!(format("%m/%d/%Y %H:%M:%S").times().0[0], "2014-01-02T10:00:00Z");
    format("%Y").refused(&["x"], &["--time-format", "%d"]);
    format("%H:%M").refused(&["x"], &["--time-format", "%d"]);
    let dates = file("time,x\n13.02.2014,1\n").with(|options| options.time_format = Some("%d.%m.%Y".into()));
    assert_eq!(dates.times().0[0], "2014-02-13T00:00:00Z");
    format("%!").refused(&["x"], &["--time-format"]);
    let epoch = file("time,x\n5,1\n").with(|options| options.time_format = Some("%s".into()));
    assert_eq!(epoch.times().0, ["1970-01-01T00:00:05Z"]);
}

#[test]
fn local_times_that_clocks_skip_or_show_twice() {
    let times = |texts: &[&str]| {
        let rows: String = texts.iter().map(|text| format!("{text},1\n")).collect();
        file(&format!("time,x\n{rows}")).with(vienna).times()
    };
    let spring = ["2014-03-30 01:30", "2014-03-30 02:00", "2014-03-30 02:59", "2014-03-30 03:00"];
    let expected = vec!["2014-03-30T00:30:00Z".to_owned(), "2014-03-30T01:00:00Z".to_owned()];
    assert_eq!(times(&spring), (expected, 0, 2));
    let hour = |minutes: &str| format!("2014-10-26 02:{minutes}");
    let (first, half) = (hour("00"), hour("30"));
    let (autumn, ..) = times(&["2014-10-26 01:30", &first, &half, &first, &half, "2014-10-26 03:00"]);
    let expected = [
        "2014-10-25T23:30:00Z",
        "2014-10-26T00:00:00Z",
        "2014-10-26T00:30:00Z",
        "2014-10-26T01:00:00Z",
        "2014-10-26T01:30:00Z",
        "2014-10-26T02:00:00Z",
    ];
    assert_eq!(autumn, expected);
    // The newest row first.
    let (falling, ..) = times(&["2014-10-26 03:00", &half, &first, &half, &first, "2014-10-26 01:30"]);
    assert!(falling.iter().eq(expected.iter().rev()), "{falling:?}");
}

#[test]
fn files_are_read_again_from_their_first_row() {
    // The second file has another order of day and month, which its first rows tell.
    let files = [&b"time,x\n13/02/2014,0.1\n14/02/2014,0.2\n"[..], b"time,x\n02/15/2014,0.3\nnone,0.4\n"];
    let files = Files::new(&files);
    let mut source = files.open(&["x"]).unwrap();
    let mut read = || {
        let rows: Vec<_> = std::iter::from_fn(|| row(&mut source)).collect();
        let left_out = source.take_left_out();
        source.restart().unwrap();
        (rows, left_out)
    };
    let first = read();
    assert_eq!((first.0.len(), first.1.count(NoTime)), (3, 1));
    assert_eq!((read(), read()), (first.clone(), first));
}

#[test]
fn a_time_column_is_guessed_named_or_replaced_by_a_start() {
    for name in ["time", "Timestamp", "DATE", "datetime", "ts", "At"] {
        assert_eq!(file(&format!("x,{name}\n1,2014-02-14\n")).times().0, ["2014-02-14T00:00:00Z"], "{name}");
    }
    for text in [
        "date,ts,x\n2014-02-14,10:00,1\n",
        "date,time,Time,x\n2014-02-14,1,2,3\n",
        "when,x\n2014-02-14,1\n",
        "time,x\n1,1\n",
        "time,x\n,1\n",
    ] {
        file(text).refused(&["x"], &["--time COLUMN", "--start TIME", "\"x\""]);
    }
    let from = |start: &str| {
        file("x,mote\n1,1\n2,2\nx,1.0\n4,1\n").with(|options| {
            (options.start, options.period) = (Some(start.into()), Period::from_milliseconds(60_000));
            options.conditions.push(("Mote".into(), "1".into()));
        })
    };
    let expected = [
        at("2014-02-14T05:00:00Z", &[Ok(1.0)]),
        at("2014-02-14T05:01:00Z", &[Err(Text)]),
        at("2014-02-14T05:02:00Z", &[Ok(4.0)]),
    ];
    assert_eq!(from("2014-02-14 06:00").with(vienna).rows(&["x"]), expected);
    assert_eq!(from("2014-02-14T05:00:00Z").rows(&["x"]), expected);
    from("soon").refused(&["x"], &["--start"]);
    from("01/02/2014").refused(&["x"], &["--start"]);
    from("2014-03-30 02:30").with(vienna).refused(&["x"], &["--start", "Europe/Vienna"]);
    from("2014-02-14")
        .with(|options| options.time = vec!["x".into()])
        .refused(&["x"], &["--start", "--time"]);
}

#[test]
fn a_date_and_a_time_of_day_stand_in_two_columns() {
    let expected = [at("2004-03-13T18:00:00Z", &[Ok(2.6)]), at("2004-03-13T19:30:05Z", &[Ok(2.0)])];
    let air =
        file("Date;Time;x\n13/03/2004;18.00.00;2,6\n13/03/2004;19.30.05;2\n14/03/2004;;1,5\n;18.00.00;1\n");
    assert_eq!(air.rows(&["x"]), expected, "guessed");
    assert_eq!(air.times().1, 2, "a part is missing");
    let days = |columns: &[&str]| {
        let columns: Vec<String> = columns.iter().map(|name| (*name).to_owned()).collect();
        file("clock,day,x\n18:00,2004-03-13,2.6\n19:30:05,2004-03-13,2\n")
            .with(move |options| options.time = columns)
    };
    assert_eq!(days(&["day", "clock"]).rows(&["x"]), expected, "named");
    days(&["day", "hour"]).refused(&["x"], &["\"hour\""]);
    days(&["clock"]).refused(&["x"], &["\"clock\"", "18:00"]);
    days(&["day", "day", "day", "day", "day", "day", "day"]).refused(&["x"], &["--time", "time of day"]);
    let lines = file(
        "{\"d\":\"2004-03-13\",\"t\":\"18:00\",\"x\":2.6}\n{\"d\":\"2004-03-13\",\"t\":\"19:30:05\",\"x\":2}\n",
    );
    let lines = lines.with(|options| {
        (options.format, options.time) = (Some(FormatName::JSON_LINES), vec!["d".into(), "t".into()]);
    });
    assert_eq!(lines.rows(&["x"]), expected, "JSON lines");
}

#[test]
fn errors_name_the_file_the_column_and_the_way_out() {
    let text = "time,Water flow [l/s],temperature,a,a\n2014-02-14,1,2,3,4\n";
    file(text)
        .refused(&["flow"], &["0.csv", "\"flow\"", "did you mean \"Water flow [l/s]\"", "\"temperature\""]);
    assert!(matches!(file(text).error(&["A"]), SourceError::AmbiguousColumn { count: 2, .. }));
    file(text)
        .with(|options| options.time = vec!["tim".into()])
        .refused(&["temperature"], &["did you mean \"time\""]);
    let condition = ("pump".to_owned(), "1".to_owned());
    file(text).with(|options| options.conditions.push(condition)).refused(&["temperature"], &["\"pump\""]);
    let column = ("tmp".to_owned(), "temperature".to_owned());
    file(text)
        .with(|options| options.columns.push(column))
        .refused(&["temperature"], &["\"tmp\"", "\"temperature\""]);
    Files::new(&[]).refused(&["x"], &["standard input"]);
    let mut none = Files::new(&[]);
    none.options.paths.push(none.folder.path().join("none.csv"));
    none.refused(&["x"], &["none.csv", "cannot be read"]);
    none.options.paths = vec![none.folder.path().to_owned()];
    none.refused(&["x"], &["folder"]);
    let long = "7".repeat(300 << 10);
    file(&format!("time,x\n2014-02-14,1\n2014-02-15,\"{long}")).refused(&["x"], &["line 3", "262144 bytes"]);
    file(&format!("time,x\r2014-02-14,1\r2014-02-15,{long}")).refused(&["x"], &["line 3", "262144 bytes"]);
    file(&format!("{{\"time\":1392413400,\"x\":1}}\n{{\"x\":{long}"))
        .refused(&["x"], &["line 2", "262144 bytes"]);
    file(&",".repeat(300 << 10)).refused(&["x"], &["line 1", "262144 bytes"]);
}

#[test]
fn a_column_is_found_by_its_name() {
    let text =
        b"\xef\xbb\xbftime ,\"flow [l/s]\",empty\n1,2.5,\n2,-3 ,\n3\n4,n/a,\n5,inf,\n\"6\",1e2,\n7,\xff,\n";
    let files = Files::new(&[text]).with(|options| {
        (options.start, options.encoding) = (Some("2014-02-14".into()), Some(Encoding::UTF8));
    });
    let values =
        |column: &str| -> Vec<_> { files.rows(&[column]).into_iter().map(|(_, values)| values[0]).collect() };
    let flow = [Ok(2.5), Ok(-3.0), Err(Empty), Err(Empty), Err(NotANumber), Ok(100.0), Err(Text)];
    assert_eq!(values("flow [l/s]"), flow);
    assert_eq!(values("time"), (1..=7).map(|row| Ok(f64::from(row))).collect::<Vec<_>>());
    assert_eq!(values("empty"), [Err(Empty); 7]);
    let error = files.error(&["flow"]);
    assert!(
        matches!(&error, SourceError::NoColumn { columns, .. } if columns == &["time", "flow [l/s]", "empty"])
    );
    assert!(error.to_string().contains("\"flow [l/s]\""), "{error}");
}

#[test]
fn rows_that_do_not_end_are_refused() {
    let with_start = |options: &mut FileOptions| options.start = Some("2014-02-14".into());
    let long = 300 << 10;
    file(&",".repeat(long)).with(with_start).refused(&["x"], &["a row has more than"]);
    file(&format!("x,y\n1,{}", "7".repeat(long))).with(with_start).refused(&["x"], &["a row has more than"]);
    // Many rows together may be longer.
    let rows = file(&format!("x,y\n{}", "1.5,abc\n".repeat(long / 8))).with(with_start).rows(&["x"]);
    assert_eq!(rows.len(), long / 8);
    // Errors list only the first of many columns.
    let header: String = (0..5000).map(|i| format!("column-{i},")).collect();
    let why = file(&format!("{header}\n1\n")).with(with_start).error(&["x"]).to_string();
    assert!(why.contains("and 4951 more") && why.len() < 2000, "{why}");
}

#[test]
fn text_is_utf8_utf16_or_windows_1252() {
    let latin1 = b"time,Temp \xb0C\n2014-02-14,1\n2014-02-15,\xff\n";
    let files = || Files::new(&[latin1]).with(|options| options.columns.push(("t".into(), "Temp °C".into())));
    let expected = [at("2014-02-14T00:00:00Z", &[Ok(1.0)]), at("2014-02-15T00:00:00Z", &[Err(Text)])];
    assert_eq!(files().rows(&["t"]), expected, "bytes that are not UTF-8 are Windows-1252");
    assert_eq!(files().with(|options| options.encoding = Some(Encoding::LATIN1)).rows(&["t"]), expected);
    files().with(|options| options.encoding = Some(Encoding::UTF8)).refused(&["t"], &["Temp \u{fffd}C"]);
    let time = Files::new(&[b"time,x\n2014-02-14,1\n\xff,2\n"]);
    assert_eq!(time.times(), (vec!["2014-02-14T00:00:00Z".to_owned()], 1, 0));
    let text = "time,Temp °C\n2014-02-14,1\n2014-02-15,ÿ\n";
    for (mark, low) in [(true, true), (true, false), (false, true), (false, false)] {
        let units = text.encode_utf16().map(|unit| if low { unit.to_le_bytes() } else { unit.to_be_bytes() });
        let mut bytes: Vec<u8> = units.flatten().collect();
        if mark {
            bytes.splice(..0, if low { *b"\xff\xfe" } else { *b"\xfe\xff" });
        }
        let utf16 =
            Files::new(&[&bytes]).with(|options| options.columns.push(("t".into(), "Temp °C".into())));
        assert_eq!(utf16.rows(&["t"]), expected, "UTF-16");
    }
}

fn append(path: &Path, text: &str) {
    let mut file = OpenOptions::new().append(true).create(true).open(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

#[test]
fn a_file_that_grows_is_followed() {
    let files = file("time,x\n2014-02-14,1\n2014-0").with(|options| options.follow = true);
    let path = files.options.paths[0].clone();
    let stop = Stop::new();
    let mut source = FileSource::open(files.options, &named(&["x"]), stop.clone()).unwrap();
    assert!(source.paced());
    let pause = || std::thread::sleep(Duration::from_millis(350));
    let writer = std::thread::spawn(move || {
        pause();
        append(&path, "2-15");
        pause();
        append(&path, ",2\n2014-02-16,3\n2014-02-17,");
        pause();
        // Truncated, now with a header; the incomplete line is lost.
        std::fs::write(&path, "x,time\n").unwrap();
        pause();
        append(&path, "4,2014-02-18\n5");
        pause();
        // Renamed, and replaced by a file without a header; the last line of the old file is completed.
        std::fs::rename(&path, path.with_extension("old")).unwrap();
        append(&path.with_extension("old"), ",2014-02-19");
        pause();
        append(&path, "6,2014-02-20\n");
        pause();
        stop.ask();
    });
    let rows: Vec<_> = (0..6).map(|_| row(&mut source).unwrap()).collect();
    let expected: Vec<_> = [(14, 1.0), (15, 2.0), (16, 3.0), (18, 4.0), (19, 5.0), (20, 6.0)]
        .map(|(day, value)| at(&format!("2014-02-{day}T00:00:00Z"), &[Ok(value)]))
        .to_vec();
    assert_eq!(rows, expected);
    assert!(matches!(source.next_row(), Err(SourceError::Stopped)));
    writer.join().unwrap();
}

#[test]
fn an_empty_file_that_grows_and_json_lines_are_followed() {
    let files = Files::new(&[b""]).with(|options| options.follow = true);
    let mut source = files.open(&["x"]).unwrap();
    let path = files.options.paths[0].clone();
    let writer = std::thread::spawn(move || {
        for part in ["{\"time\": 1392", "336000, \"x\"", ": 1}\n{\"time\": 1392422400, ", "\"x\": 2}\n"] {
            std::thread::sleep(Duration::from_millis(150));
            append(&path, part);
        }
    });
    assert_eq!(row(&mut source).unwrap(), at("2014-02-14T00:00:00Z", &[Ok(1.0)]));
    assert_eq!(row(&mut source).unwrap(), at("2014-02-15T00:00:00Z", &[Ok(2.0)]));
    writer.join().unwrap();
}

#[cfg(unix)]
#[test]
fn a_pipe_is_read_as_it_comes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    let options = FileOptions { paths: vec![path.clone()], ..FileOptions::default() };
    let mut source = FileSource::open(options, &named(&["x"]), Stop::new()).unwrap();
    assert!(source.paced());
    let writer = std::thread::spawn(move || {
        let mut pipe = OpenOptions::new().write(true).open(path).unwrap();
        for text in ["time;x\n01/02/2014;1,5\n", "13/02/2014;2,5\n", "14/02/2014;3.5"] {
            pipe.write_all(text.as_bytes()).unwrap();
            std::thread::sleep(Duration::from_millis(50));
        }
    });
    let rows: Vec<_> = std::iter::from_fn(|| row(&mut source)).collect();
    let expected = [
        at("2014-02-01T00:00:00Z", &[Ok(1.5)]),
        at("2014-02-13T00:00:00Z", &[Ok(2.5)]),
        at("2014-02-14T00:00:00Z", &[Err(Text)]),
    ];
    assert_eq!(rows, expected);
    writer.join().unwrap();
}

#[test]
fn a_format_is_found_in_the_first_bytes_or_named() {
    let lines = "\n \n{\"time\": 1392413400, \"x\": 1.5}\n";
    let expected = [at("2014-02-14T21:30:00Z", &[Ok(1.5)])];
    assert_eq!(file(lines).rows(&["x"]), expected);
    assert_eq!(file("time;x\n1392413400;1,5\n").rows(&["x"]), expected);
    // Behind many blanks no object is looked for.
    file(&format!("{}{lines}", " ".repeat(40_000))).refused(&["x"], &["no column \"x\""]);
    let named = |format| move |options: &mut FileOptions| options.format = Some(format);
    file("time,x\n1392413400,1.5\n").with(named(FormatName::JSON_LINES)).refused(&["x"], &["no JSON object"]);
    file(lines).with(named(FormatName::CSV)).refused(&["x"], &["no column \"x\""]);
    assert_eq!(file("[{\"time\": 1392413400, \"x\": 1.5}]").rows(&["x"]), expected);
}

#[test]
fn real_files_are_read() {
    let Some(folder) = std::env::var_os("SOTTO_DATASETS").map(PathBuf::from) else {
        eprintln!("skipped: SOTTO_DATASETS does not name the folder of the real series");
        return;
    };
    let rows = |name: &str, channels: &[&str], change: &dyn Fn(&mut FileOptions)| {
        let mut options = FileOptions { paths: vec![folder.join(name)], ..FileOptions::default() };
        change(&mut options);
        let mut source = FileSource::open(options, &named(channels), Stop::new()).unwrap();
        let rows: Vec<_> = std::iter::from_fn(|| row(&mut source)).collect();
        (rows, source.take_left_out())
    };
    // The file has a row at 02:00 on March 14, an hour that Seattle's clocks skipped.
    let (seattle, left_out) = rows("seattle-temps.csv", &["temp"], &|options| {
        options.zone = Clock::new("America/Los_Angeles").unwrap();
    });
    assert_eq!(seattle[0], at("2010-01-01T08:00:00Z", &[Ok(39.4)]));
    assert_eq!((seattle.len(), left_out.total(), left_out.count(NoSuchTime)), (8_758, 1, 1));
    let (flow, left_out) = rows("water-flow.csv", &["Water flow [l/s]"], &|_| {});
    assert_eq!(flow[0], at("2022-03-20T10:00:00Z", &[Ok(100.59)]));
    assert_eq!((flow.len(), left_out.total()), (1_268, 0));
    let (mote, left_out) = rows("sensor-network.csv", &["humidity", "temperature"], &|options| {
        (options.start, options.period) =
            (Some("2010-05-09T00:00:00Z".into()), Period::from_milliseconds(5000));
    });
    assert_eq!(mote[1], at("2010-05-09T00:00:05Z", &[Ok(45.9), Ok(27.95)]));
    assert_eq!((mote.len(), left_out.total()), (18_914, 0));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Random bytes, and random cells in a file's format, give rows or an error.
    #[test]
    fn no_bytes_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..400),
        text in "(time|x|[;,\t|.:/\"{}\\-+ 0-9eTZ\r\n]){0,120}",
        time in "[0-9]{1,4}[-/.][0-9]{1,4}[-/.][0-9]{1,4}[T ]?[0-9]{0,3}:?[0-9]{0,3}:?[.0-9]{0,4}[Z+]?[0-9:]{0,5}",
        number in "[-+]?[0-9]{0,22}[.]?[0-9]{0,4}(e[0-9]{1,4})?",
        header: bool,
    ) {
        let table = format!("time,x\n\"{time}\",{number}\n{number},1\n{text}");
        let json = format!("{{\"time\": \"{time}\", \"x\": 1}}\n{{\"time\": {number}, \"x\": {text}\n{text}");
        for bytes in [&bytes[..], text.as_bytes(), table.as_bytes(), json.as_bytes()] {
            let files = Files::new(&[bytes]).with(vienna);
            for options in [&|_: &mut FileOptions| {}, &|options: &mut FileOptions| {
                (options.start, options.header) = (Some("2014-02-14".into()), header);
                options.columns = vec![("x".into(), if header { "x" } else { "1" }.into())];
                options.encoding = Some(Encoding::LATIN1);
            }] as [&dyn Fn(&mut FileOptions); 2] {
                let mut changed = files.options.clone();
                options(&mut changed);
                let Ok(mut source) = FileSource::open(changed, &named(&["x"]), Stop::new()) else { continue };
                let rows = (0..=bytes.len()).take_while(|_| source.next_row().is_ok()).count();
                prop_assert!(rows <= bytes.len());
            }
        }
    }
}
