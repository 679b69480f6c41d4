//! The inputs of repeated work.

use std::collections::{BTreeMap, HashMap, HashSet};

use sotto_cloud_client::{Cloud, CloudError};
use sotto_rlwe::{ParameterId, ParameterSpec};
use sotto_wire::Digest;

use super::folder::Folder;
use crate::declared::Plant;
use crate::devices::spec_of;
use crate::error::OwnerError;
use crate::lie::Lie;
use crate::orders::Orders;
use crate::windows::StreamLog;
use crate::work::Evidence;
use crate::{devices, windows, work};

/// Bytes of messages held in memory, so that a window used in several jobs is fetched once.
const MOST_HELD: usize = 64 << 20;

/// The numbers of the windows in logs as ranges, by device and stream: of streams of which an answer counts windows.
type Numbers = BTreeMap<(String, String), Vec<(u64, u64)>>;

/// The inputs of the repetition, which need no secret key.
pub(crate) struct Sources<'p> {
    origin: Origin<'p>,
    held: HashMap<String, Vec<u8>>,
    held_bytes: usize,
    pub(super) fetched: u64,
}

/// The origin of the inputs.
pub(super) enum Origin<'p> {
    Plant {
        plant: &'p Plant,
        cloud: &'p Cloud,
        /// The ids of windows in the cloud, by leaf in hexadecimal.
        ids: HashMap<String, String>,
        /// Leaves of windows that the owner deleted, in hexadecimal.
        forgotten: HashSet<String>,
        /// True once the orders of the owner's other computers were learnt.
        is_learnt: bool,
        numbers: Numbers,
        parameters: BTreeMap<ParameterId, ParameterSpec>,
        /// A folder in which all inputs are saved.
        save: Option<Folder>,
    },
    Folder {
        folder: Folder,
        /// Verifying keys of devices.
        devices: BTreeMap<String, Vec<String>>,
    },
}

impl<'p> Sources<'p> {
    /// Reads the stored logs. If they lack windows of the work because they were accepted anew, reads them from the
    /// cloud.
    pub(crate) fn new(
        plant: &'p Plant,
        cloud: &'p Cloud,
        evidence: &Evidence,
        save: Option<Folder>,
    ) -> Result<Self, OwnerError> {
        let (mut ids, mut forgotten, mut parameters) = (HashMap::new(), HashSet::new(), BTreeMap::new());
        let records = devices::all_records(plant)?;
        let streams =
            || records.values().flat_map(|record| record.streams().into_iter().map(move |s| (record, s)));
        for profile in records.values().flat_map(|record| &record.bundles).flat_map(|bundle| &bundle.streams)
        {
            parameters.extend(spec_of(profile)?.map(|spec| (spec.id(), spec)));
        }
        let mut numbers = Numbers::new();
        for (record, stream) in streams() {
            let log = windows::kept_log(plant, &record.device, stream)?;
            forgotten.extend(forgotten_of(plant, &record.device, stream)?);
            note_numbers(&mut numbers, evidence, &record.device, stream, &log);
            ids.extend(readable(&log));
        }
        let mut inputs = evidence.work.iter().flat_map(|work| &work.inputs);
        if inputs.any(|leaf| !ids.contains_key(leaf) && !forgotten.contains(leaf)) {
            let orders = Orders::new(plant, cloud);
            for (record, stream) in streams() {
                let log = windows::sync_log(&orders, record, stream)?;
                note_numbers(&mut numbers, evidence, &record.device, stream, &log);
                ids.extend(readable(&log));
            }
        }
        let (held, held_bytes, fetched) = (HashMap::new(), 0, 0);
        let is_learnt = false;
        let origin = Origin::Plant { plant, cloud, ids, forgotten, is_learnt, numbers, parameters, save };
        Ok(Self { origin, held, held_bytes, fetched })
    }

    /// Takes everything from a folder, with the verifying keys of devices that it names.
    pub(super) fn of_folder(folder: Folder, devices: BTreeMap<String, Vec<String>>) -> Self {
        let (held, held_bytes, fetched) = (HashMap::new(), 0, 0);
        Self { origin: Origin::Folder { folder, devices }, held, held_bytes, fetched }
    }

    /// Returns how many of these windows are not in the log of their stream, those that were deleted since among those that
    /// are.
    pub(crate) fn lacks(&self, device: &str, stream: &str, runs: &[(u64, u32)]) -> u64 {
        let Origin::Plant { numbers, .. } = &self.origin else { return 0 };
        // The owner destroyed the record of a device without a log: there is nothing to compare.
        let Some(there) = numbers.get(&(device.to_owned(), stream.to_owned())) else { return 0 };
        let wanted = runs.iter().flat_map(|(first, count)| *first..first.saturating_add((*count).into()));
        let is_there = |number: &u64| {
            let range = there.partition_point(|(first, _)| first <= number).checked_sub(1);
            range.is_some_and(|range| *number <= there[range].1)
        };
        wanted.filter(|number| !is_there(number)).count() as u64
    }

    /// Returns everything that a device signed for the window of a leaf, in hexadecimal.
    pub(super) fn message(&mut self, leaf: &str) -> Result<Vec<u8>, OwnerError> {
        if let Some(message) = self.held.get(leaf) {
            return Ok(message.clone());
        }
        let message = match &mut self.origin {
            Origin::Plant { plant, cloud, ids, forgotten, is_learnt, save, .. } => {
                let message = match cloud.message(ids.get(leaf).ok_or_else(|| gone(leaf, forgotten))?) {
                    // Another computer of the owner may have deleted it.
                    Err(CloudError::Refused { status: 404, .. }) if !*is_learnt => {
                        *is_learnt = true;
                        *forgotten = learnt(plant, cloud)?;
                        return self.message(leaf);
                    }
                    Err(CloudError::Refused { status: 404, .. }) if forgotten.contains(leaf) => {
                        return Err(gone(leaf, forgotten));
                    }
                    message => message?,
                };
                save.as_ref().map_or(Ok(()), |save| save.write("messages", leaf, &message))?;
                message
            }
            Origin::Folder { folder, .. } => {
                let missing = || Lie::ImpossibleWork { reason: format!("there is no message {leaf}") };
                folder.read("messages", leaf)?.ok_or_else(missing)?
            }
        };
        self.fetched += message.len() as u64;
        if self.held_bytes + message.len() <= MOST_HELD {
            self.held_bytes += message.len();
            self.held.insert(leaf.to_owned(), message.clone());
        }
        Ok(message)
    }

    /// Returns the leaf of a window, of which evidence has the hexadecimal digits, if a device signed the window.
    pub(super) fn leaf(&self, name: &str) -> Result<Digest, OwnerError> {
        match &self.origin {
            Origin::Plant { ids, forgotten, .. } => {
                let mut leaf = Digest::default();
                let is_leaf = ids.contains_key(name) && hex::decode_to_slice(name, &mut leaf).is_ok();
                if is_leaf { Ok(leaf) } else { Err(gone(name, forgotten)) }
            }
            Origin::Folder { folder, devices } => folder.leaf(name, devices),
        }
    }

    pub(super) fn spec(&self, id: ParameterId) -> Result<ParameterSpec, OwnerError> {
        match &self.origin {
            Origin::Plant { parameters, save, .. } => {
                let spec = parameters.get(&id).cloned().ok_or(Lie::OtherPlan)?;
                let frame = sotto_wire::write_parameters(&spec);
                save.as_ref().map_or(Ok(()), |save| save.write("parameters", &id.to_string(), &frame))?;
                Ok(spec)
            }
            Origin::Folder { folder, .. } => folder.parameters(id),
        }
    }

    /// Returns the frame of evaluation keys that the owner uploaded.
    pub(super) fn evaluation_keys(&self, digest: &Digest) -> Result<Option<Vec<u8>>, OwnerError> {
        let name = hex::encode(digest);
        match &self.origin {
            Origin::Plant { plant, save, .. } => {
                let frame = work::sent_evaluation_keys(plant, digest)?;
                if let (Some(save), Some(frame)) = (save, &frame) {
                    save.write("keys", &name, frame)?;
                }
                Ok(frame)
            }
            Origin::Folder { folder, .. } => folder.read("keys", &name),
        }
    }
}

/// Returns the leaves of the windows of a stream that the owner deleted, in hexadecimal.
fn forgotten_of(
    plant: &Plant,
    device: &str,
    stream: &str,
) -> Result<impl Iterator<Item = String>, OwnerError> {
    Ok(windows::forgotten(plant, device, stream)?.into_iter().map(hex::encode))
}

/// Learns the orders of the owner's other computers. Returns the leaves of all windows that were deleted, in hexadecimal.
fn learnt(plant: &Plant, cloud: &Cloud) -> Result<HashSet<String>, OwnerError> {
    windows::learn_orders(plant, cloud)?;
    let mut all = HashSet::new();
    for (device, record) in devices::all_records(plant)? {
        for stream in record.streams() {
            all.extend(forgotten_of(plant, &device, stream)?);
        }
    }
    Ok(all)
}

/// Notes the numbers of a log's windows, if the answer counts windows of its stream.
fn note_numbers(numbers: &mut Numbers, evidence: &Evidence, device: &str, stream: &str, log: &StreamLog) {
    if evidence.windows.get(device).is_some_and(|streams| streams.contains_key(stream)) {
        numbers.insert((device.to_owned(), stream.to_owned()), log.numbers());
    }
}

/// Returns the windows of a log that jobs name and that can be read: their leaves and their ids in the cloud, in hexadecimal.
fn readable(log: &StreamLog) -> impl Iterator<Item = (String, String)> {
    let named = log.pieces().filter_map(|(first, _)| first.named());
    named.map(|(leaf, id)| (hex::encode(leaf), hex::encode(id)))
}

/// Returns the reason why a window is in no log.
fn gone(leaf: &str, forgotten: &HashSet<String>) -> OwnerError {
    if leaf.len() != 64 {
        return OwnerError::Unanswerable("an earlier version kept the answer: ask again".to_owned());
    }
    let short = leaf.get(..16).unwrap_or(leaf);
    if !forgotten.contains(leaf) {
        return OwnerError::Gone { window: short.to_owned() };
    }
    OwnerError::Unanswerable(format!(
        "window {short}… was deleted by your order since: its part of the answer cannot be repeated any more"
    ))
}
