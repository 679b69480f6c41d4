//! Opens the database and migrates it to this version.

use std::path::Path;

use rusqlite::Connection;
use rusqlite::config::DbConfig;
use sotto_service::folder;
use sotto_service::migrations::{migrate, version};

use super::error::StoreError;
use super::migrate::{MIGRATIONS, VERSION};

/// Pages of 4 KiB in the write-ahead log from which on they are copied to the database.
const CHECKPOINT_PAGES: i64 = 2048;
/// Maximum memory of the page cache, in KiB.
const CACHED_KIB: i64 = 32 << 10;
/// Maximum bytes of the database that are mapped into memory: 1 GiB.
const MAPPED: i64 = 1 << 30;

pub(super) fn connect(file: &Path) -> Result<Connection, StoreError> {
    folder::keep_database_private(file)?;
    let mut connection = Connection::open(file)?;
    // Pages of windows that are in segments go back to the file system. Older databases get it when they are brought over.
    connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    // Each commit changes pages of many indexes; those that change again before a checkpoint are copied once.
    connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
    connection.pragma_update(None, "cache_size", -CACHED_KIB)?;
    // Pages that a savepoint may undo are kept in memory, not in a file.
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    connection.set_prepared_statement_cache_capacity(256);
    // Else a statement whose plan may depend on a bound value is parsed and planned again at every use.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    // Sums read many pages once, which the page cache would copy.
    connection.pragma_update(None, "mmap_size", MAPPED)?;
    // A migration may replace a table that others refer to.
    connection.pragma_update(None, "foreign_keys", false)?;
    migrate(&mut connection, &MIGRATIONS)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    Ok(connection)
}

/// Refuses a database that is damaged, or of a version that this program cannot migrate.
pub(super) fn check(connection: &Connection) -> Result<(), StoreError> {
    let version = version(connection)?;
    if !(1..=VERSION).contains(&version) {
        return Err(StoreError::Version(version));
    }
    let judged: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    if judged == "ok" { Ok(()) } else { Err(StoreError::Damaged(judged)) }
}

/// Returns true if the database has neither devices nor envelopes.
pub(super) fn is_empty(connection: &Connection) -> Result<bool, StoreError> {
    let query = "SELECT NOT EXISTS (SELECT 1 FROM devices) AND NOT EXISTS (SELECT 1 FROM envelopes)";
    Ok(connection.query_row(query, [], |row| row.get(0))?)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use rusqlite::StatementStatus;

    use super::*;

    #[test]
    fn commits_are_durable_and_other_versions_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("cloud.sqlite");
        let connection = connect(&file).unwrap();
        let pragma = |name: &str| {
            let text = |row: &rusqlite::Row<'_>| row.get::<_, rusqlite::types::Value>(0);
            connection.pragma_query_value(None, name, text).unwrap()
        };
        assert_eq!(pragma("journal_mode"), "wal".to_owned().into());
        assert_eq!(pragma("synchronous"), 2.into());
        assert_eq!(pragma("foreign_keys"), 1.into());
        connection.pragma_update(None, "user_version", VERSION + 1).unwrap();
        assert!(matches!(connect(&file), Err(StoreError::Version(other)) if other == VERSION + 1));
    }

    /// The use of a statement compares a column without an index with a bound value.
    #[test]
    fn a_statement_is_planned_once() {
        let folder = tempfile::tempdir().unwrap();
        let connection = connect(&folder.path().join("cloud.sqlite")).unwrap();
        for value in 0..3 {
            let mut query = connection
                .prepare_cached("SELECT number FROM nodes WHERE log = ?1 AND windows = ?2")
                .unwrap();
            assert!(!query.exists([value, value]).unwrap());
            assert_eq!(query.get_status(StatementStatus::RePrepare), 0);
        }
    }

    /// Creates a database of version 1 in its first form, without the column that counts transfer keys, or in its later
    /// form with that column, which is also the form of version 2.
    fn older(file: &Path, version: i64, with_transfers: bool) -> Connection {
        let (schema, transfers) = (include_str!("version_1.sql"), "    transfers INTEGER NOT NULL,\n");
        assert!(schema.contains(transfers));
        let old = if with_transfers { schema.to_owned() } else { schema.replace(transfers, "") };
        let connection = Connection::open(file).unwrap();
        connection.execute_batch(&old).unwrap();
        connection.pragma_update(None, "user_version", version).unwrap();
        let transfers = if with_transfers { (", transfers", ", 3") } else { ("", "") };
        let keys = format!(
            "INSERT INTO evaluation_keys
             (parameter_id, key_id, file, relinearisation, galois{}, bytes, stored_at)
             VALUES (x'01', x'02', x'03', 1, 2{}, 5, 6)",
            transfers.0, transfers.1
        );
        for row in [
            "INSERT INTO parameters VALUES (x'01', 'bfv', x'00', 1)",
            &keys,
            "INSERT INTO plans VALUES (x'04', x'01', 1, 2, 3), (x'05', x'01', 1, 2, 3)",
            "INSERT INTO jobs (id, plan, parameter_id, key_id, state, submitted_at)
             VALUES (x'06', x'04', x'01', x'02', 'queued', 7), (x'07', x'04', x'01', x'02', 'done', 7)",
        ] {
            connection.execute_batch(row).unwrap();
        }
        connection
    }

    /// Returns the names of the columns of every table and index.
    fn schema(connection: &Connection) -> BTreeSet<String> {
        let mut query = connection
            .prepare(
                "SELECT m.name || '.' || c.name FROM sqlite_schema m, pragma_table_xinfo(m.name) c
                 UNION SELECT m.name || '.' || i.seqno || i.name FROM sqlite_schema m, pragma_index_info(m.name) i",
            )
            .unwrap();
        query.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
    }

    fn number(connection: &Connection, query: &str) -> i64 {
        connection.query_row(query, [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn an_older_database_is_brought_to_this_version() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("cloud.sqlite");
        drop(older(&file, 1, false));
        let connection = connect(&file).unwrap();
        assert_eq!(
            number(&connection, "SELECT count(*) FROM evaluation_keys"),
            0,
            "their form is not read now"
        );
        let insert = "INSERT INTO evaluation_keys
             (parameter_id, key_id, file, relinearisation, galois, transfers, bytes, stored_at)
             VALUES (x'01', x'02', x'03', 1, 2, 4, 5, 6)";
        assert_eq!(connection.execute(insert, []).unwrap(), 1);
        assert_eq!(number(&connection, "SELECT count(*) FROM plans"), 1, "only what a job names");
        let ended = "SELECT count(*) FROM jobs WHERE state IN ('failed', 'done') AND ended_at IS NOT NULL";
        assert_eq!(number(&connection, ended), 1, "what waited has failed");
        assert_eq!(number(&connection, "SELECT count(*) FROM jobs WHERE state = 'done'"), 1);
        drop(connection);
        let again = connect(&file).unwrap();
        assert_eq!(number(&again, "SELECT count(*) FROM evaluation_keys"), 1, "only once");
    }

    #[test]
    fn a_database_that_counts_transfer_keys_keeps_everything() {
        for version in [1, 2] {
            keeps_everything(version);
        }
    }

    #[test]
    fn rows_that_refer_to_envelopes_outlast_the_table_of_envelopes() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("cloud.sqlite");
        let mut old = Connection::open(&file).unwrap();
        migrate(&mut old, &MIGRATIONS[..9]).unwrap();
        old.execute_batch(
            "INSERT INTO parameters VALUES (x'01', 'bfv', x'00', 1);
             INSERT INTO devices (name, verifying_key, registered_at) VALUES ('kitchen', x'02', 1);
             INSERT INTO device_keys VALUES ('kitchen', x'01', x'03');
             INSERT INTO envelopes (id, digest, idempotency_key, device, stream, sequence, parameter_id, key_id,
                 started_at, ended_at, readings, layout, bytes, stored_at, stream_tag, mask)
                 VALUES (x'04', x'05', 'k', 'kitchen', 'load', 6, x'01', x'03', 7, 8, 9, x'0a', 11, 12, x'0d', x'0e');
             INSERT INTO fleets VALUES (1, x'0f', x'10');
             INSERT INTO fleet_windows (fleet, start, key_id, ticks, body, envelope) VALUES (1, 7, x'03', 2, x'11', x'04');
             INSERT INTO plans VALUES (x'12', x'01', 1, 2, 3);
             INSERT INTO jobs (id, plan, parameter_id, key_id, state, submitted_at)
                 VALUES (x'13', x'12', x'01', x'03', 'done', 7);
             INSERT INTO job_inputs VALUES (x'13', 0, x'04');",
        )
        .unwrap();
        drop(old);
        let connection = connect(&file).unwrap();
        let text = "SELECT hex(id) || hex(digest) || idempotency_key || device || stream || sequence || hex(parameter_id)
                        || hex(key_id) || started_at || ended_at || readings || hex(layout) || bytes || stored_at
                        || hex(stream_tag) || hex(mask) FROM envelopes";
        let row: String = connection.query_row(text, [], |row| row.get(0)).unwrap();
        assert_eq!(row, "0405kkitchenload6010378".to_owned() + "90A11120D0E");
        for table in ["device_keys", "job_inputs"] {
            assert_eq!(number(&connection, &format!("SELECT count(*) FROM {table}")), 1, "{table}");
        }
        // The references hold again.
        assert!(connection.execute("DELETE FROM envelopes", []).is_err(), "a job names it");
        connection.execute("DELETE FROM jobs", []).unwrap();
        connection.execute("DELETE FROM envelopes", []).unwrap();
        assert_eq!(number(&connection, "SELECT count(*) FROM envelopes"), 0);
        // Fleets are gone; their windows were copies.
        let tables = "SELECT count(*) FROM sqlite_schema WHERE name LIKE '%fleet%' OR name = 'shared_starts'";
        assert_eq!(number(&connection, tables), 0);
    }

    #[test]
    fn windows_that_wait_have_fewer_indexes_than_whole_envelopes() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("cloud.sqlite");
        let mut old = Connection::open(&file).unwrap();
        migrate(&mut old, &MIGRATIONS[..17]).unwrap();
        old.execute_batch(
            "INSERT INTO devices (name, verifying_key, registered_at) VALUES ('kitchen', x'02', 1)",
        )
        .unwrap();
        let insert = |connection: &Connection, id: i64, key: &str, sequence: i64, message: Option<&[u8]>| {
            connection.execute(
                "INSERT INTO envelopes (id, digest, idempotency_key, device, stream, sequence, parameter_id, key_id,
                    started_at, ended_at, readings, layout, bytes, stored_at, message)
                 VALUES (unhex(?1), x'05', ?2, 'kitchen', 'load', ?3, x'01', x'03', 7, 8, 9, x'0a', 11, 12, ?4)",
                rusqlite::params![format!("{id:04}"), key, sequence, message],
            )
        };
        insert(&old, 1, "any", 1, None).unwrap();
        insert(&old, 2, "kitchen.load.2", 2, Some(b"window")).unwrap();
        insert(&old, 3, "kitchen.load.3", 3, Some(b"window")).unwrap();
        drop(old);
        let connection = connect(&file).unwrap();
        let mut keys = connection.prepare("SELECT idempotency_key FROM envelopes ORDER BY sequence").unwrap();
        let keys: Vec<String> = keys.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        assert_eq!(keys, ["any", "", ""]);
        assert_eq!(number(&connection, "SELECT count(*) FROM envelopes WHERE message = x'77696e646f77'"), 2);
        insert(&connection, 4, "", 4, Some(b"window")).unwrap();
        assert!(insert(&connection, 5, "any", 5, None).is_err(), "the key is used");
        assert!(insert(&connection, 5, "other", 1, None).is_err(), "the number is used");
        assert!(insert(&connection, 4, "", 6, Some(b"window")).is_err(), "the id is made of the number");
        insert(&connection, 5, "other", 5, None).unwrap();
    }

    fn keeps_everything(version: i64) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("cloud.sqlite");
        drop(older(&file, version, true));
        let connection = connect(&file).unwrap();
        assert_eq!(number(&connection, "SELECT transfers FROM evaluation_keys"), 3);
        assert_eq!(number(&connection, "SELECT count(*) FROM plans"), 2);
        assert_eq!(number(&connection, "SELECT count(*) FROM jobs WHERE state = 'queued'"), 1);
        assert_eq!(number(&connection, "PRAGMA user_version"), VERSION);
        assert_eq!(number(&connection, "SELECT contents IS NULL FROM evaluation_keys"), 1);
        assert_eq!(schema(&connection), schema(&connect(&folder.path().join("new.sqlite")).unwrap()));
    }
}
