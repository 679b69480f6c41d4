//! Records of another copy of the plant's folder, taken over from the cloud.

use serde::Serialize;
use sotto_cloud_client::Cloud;
use sotto_ring::secure_rng;

use super::records::{self, DeviceRecord, Merged};
use super::sealed::Copy;
use super::{register, secrets, verifying, writer};
use crate::declared::Plant;
use crate::error::OwnerError;

/// A record that was taken over from the cloud.
///
/// ```no_run
/// use sotto_owner::{Plant, Taken};
///
/// let desk: Taken = Plant::open("dairy".as_ref())?.take("desk")?;
/// println!("{} bundles, {} of them only here", desk.bundles, desk.registered.len());
/// # Ok::<(), sotto_owner::OwnerError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Taken {
    /// The device's name.
    pub device: String,
    /// Number of bundles that the record knows now.
    pub bundles: usize,
    /// Numbers of this folder's bundles, from 1, that the cloud did not know. They are registered with the others.
    pub registered: Vec<usize>,
    /// Numbers of this folder's bundles, from 1, whose streams have the names of others: they are of no use.
    pub left_out: Vec<usize>,
    /// True if the device is revoked in the cloud.
    pub revoked: bool,
}

/// Takes over the record that the cloud has of a device, and keeps the bundles that only this folder knows.
pub(crate) fn take(plant: &Plant, name: &str) -> Result<Taken, OwnerError> {
    secrets::has_secrets(plant, name)?;
    let secret = secrets::secret(plant, name)?;
    let cloud = plant.cloud()?;
    let nothing = || OwnerError::NothingToTake { device: name.to_owned() };
    let wire = plant.wire_device(name);
    let stored = cloud.sealed_record(wire)?.ok_or_else(nothing)?;
    let copy = Copy::open(&secret, wire, &stored.sealed).ok_or_else(|| OwnerError::OtherDevice {
        device: wire.to_owned(),
        write: "its record does not open".to_owned(),
    })?;
    let lock = plant.lock_folder()?;
    // A damaged record is as good as none.
    let here = records::record(plant, name).ok().flatten();
    let removed = here.as_ref().and_then(|record| record.removed.clone());
    let here = here.map(|record| record.bundles).unwrap_or_default();
    let mut record = DeviceRecord { removed, ..copy.record };
    let Merged { added: registered, left_out } = record.merge(&here);
    record.generation = stored.generation;
    record.unregistered = !registered.is_empty();
    if !left_out.is_empty() {
        records::put_aside(plant, name)?;
    }
    let mut rng = secure_rng().map_err(|_| OwnerError::Randomness)?;
    register::write(plant, &record, &register::enrolment(&record, &secret, &mut rng)?)?;
    drop(lock);
    verifying::keep_verifying_key(plant, &record)?;
    if record.unregistered && !stored.revoked {
        writer::register(plant, &cloud, name)?;
    }
    let (device, bundles) = (name.to_owned(), record.bundles.len());
    Ok(Taken { device, bundles, registered, left_out, revoked: stored.revoked })
}

/// Returns true if the cloud's copy of a device's record has bundles that this record lacks, or does not open.
pub(crate) fn is_older_than_cloud(
    plant: &Plant,
    cloud: &Cloud,
    record: &DeviceRecord,
) -> Result<bool, OwnerError> {
    let Some(secret) = secrets::held_secret(plant, &record.device)? else { return Ok(false) };
    let Some(stored) = cloud.sealed_record(&record.device)? else { return Ok(false) };
    let copy = Copy::open(&secret, &record.device, &stored.sealed);
    Ok(copy.is_none_or(|copy| !record.includes(&copy.record)))
}
