//! Deletion of windows in the cloud, of answers in the plant's folder, and of devices.

use serde::Serialize;
use sotto_wire::{Forget, Ordered};

use super::kept;
use crate::declared::{Plant, edit};
use crate::error::OwnerError;
use crate::files::remove_if_there;
use crate::orders::{self, Signed};
use crate::{backup, cache, devices, windows};

/// Most times that a device's logs are read for windows to delete.
const ROUNDS: usize = 3;

/// Counts of deleted objects.
///
/// ```no_run
/// use sotto_owner::{Forgotten, Plant};
///
/// let plant = Plant::open("dairy".as_ref())?;
/// let all: Forgotten = plant.forget("boiler", None)?;
/// println!("{} windows of {} bytes, {} answers", all.windows, all.bytes, all.answers);
/// # Ok::<(), sotto_owner::OwnerError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Forgotten {
    /// Deleted windows in the cloud.
    pub windows: u64,
    /// Bytes of these windows.
    pub bytes: u64,
    /// Deleted jobs in the cloud that used them.
    pub jobs: u64,
    /// Deleted outputs of these jobs.
    pub outputs: u64,
    /// Deleted answers in the plant's folder.
    pub answers: usize,
    /// Places of the cloud's backups, which have the windows until they are too old there.
    pub backups: Vec<String>,
}

/// Deletes a device's windows that end before `before` (milliseconds since 1970; None: now) from the cloud,
/// together with results computed from them, and the answers in the plant's folder about that time, with the device's sums in
/// the cache. The cloud refuses these windows if they are sent again.
pub(crate) fn forget(plant: &Plant, device: &str, before: Option<i64>) -> Result<Forgotten, OwnerError> {
    let (client, wire) = (plant.cloud()?, plant.wire_device(device));
    let record = devices::record(plant, device)?;
    if record.is_none() {
        // The cloud may have windows of a device whose record was destroyed.
        let known = client.devices().collect::<Result<Vec<_>, _>>()?;
        if !known.iter().any(|known| known.name == wire) {
            return Err(OwnerError::NotDeclared { kind: "enrolled device", name: device.to_owned() });
        }
    }
    let before = before.unwrap_or_else(|| jiff::Timestamp::now().as_millisecond());
    cache::forget(plant, wire)?;
    // Those of before that the cloud lacks go first.
    let given = orders::learn(plant, &client)?.ours;
    let mut all = Forgotten::default();
    let mut send = |order: &Signed| {
        let sotto_cloud_client::Forgotten { envelopes, bytes, jobs, outputs, backups } =
            order.send(&client)?;
        (all.windows, all.bytes) = (all.windows + envelopes, all.bytes + bytes);
        (all.jobs, all.outputs, all.backups) = (all.jobs + jobs, all.outputs + outputs, backups);
        Ok::<_, OwnerError>(())
    };
    if record.is_none() {
        // Without a record no log can be read.
        let what = Forget { stream: None, until: before, next: 0, from_log: None };
        send(&orders::sign(plant, wire, Ordered::Forget(what))?)?;
    }
    // A window may come between the reading of a log and the order: from the order on, the cloud refuses others.
    for round in 0..ROUNDS {
        let logs = windows::logs_to_forget(plant, &client, wire)?;
        if round > 0 && !logs.has_more(before) {
            break;
        }
        let sign = |what| orders::sign(plant, wire, Ordered::Forget(what));
        let signed =
            logs.orders(wire, before, &given).into_iter().map(sign).collect::<Result<Vec<_>, _>>()?;
        // Noted first: if the cloud's reply is lost, the windows count as deleted here in either case.
        windows::note_deleted(plant, &client, wire, before, &logs)?;
        for order in &signed {
            send(order)?;
        }
    }
    let answers = kept::forget_answers(plant, device, before)?;
    Ok(Forgotten { answers, ..all })
}

/// Revokes a device in the cloud and removes it from `sotto.toml`. Keeps its record and secret, which can decrypt
/// its stored windows: they stay in answers.
pub(crate) fn remove_device(plant: &mut Plant, name: &str, destroy_secret: bool) -> Result<(), OwnerError> {
    if !plant.settings().devices.contains_key(name) {
        return Err(OwnerError::NotDeclared { kind: "device", name: name.to_owned() });
    }
    // Its signatures must stay verifiable after its record is deleted.
    if let Some(record) = devices::record(plant, name)? {
        devices::keep_verifying_key(plant, &record)?;
        devices::keep_key_names(plant, &record)?;
    }
    // Revoked first: a device that is removed from the file is certainly revoked.
    devices::revoke(plant, &plant.cloud()?, name)?;
    let mut files = vec![devices::enrolment_path(plant, name)];
    if destroy_secret {
        files.extend(devices::device_files(plant, name));
        cache::forget(plant, plant.wire_device(name))?;
    }
    files.iter().try_for_each(|file| remove_if_there(file))?;
    backup::note_destroyed(plant, &files)?;
    devices::note_removal(plant, name)?;
    plant.edit(|document| edit::remove_device(document, name))
}
