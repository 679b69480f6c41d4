//! The versions of the database.

use rusqlite::Connection;
use sotto_service::migrations::Migration;

/// Lead to version 1, 2 and so on. None is ever changed: stores of every version exist.
pub(super) const MIGRATIONS: [Migration; 20] = [
    Migration::Statements(include_str!("version_1.sql")),
    Migration::Function(to_2),
    Migration::Statements(include_str!("version_3.sql")),
    Migration::Statements(include_str!("version_4.sql")),
    Migration::Statements(include_str!("version_5.sql")),
    Migration::Statements(include_str!("version_6.sql")),
    Migration::Statements(include_str!("version_7.sql")),
    Migration::Statements(include_str!("version_8.sql")),
    Migration::Statements(include_str!("version_9.sql")),
    Migration::Statements(include_str!("version_10.sql")),
    Migration::Statements(include_str!("version_11.sql")),
    Migration::Statements(include_str!("version_12.sql")),
    Migration::Statements(include_str!("version_13.sql")),
    Migration::Statements(include_str!("version_14.sql")),
    Migration::Statements(include_str!("version_15.sql")),
    Migration::Statements(include_str!("version_16.sql")),
    Migration::Statements(include_str!("version_17.sql")),
    Migration::Statements(include_str!("version_18.sql")),
    Migration::Statements(include_str!("version_19.sql")),
    Migration::Statements(include_str!("version_20.sql")),
];
/// The newest version.
pub(super) const VERSION: i64 = MIGRATIONS.len() as i64;

/// Version 1 had two forms. The later form, which `version_1.sql` makes, equals version 2. The earlier did not count
/// transfer keys, and its frames of evaluation keys and plans have a layout that is no longer read: these are deleted,
/// and jobs that waited for them have failed. Devices, envelopes and answers stay.
fn to_2(connection: &Connection) -> rusqlite::Result<()> {
    if connection.column_exists(None, "evaluation_keys", "transfers")? {
        return Ok(());
    }
    tracing::warn!("the store is from an older program: upload evaluation keys and plans again");
    connection.execute_batch(
        "DELETE FROM evaluation_keys;
         ALTER TABLE evaluation_keys ADD COLUMN transfers INTEGER NOT NULL DEFAULT 0;
         UPDATE jobs SET state = 'failed', ended_at = submitted_at,
             error = 'the plan was stored by an older program: upload it again'
             WHERE state IN ('queued', 'running');
         DELETE FROM plans WHERE id NOT IN (SELECT plan FROM jobs);",
    )
}
