//! Repairs mismatches of files and rows: rebuilds rows from envelopes and puts other files aside. Deletes nothing.

use std::collections::BTreeSet;

use rusqlite::Connection;
use sotto_wire::message_digest;

use super::bodies::Folder;
use super::dropped::{Head, StoredBytes};
use super::earlier::EarlierUpload;
use super::upload::{self, NewRow, Upload};
use super::{Store, StoreError, forget, log, writes};
use crate::id::Id;

/// Counts from the comparison of rows with files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Recovered {
    /// Envelopes whose row was rebuilt.
    pub(crate) rebuilt: usize,
    /// Files put aside into `orphans/`.
    pub(crate) orphaned: usize,
    /// Rows whose file is missing.
    pub(crate) missing: usize,
}

/// Returns the query for the files that rows name, in the form of the file names.
pub(super) fn named(folder: Folder) -> &'static str {
    match folder {
        Folder::Envelopes => "SELECT lower(hex(id)) FROM envelopes WHERE message IS NULL",
        Folder::Keys => "SELECT lower(hex(file)) FROM evaluation_keys",
        Folder::Plans => "SELECT lower(hex(id)) FROM plans",
        Folder::Outputs => "SELECT lower(hex(file)) FROM job_outputs",
        Folder::Segments => "SELECT lower(hex(substr(digest, 1, 16))) FROM segments",
    }
}

/// Returns the names of the files that the rows of a database name.
pub(super) fn names(connection: &Connection, folder: Folder) -> Result<BTreeSet<String>, StoreError> {
    let mut query = connection.prepare(named(folder))?;
    Ok(query.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?)
}

impl Store {
    /// Compares rows with files; to be called once the devices are registered. An envelope without a row gets one if a
    /// registered device signed it. Other files without a row are put aside, and rows without a file are counted.
    pub(crate) fn recover(&self) -> Result<Recovered, StoreError> {
        self.finish_removals()?;
        let mut recovered = Recovered::default();
        let (windows, aside) = self.adopt_segments()?;
        (recovered.rebuilt, recovered.orphaned) = (windows, aside);
        for folder in Folder::ALL {
            let rows = names(&self.connection(), folder)?;
            let files: BTreeSet<String> = self.bodies.names(folder)?.into_iter().collect();
            for name in files.difference(&rows) {
                if folder == Folder::Segments {
                    // Stored while files and rows are compared: its row is younger.
                    continue;
                }
                match self.rebuild(folder, name)? {
                    Ok(()) => recovered.rebuilt += 1,
                    Err(why) => {
                        tracing::warn!(
                            folder = folder.name(),
                            name,
                            why,
                            "a file without a row is put aside"
                        );
                        self.bodies.put_aside(folder, name)?;
                        recovered.orphaned += 1;
                    }
                }
            }
            let there = if folder == Folder::Segments { self.segments_there()? } else { BTreeSet::new() };
            for name in rows.difference(&files).filter(|name| !there.contains(*name)) {
                tracing::error!(folder = folder.name(), name, "the body of this row is missing");
                recovered.missing += 1;
            }
        }
        self.complete_logs()?;
        if recovered.rebuilt > 0 {
            tracing::warn!(envelopes = recovered.rebuilt, "rows were made again from envelopes");
            // The database may be an older copy.
            writes::set_apart(&self.connection())?;
        }
        self.tails.clear();
        let _ = self.recovered.set(recovered);
        Ok(recovered)
    }

    /// Moves the envelopes that were put aside back, so that rows can be rebuilt from them.
    pub(crate) fn take_orphans_back(&self) -> Result<(), StoreError> {
        self.bodies.take_back(Folder::Segments)?;
        self.bodies.take_back(Folder::Envelopes)
    }

    /// Rebuilds the row of an envelope; returns the reason if that is impossible.
    fn rebuild(&self, folder: Folder, name: &str) -> Result<Result<(), String>, StoreError> {
        if folder != Folder::Envelopes {
            return Ok(Err("no row names it".to_owned()));
        }
        let Some(id) = Id::parse(name) else { return Ok(Err("its name is not an envelope's".to_owned())) };
        let bytes = match self.stored_bytes_of(name) {
            Ok(StoredBytes::Whole(bytes)) => bytes,
            Ok(StoredBytes::Head(head)) => return self.rebuild_head(id, &head),
            Err(StoreError::Damaged(reason)) => return Ok(Err(reason)),
            Err(error) => return Err(error),
        };
        self.insert_found(Some(id), bytes, None)
    }

    /// Inserts the row of a window of sums with its message, at its position in the log; returns the reason if that is
    /// impossible.
    pub(super) fn insert_message(
        &self,
        position: u64,
        bytes: Vec<u8>,
    ) -> Result<Result<(), String>, StoreError> {
        self.insert_found(None, bytes, Some(position))
    }

    /// Inserts the row of an envelope that was found; `id` is that of its file. One without a position is appended to its log
    /// later.
    fn insert_found(
        &self,
        id: Option<Id>,
        bytes: Vec<u8>,
        position: Option<u64>,
    ) -> Result<Result<(), String>, StoreError> {
        let read = self.read_envelope(&bytes)?;
        let (envelope, digest): (sotto_wire::Envelope, _) =
            match read.and_then(|envelope| Ok((envelope, message_digest(&bytes)?))) {
                Ok(read) => read,
                Err(error) => return Ok(Err(error.to_string())),
            };
        let idempotency_key = envelope.header().upload_key();
        let of_group = envelope.member_bytes().and_then(|_| envelope.window_digest());
        let receipt_digest = of_group.unwrap_or(digest);
        let upload = Upload { envelope, idempotency_key, bytes, digest, receipt_digest };
        let signed = upload.envelope.signed_header();
        self.transaction(|transaction| {
            let earlier = match self.earlier_in(transaction, &upload) {
                // A stored window that cannot be compared is no reason not to start.
                Err(StoreError::Damaged(reason)) => {
                    return Ok(Err(format!(
                        "another envelope has its mask or number, and is damaged: {reason}"
                    )));
                }
                earlier => earlier?,
            };
            Ok(match earlier {
                Some(EarlierUpload::Duplicate(_)) => {
                    Err("it is stored already under another name".to_owned())
                }
                Some(EarlierUpload::MaskRepeated(_) | EarlierUpload::StoredUnder(_)) => {
                    Err("another envelope has its mask".to_owned())
                }
                Some(EarlierUpload::Forgotten) => Err("it was forgotten".to_owned()),
                Some(_) => Err("another envelope has its sequence number".to_owned()),
                None if !upload::was_registered(transaction, signed)? => {
                    Err("no device is registered with its signature and key".to_owned())
                }
                None => {
                    let id = id.map_or_else(|| upload.new_id(), Ok)?;
                    upload::insert_again(transaction, id, &upload, position.is_some())?;
                    if let Some(position) = position {
                        log::append_at(transaction, id, signed, position.cast_signed())?;
                    }
                    Ok(())
                }
            })
        })
    }

    /// Rebuilds the row of a window whose body is dropped; returns the reason if that is impossible.
    fn rebuild_head(&self, id: Id, head: &Head) -> Result<Result<(), String>, StoreError> {
        let (signed, digest) = (&head.signed, head.digest);
        let header = signed.header();
        let idempotency_key = &header.upload_key();
        let row = NewRow { signed, idempotency_key, digest, bytes: head.bytes(), message: None };
        self.transaction(|transaction| {
            if forget::forgotten(transaction, &header.device, &header.stream)?
                .is_some_and(|forgotten| header.ended_at < forgotten.until)
            {
                return Ok(Err("it was forgotten".to_owned()));
            }
            if !upload::was_registered(transaction, signed)? {
                return Ok(Err("no device is registered with its signature and key".to_owned()));
            }
            match upload::insert_row(transaction, id, &row) {
                Err(StoreError::Database(error))
                    if error.sqlite_error_code() == Some(rusqlite::ErrorCode::ConstraintViolation) =>
                {
                    Ok(Err("another envelope has its number or its mask".to_owned()))
                }
                inserted => inserted.map(|_| Ok(())),
            }
        })
    }
}
