//! Checks every byte of a store.

use std::collections::BTreeMap;

use rusqlite::Connection;
use serde::Serialize;
use sotto_wire::{Digest, Frontier, LARGEST_ENVELOPE, SignedHeader, stream_tag};

use super::bodies::Folder;
use super::dropped::StoredBytes;
use super::error::damaged;
use super::sealed::{frontier, runs};
use super::{Store, StoreError, recover};
use crate::segment::Kind;

/// Outcome of a check.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Checked {
    pub(crate) segments: u64,
    /// Windows in segments that were read.
    pub(crate) sealed: u64,
    /// Envelopes that were read from rows and files.
    pub(crate) envelopes: u64,
    /// Signatures that were verified.
    pub(crate) signatures: u64,
    /// What is damaged or missing, a line each.
    pub(crate) damage: Vec<String>,
}

impl Store {
    /// Reads everything: digests of segments, their windows, the trees of logs, envelopes in rows and files, and signatures
    /// if they are wanted. `progress` is told the windows that were read.
    pub(crate) fn check(
        &self,
        signatures: bool,
        mut progress: impl FnMut(u64),
    ) -> Result<Checked, StoreError> {
        let connection = self.connection();
        let mut checked = Checked::default();
        let judged: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
        if judged != "ok" {
            checked.damage.push(format!("cloud.sqlite: {judged}"));
        }
        self.check_segments(&connection, &mut checked)?;
        for (log, device, stream) in runs::logs(&connection, None, None)? {
            self.check_log(&connection, (log, &device, &stream), signatures, &mut checked, &mut progress)?;
        }
        self.check_rows(&connection, signatures, &mut checked, &mut progress)?;
        for folder in [Folder::Keys, Folder::Plans, Folder::Outputs] {
            for name in recover::names(&connection, folder)? {
                if !self.bodies.path(folder, &name).exists() {
                    checked.damage.push(format!("{}/{name} is missing", folder.name()));
                }
            }
        }
        Ok(checked)
    }

    fn check_segments(&self, connection: &Connection, checked: &mut Checked) -> Result<(), StoreError> {
        let mut query = connection.prepare("SELECT id FROM segments ORDER BY id")?;
        let ids: Vec<i64> = query.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
        for id in ids {
            checked.segments += 1;
            let right = self.segment(connection, id).and_then(|(segment, name)| {
                let is_right = segment.is_right().map_err(super::error::failed_to("read a segment"))?;
                Ok((is_right, name))
            });
            match right {
                Ok((true, _)) => {}
                Ok((false, name)) => {
                    checked
                        .damage
                        .push(format!("segments/{name}: its bytes are not those that were written"));
                }
                Err(StoreError::Damaged(reason)) => checked.damage.push(reason),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Reads the windows of a log in segments, and compares their tree.
    fn check_log(
        &self,
        connection: &Connection,
        (log, device, stream): (i64, &str, &str),
        signatures: bool,
        checked: &mut Checked,
        progress: &mut impl FnMut(u64),
    ) -> Result<(), StoreError> {
        let keys = verifying_keys(connection, device)?;
        let (mut leaves, mut number, mut whole) = (BTreeMap::<u64, Digest>::new(), 0, true);
        while let Some(run) = runs::first_run_from(connection, log, number)? {
            number = run.end();
            for of_run in run.number..run.end() {
                let read = self.sealed_in(connection, &run, of_run, true).and_then(|sealed| {
                    if signatures && run.kind != Kind::Deleted {
                        let signed = sealed.signed()?;
                        if !keys.iter().any(|key| signed.verify(key).is_ok()) {
                            return Err(StoreError::Damaged("no key of the device signed it".to_owned()));
                        }
                        checked.signatures += 1;
                    }
                    sealed.leaf()
                });
                match read {
                    Ok(leaf) => {
                        leaves.insert(run.position + (of_run - run.number), leaf);
                        checked.sealed += 1;
                    }
                    Err(StoreError::Damaged(reason)) => {
                        whole = false;
                        let (first, last) = (run.number, run.end() - 1);
                        checked
                            .damage
                            .push(format!("{device}.{stream}, windows {first} to {last}: {reason}"));
                        break;
                    }
                    Err(error) => return Err(error),
                }
            }
            progress(checked.sealed + checked.envelopes);
        }
        if whole {
            self.check_tree(connection, (device, stream), &leaves, checked)?;
        }
        Ok(())
    }

    fn check_tree(
        &self,
        connection: &Connection,
        (device, stream): (&str, &str),
        leaves: &BTreeMap<u64, Digest>,
        checked: &mut Checked,
    ) -> Result<(), StoreError> {
        let (kept, mut tree) = (frontier(connection, device, stream)?, Frontier::default());
        for position in 0..kept.size() {
            let leaf = match leaves.get(&position) {
                Some(leaf) => Some(*leaf),
                None => self.leaf_at(connection, device, stream, position)?,
            };
            match leaf {
                Some(leaf) => tree.push(leaf),
                None => {
                    checked
                        .damage
                        .push(format!("{device}.{stream}: position {position} of its log is missing"));
                    return Ok(());
                }
            }
        }
        if tree.root() != kept.root() {
            checked.damage.push(format!("{device}.{stream}: its windows are not those of the log's root"));
        }
        Ok(())
    }

    fn check_rows(
        &self,
        connection: &Connection,
        signatures: bool,
        checked: &mut Checked,
        progress: &mut impl FnMut(u64),
    ) -> Result<(), StoreError> {
        let mut query = connection.prepare("SELECT id, digest, device, stream, sequence FROM envelopes")?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            let (id, digest, device): (_, Digest, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
            let (stream, sequence): (String, i64) = (row.get(3)?, row.get(4)?);
            match self.checked_bytes_on(connection, id, &digest) {
                Ok(stored) => {
                    checked.envelopes += 1;
                    if signatures && !self.is_signed(connection, &device, stored)? {
                        let reason = "no key of the device signed it";
                        checked.damage.push(format!("{device}.{stream}, window {sequence}: {reason}"));
                    }
                    checked.signatures += u64::from(signatures);
                }
                Err(StoreError::Damaged(reason)) => {
                    checked.damage.push(format!("{device}.{stream}, window {sequence}: {reason}"));
                }
                Err(error) => return Err(error),
            }
            if checked.envelopes.is_multiple_of(1024) {
                progress(checked.sealed + checked.envelopes);
            }
        }
        Ok(())
    }
}

impl Store {
    /// Returns true if a key of its device signed an envelope.
    fn is_signed(
        &self,
        connection: &Connection,
        device: &str,
        stored: StoredBytes,
    ) -> Result<bool, StoreError> {
        let signed = match stored {
            StoredBytes::Head(head) => head.signed,
            StoredBytes::Whole(bytes) => match stream_tag(&bytes).map_err(damaged)? {
                Some(tag) => {
                    SignedHeader::of_window(&bytes, &self.header_of(connection, tag)?).map_err(damaged)?
                }
                None => SignedHeader::of_kept(&bytes, LARGEST_ENVELOPE).map_err(damaged)?,
            },
        };
        let keys = verifying_keys(connection, device)?;
        Ok(keys.iter().any(|key| signed.verify(key).is_ok()))
    }
}

/// Returns every key that a device was registered with.
pub(super) fn verifying_keys(connection: &Connection, device: &str) -> Result<Vec<[u8; 32]>, StoreError> {
    let mut query =
        connection.prepare_cached("SELECT verifying_key FROM verifying_keys WHERE device = ?1")?;
    let keys = query.query_map([device], |row| row.get(0))?;
    Ok(keys.collect::<Result<_, _>>()?)
}
