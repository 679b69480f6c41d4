//! Checks every byte of a store.

use std::collections::BTreeMap;

use rusqlite::Connection;
use serde::Serialize;
use sotto_wire::{Digest, Frontier, LARGEST_ENVELOPE, SignedHeader, stream_tag};

use super::bodies::Folder;
use super::device::{is_signed, verifying_keys};
use super::dropped::StoredBytes;
use super::error::{damaged, failed_to};
use super::sealed::{frontier, logged_leaves, runs};
use super::{Store, StoreError, recover, rolled};
use sotto_segment::Kind;

/// The reason why a window is damaged whose signature does not hold.
const UNSIGNED: &str = "no key of the device signed it";

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
    /// Damaged and missing files and windows, a line each.
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
        let damaged = self.damaged_nodes(&connection)?;
        checked.damage.extend(damaged.into_iter().map(|(_, text)| text));
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
                let is_right = segment.is_right().map_err(failed_to("read a segment"))?;
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
        let mut sums = BTreeMap::<u64, Digest>::new();
        while let Some(run) = runs::first_run_from(connection, log, number)? {
            number = run.end();
            let read = self.open_run(connection, &run, true).and_then(|open| {
                for of_run in run.number..run.end() {
                    let sealed = open.at(of_run)?;
                    let leaf = if run.kind == Kind::Deleted {
                        sealed.leaf()?
                    } else {
                        let signed = sealed.signed()?;
                        if signatures && !is_signed(&signed, &keys) {
                            return Err(StoreError::Damaged(UNSIGNED.to_owned()));
                        }
                        checked.signatures += u64::from(signatures);
                        signed.leaf()
                    };
                    leaves.insert(sealed.position(), leaf);
                    if !sealed.sum().is_empty() {
                        sums.insert(of_run, *blake3::hash(sealed.sum()).as_bytes());
                    }
                    checked.sealed += 1;
                }
                Ok(())
            });
            match read {
                Err(StoreError::Damaged(reason)) => {
                    whole = false;
                    let (first, last) = (run.number, run.end() - 1);
                    checked.damage.push(format!("{device}.{stream}, windows {first} to {last}: {reason}"));
                }
                read => read?,
            }
            progress(checked.sealed + checked.envelopes);
        }
        if whole {
            self.check_tree(connection, (device, stream), &leaves, checked)?;
            let differences = rolled::differences(sums, rolled::sealed_of_log(connection, log)?);
            checked.damage.extend(differences.into_iter().map(|line| format!("{device}.{stream}, {line}")));
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
        let logged = logged_leaves(connection, device, stream, &(0..kept.size()))?;
        for position in 0..kept.size() {
            let Some(leaf) = leaves.get(&position).or_else(|| logged.get(&position)) else {
                let reason = format!("position {position} of its log is missing");
                checked.damage.push(format!("{device}.{stream}: {reason}"));
                return Ok(());
            };
            tree.push(*leaf);
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
                    if signatures
                        && !is_signed(
                            &self.signed_part(connection, stored)?,
                            &verifying_keys(connection, &device)?,
                        )
                    {
                        checked.damage.push(format!("{device}.{stream}, window {sequence}: {UNSIGNED}"));
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
    /// Returns the signed part of a stored envelope, on a connection that is locked.
    fn signed_part(&self, connection: &Connection, stored: StoredBytes) -> Result<SignedHeader, StoreError> {
        match stored {
            StoredBytes::Head(head) => Ok(head.signed),
            StoredBytes::Whole(bytes) => match stream_tag(&bytes).map_err(damaged)? {
                Some(tag) => {
                    SignedHeader::of_window(&bytes, &self.header_of(connection, tag)?).map_err(damaged)
                }
                None => SignedHeader::of_kept(&bytes, LARGEST_ENVELOPE).map_err(damaged),
            },
        }
    }
}
