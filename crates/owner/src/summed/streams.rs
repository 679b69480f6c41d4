//! The streams of the plant of which there are rows.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use sotto_api::devices::Device;
use sotto_keys::DeviceSecret;
use sotto_pack::Replaced;
use sotto_wire::{STREAM_TAG_BYTES, StreamHeader, StreamId};

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
    /// The windows of the log that others replace.
    pub(super) replaced: Replaced,
    pub(super) secret: DeviceSecret,
    /// The headers whose tags prove nothing: a number was used twice.
    pub(super) twice: BTreeSet<[u8; STREAM_TAG_BYTES]>,
}

/// The streams that rows have named so far, by device and stream.
pub(super) struct Streams<'o> {
    orders: &'o Orders<'o>,
    known: BTreeMap<(String, String), Stream>,
    /// The devices as the cloud lists them.
    listed: Vec<Device>,
    /// The device and the stream of each header that a frame has named.
    headers: BTreeMap<[u8; 32], (String, String)>,
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
    pub(super) fn new(orders: &'o Orders<'o>) -> Result<Self, OwnerError> {
        let listed = orders.cloud.devices().collect::<Result<_, _>>()?;
        Ok(Self { orders, known: BTreeMap::new(), listed, headers: BTreeMap::new() })
    }

    /// Returns a stream of a device, which the cloud calls so.
    pub(super) fn named(&mut self, device: &str, stream: &str) -> Result<&Stream, OwnerError> {
        let orders = self.orders;
        match self.known.entry((device.to_owned(), stream.to_owned())) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(new) => Ok(new.insert(read(orders, &self.listed, device, stream)?)),
        }
    }

    /// Returns the stream with the header of this id.
    pub(super) fn of_header(&mut self, id: &StreamId) -> Result<&Stream, OwnerError> {
        if let Some((device, stream)) = self.headers.get(&id.0).cloned() {
            return self.named(&device, &stream);
        }
        let (device, stream) = self.found(id)?;
        self.headers.insert(id.0, (device.clone(), stream.clone()));
        self.named(&device, &stream)
    }

    /// Looks for the stream with a header in the logs of all devices.
    fn found(&mut self, id: &StreamId) -> Result<(String, String), OwnerError> {
        let plant = self.orders.plant;
        let mut asked = Vec::new();
        for name in plant.settings().devices.keys() {
            let Some(record) = devices::record(plant, name)? else { continue };
            for stream in record.streams() {
                // Mostly this computer has seen the stream before.
                if header(&windows::kept_log(plant, &record.device, stream)?, id).is_some() {
                    return Ok((record.device.clone(), stream.to_owned()));
                }
                asked.push((record.device.clone(), stream.to_owned()));
            }
        }
        for (device, stream) in asked {
            if self.named(&device, &stream)?.header(id).is_some() {
                return Ok((device, stream));
            }
        }
        Err(no_stream("this plant", &hex::encode(id.0)))
    }
}

fn read(orders: &Orders<'_>, listed: &[Device], wire: &str, stream: &str) -> Result<Stream, OwnerError> {
    let plant = orders.plant;
    let device = plant.shown_device(wire).to_owned();
    let record = enrolled(plant, &device, wire)?;
    let stream = *record.streams().get(stream).ok_or_else(|| no_stream(&device, stream))?;
    let log = windows::sync_log(orders, &record, stream)?;
    let rolled = RollUps::of(&orders.roll_ups(&record.device, stream)?);
    let secret = devices::secret(plant, &device)?;
    let twice = windows::twice(&record, listed);
    let replaced = windows::replaced(&log);
    Ok(Stream { device, stream: stream.to_owned(), log, rolled, replaced, secret, twice })
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
