//! The windows of a device, newest first.

use serde::Serialize;

use crate::declared::Plant;
use crate::devices;
use crate::error::OwnerError;
use crate::orders::Orders;
use crate::runs::partition_point;
use crate::windows::{self, Entry, StreamLog};

/// Maximum windows of one list.
const MOST: usize = 1000;

/// A window in a list of a device's windows.
///
/// Example: [`Plant::windows_of`]
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ListedWindow {
    /// The stream that it is of.
    pub stream: String,
    /// Its number in the stream.
    pub number: u64,
    /// Instant of its first tick, as RFC 3339.
    pub from: String,
    /// End of its last tick, as RFC 3339.
    pub to: String,
    /// Number of readings.
    pub readings: u64,
    /// Number of ticks of its channels without a reading.
    pub missing: u64,
    /// Bytes of its message.
    pub bytes: u64,
    /// True if it comes in the place of other windows.
    pub replaces: bool,
}

/// A window's place in the order of a list: the time of its first reading, its stream, its number.
type Place<'s> = (i64, &'s str, u64);

/// Lists the newest windows of a device, those behind `before` if it names one: at most `most`, and at most 1,000.
pub(crate) fn listed(
    plant: &Plant,
    device: &str,
    before: Option<(&str, u64)>,
    most: usize,
) -> Result<Vec<ListedWindow>, OwnerError> {
    let not_enrolled = || OwnerError::NotDeclared { kind: "enrolled device", name: device.to_owned() };
    let record = devices::record(plant, device)?.ok_or_else(not_enrolled)?;
    let (cloud, clock) = (plant.cloud()?, plant.settings().clock()?);
    let orders = Orders::new(plant, &cloud);
    let log = |stream| Ok((stream, windows::sync_log(&orders, &record, stream)?));
    let logs = record.streams().into_iter().map(log).collect::<Result<Vec<_>, OwnerError>>()?;
    let before = match before {
        None => None,
        Some((stream, number)) => {
            let log = logs.iter().find(|(name, _)| *name == stream);
            let entry = log.and_then(|(name, log)| place(name, &numbered(log, number)?));
            Some(entry.ok_or_else(|| no_window(device, stream, number))?)
        }
    };
    let most = most.min(MOST);
    let mut newest: Vec<(Place<'_>, Entry<'_>)> = Vec::new();
    for (stream, log) in &logs {
        for (first, count) in log.pieces().filter(|(first, _)| first.is_signed()) {
            let is_behind = |index| {
                let place = place(stream, &first.nth(index));
                place.is_some_and(|place| before.is_none_or(|before| place < before))
            };
            let end = partition_point(0..count, is_behind);
            let begin = end.saturating_sub(most as u64);
            let entries = (begin..end).map(|index| first.nth(index));
            newest.extend(entries.filter_map(|entry| Some((place(stream, &entry)?, entry))));
            if newest.len() > 4 * MOST {
                keep(&mut newest, most);
            }
        }
    }
    keep(&mut newest, most);
    let listed = newest.into_iter().filter_map(|((_, stream, number), entry)| {
        let described = entry.description()?;
        let readings = described.readings();
        let places = u64::from(described.ticks()) * described.layout.channels().len() as u64;
        Some(ListedWindow {
            stream: stream.to_owned(),
            number,
            from: clock.rfc3339(described.start),
            to: clock.rfc3339(described.end()),
            readings,
            missing: places.saturating_sub(readings),
            bytes: entry.bytes(),
            replaces: entry.replaces(),
        })
    });
    Ok(listed.collect())
}

/// Keeps the newest windows, in their order.
fn keep(newest: &mut Vec<(Place<'_>, Entry<'_>)>, most: usize) {
    newest.sort_by(|(one, _), (other, _)| other.cmp(one));
    newest.truncate(most);
}

fn place<'s>(stream: &'s str, entry: &Entry<'_>) -> Option<Place<'s>> {
    Some((entry.times()?.0, stream, entry.sequence()))
}

/// Returns the window with a number; of several ones a signed one. None if the log has none.
pub(super) fn numbered(log: &StreamLog, number: u64) -> Option<Entry<'_>> {
    let at = |(first, count): (_, u64)| {
        let first: Entry<'_> = first;
        let index = number.checked_sub(first.sequence()).filter(|index| *index < count)?;
        Some(first.nth(index))
    };
    let found: Vec<Entry<'_>> = log.pieces().filter_map(at).collect();
    found.iter().rfind(|entry| entry.is_signed()).or(found.last()).copied()
}

pub(super) fn no_window(device: &str, stream: &str, number: u64) -> OwnerError {
    OwnerError::Unanswerable(format!("{device} has no window {number} of stream {stream} in the cloud"))
}
