//! Contents of a store: numbers of rows, and files.

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::{Connection, OpenFlags};

/// Number of rows in each table, and bytes of each file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Contents {
    pub(crate) rows: BTreeMap<String, i64>,
    pub(crate) files: BTreeMap<String, u64>,
}

pub(crate) fn open(data: &Path) -> Connection {
    Connection::open_with_flags(data.join("cloud.sqlite"), OpenFlags::SQLITE_OPEN_READ_WRITE).unwrap()
}

pub(crate) fn contents(data: &Path) -> Contents {
    let database = open(data);
    let mut tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").unwrap();
    let tables: Vec<String> = tables.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
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
    Contents { rows, files }
}

impl Contents {
    pub(crate) fn envelopes(&self) -> (i64, usize) {
        let files = self.files.keys().filter(|name| name.starts_with("envelopes/")).count();
        (self.rows["envelopes"], files)
    }
}
