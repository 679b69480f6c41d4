//! The inputs of repeated work.

use std::collections::{BTreeMap, HashMap};

use sotto_cloud_client::Cloud;
use sotto_rlwe::{ParameterId, ParameterSpec};
use sotto_wire::Digest;

use super::folder::Folder;
use crate::declared::Plant;
use crate::devices::spec_of;
use crate::error::OwnerError;
use crate::lie::Lie;
use crate::work::Evidence;
use crate::{devices, windows, work};

/// Bytes of messages held in memory, so that a window used in several jobs is fetched once.
const MOST_HELD: usize = 64 << 20;

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
        /// Leaves of windows, by the ids of their envelopes.
        leaves: HashMap<String, Digest>,
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
        let (mut leaves, mut parameters) = (HashMap::new(), BTreeMap::new());
        let records = devices::all_records(plant)?;
        let streams =
            || records.values().flat_map(|record| record.streams().into_iter().map(move |s| (record, s)));
        for profile in records.values().flat_map(|record| &record.bundles).flat_map(|bundle| &bundle.streams)
        {
            parameters.extend(spec_of(profile)?.map(|spec| (spec.id(), spec)));
        }
        for (record, stream) in streams() {
            let log = windows::kept_log(plant, &record.device, stream)?;
            leaves.extend(log.entries.into_iter().map(|entry| (entry.id, entry.leaf)));
        }
        let mut inputs = evidence.work.iter().flat_map(|work| &work.inputs);
        if inputs.any(|id| !leaves.contains_key(id)) {
            for (record, stream) in streams() {
                let log = windows::sync_log(plant, cloud, record, stream)?;
                leaves.extend(log.entries.into_iter().map(|entry| (entry.id, entry.leaf)));
            }
        }
        let (held, held_bytes, fetched) = (HashMap::new(), 0, 0);
        let origin = Origin::Plant { plant, cloud, leaves, parameters, save };
        Ok(Self { origin, held, held_bytes, fetched })
    }

    /// Takes everything from a folder, with the verifying keys of devices that it names.
    pub(super) fn of_folder(folder: Folder, devices: BTreeMap<String, Vec<String>>) -> Self {
        let (held, held_bytes, fetched) = (HashMap::new(), 0, 0);
        Self { origin: Origin::Folder { folder, devices }, held, held_bytes, fetched }
    }

    /// Returns everything that a device signed for an envelope.
    pub(super) fn message(&mut self, id: &str) -> Result<Vec<u8>, OwnerError> {
        if let Some(message) = self.held.get(id) {
            return Ok(message.clone());
        }
        let message = match &self.origin {
            Origin::Plant { cloud, save, .. } => {
                let message = cloud.message(id)?;
                save.as_ref().map_or(Ok(()), |save| save.write("messages", id, &message))?;
                message
            }
            Origin::Folder { folder, .. } => {
                let missing = || Lie::ImpossibleWork { reason: format!("there is no message {id}") };
                folder.read("messages", id)?.ok_or_else(missing)?
            }
        };
        self.fetched += message.len() as u64;
        if self.held_bytes + message.len() <= MOST_HELD {
            self.held_bytes += message.len();
            self.held.insert(id.to_owned(), message.clone());
        }
        Ok(message)
    }

    pub(super) fn leaf(&self, id: &str) -> Result<Digest, OwnerError> {
        let missing = || {
            OwnerError::Unanswerable(format!(
                "window {id} was deleted since: its part of the answer cannot be repeated any more"
            ))
        };
        match &self.origin {
            Origin::Plant { leaves, .. } => leaves.get(id).copied().ok_or_else(missing),
            Origin::Folder { folder, devices } => folder.leaf(id, devices),
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
