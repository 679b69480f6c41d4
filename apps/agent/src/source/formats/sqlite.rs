//! A table of a SQLite database, or a view that is named. The file is only read: SQLite opens it as immutable, so that
//! it neither locks it nor writes a journal beside it.

use std::ffi::OsString;
use std::fs::File;
use std::io::{Read as _, Seek as _};
use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::magic::SQLITE;
use super::typed::{Candidates, Chosen, Lines, Sink, Typed, Value, refuse_lines};
use super::{Format, Opening, Rows};
use crate::source::SourceError;
use crate::source::files::input::{Input, refused};
use crate::stop::Stop;

/// Maximum bytes of a cell: 1 MiB.
const LONGEST_CELL: i32 = 1 << 20;
/// The beginning of a journal with changes that are to be taken back.
const JOURNAL: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
/// Maximum number of tables that are looked at.
const MOST_TABLES: usize = 10_000;
/// Steps of SQLite's machine between two looks at the stop request.
const STEPS: i32 = 100_000;

/// A table of a database.
pub(super) struct Sqlite;

impl Format for Sqlite {
    fn name(&self) -> &'static str {
        SQLITE.name
    }

    fn sniff(&self, begin: &[u8]) -> Option<bool> {
        SQLITE.fits(begin)
    }

    fn has_tables(&self) -> bool {
        true
    }

    fn open(&self, input: Input, opening: &Opening<'_>) -> Result<Option<Box<dyn Rows>>, SourceError> {
        let (path, stop) = (input.path.clone(), input.stop());
        refuse_lines(opening, &path)?;
        // SQLite opens the file again; this refuses streams, compressed files, and `--follow`.
        if !is_whole(input.file("a database")?) {
            return Err(refused(&path, "it ends in the middle: copy it again"));
        }
        refuse_unmerged(&path)?;
        let failed = |error: rusqlite::Error| refused(&path, words(&error));
        let connection = connect(&path, &stop).map_err(failed)?;
        let (table, columns, chosen) = choose(&connection, opening, &path)?;
        let select = select(&table, chosen.columns.iter().map(|column| &columns[*column]));
        let lines = Lines::start(&path, stop, move |sink| {
            send(&connection, &select, sink).map_err(|error| words(&error))
        });
        Ok(Some(Box::new(Typed::new(lines, &path, chosen).named(&table))))
    }
}

/// Returns true if the file has as many pages as its head says: SQLite reads missing bytes as zeros.
fn is_whole(mut file: File) -> bool {
    let mut head = [0; 100];
    let length = file.metadata().map_or(0, |metadata| metadata.len());
    if file.rewind().and_then(|()| file.read_exact(&mut head)).is_err() {
        return false;
    }
    let number = |at: usize| u32::from_be_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
    let size = match u16::from_be_bytes([head[16], head[17]]) {
        1 => 65_536,
        size => u64::from(size).max(1),
    };
    // Programs before 2010 did not count the pages.
    let is_counted = number(24) == number(92);
    if is_counted { length >= u64::from(number(28)) * size } else { length.is_multiple_of(size) }
}

/// Refuses a database with changes in a file beside it: they would not be seen.
fn refuse_unmerged(path: &Path) -> Result<(), SourceError> {
    let beside = |ending: &str| {
        let mut name = OsString::from(path);
        name.push(ending);
        PathBuf::from(name)
    };
    let (log, journal) = (beside("-wal"), beside("-journal"));
    let has_changes = |path: &PathBuf| std::fs::metadata(path).is_ok_and(|metadata| metadata.len() > 0);
    let mut begin = [0; JOURNAL.len()];
    let is_hot =
        File::open(&journal).and_then(|mut file| file.read_exact(&mut begin)).is_ok() && begin == JOURNAL;
    let unmerged = if is_hot { Some(journal) } else { Some(log).filter(has_changes) };
    let Some(beside) = unmerged else { return Ok(()) };
    let (database, beside) = (path.display(), beside.display());
    let reason = format!(
        "changes are still in {beside}, as a program has it open or did not close it; make a whole copy with sqlite3 \
         {database} \"VACUUM INTO 'copy.db'\", and read that"
    );
    Err(refused(path, reason))
}

/// Opens a database read-only, with a bound on the bytes of a cell and without trust in its schema.
fn connect(path: &Path, stop: &Stop) -> rusqlite::Result<Connection> {
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(address(path), flags)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, LONGEST_CELL)?;
    connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.pragma_update(None, "query_only", true)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    // Rows that a view sorts stay in memory.
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    let stop = stop.clone();
    connection.progress_handler(STEPS, Some(move || stop.is_asked()))?;
    Ok(connection)
}

/// Returns the address of an immutable file.
fn address(path: &Path) -> String {
    #[cfg(unix)]
    let bytes = std::os::unix::ffi::OsStrExt::as_bytes(path.as_os_str()).to_vec();
    #[cfg(not(unix))]
    let bytes = path.to_string_lossy().replace('\\', "/").into_bytes();
    let mut address = String::from(if path.is_absolute() { "file://" } else { "file:" });
    if path.is_absolute() && !bytes.starts_with(b"/") {
        address.push('/');
    }
    for byte in bytes {
        match byte {
            b'/' | b'.' | b'-' | b'_' | b':' => address.push(char::from(byte)),
            byte if byte.is_ascii_alphanumeric() => address.push(char::from(byte)),
            byte => address.push_str(&format!("%{byte:02x}")),
        }
    }
    address + "?mode=ro&immutable=1"
}

/// Returns the table to read, the names of its columns, and the wanted ones.
fn choose(
    connection: &Connection,
    opening: &Opening<'_>,
    path: &Path,
) -> Result<(String, Vec<String>, Chosen), SourceError> {
    let failed = |error: rusqlite::Error| refused(path, words(&error));
    // A view is a question of the database's own: it is asked only if it is named.
    let kinds = if opening.table.is_some() { "'table', 'view'" } else { "'table'" };
    let tables = format!(
        "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type IN ({kinds}) AND name NOT LIKE 'sqlite~_%' \
         ESCAPE '~' ORDER BY name LIMIT {MOST_TABLES}"
    );
    let tables = texts(connection, &tables, "").map_err(failed)?;
    let mut candidates = Candidates::new("table", path, &tables, opening.table)?;
    for table in candidates.names() {
        // Hidden columns of the first kind belong to virtual tables.
        let columns = "SELECT name FROM pragma_table_xinfo(?1) WHERE hidden <> 1 ORDER BY cid";
        let columns = texts(connection, columns, &table).map_err(failed)?;
        match Chosen::find(&columns, opening.wanted, path) {
            Ok(chosen) => candidates.found(&table, (columns, chosen)),
            Err(error) => candidates.lacks(columns.len(), error),
        }
    }
    let (table, (columns, chosen)) = candidates.chosen()?;
    Ok((table, columns, chosen))
}

/// Returns the texts that a statement gives.
fn texts(connection: &Connection, statement: &str, of: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare(statement)?;
    let count = statement.parameter_count();
    let rows = statement.query_map(&[&of as &dyn rusqlite::ToSql][..count], |row| row.get(0))?;
    rows.collect()
}

/// Returns the statement that reads columns of a table.
fn select<'c>(table: &str, columns: impl Iterator<Item = &'c String>) -> String {
    let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
    let columns: Vec<String> = columns.map(|column| quoted(column)).collect();
    format!("SELECT {} FROM main.{}", columns.join(", "), quoted(table))
}

/// Hands over the rows of a statement.
fn send(connection: &Connection, statement: &str, sink: &mut Sink) -> rusqlite::Result<()> {
    let mut statement = connection.prepare(statement)?;
    let columns = statement.column_count();
    let (mut rows, mut number) = (statement.query([])?, 0);
    while let Some(row) = rows.next()? {
        number += 1;
        let values = (0..columns).map(|column| row.get_ref(column).map(value));
        if sink.push(number, values.collect::<rusqlite::Result<_>>()?).is_err() {
            break;
        }
    }
    Ok(())
}

fn value(value: ValueRef<'_>) -> Value<'static> {
    match value {
        ValueRef::Null => Value::Empty,
        ValueRef::Integer(number) => Value::Integer(number),
        ValueRef::Real(number) => Value::Real(number),
        ValueRef::Text(text) => match std::str::from_utf8(text) {
            Ok(text) => Value::Text(text.to_owned().into()),
            Err(_) => Value::Other,
        },
        ValueRef::Blob(_) => Value::Other,
    }
}

/// Returns an error of SQLite in words.
fn words(error: &rusqlite::Error) -> String {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            "it is damaged: copy it again, or mend it with sqlite3 FILE .recover".to_owned()
        }
        Some(ErrorCode::TooBig) => "a cell has more than 1 MiB".to_owned(),
        Some(ErrorCode::OperationInterrupted) => "reading was stopped".to_owned(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_name_the_file_and_nothing_else() {
        for (path, expected) in [
            ("a.db", "file:a.db?mode=ro&immutable=1"),
            ("/var/a b?mode=rw#.db", "file:///var/a%20b%3fmode%3drw%23.db?mode=ro&immutable=1"),
            ("//var/%41.db", "file:////var/%2541.db?mode=ro&immutable=1"),
        ] {
            assert_eq!(address(Path::new(path)), expected);
        }
    }

    #[test]
    fn names_are_quoted() {
        let columns = ["a".to_owned(), "b\"; DROP".to_owned()];
        assert_eq!(select("t\"", columns.iter()), "SELECT \"a\", \"b\"\"; DROP\" FROM main.\"t\"\"\"");
    }
}
