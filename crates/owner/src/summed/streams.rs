//! The streams of the plant of which there are rows.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use sotto_keys::DeviceSecret;
use sotto_wire::{StreamHeader, StreamId};

use crate::declared::Plant;
use crate::devices::{self, DeviceRecord};
use crate::error::OwnerError;
use crate::orders::Orders;
use crate::windows::{self, RollUps, StreamLog};

/// A stream with its log and its device's secret.
pub(super) struct Stream {
    /// The device's name in `sotto.toml`.
    pub(super) device: String,
    pub(super) stream: String,
    pub(super) log: StreamLog,
    pub(super) rolled: RollUps,
    pub(super) secret: DeviceSecret,
}

/// The streams that rows have named so far, by device and stream.
pub(super) struct Streams<'o> {
    orders: &'o Orders<'o>,
    known: BTreeMap<(String, String), Stream>,
}

impl Stream {
    /// Returns the header with this id, if a window of the log has it.
    pub(super) fn header(&self, id: &StreamId) -> Option<&Arc<StreamHeader>> {
        header(&self.log, id)
    }
}

fn header<'l>(log: &'l StreamLog, id: &StreamId) -> Option<&'l Arc<StreamHeader>> {
    log.pieces().find_map(|(first, _)| first.stream().filter(|header| header.id() == *id))
}

impl<'o> Streams<'o> {
    pub(super) fn new(orders: &'o Orders<'o>) -> Self {
        Self { orders, known: BTreeMap::new() }
    }

    /// Returns a stream of a device, which the cloud calls so.
    pub(super) fn named(&mut self, device: &str, stream: &str) -> Result<&Stream, OwnerError> {
        let orders = self.orders;
        match self.known.entry((device.to_owned(), stream.to_owned())) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(new) => Ok(new.insert(read(orders, device, stream)?)),
        }
    }

    /// Returns the stream with the header of this id.
    pub(super) fn of_header(&mut self, id: &StreamId) -> Result<&Stream, OwnerError> {
        let plant = self.orders.plant;
        let mut asked = Vec::new();
        for name in plant.settings().devices.keys() {
            let Some(record) = devices::record(plant, name)? else { continue };
            for stream in record.streams() {
                // Mostly this computer has seen the stream before.
                if header(&windows::kept_log(plant, &record.device, stream)?, id).is_some() {
                    return self.named(&record.device, stream);
                }
                asked.push((record.device.clone(), stream.to_owned()));
            }
        }
        for (device, stream) in asked {
            if self.named(&device, &stream)?.header(id).is_some() {
                return self.named(&device, &stream);
            }
        }
        Err(no_stream("this plant", &hex::encode(id.0)))
    }
}

fn read(orders: &Orders<'_>, wire: &str, stream: &str) -> Result<Stream, OwnerError> {
    let plant = orders.plant;
    let device = plant.shown_device(wire).to_owned();
    let record = enrolled(plant, &device, wire)?;
    let stream = *record.streams().get(stream).ok_or_else(|| no_stream(&device, stream))?;
    let log = windows::sync_log(orders, &record, stream)?;
    let rolled = RollUps::of(&orders.roll_ups(&record.device, stream)?);
    let secret = devices::secret(plant, &device)?;
    Ok(Stream { device, stream: stream.to_owned(), log, rolled, secret })
}

/// Returns the record of a declared device. Other names would be paths in the folder.
fn enrolled(plant: &Plant, device: &str, wire: &str) -> Result<DeviceRecord, OwnerError> {
    let declared = plant.settings().devices.contains_key(device);
    let record = if declared { devices::record(plant, device)? } else { None };
    record.ok_or_else(|| OwnerError::NotDeclared { kind: "device", name: wire.to_owned() })
}

/// Returns the refusal of a row of a stream that is not the plant's.
pub(super) fn no_stream(of: &str, stream: &str) -> OwnerError {
    OwnerError::Unanswerable(format!("{of} has no stream {stream}: is the row of this plant?"))
}
