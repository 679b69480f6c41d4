//! A tick of a channel of a stream is in one window only.

use std::sync::Arc;

use rusqlite::{Connection, params};
use sotto_pack::{Period, Replaces, WindowDescription};
use sotto_wire::{STREAM_TAG_BYTES, SignedHeader, StreamHeader, StreamTag, WireError, window_description};

use super::error::damaged;
use super::sealed::runs;
use super::stream::Streams;
use super::{Store, StoreError, count};

/// A tick at which a window and a stored one have a reading of the same channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TakenTick {
    /// The sequence number of the other window.
    pub(crate) window: u64,
    /// The channel's name.
    pub(crate) channel: String,
    /// The start of the tick: milliseconds since 1970.
    pub(crate) at: i64,
}

/// Bounds of the readings of a window: milliseconds since 1970.
#[derive(Clone, Copy, Debug)]
struct Times {
    /// The start of the first tick with a reading, or an earlier time of the window.
    first: i64,
    /// The last millisecond of the last tick with a reading, or a later one of the window.
    last: i64,
    /// The longest window of the stream, in milliseconds.
    longest: i64,
}

impl Times {
    /// Returns the bounds of a window; `None` if it has no reading, or does not say at which ticks.
    fn of(signed: &SignedHeader) -> Option<Self> {
        let header = signed.header();
        if header.readings == 0 {
            return None;
        }
        let longest = |ticks: u32, period: Period| period.after(ticks.into());
        Some(match signed.stream() {
            Some(stream) => {
                let longest = longest(stream.layout().ticks(), stream.period());
                Self { first: header.started_at, last: header.ended_at, longest }
            }
            // The header has times of readings, which may lie anywhere in their ticks.
            None => {
                let window = WindowDescription::parse(&header.layout).ok()?;
                let longest = longest(window.layout.ticks(), window.period);
                Self { first: window.start, last: window.end().saturating_sub(1), longest }
            }
        })
    }

    /// Returns true if windows with these bounds can have a tick in common.
    fn meet(&self, other: &Self) -> bool {
        self.first <= other.last && other.first <= self.last
    }
}

/// Returns a tick and channel of a new window at which a stored window of its stream has a reading, too. Reads the heads of
/// windows that overlap it only.
pub(super) fn taken(
    store: &Store,
    connection: &Connection,
    signed: &SignedHeader,
) -> Result<Option<TakenTick>, StoreError> {
    let Some(times) = Times::of(signed) else { return Ok(None) };
    let header = signed.header();
    let tag = signed.stream().map(|stream| stream.id().tag().0);
    let mut overlapping = connection.prepare_cached(
        "SELECT sequence, layout, stream_tag FROM envelopes INDEXED BY envelopes_by_time
         WHERE device = ?1 AND stream = ?2 AND readings > 0 AND ended_at BETWEEN ?3 AND ?4 AND started_at <= ?5
             AND stream_tag IS ?6 AND parameter_id = ?7 AND key_id = ?8",
    )?;
    let until = times.last.saturating_add(times.longest);
    let of_stream = params![
        header.device,
        header.stream,
        times.first,
        until,
        times.last,
        tag,
        header.parameters.0,
        header.key.0
    ];
    let mut rows = overlapping.query(of_stream)?;
    let mut others = Vec::new();
    while let Some(row) = rows.next()? {
        let (window, layout) = (count(row, 0)?, row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?);
        others.extend(
            stored_description(connection, &store.streams, row.get(2)?, layout)?.map(|other| (window, other)),
        );
    }
    if let Some(stream) = signed.stream().filter(|stream| stream.is_of_sums()) {
        others.extend(sealed_at(store, connection, stream, (times.first, times.last))?);
    }
    if others.is_empty() {
        return Ok(None);
    }
    let Some(own) = description(signed) else { return Ok(None) };
    let replaced: Vec<&Replaces> =
        [&own].into_iter().chain(others.iter().map(|(_, other)| other)).filter_map(replaces).collect();
    Ok(others.iter().find_map(|(window, other)| shared(&own, *window, other, &replaced)))
}

/// Returns the windows of a stream in segments that have readings between two times, with their numbers.
fn sealed_at(
    store: &Store,
    connection: &Connection,
    stream: &Arc<StreamHeader>,
    (first, last): (i64, i64),
) -> Result<Vec<(u64, WindowDescription)>, StoreError> {
    let Some(log) = runs::log_of(connection, stream.device(), stream.stream())? else {
        return Ok(Vec::new());
    };
    let mut others = Vec::new();
    for run in runs::runs_at(connection, log, (first, last))? {
        if run.tag != stream.id().tag() {
            continue;
        }
        let block = store.block(connection, &run, false)?;
        for number in run.number..run.end() {
            let row = run.row_of(number);
            let (from, to) = block.times(row);
            if block.readings(row) > 0 && from <= last && to >= first {
                let window = window_description(&block.head(row, stream), stream).map_err(damaged)?;
                others.push((number, window));
            }
        }
    }
    Ok(others)
}

fn replaces(window: &WindowDescription) -> Option<&Replaces> {
    window.replaces.as_ref()
}

/// Like [`taken`], for another window of the same upload.
pub(super) fn taken_by(other: &SignedHeader, signed: &SignedHeader) -> Option<TakenTick> {
    let of_stream = |signed: &SignedHeader| {
        let header = signed.header();
        (signed.stream().map(|stream| stream.id()), header.stream.clone(), header.parameters, header.key)
    };
    if !Times::of(signed)?.meet(&Times::of(other)?) || of_stream(other) != of_stream(signed) {
        return None;
    }
    let own = description(signed)?;
    let replaced: Vec<&Replaces> = replaces(&own).into_iter().collect();
    shared(&own, other.header().sequence, &description(other)?, &replaced)
}

impl Store {
    /// Returns a time as RFC 3339 in UTC; in milliseconds since 1970 outside the years 0 to 9999.
    pub(crate) fn rfc3339(&self, at: i64) -> Result<String, StoreError> {
        let text = "SELECT strftime('%Y-%m-%dT%H:%M:%fZ', ?1 / 1000.0, 'unixepoch')";
        let text: Option<String> = self.connection().query_row(text, [at], |row| row.get(0))?;
        Ok(text.unwrap_or_else(|| format!("{at} ms since 1970")))
    }
}

/// Returns the description of a window; `None` if one of version 1 has another form.
fn description(signed: &SignedHeader) -> Option<WindowDescription> {
    match signed.stream() {
        Some(_) => signed.description(),
        None => WindowDescription::parse(&signed.header().layout).ok(),
    }
}

/// Returns the description in a row's head, or layout in version 1, whose form nobody checks.
fn stored_description(
    connection: &Connection,
    streams: &Streams,
    tag: Option<[u8; STREAM_TAG_BYTES]>,
    layout: &[u8],
) -> Result<Option<WindowDescription>, StoreError> {
    let Some(tag) = tag.map(StreamTag) else { return Ok(WindowDescription::parse(layout).ok()) };
    let stream = streams.get(connection, tag)?.ok_or_else(|| damaged(WireError::UnknownStream(tag)))?;
    window_description(layout, &stream).map(Some).map_err(damaged)
}

/// Returns the first tick of a channel at which both windows have a reading. `window` is the other one's number.
///
/// A channel of a window in whose place another one comes, the new one or a stored one, is left out: `replaced` has these.
/// Windows of one stream have one layout.
///
/// Ticks are equal if they start at the same time: the last tick of a day may be cut short, and then overlaps the next
/// one by its nominal length.
fn shared(
    own: &WindowDescription,
    window: u64,
    other: &WindowDescription,
    replaced: &[&Replaces],
) -> Option<TakenTick> {
    let apart = own.period.ticks_apart((own.start, 0), (other.start, 0))?;
    if own.period != other.period {
        return None;
    }
    (0..).zip(own.layout.channels()).find_map(|(number, channel)| {
        let is_replaced = |by: &&Replaces| by.windows.contains(&window) && by.channels.contains(&number);
        if replaced.iter().any(is_replaced) {
            return None;
        }
        let of_other = other.layout.channels().iter().position(|other| other.name == channel.name)?;
        let (present, of_other) = (own.presence(number)?, other.presence(u16::try_from(of_other).ok()?)?);
        let is_taken = |tick: &u32| {
            let tick = i64::from(*tick).checked_sub(apart).and_then(|tick| u32::try_from(tick).ok());
            tick.is_some_and(|tick| of_other.contains(tick))
        };
        let tick = present.iter().find(is_taken)?;
        let at = own.period.at(own.start, tick);
        Some(TakenTick { window, channel: channel.name.clone(), at })
    })
}

#[cfg(test)]
mod tests;
