//! The ciphertexts that a query reads: rows of the catalogue whose envelopes are files.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError};

use rusqlite::{Connection, OptionalExtension as _, params_from_iter};
use serde::{Deserialize, Serialize};
use sotto_pack::Replaced;
use sotto_rlwe::KeyId;
use sotto_wire::{StreamHeader, StreamTag, window_description};

use super::catalogue::Catalogue;
use super::filter::Filter;
use super::setting::{KeySet, Setting};
use crate::LakeError;

/// A stored envelope with a ciphertext. Names of files are in hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Row {
    /// The index of its device and stream.
    pub(crate) stream: u32,
    pub(crate) number: u64,
    pub(crate) id: String,
    /// The digest of its message.
    pub(crate) digest: String,
    /// The index of its parameters and their keys.
    pub(crate) setting: u32,
    pub(crate) parameters: String,
    pub(crate) key: String,
    /// The index of its stream's header, for a window of slots.
    pub(crate) header: Option<u32>,
    /// The names of channels that do not count.
    pub(crate) replaced: Vec<String>,
    pub(crate) start: i64,
    pub(crate) times: (i64, i64),
    pub(crate) readings: i64,
    pub(crate) bytes: i64,
    pub(crate) stored_at: i64,
}

/// All ciphertexts that a query reads.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ciphertexts {
    /// Device and stream.
    pub(crate) streams: Vec<(String, String)>,
    /// [`Setting`]s in hexadecimal.
    pub(crate) settings: Vec<String>,
    /// Frames of headers in hexadecimal.
    pub(crate) headers: Vec<String>,
    /// In the order of device, stream and number.
    pub(crate) rows: Vec<Row>,
}

impl Catalogue {
    /// Returns the ciphertexts that match at this moment.
    pub(crate) fn ciphertexts(&self, filter: &Filter) -> Result<Ciphertexts, LakeError> {
        if filter.nothing {
            return Ok(Ciphertexts::default());
        }
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let moment = connection.transaction()?;
        let mut reading =
            Reading { moment: &moment, filter, found: Ciphertexts::default(), known: Known::default() };
        match &filter.devices {
            None => reading.read(None)?,
            Some(devices) => devices.iter().try_for_each(|device| reading.read(Some(device)))?,
        }
        Ok(reading.found)
    }
}

/// Indexes of that which rows share.
#[derive(Default)]
struct Known {
    settings: HashMap<[u8; 32], u32>,
    headers: HashMap<[u8; 8], Registered>,
}

/// A header, its frame, and its index once a row has it.
type Registered = (Arc<StreamHeader>, Vec<u8>, Option<u32>);

struct Reading<'c> {
    moment: &'c Connection,
    filter: &'c Filter,
    found: Ciphertexts,
    known: Known,
}

/// A row as the catalogue has it.
struct Envelope {
    id: [u8; 16],
    digest: [u8; 32],
    device: String,
    stream: String,
    number: i64,
    parameters: [u8; 32],
    key: [u8; 16],
    times: (i64, i64),
    readings: i64,
    /// The head of a window of slots.
    layout: Vec<u8>,
    bytes: i64,
    stored_at: i64,
    tag: Option<[u8; 8]>,
}

const SELECT: &str = "SELECT id, digest, device, stream, sequence, parameter_id, key_id, started_at, ended_at, readings, layout,
    bytes, stored_at, stream_tag FROM envelopes WHERE message IS NULL";

fn envelope(row: &rusqlite::Row<'_>) -> rusqlite::Result<Envelope> {
    Ok(Envelope {
        id: row.get(0)?,
        digest: row.get(1)?,
        device: row.get(2)?,
        stream: row.get(3)?,
        number: row.get(4)?,
        parameters: row.get(5)?,
        key: row.get(6)?,
        times: (row.get(7)?, row.get(8)?),
        readings: row.get(9)?,
        layout: row.get(10)?,
        bytes: row.get(11)?,
        stored_at: row.get(12)?,
        tag: row.get(13)?,
    })
}

impl Reading<'_> {
    /// Reads the envelopes of a device, or of all.
    fn read(&mut self, device: Option<&String>) -> Result<(), LakeError> {
        let of = if device.is_some() { "AND device = ?1" } else { "" };
        let mut query = self.moment.prepare(&format!("{SELECT} {of} ORDER BY device, stream, sequence"))?;
        let mut rows = query.query(params_from_iter(device))?;
        let mut of_stream: Vec<Envelope> = Vec::new();
        while let Some(row) = rows.next()? {
            let envelope = envelope(row)?;
            if !self.filter.has_stream(&envelope.stream) {
                continue;
            }
            let is_next =
                |last: &Envelope| (&last.device, &last.stream) != (&envelope.device, &envelope.stream);
            if of_stream.last().is_some_and(is_next) {
                self.take(std::mem::take(&mut of_stream))?;
            }
            of_stream.push(envelope);
        }
        self.take(of_stream)
    }

    /// Takes the envelopes of a stream that match and count.
    fn take(&mut self, envelopes: Vec<Envelope>) -> Result<(), LakeError> {
        let Some(first) = envelopes.first() else { return Ok(()) };
        let stream = u32::try_from(self.found.streams.len()).unwrap_or(u32::MAX);
        let names = (first.device.clone(), first.stream.clone());
        let (mut replaced, mut windows) = (Replaced::default(), Vec::with_capacity(envelopes.len()));
        for envelope in envelopes {
            let Some(tag) = envelope.tag else {
                windows.push((envelope, None));
                continue;
            };
            let header = self.header(tag)?;
            // Windows of sums are rows of another table; places of earlier versions are read by nobody.
            if header.is_of_sums() || header.is_of_places() {
                continue;
            }
            let wrong = |error: sotto_wire::WireError| {
                LakeError::Damaged(format!("window {} of `{}`: {error}", envelope.number, envelope.device))
            };
            let window = window_description(&envelope.layout, &header).map_err(wrong)?;
            replaced.add(envelope.number.cast_unsigned(), &window);
            windows.push((envelope, Some(window)));
        }
        let before = self.found.rows.len();
        for (envelope, window) in windows {
            let number = envelope.number.cast_unsigned();
            let start = window.as_ref().map_or(envelope.times.0, |window| window.start);
            let is_replaced = window.as_ref().is_some_and(|window| replaced.is_whole(number, window));
            if is_replaced || !self.filter.has_window(number, start) {
                continue;
            }
            let gone = replaced.channels(number).into_iter().map(str::to_owned).collect();
            let header = envelope.tag.map(|tag| self.index(tag)).transpose()?;
            let setting = self.setting(envelope.parameters)?;
            self.found.rows.push(Row {
                stream,
                number,
                id: hex::encode(envelope.id),
                digest: hex::encode(envelope.digest),
                setting,
                parameters: hex::encode(envelope.parameters),
                key: hex::encode(envelope.key),
                header,
                replaced: gone,
                start,
                times: envelope.times,
                readings: envelope.readings,
                bytes: envelope.bytes,
                stored_at: envelope.stored_at,
            });
        }
        if self.found.rows.len() > before {
            self.found.streams.push(names);
        }
        Ok(())
    }

    fn header(&mut self, tag: [u8; 8]) -> Result<Arc<StreamHeader>, LakeError> {
        if let Some((header, ..)) = self.known.headers.get(&tag) {
            return Ok(Arc::clone(header));
        }
        let query = "SELECT header FROM streams WHERE tag = ?1";
        let frame: Option<Vec<u8>> = self.moment.query_row(query, [tag], |row| row.get(0)).optional()?;
        let damaged = |reason: String| LakeError::Damaged(format!("stream {}: {reason}", StreamTag(tag)));
        let frame = frame.ok_or_else(|| damaged("it has no header".to_owned()))?;
        let header = StreamHeader::read_stored(&frame).map_err(|error| damaged(error.to_string()))?;
        let header = Arc::new(header);
        self.known.headers.insert(tag, (Arc::clone(&header), frame, None));
        Ok(header)
    }

    /// Returns the index of a header that was read.
    fn index(&mut self, tag: [u8; 8]) -> Result<u32, LakeError> {
        self.header(tag)?;
        let headers = &mut self.found.headers;
        let Some((_, frame, index)) = self.known.headers.get_mut(&tag) else { return Ok(0) };
        Ok(*index.get_or_insert_with(|| {
            headers.push(hex::encode(frame));
            (headers.len() - 1) as u32
        }))
    }

    /// Returns the index of parameters, with the evaluation keys of this moment.
    fn setting(&mut self, parameters: [u8; 32]) -> Result<u32, LakeError> {
        if let Some(index) = self.known.settings.get(&parameters) {
            return Ok(*index);
        }
        let query = "SELECT frame FROM parameters WHERE id = ?1";
        let frame = self.moment.query_row(query, [parameters], |row| row.get(0)).optional()?;
        let missing = || LakeError::Damaged(format!("it has no parameters {}", hex::encode(parameters)));
        let mut setting = Setting { parameters: frame.ok_or_else(missing)?, keys: Vec::new() };
        let mut query = self.moment.prepare(
            "SELECT key_id, file, transfers FROM evaluation_keys WHERE parameter_id = ?1 ORDER BY key_id",
        )?;
        let sets = query.query_map([parameters], |row| {
            let transfers = row.get::<_, i64>(2)? > 0;
            Ok(KeySet { key: KeyId(row.get(0)?), file: row.get(1)?, transfers })
        })?;
        setting.keys = sets.collect::<rusqlite::Result<_>>()?;
        let index = self.found.settings.len() as u32;
        self.found.settings.push(hex::encode(setting.write()));
        self.known.settings.insert(parameters, index);
        Ok(index)
    }
}
