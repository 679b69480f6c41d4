//! Rows of sums are opened: pads are taken away, tags decide.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use sotto_keys::DeviceSecret;
use sotto_pack::{Quantity, WindowDescription};
use sotto_sums::{OpenError, Opening, StartKeys, StreamKeys, TagKey};
use sotto_wire::{StreamHeader, TableBits, TableColumn, WireError, table_sum};

use super::named::{Named, named};
use super::row::SummedRow;
use crate::declared::Plant;
use crate::devices;
use crate::error::OwnerError;
use crate::gathered::moments::Moments;
use crate::orders::Orders;
use crate::value::{Value, ValueError};
use crate::windows::{self, RollUps, StreamLog};

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
    /// The channels of some of these windows that later windows replace: their readings here are not the newest.
    pub replaced: Vec<String>,
}

/// Opens rows of sums of an export, each under the tags of exactly the windows that its numbers name.
pub(crate) fn opened(
    plant: &Plant,
    rows: &[SummedRow],
    mut progress: impl FnMut(u64, u64),
) -> Result<Vec<OpenedSums>, OwnerError> {
    let (cloud, mut streams) = (plant.cloud()?, BTreeMap::new());
    let orders = Orders::new(plant, &cloud);
    let mut opened = Vec::with_capacity(rows.len());
    for (row, done) in rows.iter().zip(0..) {
        progress(done, rows.len() as u64);
        let name = (row.device.as_str(), row.stream.as_str());
        let stream = match streams.entry(name) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(Stream::of(plant, &orders, row)?),
        };
        opened.push(stream.opened(plant, row)?);
    }
    progress(rows.len() as u64, rows.len() as u64);
    Ok(opened)
}

/// A stream of the plant of which there are rows.
struct Stream {
    /// The device's name in `sotto.toml`.
    device: String,
    log: StreamLog,
    rolled: RollUps,
    secret: DeviceSecret,
}

impl Stream {
    fn of(plant: &Plant, orders: &Orders<'_>, row: &SummedRow) -> Result<Self, OwnerError> {
        let device = plant.shown_device(&row.device).to_owned();
        // Names that are none of the plant's would be paths in the folder.
        let not_declared = || OwnerError::NotDeclared { kind: "device", name: row.device.clone() };
        let is_declared = plant.settings().devices.contains_key(&device);
        let record =
            if is_declared { devices::record(plant, &device)? } else { None }.ok_or_else(not_declared)?;
        let stream = *record.streams().get(row.stream.as_str()).ok_or_else(|| no_stream(&device, row))?;
        let log = windows::sync_log(orders, &record, stream)?;
        let rolled = RollUps::of(&orders.roll_ups(&record.device, stream)?);
        let secret = devices::secret(plant, &device)?;
        Ok(Self { device, log, rolled, secret })
    }

    fn opened(&self, plant: &Plant, row: &SummedRow) -> Result<OpenedSums, OwnerError> {
        let header = self
            .log
            .pieces()
            .find_map(|(first, _)| first.stream().filter(|header| hex::encode(header.id().0) == row.header));
        let header = header.ok_or_else(|| no_stream(&self.device, row))?;
        let windows = named(row, &self.log, &self.rolled).filter(|windows| !windows.is_empty());
        let windows = windows.ok_or_else(|| not_named(plant, row))?;
        let clock = plant.settings().clock()?;
        let starts = windows.iter().map(|named| named.window.start);
        let ends = windows.iter().map(|named| named.window.end());
        let replaced: BTreeSet<&str> = windows
            .iter()
            .flat_map(|named| &named.replaced)
            .map(|channel| plant.settings().shown_channel(channel))
            .collect();
        Ok(OpenedSums {
            device: self.device.clone(),
            stream: row.stream.clone(),
            from: clock.rfc3339(starts.min().unwrap_or_default()),
            to: clock.rfc3339(ends.max().unwrap_or_default()),
            windows: row.windows,
            channels: channels(plant, row, header, &self.secret, &windows)?,
            replaced: replaced.into_iter().map(str::to_owned).collect(),
        })
    }
}

fn no_stream(device: &str, row: &SummedRow) -> OwnerError {
    let SummedRow { stream, header, .. } = row;
    OwnerError::Unanswerable(format!(
        "{device} has no stream {stream} with header {header}: is the row of this plant?"
    ))
}

fn not_named(plant: &Plant, row: &SummedRow) -> OwnerError {
    let SummedRow { stream, numbers: (first, last), windows, .. } = row;
    let device = plant.shown_device(&row.device);
    OwnerError::Unanswerable(format!(
        "the windows of a row are not known: it adds {windows} of stream {stream} of {device}, which are not all that count between \
         numbers {first} and {last} of that start. Choose windows by `start` alone, add min(start) and max(start) to the query, and \
         export again if windows came or were corrected since"
    ))
}

/// Opens the parts that a row has, and returns the readings of its channels.
fn channels(
    plant: &Plant,
    row: &SummedRow,
    header: &StreamHeader,
    secret: &DeviceSecret,
    windows: &[Named],
) -> Result<Vec<OpenedChannel>, OwnerError> {
    let wrong =
        |error: WireError| OwnerError::Unanswerable(format!("a row of sums of {}: {error}", row.device));
    let id = header.stream_id().ok_or_else(|| OwnerError::wrong("the windows are not of sums"))?;
    let secret = secret.expose_secret_bytes();
    let keys = (StreamKeys::derive(secret, id), StartKeys::derive(secret, id, &row.salt));
    let (mut sums, mut squares) = (BTreeMap::<u16, i128>::new(), BTreeMap::<u16, i128>::new());
    let mut any = false;
    for (number, part) in (0_u8..).zip(header.parts()) {
        let has = |bits| row.sum(TableColumn::Tag { part: number, bits }).is_some();
        if !(has(TableBits::Low) && has(TableBits::High)) {
            continue;
        }
        any = true;
        let described = windows.iter().map(|named| &named.window);
        let answer = table_sum(header, number, described, |column| row.sum(column)).map_err(wrong)?;
        let form = header.sums_form(number.into()).map_err(wrong)?;
        let mut opening = Opening::new(&form, number.into());
        let mut whole: BTreeMap<u32, Vec<(u64, i64)>> = BTreeMap::new();
        for Named { pad, window, .. } in windows {
            let ticks = window.sent_ticks();
            if ticks > 0 && window.present.iter().all(|count| *count == ticks) {
                whole.entry(ticks).or_default().push((*pad, 1));
            } else {
                let present = part.present(window);
                opening.add(&keys.1, *pad, ticks, 1, |place| present.get(place).copied().unwrap_or_default());
            }
        }
        whole.iter().for_each(|(ticks, windows)| opening.add_whole(&keys.1, *ticks, windows));
        let key = TagKey::new(&keys.0, &form, number.into());
        let values =
            opening.open(&key, &answer).map_err(|error| refused(plant, row, error, form.capacity()))?;
        let (once, of_ticks) = part.split();
        let first: usize = once.iter().map(|placed| placed.quantity.places()).sum();
        for (at, placed) in of_ticks.iter().enumerate() {
            let (to, column) = match placed.quantity {
                Quantity::Reading(column) => (&mut sums, column),
                Quantity::Square(column) => (&mut squares, column),
                _ => continue,
            };
            let total: i128 =
                values.iter().skip(first + at).step_by(of_ticks.len()).map(|value| i128::from(*value)).sum();
            *to.entry(column).or_default() += total * i128::from(placed.digit.factor());
        }
    }
    if !any {
        return Err(OwnerError::Unanswerable(
            "a row of sums has no tag: add up all columns whose names begin with `part`, as sum(COLUMNS('^part'))".to_owned(),
        ));
    }
    let found = sums
        .iter()
        .map(|(column, sum)| channel(plant, header, *column, windows, *sum, squares.get(column).copied()));
    found.collect()
}

fn refused(plant: &Plant, row: &SummedRow, error: OpenError, capacity: u64) -> OwnerError {
    let SummedRow { stream, numbers: (first, last), windows, .. } = row;
    let device = plant.shown_device(&row.device);
    match error {
        OpenError::Weights => OwnerError::Unanswerable(format!(
            "a row adds {windows} windows of stream {stream} of {device}, and their places hold sums of {capacity}: group by shorter times"
        )),
        OpenError::Refused => OwnerError::wrong(&format!(
            "a row is not the sum of the {windows} windows of stream {stream} of {device} with numbers {first} to {last}: a number was changed \
             in the export or by the engine, or the row was made of other windows"
        )),
    }
}

fn channel(
    plant: &Plant,
    header: &StreamHeader,
    column: u16,
    windows: &[Named],
    sum: i128,
    squares: Option<i128>,
) -> Result<OpenedChannel, OwnerError> {
    let unknown = || OwnerError::wrong("whole numbers were expected");
    let quantiser = header.layout().quantiser(column).ok_or_else(unknown)?;
    let channel = header.layout().channels().get(usize::from(column)).ok_or_else(unknown)?;
    let count =
        |window: &WindowDescription| window.present.get(usize::from(column)).copied().map_or(0, u64::from);
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
