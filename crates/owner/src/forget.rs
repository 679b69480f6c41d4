//! Deletion of windows in the cloud, of answers in the plant's folder, and of devices.

use serde::Serialize;

use crate::error::OwnerError;
use crate::files::remove_if_there;
use crate::plant::Plant;

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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
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
}

impl Plant {
    /// Deletes a device's windows that end before `before` (milliseconds since 1970; None: now) from the cloud,
    /// together with results computed from them, and the answers in the plant's folder about that time. The cloud
    /// refuses these windows if they are sent again.
    ///
    /// # Errors
    /// [`OwnerError`] if there is no such device, the cloud is unreachable or refuses, or an answer cannot be deleted.
    pub fn forget(&self, device: &str, before: Option<i64>) -> Result<Forgotten, OwnerError> {
        if self.device(device)?.is_none() {
            return Err(OwnerError::NotDeclared { kind: "enrolled device", name: device.to_owned() });
        }
        let before = before.unwrap_or_else(|| jiff::Timestamp::now().as_millisecond());
        let client = self.cloud()?;
        // Noted first: if the cloud's reply is lost, the windows count as deleted here in either case.
        self.note_deleted(&client, device, before)?;
        let cloud = client.forget(device, before)?;
        let answers = self.forget_answers(device, before)?;
        let sotto_cloud_client::Forgotten { envelopes, bytes, jobs, outputs, .. } = cloud;
        Ok(Forgotten { windows: envelopes, bytes, jobs, outputs, answers })
    }

    /// Revokes a device in the cloud and removes it from `sotto.toml`. Keeps its record and secret, which can decrypt
    /// its stored windows.
    ///
    /// With `destroy_secret` only a copy of the secret can decrypt them, such as the one in the device's bundle.
    ///
    /// # Errors
    /// [`OwnerError`] if it is not declared, the cloud is unreachable or refuses, or a file cannot be removed.
    pub fn remove_device(&mut self, name: &str, destroy_secret: bool) -> Result<(), OwnerError> {
        if !self.settings().devices.contains_key(name) {
            return Err(OwnerError::NotDeclared { kind: "device", name: name.to_owned() });
        }
        // Its signatures must stay verifiable after its record is deleted.
        if let Some(record) = self.device(name)? {
            self.keep_verifying_key(&record)?;
        }
        // Revoked first: a device that is removed from the file is certainly revoked.
        self.cloud()?.revoke_device(name)?;
        let mut files = vec![self.enrolment_path(name)];
        if destroy_secret {
            files.extend(self.device_files(name));
        }
        files.iter().try_for_each(|file| remove_if_there(file))?;
        self.edit(|document| crate::edit::remove_device(document, name))
    }
}
