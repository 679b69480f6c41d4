//! The device's inputs: files of readings, requests to a gateway, names in its spool, the cloud's address and receipts.

use std::path::Path;

use sotto_agent::gateway::{Intake, IntakeError, Point, Precision, Taken, take_lines};
use sotto_agent::source::{Encoding, FileOptions, FileSource, Source as _};
use sotto_agent::spool::Entry;
use sotto_agent::stop::Stop;
use sotto_agent::upload::{Cloud, Receipt};
use sotto_pack::{Channel, Clock};

use super::{Inputs, Target, in_file, once};

#[rustfmt::skip]
pub(super) const TARGETS: &[Target] = &[
    // A thousand rows are kept to guess formats: 128 bytes a row, which is two or three bytes of the file.
    Target { name: "device-files", run: files, inputs: Inputs::Kept(all_files), memory: |bytes| 128 * bytes.len() + (512 << 10) },
    // Pages are decompressed, some thousand times as large at most.
    Target { name: "device-tables", run: tables, inputs: Inputs::MadeAnew(all_tables), memory: |bytes| 4096 * bytes.len() + (8 << 20) },
    Target { name: "device-words", run: words, inputs: Inputs::Kept(all_words), memory: |bytes| 64 * bytes.len() + (256 << 10) },
    // A part of a request and the points of its lines, which are some hundred bytes a line of ten.
    Target { name: "gateway-lines", run: lines, inputs: Inputs::Kept(all_lines), memory: |bytes| 128 * bytes.len() + (1 << 20) },
    Target { name: "receipt", run: receipt, inputs: Inputs::Kept(receipts), memory: |bytes| 64 * bytes.len() + (16 << 10) },
];

fn all_files() -> Vec<Vec<u8>> {
    [
        "time,load\n2026-03-01T06:00:00Z,1.5\n2026-03-01 06:00:01.5+01:00,\n",
        "\u{feff}load ;Zeit;Time\r\n3,14;x;14.02.2014 21:30\r\n\"2,5\";;15.02.2014\r\n",
        "load\tts\n1\t1392413400.25\n2\t1392413401\n",
        "date|LOAD\n01/02/2014 9:30 PM|1\n02/13/2014 10:00 AM|NA\n",
        "{\"time\": 1392413400123, \"load\": 21.5, \"air\": {\"x\": [1]}}\n{\"at\": null, \"load\": \"7\"}\n",
        "sep=;\nat;load\r20141026T0230;1\r20141026T0200;2\r20140330T0230;3",
        "time,load\n0,1.5\n1,\n2,-3e2\n3,nan\n",
        "load\n\"1\"\n 2 \n\n3,4,5\n",
        "load,load\n1,2\n",
    ]
    .map(|text| text.as_bytes().to_vec())
    .to_vec()
}

/// Reads every row of the column `load`, with times from the file and invented ones.
fn files(bytes: &[u8]) -> bool {
    let zone = once!(Clock, Clock::new("Europe/Vienna").expect("a zone"));
    in_file(bytes, |path| {
        let guessed =
            FileOptions { paths: vec![path.to_owned()], zone: zone.clone(), ..FileOptions::default() };
        let start = Some("2026-03-01".to_owned());
        let invented = FileOptions { start, encoding: Some(Encoding::LATIN1), ..guessed.clone() };
        let channels = [Channel { name: "load".to_owned(), ..Channel::default() }];
        let mut accepted = false;
        for options in [guessed, invented] {
            let Ok(mut source) = FileSource::open(options, &channels, Stop::new()) else { continue };
            accepted = true;
            let rows = (0..=bytes.len()).take_while(|_| source.next_row().is_ok()).count();
            assert!(rows <= bytes.len(), "a file has an end");
        }
        accepted
    })
}

/// Tables of every format, smaller ones first.
fn all_tables() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../apps/agent/tests/data/tables");
    [
        "encodings.parquet",
        "pages-2.parquet",
        "kinds.parquet",
        "lz4.parquet",
        "kinds.feather",
        "polars.arrow",
        "deltas.arrows",
        "zstd.feather",
        "heads.xlsx",
        "rows.sqlite",
    ]
    .map(|name| std::fs::read(folder.join(name)).expect("a table"))
    .to_vec()
}

/// Reads some rows of a table of any format.
fn tables(bytes: &[u8]) -> bool {
    let channels = ["temp", "hum", "power"].map(|name| Channel {
        name: name.to_owned(),
        maximum: 10_000.0,
        ..Channel::default()
    });
    in_file(bytes, |path| {
        let (paths, time) = (vec![path.to_owned()], vec!["time".to_owned()]);
        let conditions = vec![("sensor".to_owned(), "a".to_owned())];
        let options = FileOptions { paths, time, conditions, ..FileOptions::default() };
        let Ok(mut source) = FileSource::open(options, &channels, Stop::new()) else { return false };
        (0..1000).any(|_| source.next_row().is_ok())
    })
}

fn all_lines() -> Vec<Vec<u8>> {
    [
        "temp,host=boiler,sensor=a flow=61.5,back=48i 1704067200\nmem,host=boiler used=41.73 1704067210\n",
        "°C,domain=sensor,entity_id=tank_top friendly_name_str=\"Tank, \\\"top\\\"\",value=58.4 1704067200",
        "# a comment\n\na\\ b,c\\,d=e\\=f g=t,h=FALSE,i=-1.5e-3,j=7u\r\n",
        "a f=\"two\nlines\" 1\na f=1",
    ]
    .map(|text| text.as_bytes().to_vec())
    .to_vec()
}

/// Counts points, and looks at every text of theirs.
struct Counting;

impl Intake for Counting {
    fn take(&self, points: &[Point<'_>], _sender: &str) -> Result<Taken, IntakeError> {
        let mut taken = Taken::default();
        for point in points {
            assert!(!point.measurement.is_empty() && !point.fields.is_empty(), "a point measures something");
            assert!(point.tags.iter().all(|(name, text)| !name.is_empty() && !text.is_empty()));
            taken.readings += point.fields.len() as u64;
        }
        Ok(taken)
    }
}

/// Takes the lines of a request. It is accepted if all of its lines are.
fn lines(bytes: &[u8]) -> bool {
    let taken = take_lines(&Counting, bytes, Precision::Seconds, "fuzz").expect("it is short");
    taken.malformed == 0 && taken.taken.readings > 0
}

fn all_words() -> Vec<Vec<u8>> {
    ["http://127.0.0.1:7410", "https://example.org/a/b", "00000000000000000012.a.b.7.345.envelope"]
        .map(|text| text.as_bytes().to_vec())
        .to_vec()
}

fn words(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let entry = Entry::from_file(&text, 0);
    if let Some(entry) = &entry {
        assert_eq!(entry.file_name(), text);
    }
    entry.is_some() | Cloud::new(&text, Default::default()).is_ok()
}

fn receipts() -> Vec<Vec<u8>> {
    let receipt = format!(
        r#"{{"id":"{}","digest":"{}","stored_at":1,"duplicate":false}}"#,
        "0a".repeat(16),
        "ff".repeat(32)
    );
    let problem = r#"{"type":"urn:sotto:problem:truncated","title":"Bad Request","status":400,"detail":"x","reason":"truncated"}"#;
    let receipts = format!("[{receipt},{receipt}]");
    let signed = receipt.replace('}', &format!(r#","position":3,"signature":"{}"}}"#, "ab".repeat(64)));
    vec![receipt.into_bytes(), problem.as_bytes().to_vec(), receipts.into_bytes(), signed.into_bytes()]
}

fn receipt(bytes: &[u8]) -> bool {
    // The device also reads problem documents, as any JSON value.
    let receipt = serde_json::from_slice::<Receipt>(bytes).is_ok()
        | serde_json::from_slice::<Vec<Receipt>>(bytes).is_ok();
    receipt | serde_json::from_slice::<serde_json::Value>(bytes).is_ok()
}
