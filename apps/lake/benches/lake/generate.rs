//! Makes a store as a cloud would have it: windows of an hour, in segments, and the catalogue; beside it a
//! file with the same places as columns of Int64.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use anyhow::Context as _;
use datafusion::arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray, TimestampMillisecondArray};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use rusqlite::{Connection, params};
use sotto_lake::store::VERSION;
use sotto_pack::{Channel, Digit, Period, Placed, Quantity, SumsPart, WindowDescription};
use sotto_rlwe::KeyId;
use sotto_segment::{Row, Window, Writer};
use sotto_sums::{Encryptor, StreamKeys};
use sotto_wire::{Envelope, MaskName, StreamHeader, SumsStream};

const WIDTH: u8 = 23;
const HOUR: i64 = 3_600_000;
/// 2026-01-01, milliseconds since 1970.
pub(crate) const BEGIN: i64 = 1_767_225_600_000;
pub(crate) const SECRET: [u8; 32] = [9; 32];
pub(crate) const SALT: [u8; 12] = [4; 12];
/// Bytes of bodies of a segment.
const SEGMENT: usize = 16 << 20;

/// A store for measurements.
pub(crate) struct Store {
    pub(crate) folder: PathBuf,
    pub(crate) plain: PathBuf,
    pub(crate) devices: u64,
    /// Windows of a device, and readings of a window.
    pub(crate) windows: u64,
    pub(crate) ticks: u32,
}

impl Store {
    pub(crate) fn readings(&self) -> u64 {
        self.devices * self.windows * u64::from(self.ticks)
    }
}

pub(crate) fn header(device: u64, ticks: u32) -> anyhow::Result<Arc<StreamHeader>> {
    let level =
        Channel { name: "level".into(), maximum: 4095.0, resolution: Some(1.0), ..Channel::default() };
    let quantities = vec![Placed { quantity: Quantity::Reading(0), digit: Digit::Whole, width: WIDTH }];
    let stream = SumsStream {
        device: format!("d{device:07}"),
        stream: "level".into(),
        period: Period::of_seconds(HOUR as u32 / 1000, ticks)?,
        ticks,
        channels: vec![level],
        rounded: false,
        parts: vec![SumsPart { quantities, reasons: 0 }],
    };
    Ok(Arc::new(StreamHeader::of_sums(stream, |id| KeyId(StreamKeys::derive(&SECRET, id).id()))?))
}

/// Returns a reading of a device in steps from the middle of its range.
pub(crate) fn reading(device: u64, window: u64, tick: u32) -> i64 {
    (device.wrapping_mul(7919) ^ window.wrapping_mul(31) ^ u64::from(tick).wrapping_mul(101)) as i64 % 4001
        - 2000
}

/// Makes a store with about so many readings, unless it is there.
pub(crate) fn store(folder: &Path, readings: u64, devices: u64, ticks: u32) -> anyhow::Result<Store> {
    let windows = (readings / u64::from(ticks) / devices).max(1);
    let root = folder.join(format!("{devices}x{windows}x{ticks}"));
    let store =
        Store { folder: root.join("data"), plain: root.join("plain.parquet"), devices, windows, ticks };
    if root.join("made").exists() {
        return Ok(store);
    }
    let begin = Instant::now();
    let _ = fs::remove_dir_all(&root);
    fs::create_dir_all(&root)?;
    empty(&store.folder)?;
    fill(&store)?;
    fs::write(root.join("made"), "")?;
    println!("made {} readings in {:.0} s", store.readings(), begin.elapsed().as_secs_f64());
    Ok(store)
}

/// The tables of a cloud's catalogue that the lake reads.
const TABLES: &str = "
    CREATE TABLE streams (tag BLOB PRIMARY KEY, device TEXT, header BLOB);
    CREATE TABLE logs (id INTEGER PRIMARY KEY, device TEXT, stream TEXT);
    CREATE TABLE segments (id INTEGER PRIMARY KEY, digest BLOB);
    CREATE TABLE runs (log INTEGER, number INTEGER, windows INTEGER, segment INTEGER, block INTEGER, row INTEGER,
        kind INTEGER, stream_tag BLOB, started_at INTEGER, ended_at INTEGER, replaces INTEGER,
        PRIMARY KEY (log, number)) WITHOUT ROWID;
    CREATE TABLE envelopes (id BLOB, device TEXT, stream TEXT, stream_tag BLOB, sequence INTEGER, message BLOB, digest BLOB,
        stored_at INTEGER);
    CREATE TABLE log (envelope BLOB, position INTEGER);
    CREATE TABLE roll_ups (id INTEGER, sums BLOB, rolled_at INTEGER);
    CREATE TABLE rolled (log INTEGER, number INTEGER, windows INTEGER, roll_up INTEGER);";

/// Makes an empty store.
fn empty(data: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(data.join("segments"))?;
    let catalogue = Connection::open(data.join("cloud.sqlite"))?;
    catalogue.execute_batch(TABLES)?;
    Ok(catalogue.pragma_update(None, "user_version", VERSION)?)
}

struct Segment {
    writer: Writer,
    path: PathBuf,
    bytes: usize,
    /// Of each run: log, number, windows, block, row, tag.
    runs: Vec<(u64, u64, u64, u32, u32, [u8; 8])>,
}

impl Segment {
    fn new(store: &Store, device: u64) -> anyhow::Result<Self> {
        let path = store.folder.join(format!("segments/incoming-{device}"));
        let writer = Writer::new(File::create(&path)?)?;
        Ok(Self { writer, path, bytes: 0, runs: Vec::new() })
    }

    /// Gives the file its name, and the catalogue its runs.
    fn finish(self, store: &Store, catalogue: &Connection) -> anyhow::Result<()> {
        let (digest, _) = self.writer.finish()?;
        fs::rename(&self.path, store.folder.join("segments").join(hex::encode(&digest[..16])))?;
        catalogue.execute("INSERT INTO segments (digest) VALUES (?1)", params![digest])?;
        let segment = catalogue.last_insert_rowid();
        let mut insert = catalogue.prepare_cached(
            "INSERT INTO runs (log, number, windows, segment, block, row, kind, stream_tag, started_at, ended_at,
             replaces) VALUES (?1, ?2, ?3, ?4, ?5, ?6, 0, ?7, ?8, ?9, 0)",
        )?;
        for (log, number, windows, block, row, tag) in self.runs {
            let start = |number: u64| BEGIN + HOUR * number as i64;
            let (first, last) = (start(number), start(number + windows) - 1);
            insert.execute(params![
                log as i64,
                number as i64,
                windows as i64,
                segment,
                block,
                row,
                tag,
                first,
                last
            ])?;
        }
        Ok(())
    }
}

fn fill(store: &Store) -> anyhow::Result<()> {
    let mut catalogue = Connection::open(store.folder.join("cloud.sqlite"))?;
    let catalogue = catalogue.transaction()?;
    let mut plain = Plain::create(&store.plain, store.ticks as usize)?;
    let mut segment = Segment::new(store, 0)?;
    for device in 0..store.devices {
        let (header, ticks) = (header(device, store.ticks)?, store.ticks);
        let (name, tag) = (header.device(), header.id().tag().0);
        catalogue.execute("INSERT INTO streams VALUES (?1, ?2, ?3)", params![tag, name, header.write()])?;
        let log = "INSERT INTO logs VALUES (?1, ?2, 'level')";
        catalogue.execute(log, params![device as i64, name])?;
        if segment.bytes > SEGMENT {
            std::mem::replace(&mut segment, Segment::new(store, device)?).finish(store, &catalogue)?;
        }
        segment.writer.begin(name, "level")?;
        let mut encryptor =
            Encryptor::new(&SECRET, header.stream_id().context("a stream of sums")?, &SALT, 0);
        let form = header.sums_form(0)?;
        for number in 0..store.windows {
            let start = BEGIN + HOUR * number as i64;
            let period = header.period();
            let description = WindowDescription::whole(header.layout(), start, period, ticks);
            let mut parts = vec![0; form.body_bytes(ticks)];
            let values = (0..ticks).map(|tick| Some(reading(device, number, tick)));
            let counts = header.parts()[0].counts(&description);
            let tag_of = encryptor.window(number)?.encrypt(&form, ticks, 0, values, counts, &mut parts)?;
            plain.push(name, start, &parts, u64::from_le_bytes(tag_of.to_bytes()))?;
            parts.extend(tag_of.to_bytes());
            let pads = MaskName { salt: SALT, sequence: number };
            let envelope = Envelope::sign_sums(&header, number, pads, description, &parts, |_| [0; 64])?;
            let window = Window::whole(&envelope).context("a window of sums")?;
            let bytes = parts.len();
            let placed = segment.writer.push(Row {
                sequence: number,
                position: number,
                bytes: bytes as u64,
                stored_at: 0,
                window,
            })?;
            segment.bytes += bytes;
            match segment.runs.last_mut() {
                Some(run) if run.0 == device && run.3 == placed.block => run.2 += 1,
                _ => segment.runs.push((device, number, 1, placed.block, placed.row, tag)),
            }
        }
    }
    segment.finish(store, &catalogue)?;
    catalogue.commit()?;
    plain.finish()
}

/// Rows of the plain file that are written together.
const ROWS: usize = 1 << 14;

/// The same places as columns of Int64, and the tags as two of 31 and 30 bits.
struct Plain {
    writer: ArrowWriter<File>,
    devices: Vec<String>,
    starts: Vec<i64>,
    columns: Vec<Vec<i64>>,
}

impl Plain {
    fn create(path: &Path, ticks: usize) -> anyhow::Result<Self> {
        let columns = vec![Vec::new(); ticks + 2];
        let schema = Self::batch(&[], &[], &columns)?.schema();
        // The form that is read fastest.
        let properties = WriterProperties::builder()
            .set_compression(Compression::UNCOMPRESSED)
            .set_dictionary_enabled(false)
            .set_column_dictionary_enabled("device".into(), true);
        let writer = ArrowWriter::try_new(File::create(path)?, schema, Some(properties.build()))?;
        Ok(Self { writer, devices: Vec::new(), starts: Vec::new(), columns })
    }

    fn batch(devices: &[String], starts: &[i64], columns: &[Vec<i64>]) -> anyhow::Result<RecordBatch> {
        let starts = TimestampMillisecondArray::from(starts.to_vec()).with_timezone("UTC");
        let mut all: Vec<(String, ArrayRef)> = vec![
            ("device".to_owned(), Arc::new(StringArray::from(devices.to_vec()))),
            ("start".to_owned(), Arc::new(starts)),
        ];
        for (at, column) in columns.iter().enumerate() {
            all.push((format!("p{at}"), Arc::new(Int64Array::from(column.clone()))));
        }
        Ok(RecordBatch::try_from_iter(all)?)
    }

    fn push(&mut self, device: &str, start: i64, body: &[u8], tag: u64) -> anyhow::Result<()> {
        self.devices.push(device.to_owned());
        self.starts.push(start);
        let width = usize::from(WIDTH);
        let ticks = self.columns.len() - 2;
        for at in 0..ticks {
            let mut word = [0; 8];
            let from = at * width / 8;
            let bytes = body.get(from..(from + 8).min(body.len())).unwrap_or_default();
            word[..bytes.len()].copy_from_slice(bytes);
            let value = (u64::from_le_bytes(word) >> (at * width % 8)) & ((1 << width) - 1);
            self.columns[at].push(value as i64);
        }
        self.columns[ticks].push((tag & ((1 << 31) - 1)) as i64);
        self.columns[ticks + 1].push((tag >> 31) as i64);
        if self.starts.len() >= ROWS { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> anyhow::Result<()> {
        self.writer.write(&Self::batch(&self.devices, &self.starts, &self.columns)?)?;
        self.devices.clear();
        self.starts.clear();
        self.columns.iter_mut().for_each(Vec::clear);
        Ok(())
    }

    fn finish(mut self) -> anyhow::Result<()> {
        self.flush()?;
        self.writer.close()?;
        Ok(())
    }
}
