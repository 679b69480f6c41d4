//! Rows a second of one core from a file to packed windows: rows in the order of time and shuffled.
//!
//! `cargo bench -p sotto-agent --bench read` prints the best of several rounds for each format; `-- csv` for one of
//! them. A row has a time, two channels and a column that nobody wants.
#![allow(missing_docs, clippy::unwrap_used)]

mod rows;

use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use arrow_array::types::TimestampMicrosecondType;
use arrow_array::{Float64Array, Int64Array, PrimitiveArray, RecordBatch, StringArray};
use jiff::Timestamp;
use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use sotto_agent::encrypt::{EncryptError, Encrypted, Encryption, Encryptor, Unencrypted};
use sotto_agent::source::{FileOptions, FileSource};
use sotto_agent::spool::{Cuts, Sent};
use sotto_agent::stop::Stop;
use sotto_agent::streams::Stream;
use sotto_agent::windows::{Options, Windows};
use sotto_pack::{Clock, Cut, Encoding, Layout, Span};
use sotto_rlwe::{KeyId, ParameterId};

use rows::{Reading, channels, csv, readings};

const ROWS: usize = 1_000_000;
const ROUNDS: usize = 5;

/// An encryptor that is never called: windows are packed, not encrypted.
struct Never;

impl Encryptor for Never {
    fn parameters(&self) -> ParameterId {
        ParameterId([0; 32])
    }

    fn key(&self) -> KeyId {
        KeyId([0; 16])
    }

    fn slot_shape(&self) -> (u32, u32) {
        (2, 4096)
    }

    fn frame_bytes(&self) -> usize {
        0
    }

    fn check(&self, _: &Layout) -> Result<(), EncryptError> {
        Ok(())
    }

    fn encrypt(&self, _: Unencrypted) -> Result<Encrypted, EncryptError> {
        Err(EncryptError::NoSlots)
    }
}

/// Fisher and Yates, with numbers of a fixed generator.
fn shuffled(mut readings: Vec<Reading>) -> Vec<Reading> {
    let mut state = 1_u64;
    for last in (1..readings.len()).rev() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        readings.swap(last, (state >> 33) as usize % (last + 1));
    }
    readings
}

fn json_lines(readings: &[Reading], path: &Path) {
    let mut text = String::new();
    for Reading { at, temperature, humidity } in readings {
        let time = Timestamp::from_second(*at).unwrap();
        let temperature = *temperature as f64 / 10.0;
        writeln!(
            text,
            "{{\"time\":\"{time}\",\"temperature\":{temperature},\"humidity\":{humidity},\"status\":\"ok\"}}"
        )
        .unwrap();
    }
    std::fs::write(path, text).unwrap();
}

fn parquet(readings: &[Reading], path: &Path) {
    let schema = "message rows { required int64 time (TIMESTAMP(MICROS, false)); required double temperature;
        required int64 humidity; required binary status (UTF8); }";
    let schema = std::sync::Arc::new(parse_message_type(schema).unwrap());
    let properties = WriterProperties::builder().set_compression(Compression::UNCOMPRESSED).build();
    let mut writer =
        SerializedFileWriter::new(File::create(path).unwrap(), schema, properties.into()).unwrap();
    for rows in readings.chunks(100_000) {
        let mut group = writer.next_row_group().unwrap();
        macro_rules! column {
            ($kind:ty, $value:expr) => {{
                let values: Vec<_> = rows.iter().map($value).collect();
                let mut column = group.next_column().unwrap().unwrap();
                column.typed::<$kind>().write_batch(&values, None, None).unwrap();
                column.close().unwrap();
            }};
        }
        column!(Int64Type, |row| row.at * 1_000_000);
        column!(DoubleType, |row| row.temperature as f64 / 10.0);
        column!(Int64Type, |row| row.humidity);
        column!(ByteArrayType, |_| ByteArray::from("ok"));
        group.close().unwrap();
    }
    writer.close().unwrap();
}

fn arrow(readings: &[Reading], path: &Path) {
    let batch = |rows: &[Reading]| {
        let times: PrimitiveArray<TimestampMicrosecondType> =
            rows.iter().map(|row| Some(row.at * 1_000_000)).collect();
        let temperatures: Float64Array = rows.iter().map(|row| Some(row.temperature as f64 / 10.0)).collect();
        let humidities: Int64Array = rows.iter().map(|row| Some(row.humidity)).collect();
        let statuses: StringArray = rows.iter().map(|_| Some("ok")).collect();
        RecordBatch::try_from_iter([
            ("time", std::sync::Arc::new(times) as _),
            ("temperature", std::sync::Arc::new(temperatures) as _),
            ("humidity", std::sync::Arc::new(humidities) as _),
            ("status", std::sync::Arc::new(statuses) as _),
        ])
        .unwrap()
    };
    let schema = batch(&readings[..1]).schema();
    let mut writer = arrow_ipc::writer::FileWriter::try_new(File::create(path).unwrap(), &schema).unwrap();
    readings.chunks(100_000).for_each(|rows| writer.write(&batch(rows)).unwrap());
    writer.finish().unwrap();
}

/// A workbook of one sheet, whose times are numbers of days with the format of a date.
fn xlsx(readings: &[Reading], path: &Path) {
    const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    const PACKAGE: &str = "http://schemas.openxmlformats.org/package/2006/relationships";
    let mut archive = zip::ZipWriter::new(File::create(path).unwrap());
    let mut part = |name: &str, text: &str| {
        archive.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        archive.write_all(text.as_bytes()).unwrap();
    };
    let relation = |id: &str, kind: &str, target: &str| {
        format!("<Relationship Id=\"{id}\" Type=\"{OFFICE}/{kind}\" Target=\"{target}\"/>")
    };
    let relations = |inner: &str| format!("<Relationships xmlns=\"{PACKAGE}\">{inner}</Relationships>");
    part(
        "[Content_Types].xml",
        "<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\"/>",
    );
    part("_rels/.rels", &relations(&relation("r1", "officeDocument", "xl/workbook.xml")));
    let sheet = relation("r1", "worksheet", "worksheets/sheet1.xml");
    let others =
        relation("r2", "styles", "styles.xml") + &relation("r3", "sharedStrings", "sharedStrings.xml");
    part("xl/_rels/workbook.xml.rels", &relations(&(sheet + &others)));
    part(
        "xl/workbook.xml",
        &format!(
            "<workbook xmlns:r=\"{OFFICE}\"><sheets><sheet name=\"S\" sheetId=\"1\" r:id=\"r1\"/></sheets></workbook>"
        ),
    );
    part(
        "xl/styles.xml",
        "<styleSheet><cellXfs count=\"2\"><xf numFmtId=\"0\"/><xf numFmtId=\"22\"/></cellXfs></styleSheet>",
    );
    let names =
        ["time", "temperature", "humidity", "status", "ok"].map(|name| format!("<si><t>{name}</t></si>"));
    part("xl/sharedStrings.xml", &format!("<sst uniqueCount=\"5\">{}</sst>", names.concat()));
    let mut text = String::from("<worksheet><sheetData><row r=\"1\">");
    for (column, name) in ["A", "B", "C", "D"].iter().enumerate() {
        write!(text, "<c r=\"{name}1\" t=\"s\"><v>{column}</v></c>").unwrap();
    }
    text += "</row>";
    for (row, Reading { at, temperature, humidity }) in readings.iter().enumerate() {
        let (number, days) = (row + 2, *at as f64 / 86_400.0 + 25_569.0);
        write!(
            text,
            "<row r=\"{number}\"><c r=\"A{number}\" s=\"1\"><v>{days}</v></c><c r=\"B{number}\"><v>{}</v></c>\
             <c r=\"C{number}\"><v>{humidity}</v></c><c r=\"D{number}\" t=\"s\"><v>4</v></c></row>",
            *temperature as f64 / 10.0
        )
        .unwrap();
    }
    part("xl/worksheets/sheet1.xml", &(text + "</sheetData></worksheet>"));
    archive.finish().unwrap();
}

fn sqlite(readings: &[Reading], path: &Path) {
    drop(std::fs::remove_file(path));
    let mut database = rusqlite::Connection::open(path).unwrap();
    let table = "CREATE TABLE rows (time INTEGER, temperature REAL, humidity INTEGER, status TEXT)";
    database.execute(table, []).unwrap();
    let transaction = database.transaction().unwrap();
    let mut insert = transaction.prepare("INSERT INTO rows VALUES (?1, ?2, ?3, 'ok')").unwrap();
    for Reading { at, temperature, humidity } in readings {
        insert.execute((at, *temperature as f64 / 10.0, humidity)).unwrap();
    }
    drop(insert);
    transaction.commit().unwrap();
}

/// Writes a file of a format.
type Write = fn(&[Reading], &Path);

const FORMATS: [(&str, Write); 6] = [
    ("csv", csv),
    ("json-lines", json_lines),
    ("parquet", parquet),
    ("arrow", arrow),
    ("xlsx", xlsx),
    ("sqlite", sqlite),
];

/// Returns the time that all threads of this process have computed, in steps of 10 ms; on other systems than Linux the
/// time that has passed.
fn computed() -> Duration {
    static BEGIN: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap_or_default().split(' ').collect();
    let ticks = |field: usize| fields.get(field).and_then(|ticks| ticks.parse::<u64>().ok());
    match (ticks(11), ticks(12)) {
        (Some(user), Some(system)) => Duration::from_millis(10 * (user + system)),
        _ => BEGIN.elapsed(),
    }
}

/// Reads a file into packed windows; returns the time that it took to compute.
fn read(path: PathBuf) -> Duration {
    let begin = computed();
    let options = FileOptions { paths: vec![path], ..FileOptions::default() };
    let source = Box::new(FileSource::open(options, &channels(), Stop::new()).unwrap());
    let layout = Layout::smallest(channels(), 3600, 4096, 2, Encoding::Integer { bits: 12 }).unwrap();
    let encryption = Encryption::Ciphertexts { encryptor: Box::new(Never), header: None };
    let stream = Stream { name: "s".to_owned(), layout, encryption, message_bytes: 0 };
    let cut = Cut::new(Span::Hour, sotto_pack::Period::from_milliseconds(1000), 3600);
    let cuts = Cuts::new(Clock::utc(), [("s".to_owned(), cut)].into());
    let options = Options { future: true, ..Options::default() };
    let mut windows = Windows::new(source, &[stream], &cuts, |_| Sent::default(), Stop::new(), &options);
    let mut taken = 0;
    while let Some(closed) = windows.next_closed().unwrap() {
        taken += closed.window.packed.readings();
    }
    assert_eq!(taken, 2 * ROWS as u64);
    computed().saturating_sub(begin)
}

fn main() {
    let asked: Vec<String> = std::env::args().skip(1).filter(|name| !name.starts_with('-')).collect();
    let folder = tempfile::tempdir().unwrap();
    println!("{:<10} {:>12} {:>18} {:>18}", "", "bytes", "rows/s, in order", "rows/s, shuffled");
    for (name, write) in FORMATS {
        if !asked.is_empty() && !asked.iter().any(|wanted| wanted == name) {
            continue;
        }
        let (ordered, other) = (folder.path().join(name), folder.path().join(format!("{name}-shuffled")));
        write(&readings(ROWS, 1), &ordered);
        write(&shuffled(readings(ROWS, 1)), &other);
        let bytes = std::fs::metadata(&ordered).unwrap().len();
        let rate = |path: &PathBuf| {
            let best = (0..ROUNDS).map(|_| read(path.clone())).min().unwrap();
            (ROWS as f64 / best.as_secs_f64()).round()
        };
        println!("{name:<10} {bytes:>12} {:>18} {:>18}", rate(&ordered), rate(&other));
    }
}
