//! Passes windows of sums on, in the order of their logs.

use std::sync::Arc;

use rusqlite::params;
use sotto_wire::StreamHeader;

use super::dropped::StoredBytes;
use super::error::damaged;
use super::sealed::runs;
use super::{Store, StoreError, count};
use crate::export::Exported;
use sotto_segment::Kind;

impl Store {
    /// Returns the headers of all streams of sums.
    pub(crate) fn streams_of_sums(&self) -> Result<Vec<Arc<StreamHeader>>, StoreError> {
        let connection = self.connection();
        let mut query = connection.prepare("SELECT tag FROM streams ORDER BY device, tag")?;
        let tags: Vec<[u8; 8]> = query.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
        let headers = tags.into_iter().map(|tag| self.header_of(&connection, sotto_wire::StreamTag(tag)));
        let headers = headers.collect::<Result<Vec<_>, _>>()?;
        Ok(headers.into_iter().filter(|header| header.is_of_sums()).collect())
    }

    /// Passes every whole window of a stream's header to `take`, those in segments first, each in the order of their
    /// numbers.
    pub(crate) fn each_window<E: From<StoreError>>(
        &self,
        header: &Arc<StreamHeader>,
        mut take: impl FnMut(Exported) -> Result<(), E>,
    ) -> Result<(), E> {
        let (connection, tag) = (self.connection(), header.id().tag());
        let (device, stream) = (header.device(), header.stream());
        if let Some(log) = runs::log_of(&connection, device, stream)? {
            let mut number = 0;
            while let Some(run) = runs::first_run_from(&connection, log, number)? {
                number = run.end();
                if run.kind != Kind::Whole || run.tag != tag {
                    continue;
                }
                let open = self.open_run(&connection, &run, true)?;
                for of_run in run.number..run.end() {
                    let sealed = open.at(of_run)?;
                    let (position, stored_at) = (sealed.position(), sealed.stored_at());
                    take(Exported { envelope: sealed.envelope()?, position, stored_at })?;
                }
            }
        }
        let mut query = connection
            .prepare(
                "SELECT envelopes.id, digest, stored_at, position FROM envelopes JOIN log ON log.envelope = envelopes.id
                 WHERE envelopes.device = ?1 AND envelopes.stream = ?2 AND stream_tag = ?3 ORDER BY envelopes.sequence",
            )
            .map_err(StoreError::from)?;
        let mut rows = query.query(params![device, stream, tag.0]).map_err(StoreError::from)?;
        while let Some(row) = rows.next().map_err(StoreError::from)? {
            let read = || Ok::<_, rusqlite::Error>((row.get(0)?, row.get(1)?, row.get(2)?, count(row, 3)?));
            let (id, digest, stored_at, position) = read().map_err(StoreError::from)?;
            if let StoredBytes::Whole(bytes) = self.checked_bytes_on(&connection, id, &digest)? {
                let envelope = sotto_wire::Envelope::read_window(&bytes, header).map_err(damaged)?;
                take(Exported { envelope, position, stored_at })?;
            }
        }
        Ok(())
    }
}
