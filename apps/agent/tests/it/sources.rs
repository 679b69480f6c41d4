//! Sources on files: made for the test, and real ones.

use std::path::PathBuf;

use sotto_agent::arguments::RowRange;
use sotto_agent::source::{Sensors, Series, Source, SourceError};
use sotto_agent::stop::Stop;

struct File {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

fn file(text: &[u8]) -> File {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("series.csv");
    std::fs::write(&path, text).unwrap();
    File { _folder: folder, path }
}

fn open(file: &File, column: &str) -> Result<Series, SourceError> {
    Series::open(&file.path, column, None, None, 1000)
}

fn values(series: &mut Series) -> Vec<Option<f64>> {
    let mut values = Vec::new();
    loop {
        match series.next_row() {
            Ok(row) => values.push(row.values[0]),
            Err(SourceError::Ended) => return values,
            Err(error) => panic!("{error}"),
        }
    }
}

fn range(series: &Series) -> (f64, f64) {
    (series.channels()[0].minimum, series.channels()[0].maximum)
}

#[test]
fn a_column_is_found_by_its_name() {
    let text =
        b"\xef\xbb\xbftime ,\"flow [l/s]\",empty\n1,2.5,\n2,-3 ,\n3\n4,n/a,\n5,inf,\n\"6\",1e2,\n7,\xff,\n";
    let file = file(text);
    let mut series = open(&file, "flow [l/s]").unwrap();
    assert_eq!(series.channels()[0].name, "flow [l/s]");
    assert_eq!(range(&series), (-3.0, 100.0));
    assert_eq!(values(&mut series), [Some(2.5), Some(-3.0), None, None, None, Some(100.0), None]);
    assert_eq!(values(&mut open(&file, "time").unwrap()).len(), 7);
    let error = open(&file, "flow").err().unwrap();
    assert!(
        matches!(&error, SourceError::NoColumn { columns, .. } if columns == &["time", "flow [l/s]", "empty"])
    );
    assert!(error.to_string().contains("\"flow [l/s]\""), "{error}");
    assert!(matches!(open(&file, "empty"), Err(SourceError::NoNumbers { .. })));
}

#[test]
fn the_range_is_that_of_the_whole_file_or_declared() {
    let file = file(b"x\n5\n-1\n7\n3\n");
    let rows = |from, to| Some(RowRange { from, to });
    let mut series = Series::open(&file.path, "x", rows(1, 3), None, 250).unwrap();
    assert_eq!(range(&series), (-1.0, 7.0));
    let (first, second) = (series.next_row().unwrap(), series.next_row().unwrap());
    assert_eq!((first.at, first.values[0], second.at, second.values[0]), (250, Some(-1.0), 500, Some(7.0)));
    assert!(matches!(series.next_row(), Err(SourceError::Ended)));
    let mut declared = Series::open(&file.path, "x", rows(2, 9), Some((0.0, 6.0)), 250).unwrap();
    assert_eq!(range(&declared), (0.0, 6.0));
    assert_eq!(values(&mut declared), [Some(7.0), Some(3.0)]);
}

#[test]
fn a_constant_column_gets_a_range() {
    assert_eq!(range(&open(&file(b"x\n5\n5\n"), "x").unwrap()), (4.0, 6.0));
    assert_eq!(range(&open(&file(b"x\n-6400\n"), "x").unwrap()), (-6500.0, -6300.0));
}

#[test]
fn what_is_no_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let open = |path: &std::path::Path| Series::open(path, "x", None, None, 1).err().unwrap().to_string();
    assert!(open(folder.path()).contains("cannot be read"));
    assert!(open(&folder.path().join("none.csv")).contains("none.csv"));
    let twice = Series::open(&file(b"x,y,x\n1,2,3\n").path, "x", None, None, 1);
    assert!(matches!(twice, Err(SourceError::AmbiguousColumn { count: 2, .. })));
}

#[test]
fn rows_that_do_not_end_are_refused() {
    let open = |bytes: &[u8], declared| Series::open(&file(bytes).path, "x", None, declared, 1);
    let long = 300 << 10;
    let refused = |opened: Result<Series, SourceError>| opened.err().unwrap().to_string();
    assert!(refused(open(&vec![b','; long], None)).contains("a row has more than"));
    let row = [b"x,y\n1,".as_slice(), &vec![b'7'; long]].concat();
    assert!(refused(open(&row, None)).contains("a row has more than"));
    let mut series = open(&row, Some((0.0, 1.0))).unwrap();
    assert!(matches!(series.next_row(), Err(SourceError::File { .. })));
    // Many rows together may be longer.
    let rows = [b"x,y\n".as_slice(), &b"1.5,abc\n".repeat(long / 8)].concat();
    let mut series = open(&rows, None).unwrap();
    assert_eq!((0..).take_while(|_| series.next_row().is_ok()).count(), long / 8);
    // Errors list only the first of many columns.
    let header: String = (0..5000).map(|i| format!("column-{i},")).collect();
    let why = refused(open(format!("{header}\n1\n").as_bytes(), None));
    assert!(why.contains("and 4951 more") && why.len() < 2000, "{why}");
}

#[test]
fn real_series_are_read() {
    let Some(folder) = std::env::var_os("SOTTO_DATASETS").map(PathBuf::from) else {
        eprintln!("skipped: SOTTO_DATASETS does not name the folder of the real series");
        return;
    };
    for (name, column, count, within) in [
        ("seattle-temps.csv", "temp", 8_759, (0.0, 120.0)),
        ("sensor-network.csv", "humidity", 18_914, (0.0, 120.0)),
        ("water-flow.csv", "Water flow [l/s]", 1_268, (0.0, 1000.0)),
    ] {
        let open = || Series::open(&folder.join(name), column, None, None, 3_600_000).unwrap();
        let (mut series, (minimum, maximum)) = (open(), range(&open()));
        assert!(
            within.0 <= minimum && minimum < maximum && maximum <= within.1,
            "{name}: {minimum} {maximum}"
        );
        let values = values(&mut series);
        assert_eq!(values.len(), count, "{name}");
        let present: Vec<f64> = values.into_iter().flatten().collect();
        assert!(present.len() > count * 9 / 10, "{name}: {} readings", present.len());
        assert!(present.iter().all(|value| (minimum..=maximum).contains(value)));
        assert!(present.contains(&minimum) && present.contains(&maximum), "{name}: the ends are readings");
    }
}

#[test]
fn sensors_give_what_they_declare_or_say_why_not() {
    let mut sensors = match Sensors::open(1, Stop::new()) {
        Ok(sensors) => sensors,
        Err(reason) => {
            eprintln!("skipped: {reason}");
            return;
        }
    };
    let channels = sensors.channels().to_vec();
    assert!((1..=8).contains(&channels.len()));
    let mut last = i64::MIN;
    for _ in 0..3 {
        let row = sensors.next_row().unwrap();
        assert!(row.at > last);
        last = row.at;
        assert_eq!(row.values.len(), channels.len());
        for (value, channel) in row.values.iter().zip(&channels) {
            assert!(
                channel.unit != "%" || value.is_some_and(|value| (0.0..=100.0).contains(&value)),
                "{}",
                channel.name
            );
        }
    }
}
