//! Rows of sums are opened: pads are taken away, tags decide.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use sotto_pack::{Quantity, WindowDescription};
use sotto_sums::{Answer, OpenError, Opening, StartKeys, StreamKeys, TagKey};
use sotto_wire::{StreamHeader, StreamId, SumsAnswer, TableBits, TableColumn, WireError, table_sum};

use super::named::{Named, named, named_by};
use super::row::{SummedColumns, SummedRow};
use super::streams::{Stream, Streams, no_stream};
use crate::declared::Plant;
use crate::error::OwnerError;
use crate::gathered::moments::Moments;
use crate::orders::Orders;
use crate::value::{Value, ValueError};

/// Largest size of a frame in bytes, and largest number of its windows.
const LARGEST_FRAME: u64 = 64 << 20;
const MOST_WINDOWS: u32 = 1 << 24;

/// A number and the largest possible distance of the true one.
///
/// Example: [`Plant::open_sums`]
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Within {
    /// The number.
    pub value: f64,
    /// The largest possible distance of the true number.
    pub bound: f64,
}

/// The readings of one channel in a row of sums.
///
/// Example: [`Plant::open_sums`]
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OpenedChannel {
    /// The channel's name.
    pub channel: String,
    /// Its unit.
    pub unit: String,
    /// Number of readings.
    pub readings: u64,
    /// Their sum.
    pub sum: Within,
    /// Their mean; None without a reading.
    pub mean: Option<Within>,
    /// Their standard deviation, if the row has the sum of squares.
    pub stddev: Option<Within>,
}

/// A row of sums, opened.
///
/// Example: [`Plant::open_sums`]
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OpenedSums {
    /// The device.
    pub device: String,
    /// The stream.
    pub stream: String,
    /// Instant of the first tick, as RFC 3339.
    pub from: String,
    /// End of the last tick, as RFC 3339.
    pub to: String,
    /// Number of windows.
    pub windows: u64,
    /// The channels whose readings the row sums up.
    pub channels: Vec<OpenedChannel>,
    /// The channels of some of these windows that later windows replace. Where those may be in the row, too, the channel has no
    /// values; else these are values from before the correction.
    pub replaced: Vec<String>,
    /// True if the tags prove nothing: the device used a number twice (`sotto status`).
    pub unchecked: bool,
}

/// Opens rows of sums, each under the tags of exactly the windows that it names.
pub(crate) fn opened(
    plant: &Plant,
    rows: &[SummedRow],
    mut progress: impl FnMut(u64, u64),
) -> Result<Vec<OpenedSums>, OwnerError> {
    let cloud = plant.cloud()?;
    let orders = Orders::new(plant, &cloud);
    let mut streams = Streams::new(&orders)?;
    let mut opened = Vec::with_capacity(rows.len());
    for (row, done) in rows.iter().zip(0..) {
        progress(done, rows.len() as u64);
        match row {
            SummedRow::Columns(row) => {
                opened.push(of_columns(plant, streams.named(&row.device, &row.stream)?, row)?);
            }
            SummedRow::Frame(frame) => {
                let mut rest = &frame[..];
                while !rest.is_empty() {
                    let (frame, after) = SumsAnswer::first_of(rest).map_err(|error| unread(&error))?;
                    let id = SumsAnswer::stream_of(frame, LARGEST_FRAME).map_err(|error| unread(&error))?;
                    opened.extend(of_frame(plant, streams.of_header(&id)?, &id, frame)?);
                    rest = after;
                }
            }
        }
    }
    progress(rows.len() as u64, rows.len() as u64);
    Ok(opened)
}

fn unread(error: &WireError) -> OwnerError {
    OwnerError::Unanswerable(format!("a row cannot be read: {error}"))
}

/// Opens the sums of columns.
fn of_columns(plant: &Plant, stream: &Stream, row: &SummedColumns) -> Result<OpenedSums, OwnerError> {
    let id = hex::decode(&row.header).ok().and_then(|id| id.try_into().ok()).map(StreamId);
    let header = id.and_then(|id| stream.header(&id));
    let header =
        header.ok_or_else(|| no_stream(&stream.device, &format!("{} with this header", row.stream)))?;
    let windows = named(row, &header.id(), stream).filter(|windows| !windows.is_empty());
    let windows = windows.ok_or_else(|| not_named(&stream.device, row))?;
    let mut parts = Vec::new();
    for part in 0..header.parts().len() as u8 {
        let has = |bits| row.sum(TableColumn::Tag { part, bits }).is_some();
        if has(TableBits::Low) && has(TableBits::High) {
            let described = windows.iter().map(|named| &named.window);
            let answer = table_sum(header, part, described, |column| row.sum(column));
            parts.push((part, answer.map_err(|error| unread(&error))?));
        }
    }
    if parts.is_empty() {
        return Err(OwnerError::Unanswerable(
            "a row of sums has no tag: add up all columns whose names begin with `part`, as sum(COLUMNS('^part'))"
                .to_owned(),
        ));
    }
    Row { plant, stream, header, windows: &windows }
        .opened(parts.iter().map(|(part, answer)| (*part, answer)))
}

/// Opens the sums of a frame.
fn of_frame(
    plant: &Plant,
    stream: &Stream,
    id: &StreamId,
    frame: &[u8],
) -> Result<Vec<OpenedSums>, OwnerError> {
    let header = stream.header(id).ok_or_else(|| no_stream(&stream.device, &stream.stream))?;
    let read = SumsAnswer::read(frame, header, LARGEST_FRAME, MOST_WINDOWS);
    let answer = read.map_err(|error| unread(&error))?;
    let windows = named_by(&answer.names, stream).ok_or_else(|| {
        let Stream { device, stream, .. } = stream;
        OwnerError::Unanswerable(format!(
            "a row is of windows of stream {stream} of {device} that its log does not have, or has one twice"
        ))
    })?;
    let of_sum = |sum: &sotto_wire::PartSum<'_>| {
        let first = sum.windows.0 as usize;
        // The answer has so many: it was read.
        let windows = windows.get(first..first + sum.windows.1 as usize).unwrap_or_default();
        Row { plant, stream, header, windows }.opened(sum.parts())
    };
    answer.sums.iter().map(of_sum).collect()
}

fn not_named(device: &str, row: &SummedColumns) -> OwnerError {
    let SummedColumns { stream, numbers: (first, last), windows, .. } = row;
    OwnerError::Unanswerable(format!(
        "the windows of a row are not known: it adds {windows} of stream {stream} of {device}, which are not all that count between \
         numbers {first} and {last} of that start. Choose windows by `start` alone, add min(start) and max(start) to the query, and \
         export again if windows came or were corrected since"
    ))
}

/// A row whose windows are known.
struct Row<'r> {
    plant: &'r Plant,
    stream: &'r Stream,
    header: &'r StreamHeader,
    windows: &'r [Named],
}

impl Row<'_> {
    /// Opens the parts that the row has.
    fn opened<'a>(
        &self,
        parts: impl IntoIterator<Item = (u8, &'a Answer<'a>)>,
    ) -> Result<OpenedSums, OwnerError> {
        let Self { plant, stream, windows, .. } = *self;
        let clock = plant.settings().clock()?;
        let starts = windows.iter().map(|named| named.window.start);
        let ends = windows.iter().map(|named| named.window.end());
        let replaced: BTreeSet<&str> = windows
            .iter()
            .flat_map(|named| &named.replaced)
            .map(|channel| plant.settings().shown_channel(channel))
            .collect();
        Ok(OpenedSums {
            device: stream.device.clone(),
            stream: stream.stream.clone(),
            from: clock.rfc3339(starts.min().unwrap_or_default()),
            to: clock.rfc3339(ends.max().unwrap_or_default()),
            windows: windows.len() as u64,
            channels: self.channels(parts)?,
            replaced: replaced.into_iter().map(str::to_owned).collect(),
            unchecked: stream.twice.contains(&self.header.id().tag().0),
        })
    }

    fn channels<'a>(
        &self,
        parts: impl IntoIterator<Item = (u8, &'a Answer<'a>)>,
    ) -> Result<Vec<OpenedChannel>, OwnerError> {
        let id = self.header.stream_id().ok_or_else(|| OwnerError::wrong("the windows are not of sums"))?;
        let secret = self.stream.secret.expose_secret_bytes();
        let keys = StreamKeys::derive(secret, id);
        let starts: BTreeMap<_, _> = self
            .windows
            .iter()
            .map(|named| named.salt)
            .collect::<BTreeSet<_>>()
            .into_iter()
            .map(|salt| (salt, StartKeys::derive(secret, id, &salt)))
            .collect();
        let (mut sums, mut squares) = (BTreeMap::<u16, i128>::new(), BTreeMap::<u16, i128>::new());
        for (number, answer) in parts {
            let Some(part) = self.header.parts().get(usize::from(number)) else { continue };
            let form = self.header.sums_form(number.into()).map_err(|error| unread(&error))?;
            let mut opening = Opening::new(&form, number.into());
            let mut whole: BTreeMap<_, Vec<(u64, i64)>> = BTreeMap::new();
            for Named { salt, pad, window, .. } in self.windows {
                let ticks = window.sent_ticks();
                if ticks > 0 && window.present.iter().all(|count| *count == ticks) {
                    whole.entry((salt, ticks)).or_default().push((*pad, 1));
                } else if let Some(start) = starts.get(salt) {
                    let present = part.present(window);
                    let has = |place: usize| present.get(place).copied().unwrap_or_default();
                    opening.add(start, *pad, ticks, 1, has);
                }
            }
            for ((salt, ticks), windows) in &whole {
                if let Some(start) = starts.get(*salt) {
                    opening.add_whole(start, *ticks, windows);
                }
            }
            let key = TagKey::new(&keys, &form, number.into());
            let values = opening.open(&key, answer).map_err(|error| self.refused(error, form.capacity()))?;
            let (once, of_ticks) = part.split();
            let first: usize = once.iter().map(|placed| placed.quantity.places()).sum();
            for (at, placed) in of_ticks.iter().enumerate() {
                let (to, column) = match placed.quantity {
                    Quantity::Reading(column) => (&mut sums, column),
                    Quantity::Square(column) => (&mut squares, column),
                    _ => continue,
                };
                let of_place = values.iter().skip(first + at).step_by(of_ticks.len());
                let total: i128 = of_place.map(|value| i128::from(*value)).sum();
                *to.entry(column).or_default() += total * i128::from(placed.digit.factor());
            }
        }
        let channel =
            |(column, sum): (&u16, &i128)| self.channel(*column, *sum, squares.get(column).copied());
        sums.iter().filter(|(column, _)| !self.is_mixed(**column)).map(channel).collect()
    }

    /// Returns true if some windows have readings of a channel that others replace, while another channel of theirs counts: both
    /// may be in the sum.
    fn is_mixed(&self, column: u16) -> bool {
        let channels = self.header.layout().channels();
        let Some(channel) = channels.get(usize::from(column)) else { return true };
        self.windows.iter().any(|named| named.replaced.contains(&channel.name) && named.counts())
    }

    fn refused(&self, error: OpenError, capacity: u64) -> OwnerError {
        let Stream { device, stream, .. } = self.stream;
        let windows = self.windows.len();
        match error {
            OpenError::Weights => OwnerError::Unanswerable(format!(
                "a row adds {windows} windows of stream {stream} of {device}, and their places hold sums of {capacity}: group by shorter \
                 times"
            )),
            OpenError::Refused => OwnerError::OtherSums(format!(
                "a row is not the sum of the {windows} windows of stream {stream} of {device} that it names: a number was changed on its \
                 way, a column is missing, or the row was made of other windows or with weights"
            )),
        }
    }

    fn channel(&self, column: u16, sum: i128, squares: Option<i128>) -> Result<OpenedChannel, OwnerError> {
        let Self { plant, header, windows, .. } = *self;
        let unknown = || OwnerError::wrong("whole numbers were expected");
        let quantiser = header.layout().quantiser(column).ok_or_else(unknown)?;
        let channel = header.layout().channels().get(usize::from(column)).ok_or_else(unknown)?;
        let count = |window: &WindowDescription| {
            window.present.get(usize::from(column)).copied().map_or(0, u64::from)
        };
        let readings = windows.iter().map(|named| count(&named.window)).sum();
        let rounded = windows.iter().map(|named| named.window.rounded_of(column, count(&named.window))).sum();
        let moments = Moments::of_sums(quantiser, [readings, rounded], sum, squares);
        let within = |value: Value| Within { value: value.value, bound: value.bound };
        let found = |value: Result<Value, ValueError>| value.ok().map(within);
        Ok(OpenedChannel {
            channel: plant.settings().shown_channel(&channel.name).to_owned(),
            unit: channel.unit.clone(),
            readings,
            sum: found(moments.sum(&channel.unit)).unwrap_or(Within { value: 0.0, bound: 0.0 }),
            mean: found(moments.mean(&channel.unit)),
            stddev: squares.and_then(|_| found(moments.deviation(&channel.unit))),
        })
    }
}
