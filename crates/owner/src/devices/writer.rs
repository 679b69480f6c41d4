//! Writes of registrations in the cloud. Each is conditional on the registration that the folder knows, so that two copies
//! of the folder cannot undo each other's writes.

use sotto_api::devices::{RegisteredKey, Registration};
use sotto_api::reason;
use sotto_cloud_client::{Cloud, CloudError, Condition, StoredRecord};
use sotto_keys::{DeviceSecret, KeyFile};
use sotto_wire::Ordered;

use super::records::{self, DeviceRecord, record_path};
use super::register::{self, EnrolledKey, Enrolment};
use super::sealed::Copy;
use super::secrets;
use crate::declared::Plant;
use crate::error::OwnerError;
use crate::orders;

/// The generation of a registration that was written once: by a cloud that read it in `enrolments`.
const FIRST: u64 = 1;

/// Largest number of secrets put aside that are tried.
const MOST_OLD: usize = 64;

/// Writes the registration of one device.
pub(super) struct Writer<'w> {
    plant: &'w Plant,
    cloud: &'w Cloud,
    record: &'w DeviceRecord,
}

impl<'w> Writer<'w> {
    /// Prepares writes for a device with this record.
    pub(super) fn of(plant: &'w Plant, cloud: &'w Cloud, record: &'w DeviceRecord) -> Self {
        Self { plant, cloud, record }
    }

    /// Registers the device if the cloud has the registration that the folder knows. Returns its generation; None if the
    /// cloud has a part of it, as after a backup was put back: then other copies of the folder may know more.
    ///
    /// # Errors
    /// Those of [`Self::put`].
    pub(super) fn put_expected(&self, enrolment: &Enrolment) -> Result<Option<u64>, OwnerError> {
        self.put_if(enrolment, |generation| generation == FIRST)
    }

    /// Registers the device. Returns the registration's generation.
    ///
    /// If the cloud has another registration than the folder knows, it is replaced only if the folder has all of it: the
    /// cloud may have read the file in `enrolments`, come back from a backup, or answered when nobody listened.
    ///
    /// # Errors
    /// [`OwnerError::OtherCopy`] or [`OwnerError::OtherDevice`] if it has more; [`OwnerError::Cloud`] for other refusals.
    pub(super) fn put(&self, enrolment: &Enrolment) -> Result<u64, OwnerError> {
        let registered = self.put_if(enrolment, |_| true)?;
        registered.ok_or_else(|| OwnerError::wrong("the registration has no generation"))
    }

    /// Registers the device. In place of a part of the registration only if `replaces` allows its generation.
    fn put_if(
        &self,
        enrolment: &Enrolment,
        replaces: impl Fn(u64) -> bool,
    ) -> Result<Option<u64>, OwnerError> {
        for parameters in &enrolment.parameters {
            self.cloud.put_parameters(&hex::decode(parameters).unwrap_or_default())?;
        }
        let key = |key: &EnrolledKey| RegisteredKey {
            parameter_id: key.parameter_id.clone(),
            key_id: key.key_id.clone(),
        };
        let registration = Registration {
            verifying_key: enrolment.verifying_key.clone(),
            keys: enrolment.keys.iter().map(key).collect(),
            streams: enrolment.streams.clone(),
            record: enrolment.record.clone(),
        };
        let put = |condition| self.cloud.put_device(&self.record.device, &registration, condition);
        match put(self.condition()) {
            Err(error) if is_refused_as_written(&error) => match self.known_as(&error)? {
                // Nothing would change.
                Known::Same(generation) => Ok(Some(generation)),
                Known::New if replaces(0) => Ok(Some(put(Condition::New)?)),
                Known::Part(generation) if replaces(generation) => {
                    let put = put(Condition::Generation(generation)).map_err(|error| {
                        // A third writer.
                        if is_refused_as_written(&error) { self.other_copy(&error) } else { error.into() }
                    });
                    put.map(Some)
                }
                Known::New | Known::Part(_) => Ok(None),
            },
            put => Ok(Some(put?)),
        }
    }

    /// Revokes the device. Returns the registration's generation; None if the cloud does not know the device.
    ///
    /// # Errors
    /// Those of [`Self::put`].
    pub(super) fn revoke(&self) -> Result<Option<u64>, OwnerError> {
        let revoke = |condition| self.cloud.revoke_device(&self.record.device, condition);
        let [_, secret, _] = secrets::device_files(self.plant, &self.record.device);
        if !secret.exists() || self.record.generation == 0 {
            return Ok(revoke(Condition::Existing)?);
        }
        match revoke(self.condition()) {
            Err(error) if is_refused_as_written(&error) => match self.known_as(&error)? {
                Known::New => Ok(None),
                Known::Same(generation) | Known::Part(generation) => {
                    Ok(revoke(Condition::Generation(generation))?)
                }
            },
            revoked => Ok(revoked?),
        }
    }

    fn condition(&self) -> Condition {
        match self.record.generation {
            0 => Condition::New,
            generation => Condition::Generation(generation),
        }
    }

    /// Compares the cloud's registration, which refused a write, with the record.
    fn known_as(&self, refusal: &CloudError) -> Result<Known, OwnerError> {
        let device = self.record.device.as_str();
        let found =
            self.cloud.devices().find(|known| known.as_ref().map_or(true, |known| known.name == device));
        let Some(known) = found.transpose()? else { return Ok(Known::New) };
        let Some(stored) = self.cloud.sealed_record(device)? else {
            // Registered without a record: by its key.
            let is_own = known.verifying_key == self.record.verifying_key;
            return if is_own { Ok(Known::Part(known.generation)) } else { Err(self.other_device(refusal)) };
        };
        let generation = stored.generation;
        // Read only now: most writes need no secret, and so no passphrase.
        let secret = secrets::held_secret(self.plant, device)?;
        let opened = secret.and_then(|secret| Copy::open(&secret, device, &stored.sealed));
        match opened {
            // Revoked by another copy.
            Some(_) if stored.revoked && self.record.generation != 0 => Err(self.other_copy(refusal)),
            Some(copy) if !self.record.includes(&copy.record) => Err(self.other_copy(refusal)),
            Some(copy) if !stored.revoked && copy.record.includes(self.record) => Ok(Known::Same(generation)),
            Some(_) => Ok(Known::Part(generation)),
            // The name of a removed device is free.
            None if stored.revoked || self.was_put_aside(&stored) => Ok(Known::Part(generation)),
            None => Err(self.other_device(refusal)),
        }
    }

    /// Returns true if the record is of a secret that this folder has put aside.
    fn was_put_aside(&self, stored: &StoredRecord) -> bool {
        let prefix = format!("{}.key.", self.record.device);
        let entries = std::fs::read_dir(self.plant.secret_path("old")).into_iter().flatten().flatten();
        let of_device =
            entries.filter(|entry| entry.file_name().to_str().is_some_and(|name| name.starts_with(&prefix)));
        let mut secrets = of_device
            .take(MOST_OLD)
            .filter_map(|entry| self.plant.secrets().read_key(KeyFile::Device, &entry.path()).ok())
            .map(|bytes| DeviceSecret::from_bytes(&bytes));
        secrets.any(|secret| Copy::open(&secret, &self.record.device, &stored.sealed).is_some())
    }

    fn other_copy(&self, refusal: &CloudError) -> OwnerError {
        OwnerError::OtherCopy {
            device: self.plant.shown_device(&self.record.device).to_owned(),
            write: detail(refusal),
            unregistered: self.record.unregistered.then_some(self.record.bundles.len()),
        }
    }

    fn other_device(&self, refusal: &CloudError) -> OwnerError {
        OwnerError::OtherDevice { device: self.record.device.clone(), write: detail(refusal) }
    }
}

/// The cloud's registration, compared with the folder's record.
enum Known {
    /// There is none.
    New,
    /// It has the same bundles.
    Same(u64),
    /// It has a part of them.
    Part(u64),
}

fn is_refused_as_written(error: &CloudError) -> bool {
    error.refusal() == Some(reason::WRITTEN_SINCE)
}

/// Returns the time and the address of the write that was refused for.
fn detail(error: &CloudError) -> String {
    match error {
        CloudError::Refused { detail, .. } => detail.clone(),
        other => other.to_string(),
    }
}

/// Registers a device with the cloud: its parameters, its verifying key, the ids of its keys, its streams. Writes the
/// registration's generation into the record.
pub(crate) fn register(plant: &Plant, cloud: &Cloud, name: &str) -> Result<(), OwnerError> {
    let enrolment = register::registration(plant, name)?;
    let not_enrolled = || OwnerError::NotDeclared { kind: "enrolled device", name: name.to_owned() };
    let record = records::record(plant, name)?.ok_or_else(not_enrolled)?;
    let generation = Writer::of(plant, cloud, &record).put(&enrolment)?;
    let registered = DeviceRecord { generation, unregistered: false, ..record.clone() };
    register::replace(plant, &record, &registered, &Enrolment { generation, ..enrolment })
}

/// Revokes a device in the cloud, and writes the registration's generation into the record.
pub(crate) fn revoke(plant: &Plant, cloud: &Cloud, name: &str) -> Result<(), OwnerError> {
    let Some(record) = records::record(plant, name)? else {
        cloud.revoke_device(plant.wire_device(name), Condition::Existing)?;
        return Ok(());
    };
    let mut key = [0; 32];
    let read = hex::decode_to_slice(&record.verifying_key, &mut key);
    read.map_err(|error| OwnerError::DamagedRecord {
        device: name.to_owned(),
        path: record_path(plant, name),
        reason: error.to_string(),
    })?;
    // Signed first: without the owner's key nothing is done.
    let order = orders::sign(plant, &record.device, Ordered::Revoke { key })?;
    let Some(generation) = Writer::of(plant, cloud, &record).revoke()? else { return Ok(()) };
    records::change(plant, name, |record| record.generation = generation)?;
    order.send(cloud).map(drop)
}

/// Revokes a device that was registered and cannot be used.
pub(super) fn revoke_new(plant: &Plant, record: &DeviceRecord) -> Result<(), OwnerError> {
    let condition = Condition::Generation(record.generation);
    plant.cloud()?.revoke_device(&record.device, condition)?;
    Ok(())
}
