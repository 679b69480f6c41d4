//! Migrates databases of older versions.

use rusqlite::Connection;

use super::error::StoreError;

/// From version 1, which had two forms. The later form equals version 2. The earlier did not count transfer keys, and
/// its frames of evaluation keys and plans have a layout that is no longer read: these are deleted, and jobs that
/// waited for them have failed. Devices, envelopes and answers stay.
pub(super) fn from_1(connection: &Connection) -> Result<(), StoreError> {
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
    )?;
    Ok(())
}

/// From version 2, which had no index for lists by time and did not record the rotations of evaluation keys.
pub(super) fn from_2(connection: &Connection) -> Result<(), StoreError> {
    connection.execute_batch(
        "CREATE INDEX envelopes_in_order
             ON envelopes (device, stream, sequence, started_at, ended_at, bytes, stored_at);
         ALTER TABLE evaluation_keys ADD COLUMN contents TEXT;",
    )?;
    Ok(())
}

/// From version 3, which had no deletion by the owner, no recovery of spools, and no repeated submissions.
pub(super) fn from_3(connection: &Connection) -> Result<(), StoreError> {
    connection.execute_batch(include_str!("version_4.sql"))?;
    Ok(())
}

/// From version 4, which had no envelopes of version 2.
pub(super) fn from_4(connection: &Connection) -> Result<(), StoreError> {
    connection.execute_batch(include_str!("version_5.sql"))?;
    Ok(())
}

/// From version 5, which had no fleets.
pub(super) fn from_5(connection: &Connection) -> Result<(), StoreError> {
    connection.execute_batch(include_str!("version_6.sql"))?;
    Ok(())
}

/// From version 6, which had no logs. Stored envelopes are appended to their logs when the store is compared with its
/// files.
pub(super) fn from_6(connection: &Connection) -> Result<(), StoreError> {
    connection.execute_batch(include_str!("version_7.sql"))?;
    Ok(())
}
