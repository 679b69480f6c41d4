//! Passes the windows of sums on that count, in the order of their logs.

use std::sync::Arc;

use rusqlite::{Connection, params};
use sotto_pack::Replaced;
use sotto_segment::Kind;
use sotto_wire::{Digest, Envelope, SignedHeader, StreamHeader, StreamTag, window_description};

use super::dropped::StoredBytes;
use super::error::damaged;
use super::sealed::Sealed;
use super::sealed::runs::{self, SealedRun};
use super::{Store, StoreError, count};
use crate::export::Exported;
use crate::id::Id;

/// A window in the database: its id, its digest, the time at which it was stored, its position in the log.
type Waiting = (Id, Digest, i64, u64);

impl Store {
    /// Returns the headers of all streams of sums.
    pub(crate) fn streams_of_sums(&self) -> Result<Vec<Arc<StreamHeader>>, StoreError> {
        let connection = self.connection();
        let mut query = connection.prepare("SELECT tag FROM streams ORDER BY device, tag")?;
        let tags: Vec<[u8; 8]> = query.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
        let headers = tags.into_iter().map(|tag| self.header_of(&connection, StreamTag(tag)));
        let headers = headers.collect::<Result<Vec<_>, _>>()?;
        Ok(headers.into_iter().filter(|header| header.is_of_sums()).collect())
    }

    /// Returns the windows of a device's stream that others replace.
    pub(crate) fn replaced(&self, device: &str, stream: &str) -> Result<Replaced, StoreError> {
        let (connection, mut all) = (self.connection(), Replaced::default());
        let heads = |run: &SealedRun| (run.kind != Kind::Deleted).then_some(false);
        self.each_sealed(&connection, (device, stream), heads, |sealed| {
            let Some(header) = &sealed.stream else { return Ok::<_, StoreError>(()) };
            all.add(sealed.sequence(), &window_description(&sealed.head()?, header).map_err(damaged)?);
            Ok(())
        })?;
        let mut query = connection
            .prepare("SELECT DISTINCT stream_tag FROM envelopes WHERE device = ?1 AND stream = ?2 AND stream_tag IS NOT NULL")?;
        let tags =
            query.query_map(params![device, stream], |row| row.get(0))?.collect::<Result<Vec<_>, _>>()?;
        for tag in tags.into_iter().map(StreamTag) {
            let header = self.header_of(&connection, tag)?;
            for (id, digest, ..) in waiting(&connection, &header)? {
                if let StoredBytes::Whole(bytes) = self.checked_bytes_on(&connection, id, &digest)? {
                    let signed = SignedHeader::of_window(&bytes, &header).map_err(damaged)?;
                    signed.description().iter().for_each(|window| all.add(signed.header().sequence, window));
                }
            }
        }
        Ok(all)
    }

    /// Passes every whole window of a stream's header to `take` of which a reading counts, those in segments first, each in the
    /// order of their numbers.
    pub(crate) fn each_window<E: From<StoreError>>(
        &self,
        header: &Arc<StreamHeader>,
        replaced: &Replaced,
        mut take: impl FnMut(Exported) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut counting = |envelope: Envelope, position, stored_at| {
            let sequence = envelope.header().sequence;
            let description = envelope.signed_header().description().filter(|_| !replaced.is_empty());
            if description.as_ref().is_some_and(|description| replaced.is_whole(sequence, description)) {
                return Ok(());
            }
            let replaced = replaced.channels(sequence).into_iter().collect::<Vec<_>>().join(",");
            take(Exported { envelope, position, stored_at, replaced })
        };
        let (connection, tag) = (self.connection(), header.id().tag());
        let is_whole = |run: &SealedRun| (run.kind == Kind::Whole && run.tag == tag).then_some(true);
        self.each_sealed(&connection, (header.device(), header.stream()), is_whole, |sealed| {
            let (position, stored_at) = (sealed.position(), sealed.stored_at());
            counting(sealed.envelope()?, position, stored_at)
        })?;
        for (id, digest, stored_at, position) in waiting(&connection, header)? {
            if let StoredBytes::Whole(bytes) = self.checked_bytes_on(&connection, id, &digest)? {
                let envelope = Envelope::read_window(&bytes, header).map_err(damaged)?;
                counting(envelope, position, stored_at)?;
            }
        }
        Ok(())
    }

    /// Passes the windows of a stream's runs in segments to `take`: of those that `with_bodies` names, with or without bodies.
    fn each_sealed<E: From<StoreError>>(
        &self,
        connection: &Connection,
        (device, stream): (&str, &str),
        with_bodies: impl Fn(&SealedRun) -> Option<bool>,
        mut take: impl FnMut(&Sealed) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(log) = runs::log_of(connection, device, stream)? else { return Ok(()) };
        let mut number = 0;
        while let Some(run) = runs::first_run_from(connection, log, number)? {
            number = run.end();
            let Some(with_bodies) = with_bodies(&run) else { continue };
            let open = self.open_run(connection, &run, with_bodies)?;
            for of_run in run.number..run.end() {
                take(&open.at(of_run)?)?;
            }
        }
        Ok(())
    }
}

/// Returns the windows of a stream's header that are in the database, in the order of their numbers.
fn waiting(connection: &Connection, header: &StreamHeader) -> Result<Vec<Waiting>, StoreError> {
    let mut query = connection.prepare(
        "SELECT envelopes.id, digest, stored_at, position FROM envelopes JOIN log ON log.envelope = envelopes.id
         WHERE envelopes.device = ?1 AND envelopes.stream = ?2 AND stream_tag = ?3 ORDER BY envelopes.sequence",
    )?;
    let of = params![header.device(), header.stream(), header.id().tag().0];
    let rows = query.query_map(of, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, count(row, 3)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}
