//! Kinds of disorder in files, compared with expectations written by hand.

use std::io::Write as _;

use proptest::prelude::*;
use sotto_agent::source::{Decimal, FileOptions, FileSource, Source, SourceError};
use sotto_agent::stop::Stop;
use sotto_pack::Reason::{Empty, NotANumber, Text};
use sotto_pack::{Channel, Clock};

use crate::rows::{Values, rows};

fn channel(name: &str, unit: &str, minimum: f64, maximum: f64, resolution: f64) -> Channel {
    Channel {
        name: name.into(),
        unit: unit.into(),
        minimum,
        maximum,
        resolution: Some(resolution),
        ..Channel::default()
    }
}

fn temperature() -> Channel {
    channel("temp", "°C", -40.0, 100.0, 0.1)
}

fn humidity() -> Channel {
    channel("hum", "%", 0.0, 100.0, 1.0)
}

fn energy() -> Channel {
    channel("kwh", "kWh", 0.0, 100_000.0, 1.0)
}

/// Reads a file: times, and for each channel a reading, a reason, or nothing.
fn read(
    bytes: &[u8],
    channels: &[Channel],
    change: impl FnOnce(&mut FileOptions),
) -> Result<(Vec<(i64, Values)>, FileSource), SourceError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    std::fs::write(&path, bytes).unwrap();
    let mut options = FileOptions { paths: vec![path], ..FileOptions::default() };
    change(&mut options);
    let mut source = FileSource::open(options, channels, Stop::new())?;
    let rows = rows(&mut source)?;
    Ok((rows, source))
}

/// Returns the values of the rows.
#[track_caller]
fn values(text: &str, channels: &[Channel], change: impl FnOnce(&mut FileOptions)) -> Vec<Values> {
    let (rows, mut source) = read(text.as_bytes(), channels, change).unwrap();
    assert!(source.take_left_out().is_empty(), "no row is without a time");
    rows.into_iter().map(|(_, values)| values).collect()
}

/// Returns the readings of the first channel.
#[track_caller]
fn readings(text: &str, change: impl FnOnce(&mut FileOptions)) -> Vec<f64> {
    values(text, &[temperature()], change).into_iter().map(|values| values[0].unwrap().unwrap()).collect()
}

/// Returns the times of the rows.
fn times(text: &str, change: impl FnOnce(&mut FileOptions)) -> Vec<String> {
    let (rows, _) = read(text.as_bytes(), &[temperature()], change).unwrap();
    rows.iter().map(|(at, _)| jiff::Timestamp::from_millisecond(*at).unwrap().to_string()).collect()
}

#[track_caller]
fn refused(text: &str, channels: &[Channel], change: impl FnOnce(&mut FileOptions), parts: &[&str]) {
    let error = read(text.as_bytes(), channels, change).err().unwrap().to_string();
    assert!(parts.iter().all(|part| error.contains(part)), "{error}");
}

fn none(_: &mut FileOptions) {}

fn column(name: &str, column: &str) -> impl FnOnce(&mut FileOptions) {
    let pair = (name.to_owned(), column.to_owned());
    move |options| options.columns.push(pair)
}

#[test]
fn stray_quotes_swallow_no_line() {
    for (text, expected) in [
        ("time,temp,note\n2024-01-01,1,\"open\n2024-01-02,2,ok\n2024-01-03,3,ok\n", &[1.0, 2.0, 3.0][..]),
        (
            "time,temp,note\n2024-01-01,1,\"open\n2024-01-02,2,ok\n2024-01-03,3,end\"\n2024-01-04,4,\n",
            &[1.0, 2.0, 3.0, 4.0],
        ),
        ("time,temp\n2024-01-01,\"1\n2024-01-02,2\n2024-01-03,3\"\n2024-01-04,4", &[1.0, 2.0, 3.0, 4.0]),
        ("time,temp,note\n\"2024-01-01,1,a\n2024-01-02,2,\"b\"\n", &[1.0, 2.0]),
        (
            "time,temp,note\n2024-01-01,1\",a\n2024-01-02,2,5\" pipe\n2024-01-03,3,\"6\" pipe\"\n",
            &[1.0, 2.0, 3.0],
        ),
        ("time;note;temp\n2024-01-01;\"a;1\n2024-01-02;\"b\";2\n", &[1.0, 2.0]),
        // Rows of several lines stay whole.
        ("note,time,temp\n\"a\nb\",2024-01-01,1\n\"c \"\"d\"\"\n\n,e\",2024-01-02,2\n", &[1.0, 2.0]),
        ("time,note,temp\n2024-01-01,\"a,\nb, c\nd\",1\n2024-01-02,x,2\n", &[1.0, 2.0]),
    ] {
        assert_eq!(readings(text, none), expected, "{text}");
    }
    let (_, source) = read(b"time,temp\n2024-01-01,\"1\n2024-01-02,2\n", &[temperature()], none).unwrap();
    assert_eq!(source.facts()[0].mended_quotes.first, [2]);
}

#[test]
fn rows_of_another_length_are_read_or_named() {
    let text =
        "time,temp,hum\n2024-01-01,1,50\n2024-01-02,2\n2024-01-03,3,51,,\n2024-01-04,4,5,2\n2024-01-05\n";
    let (rows, source) = read(text.as_bytes(), &[temperature(), humidity()], none).unwrap();
    let all: Vec<_> = rows.into_iter().map(|(_, values)| values).collect();
    let (ok, err) = (|value| Some(Ok(value)), |reason| Some(Err(reason)));
    assert_eq!(
        all,
        [
            vec![ok(1.0), ok(50.0)],
            vec![ok(2.0), err(Empty)],
            vec![ok(3.0), ok(51.0)],
            vec![err(Text), err(Text)],
            vec![err(Empty), err(Empty)]
        ]
    );
    assert_eq!(source.facts()[0].too_many_values.first, [5]);
    let cut_off = "time,temp,hum\n2024-01-01,1,50\n2024-01-02,2";
    assert_eq!(values(cut_off, &[temperature(), humidity()], none)[1], [err(Text), err(Empty)], "2 or 20.5");
}

#[test]
fn names_in_the_middle_are_followed() {
    let (ok, both) = (|value| Some(Ok(value)), [temperature(), humidity()]);
    let text = "time,temp,hum\n2024-01-01,1,50\ntime,temp,hum\n2024-01-02,2,51\nhum,extra,time,temp\n%,,,C\n52,x,2024-01-03,3\n";
    let expected = [vec![ok(1.0), ok(50.0)], vec![ok(2.0), ok(51.0)], vec![ok(3.0), ok(52.0)]];
    assert_eq!(values(text, &both, none), expected);
    let lost = "time,temp,hum\n2024-01-01,1,50\ntime,temp,pressure\n2024-01-02,2,1000\n";
    refused(lost, &both, none, &["line 3", "\"hum\"", "\"pressure\""]);
    assert_eq!(readings(lost, none), [1.0, 2.0], "a column that nobody wants may go");
    let comment = "# time;temp\n2024-01-01;1\n# temp;time\n2;2024-01-02\n";
    assert_eq!(readings(comment, none), [1.0, 2.0]);
}

#[test]
fn heads_of_several_lines_are_passed() {
    for text in [
        "Station: attic, level 2\nSerial;0815\n\ntime;temp\n2024-01-01;1\n2024-01-02;2\n",
        "time,temp\n,°C\n2024-01-01,1\n2024-01-02,2\n",
        "Date/Time,temp\nUTC,degC\n,Avg\n2024-01-01,1\n2024-01-02,2\n",
        "# logger 7\n# two lines\ntime\ttemp\n2024-01-01\t1\n# moved\n2024-01-02\t2\n",
        "\"Plot Title: attic\"\n\"#\",\"time\",\"temp\"\n1,2024-01-01,1\n2,2024-01-02,2\n",
        "\"TOA5\",\"st\",\"CR1000\",\"12\"\n\"TIMESTAMP\",\"temp\"\n\"TS\",\"Deg C\"\n\"\",\"Avg\"\n\"2024-01-01 00:00:00\",1\n\"2024-01-02 00:00:00\",2\n",
        "sep=|\ntime|temp\n2024-01-01|1\n2024-01-02|2\n",
        "time temp\n2024-01-01 1\n2024-01-02 2\n",
    ] {
        assert_eq!(readings(text, none), [1.0, 2.0], "{text}");
    }
    let above = "2024-01-01,1\n2024-01-02,2\ntime,temp\n2024-01-03,3\n";
    refused(above, &[temperature()], none, &["line 1", "line 3", "--skip-lines 2"]);
    assert_eq!(readings(above, |options| options.skip_lines = 2), [3.0]);
    let twice = "time,temp\nold,names\ntime,temp\n2024-01-01,1\n";
    assert_eq!(readings(twice, |options| options.header_line = Some(3)), [1.0]);
    assert_eq!(readings("x\ny\ntime,temp\n2024-01-01,1\n", |options| options.skip_lines = 2), [1.0]);
    refused(
        "time,temp\n2024-01-01,1\n",
        &[temperature()],
        |options| options.header_line = Some(9),
        &["--header-line", "2 lines"],
    );
    refused("a,b\ntime,hum\n2024-01-01,1\n", &[temperature()], none, &["\"temp\"", "\"a\"", "\"b\""]);
    let logger = "\"TOA5\",\"st\"\n\"TIMESTAMP\",\"AirTC\"\n\"TS\",\"Deg C\"\n\"\",\"Avg\"\n\"2024-01-01 00:00:00\",1\n";
    refused(logger, &[temperature()], none, &["no column \"temp\"", "\"AirTC\""]);
}

#[test]
fn numbers_with_two_readings_are_asked_about() {
    let kwh = [energy()];
    let ask = |text: &str, parts: &[&str]| refused(text, &kwh, none, parts);
    ask(
        "time;kwh\n2024-01-01;998\n2024-01-02;1.002\n",
        &["line 3", "1.002 or 1002", "--decimal .", "--thousands ."],
    );
    ask("time\tkwh\n2024-01-01\t998\n2024-01-02\t1,002\n", &["line 3", "--decimal ,", "--thousands ,"]);
    ask("time,kwh\n2024-01-01,\"1,002\"\n", &["line 2", "1.002 or 1002"]);
    ask("time,kwh\n2024-01-01,1.002\n2024-01-02,1.003\n", &["line 2"]);
    ask("[{\"time\":\"2024-01-01\",\"kwh\":\"1,002\"}]", &["line 1"]);
    // Thousands of rows behind the first ones.
    let rows: String = (0..3000).map(|row| format!("{};{}\n", 1_704_067_200 + row, row % 900)).collect();
    let late = format!("time;kwh\n{rows}1704070300;1.002\n");
    ask(&late, &["line 3002"]);
    let decided = format!("{late}1704070400;1.002,5\n");
    assert_eq!(values(&decided, &kwh, none)[3000], [Some(Ok(1002.0))]);
    for (text, expected) in [
        ("time;kwh\n2024-01-01;1.002\n2024-01-02;1.002,5\n", [1002.0, 1002.5]),
        ("time;kwh\n2024-01-01;1.002\n2024-01-02;0.5\n", [1.002, 0.5]),
        ("time;kwh\n2024-01-01;1,002\n2024-01-02;12,345.5\n", [1002.0, 12_345.5]),
        ("time;kwh\n2024-01-01;1 002\n2024-01-02;12'345\n", [1002.0, 12_345.0]),
    ] {
        let read: Vec<f64> =
            values(text, &kwh, none).iter().map(|values| values[0].unwrap().unwrap()).collect();
        assert_eq!(read, expected, "{text}");
    }
    let named = |decimal| move |options: &mut FileOptions| options.decimal = Some(decimal);
    let text = "time;kwh\n2024-01-01;1.002\n";
    assert_eq!(values(text, &kwh, named(Decimal::Point)), [[Some(Ok(1.002))]]);
    assert_eq!(values(text, &kwh, named(Decimal::Comma)), [[Some(Ok(1002.0))]]);
    // In the range of this channel there is one reading.
    assert_eq!(readings("time;temp\n2024-01-01;21.125\n2024-01-02;20.250\n", none), [21.125, 20.25]);
    assert_eq!(readings("time,temp\n2024-01-01,1.002\n2024-01-02,2.5\n", none), [1.002, 2.5]);
    // Nothing of a second file is guessed behind a first one.
    let folder = tempfile::tempdir().unwrap();
    let paths: Vec<_> = ["a", "b"].iter().map(|name| folder.path().join(name)).collect();
    std::fs::write(&paths[0], "time;kwh\n2024-01-01;7,5\n").unwrap();
    std::fs::write(&paths[1], "time;kwh\n2024-01-02;1.002\n").unwrap();
    let options = FileOptions { paths, ..FileOptions::default() };
    let error = FileSource::open(options, &kwh, Stop::new()).err().unwrap();
    assert!(matches!(error, SourceError::AmbiguousNumber { line: 2, .. }), "{error}");
}

#[test]
fn units_signs_and_words_stand_in_cells() {
    let text =
        "time;temp;hum\n2024-01-01;21,5 °C;50 %\n2024-01-02;\u{2212}3,5°C;51%\n2024-01-03;unavailable;NaN\n";
    let (ok, err) = (|value| Some(Ok(value)), |reason| Some(Err(reason)));
    let expected = [vec![ok(21.5), ok(50.0)], vec![ok(-3.5), ok(51.0)], vec![err(Empty), err(NotANumber)]];
    assert_eq!(values(text, &[temperature(), humidity()], none), expected);
    let latin1: Vec<u8> = text.replace('\u{2212}', "-").chars().map(|letter| letter as u8).collect();
    assert_eq!(read(&latin1, &[temperature(), humidity()], none).unwrap().0.len(), 3);
    let fahrenheit = "time,temp\n2024-01-01,212 °F\n2024-01-02,32.0 °F\n";
    refused(fahrenheit, &[temperature()], none, &["line 2", "\"212 °F\"", "--from-unit temp=°F"]);
    let from_unit = |options: &mut FileOptions| options.from_unit = vec![(None, "°F".into())];
    let converted = readings(fahrenheit, from_unit);
    assert!((converted[0] - 100.0).abs() < 1e-9 && converted[1].abs() < 1e-9, "{converted:?}");
    refused(
        "time,temp\n2024-01-01,1\n",
        &[humidity()],
        |options| {
            options.columns = vec![("hum".into(), "temp".into())];
            options.from_unit = vec![(None, "°F".into())];
        },
        &["--from-unit", "°F", "hum"],
    );
    refused(
        "time,temp\n2024-01-01,offline\n2024-01-02,offline\n",
        &[temperature()],
        none,
        &["line 2", "\"offline\"", "--missing temp=TEXT"],
    );
}

#[test]
fn missing_values_scale_and_offset() {
    let text = "time,temp,hum\n2024-01-01,-999,-999\n2024-01-02,215,50\n2024-01-03,ERR,51\n";
    let rows = values(text, &[temperature(), humidity()], |options| {
        options.missing = vec![(Some("temp".into()), "-999".into()), (None, "ERR".into())];
        options.scale = vec![(Some("temp".into()), 0.1)];
        options.offset = vec![(Some("temp".into()), -1.0)];
    });
    let (ok, err) = (|value| Some(Ok(value)), |reason| Some(Err(reason)));
    assert_eq!(rows, [vec![err(Empty), ok(-999.0)], vec![ok(20.5), ok(50.0)], vec![err(Empty), ok(51.0)]]);
}

#[test]
fn one_column_holds_several_channels() {
    let text = "entity_id,state,last_changed\nsensor.temp,20.5,2024-01-01T00:00:00Z\nsensor.hum,50,2024-01-01T00:00:00Z\nsensor.door,closed,2024-01-01T00:10:00Z\nsensor.temp,21,2024-01-01T01:00:00Z\n";
    let both = [temperature(), humidity()];
    let columns = |options: &mut FileOptions| {
        options.columns = vec![
            ("temp".into(), "state[entity_id=sensor.temp]".into()),
            ("hum".into(), "state[entity_id=sensor.hum]".into()),
        ];
    };
    let expected = [vec![Some(Ok(20.5)), None], vec![None, Some(Ok(50.0))], vec![Some(Ok(21.0)), None]];
    assert_eq!(values(text, &both, columns), expected);
    let json = "{\"entity_id\":\"sensor.temp\",\"state\":\"20.5\",\"time\":1704067200}\n{\"entity_id\":\"sensor.hum\",\"state\":50,\"time\":1704067200}\n";
    assert_eq!(values(json, &both, columns), expected[..2]);
    // A name with brackets is a name first.
    assert_eq!(readings("time,flow [x=1]\n2024-01-01,1\n", column("temp", "flow [x=1]")), [1.0]);
    // A table of InfluxDB names the series in a column of their own.
    let influx = "#group,false,false,false,true\n#datatype,string,long,dateTime:RFC3339,double,string\n#default,_result,,,,\n,result,table,_time,_value,_field\n,,0,2024-01-01T00:00:00Z,20.5,temp\n,,1,2024-01-01T00:00:00Z,50,hum\n\n#group,false,false,false,true\n,result,table,_time,_value,_field\n,,0,2024-01-01T01:00:00Z,21,temp\n";
    assert_eq!(values(influx, &both, none), expected);
    // The column of another channel is not proposed.
    let error =
        read(b"time,temp,hum\n2024-01-01,1,2\n", &[temperature(), channel("tempo", "", 0.0, 1.0, 1.0)], none);
    let error = error.err().unwrap().to_string();
    assert!(error.contains("\"tempo\"") && !error.contains("did you mean"), "{error}");
}

#[test]
fn times_are_read_in_the_ways_of_loggers() {
    let vienna = |options: &mut FileOptions| options.zone = Clock::new("Europe/Vienna").unwrap();
    for (rows, expected) in [
        (&["2024-01-01 24:00,1"][..], &["2024-01-01T23:00:00Z"][..]),
        (&["31.12.2023 24:00:00,1"], &["2023-12-31T23:00:00Z"]),
        (&["2024-01-01 12:30 a.m.,1"], &["2023-12-31T23:30:00Z"]),
        (&["1/13/2024 1:05:00 PM,1"], &["2024-01-13T12:05:00Z"]),
        (&["2024-10-27T02:30:00+01:00[Europe/Vienna],1"], &["2024-10-27T01:30:00Z"]),
        (&["2024-07-01T12:00[America/New_York][u-ca=iso8601],1"], &["2024-07-01T16:00:00Z"]),
        (&["1704067200,1", "1704067200.5,2"], &["2024-01-01T00:00:00Z", "2024-01-01T00:00:00.5Z"]),
        (&["45292,1", "45292.0416666667,2"], &["2023-12-31T23:00:00Z", "2024-01-01T00:00:00Z"]),
        // The repeated hour, the newest row first.
        (
            &[
                "2024-10-27 03:00,1",
                "2024-10-27 02:30,1",
                "2024-10-27 02:00,1",
                "2024-10-27 02:30,1",
                "2024-10-27 02:00,1",
                "2024-10-27 01:30,1",
            ],
            &[
                "2024-10-27T02:00:00Z",
                "2024-10-27T01:30:00Z",
                "2024-10-27T01:00:00Z",
                "2024-10-27T00:30:00Z",
                "2024-10-27T00:00:00Z",
                "2024-10-26T23:30:00Z",
            ],
        ),
    ] {
        assert_eq!(times(&format!("time,temp\n{}\n", rows.join("\n")), vienna), expected, "{rows:?}");
    }
    // Two series with the same times.
    let long = "id,state,time\na,1,2024-10-27 01:00\nb,1,2024-10-27 01:00\na,1,2024-10-27 02:00\nb,1,2024-10-27 02:00\na,1,2024-10-27 02:00\nb,1,2024-10-27 02:00\n";
    let (rows, _) = read(long.as_bytes(), &[temperature(), humidity()], |options| {
        vienna(options);
        options.columns = vec![("temp".into(), "state[id=a]".into()), ("hum".into(), "state[id=b]".into())];
    })
    .unwrap();
    let hours: Vec<i64> = rows.iter().map(|(at, _)| (at - rows[0].0) / 3_600_000).collect();
    assert_eq!(hours, [0, 0, 1, 1, 2, 2]);
    for (format, text, expected) in [
        ("seconds", "5", "1970-01-01T00:00:05Z"),
        ("excel", "45292", "2024-01-01T00:00:00Z"),
        ("nanoseconds", "1704067200000000000", "2024-01-01T00:00:00Z"),
    ] {
        let named = |options: &mut FileOptions| options.time_format = Some(format.into());
        assert_eq!(times(&format!("time,temp\n{text},1\n"), named), [expected]);
    }
}

#[test]
fn a_column_without_a_name_may_hold_the_time() {
    let expected = ["2024-01-01T00:00:00Z", "2024-01-01T00:01:00Z"];
    assert_eq!(times(",temp\n2024-01-01 00:00:00,1\n2024-01-01 00:01:00,2\n", none), expected);
    assert_eq!(
        times("index,temp\n2024-01-01 00:00:00+00:00,1\n2024-01-01 00:01:00+00:00,2\n", none),
        expected
    );
    // An index of numbers is no time.
    refused(",temp\n0,1\n1,2\n", &[temperature()], none, &["cannot be guessed", "--time COLUMN"]);
    refused(",when,temp\n0,2024-01-01,1\n", &[temperature()], none, &["cannot be guessed", "\"when\""]);
}

#[test]
fn a_legend_that_is_taken_for_the_names_is_named() {
    // The first line with the word `temp` explains it.
    let text = "logger 7\ntemp air temperature\nHH means the hour [1 to 24]\nHH DD temp\n1 1 3\n2 1 4\n";
    let start = |options: &mut FileOptions| options.start = Some("2024-01-01T00:00".into());
    refused(text, &[temperature()], start, &["line 3 has 7 values", "line 2 has 3 names", "--header-line"]);
    let named = |options: &mut FileOptions| {
        start(options);
        options.header_line = Some(4);
    };
    assert_eq!(readings(text, named), [3.0, 4.0]);
}

#[test]
fn columns_may_be_aligned_with_blanks() {
    let text = "DD  time    temp   hum\n 1  2024-01-01    -0.2    90\n 2  2024-01-02    10.5     5\n 3 2024-01-03 7\n";
    let (ok, unsure) = (|value| Some(Ok(value)), Some(Err(Text)));
    let expected = [[ok(-0.2), ok(90.0)], [ok(10.5), ok(5.0)], [unsure, unsure]];
    assert_eq!(values(text, &[temperature(), humidity()], none), expected, "7 may be either");
    let quoted = "time   note temp\n2024-01-01 \"\"   3\n2024-01-02   \"a  b\" 4\n";
    assert_eq!(readings(quoted, none), [3.0, 4.0]);
    let logger = " MLO  240101   3   -1.5\n MLO  240102   4    2.5\n";
    let numbered = |options: &mut FileOptions| {
        options.header = false;
        options.delimiter = Some(' ');
        options.time = vec!["2".into()];
        options.time_format = Some("%y%m%d".into());
        options.columns = vec![("temp".into(), "4".into())];
    };
    assert_eq!(readings(logger, numbered), [-1.5, 2.5]);
}

#[test]
fn an_empty_line_is_no_header() {
    let named = |options: &mut FileOptions| options.header_line = Some(2);
    refused("logger\n\ntime,temp\n2024-01-01,1\n", &[temperature()], named, &["line 2", "empty"]);
}

#[test]
fn json_of_several_layouts() {
    for text in [
        "{\"time\":1704067200,\"temp\":1}\n{\"time\":1704067260,\"temp\":2}\n",
        "[{\"time\":1704067200,\"temp\":1},{\"time\":1704067260,\"temp\":2}]",
        "[\n  {\n    \"time\": 1704067200,\n    \"temp\": 1\n  },\n  {\"time\": 1704067260, \"temp\": 2, \"x\": [NaN, \"}\"]}\n]\n",
        "{\n \"time\": 1704067200,\n \"temp\": 1\n}\n{\n \"time\": 1704067260,\n \"temp\": 2\n}\n",
    ] {
        assert_eq!(readings(text, none), [1.0, 2.0], "{text}");
    }
    let nested = "[{\"time\":1704067200,\"data\":{\"in\":[{\"t\":1.5}]}}]";
    assert_eq!(readings(nested, column("temp", "data.in.0.t")), [1.5]);
    refused(
        "[\n{\"time\":1704067200,\"temp\":1},\n{\"time\":1704067260,\"temp\":",
        &[temperature()],
        none,
        &["line 3"],
    );
    refused(
        "[{\"time\":1704067200,\"temp\":1},\n{\"time\":oops}]",
        &[temperature()],
        none,
        &["line 2", "no JSON object"],
    );
    refused("[]", &[temperature()], none, &["empty"]);
}

#[test]
fn line_protocol_is_read() {
    let text = "# a comment\nroom,id=a temp=1.5,hum=50i,ok=true 1704067200000000000\nroom,id=b temp=9 1704067200000000000\nroom,id=a hum=51i 1704067260000000000\nroom,id=a temp=\"warm\" 1704067320000000000\n";
    let both = [temperature(), humidity()];
    let a = |options: &mut FileOptions| options.conditions = vec![("id".into(), "a".into())];
    let (ok, text_there) = (|value| Some(Ok(value)), Some(Err(Text)));
    let expected = [vec![ok(1.5), ok(50.0)], vec![None, ok(51.0)], vec![text_there, None]];
    assert_eq!(values(text, &both, a), expected);
    let (_, source) = read(text.as_bytes(), &both, a).unwrap();
    assert_eq!(
        (source.facts()[0].format, source.facts()[0].left_out[0].lines.first[0]),
        ("line-protocol", 5)
    );
    refused(text, &[channel("pressure", "", 0.0, 1.0, 1.0)], a, &["\"pressure\"", "\"temp\""]);
}

#[test]
fn compressed_files_are_read() {
    let text = "time,temp\n2024-01-01,1\n2024-01-02,2\n";
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(text.as_bytes()).unwrap();
    let mut packed = gzip.finish().unwrap();
    let frame = |text: &str| {
        ruzstd::encoding::compress_to_vec(text.as_bytes(), ruzstd::encoding::CompressionLevel::Fastest)
    };
    let zstandard = [frame(&text[..12]), frame(&text[12..])].concat();
    for (packed, name) in [(&packed, "gzip"), (&zstandard, "Zstandard")] {
        let (rows, source) = read(packed, &[temperature()], none).unwrap();
        assert_eq!((rows.len(), source.facts()[0].compression), (2, Some(name)));
    }
    packed.truncate(packed.len() - 12);
    assert!(read(&packed, &[temperature()], none).is_err(), "a file without its end");
    let error = read(&zstandard, &[temperature()], |options| options.follow = true).err().unwrap();
    assert!(error.to_string().contains("followed"), "{error}");
}

/// A cell of any bytes that no line end and no delimiter interrupts, with quotes anywhere.
fn cell() -> impl Strategy<Value = String> {
    "[a-z\" ]{0,6}"
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// Whatever quotes stand in the cells of a row, its reading and those of all other rows are read.
    #[test]
    fn quotes_cost_no_row(
        notes in prop::collection::vec((cell(), cell()), 1..20),
        delimiter in prop::sample::select(vec![',', ';', '\t', '|']),
    ) {
        let mut text = format!("time{delimiter}temp{delimiter}a{delimiter}b\n");
        for (row, (one, other)) in notes.iter().enumerate() {
            text += &format!("{}{delimiter}{row}{delimiter}{one}{delimiter}{other}\n", 1_704_067_200 + row);
        }
        let (rows, _) = read(text.as_bytes(), &[channel("temp", "", 0.0, 100.0, 1.0)], none).unwrap();
        let read: Vec<f64> = rows.iter().filter_map(|(_, values)| values[0]?.ok()).collect();
        prop_assert_eq!(read, (0..notes.len()).map(|row| row as f64).collect::<Vec<_>>(), "{}", text);
    }

    /// Rows of well-formed files are those of the crate csv.
    #[test]
    fn well_formed_rows_are_those_of_the_csv_crate(
        notes in prop::collection::vec("[a-z,;\"\n\r #]{0,8}", 1..20),
        quoted: bool,
    ) {
        let style = if quoted { csv::QuoteStyle::Always } else { csv::QuoteStyle::Necessary };
        let mut writer = csv::WriterBuilder::new().quote_style(style).from_writer(Vec::new());
        writer.write_record(["note", "time", "temp"]).unwrap();
        for (row, note) in notes.iter().enumerate() {
            // The crate does not quote a first cell that looks like a comment.
            let note = if note.starts_with('#') { "" } else { note };
            writer.write_record([note, &(1_704_067_200 + row).to_string(), &row.to_string()]).unwrap();
        }
        let text = writer.into_inner().unwrap();
        let (rows, _) = read(&text, &[channel("temp", "", 0.0, 100.0, 1.0)], none).unwrap();
        let read: Vec<f64> = rows.iter().filter_map(|(_, values)| values[0]?.ok()).collect();
        let expected: Vec<f64> = (0..notes.len()).map(|row| row as f64).collect();
        prop_assert_eq!(read, expected, "{}", String::from_utf8_lossy(&text));
    }
}
