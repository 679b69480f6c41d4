//! Contents of a store: numbers of rows, and files.

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::{Connection, OpenFlags};

/// Number of rows in each table, and bytes of each file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Contents {
    pub(crate) rows: BTreeMap<String, i64>,
    pub(crate) files: BTreeMap<String, u64>,
    /// Envelopes whose bytes are in their rows.
    pub(crate) in_rows: usize,
}

pub(crate) fn open(data: &Path) -> Connection {
    Connection::open_with_flags(data.join("cloud.sqlite"), OpenFlags::SQLITE_OPEN_READ_WRITE).unwrap()
}

pub(crate) fn contents(data: &Path) -> Contents {
    let database = open(data);
    let mut tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").unwrap();
    let mut tables: Vec<String> =
        tables.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    // A copy does not know itself.
    tables.retain(|table| table != "backups");
    let count = |table: &String| {
        database.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap()
    };
    let rows = tables.iter().map(|table| (table.clone(), count(table))).collect();
    let mut files = BTreeMap::new();
    for folder in std::fs::read_dir(data).unwrap().map(Result::unwrap).filter(|e| e.path().is_dir()) {
        for file in std::fs::read_dir(folder.path()).unwrap().map(Result::unwrap) {
            let name = format!("{}/{}", folder.file_name().display(), file.file_name().display());
            files.insert(name, file.metadata().unwrap().len());
        }
    }
    let in_rows = "SELECT count(*) FROM envelopes WHERE message IS NOT NULL";
    let in_rows: i64 = database.query_row(in_rows, [], |row| row.get(0)).unwrap();
    Contents { rows, files, in_rows: in_rows as usize }
}

/// Brings a store to version 15, in which each window of sums is a file and no segment exists.
pub(crate) fn to_version_15(data: &Path) {
    let database = open(data);
    let mut windows =
        database.prepare("SELECT id, message FROM envelopes WHERE message IS NOT NULL").unwrap();
    let mut rows = windows.query([]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        let (id, message): (Vec<u8>, Vec<u8>) = (row.get(0).unwrap(), row.get(1).unwrap());
        std::fs::write(data.join("envelopes").join(hex::encode(id)), message).unwrap();
    }
    drop(rows);
    drop(windows);
    database
        .execute_batch(
            "DROP TABLE backups; DROP TABLE nodes; DROP TABLE rolled; DROP TABLE roll_ups; DROP TABLE runs; DROP TABLE segments; DROP TABLE logs;
             UPDATE envelopes SET idempotency_key = device || '.' || stream || '.' || sequence;
             DROP INDEX envelopes_by_number; DROP INDEX envelopes_by_idempotency_key;
             ALTER TABLE envelopes DROP COLUMN message;
             CREATE TABLE sums_chunks (stream_tag BLOB NOT NULL, chunk INTEGER NOT NULL, windows BLOB NOT NULL,
                 PRIMARY KEY (stream_tag, chunk)) STRICT;
             PRAGMA user_version = 15",
        )
        .unwrap();
}

/// Returns the message of a window of sums that is in no segment.
pub(crate) fn message(data: &Path, id: &str) -> Vec<u8> {
    let query = "SELECT message FROM envelopes WHERE id = unhex(?1)";
    open(data).query_row(query, [id], |row| row.get(0)).unwrap()
}

/// Changes the message of a window of sums that is in no segment.
pub(crate) fn change_message(data: &Path, id: &str, message: &[u8]) {
    let update = "UPDATE envelopes SET message = ?2 WHERE id = unhex(?1)";
    assert_eq!(open(data).execute(update, rusqlite::params![id, message]).unwrap(), 1);
}

impl Contents {
    /// Returns the number of envelopes that have a row, and of those whose bytes are there: in their rows or in files.
    pub(crate) fn envelopes(&self) -> (i64, usize) {
        let files = self.files.keys().filter(|name| name.starts_with("envelopes/")).count();
        (self.rows["envelopes"], files + self.in_rows)
    }
}

/// Returns the numbers of the windows of an exported file, and for each column of sums the numbers that are there.
pub(crate) fn exported(file: &Path) -> (Vec<i64>, BTreeMap<String, Vec<i64>>) {
    use parquet::file::reader::{FileReader as _, SerializedFileReader};
    use parquet::record::Field;
    let reader = SerializedFileReader::new(std::fs::File::open(file).unwrap()).unwrap();
    let (mut numbers, mut sums) = (Vec::new(), BTreeMap::<String, Vec<i64>>::new());
    for row in reader.get_row_iter(None).unwrap() {
        for (name, field) in row.unwrap().get_column_iter() {
            match field {
                Field::Long(number) if name == "number" => numbers.push(*number),
                Field::Long(number) if name.starts_with("part") => {
                    sums.entry(name.clone()).or_default().push(*number);
                }
                _ => {}
            }
        }
    }
    (numbers, sums)
}
