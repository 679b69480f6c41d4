//! Deletion: windows in the cloud, answers here, and devices.

use serde::Serialize;

use crate::error::{OwnerError, io};
use crate::plant::Plant;

/// Counts of what was deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Forgotten {
    /// Windows in the cloud.
    pub windows: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Jobs of the cloud that had computed on them.
    pub jobs: u64,
    /// Outputs of these jobs.
    pub outputs: u64,
    /// Answers in the plant's folder.
    pub answers: usize,
}

impl Plant {
    /// Deletes the windows of a device that end before a time (milliseconds since 1970; None: now) from the cloud with what was computed on them,
    /// and the answers in the plant's folder that are about that time. The cloud does not take such windows again.
    ///
    /// # Errors
    /// There is no such device, the cloud is away or refuses, or an answer cannot be deleted.
    pub fn forget(&self, device: &str, before: Option<i64>) -> Result<Forgotten, OwnerError> {
        if self.device(device)?.is_none() {
            return Err(OwnerError::NotDeclared { kind: "enrolled device", name: device.to_owned() });
        }
        let before = before.unwrap_or_else(|| jiff::Timestamp::now().as_millisecond());
        let client = self.cloud()?;
        // First: if the answer is lost, the windows are left out here whether the cloud has deleted them or not.
        self.note_deleted(&client, device, before)?;
        let cloud = client.forget(device, before)?;
        let answers = self.forget_answers(device, before)?;
        let sotto_cloud_client::Forgotten { envelopes, bytes, jobs, outputs, .. } = cloud;
        Ok(Forgotten { windows: envelopes, bytes, jobs, outputs, answers })
    }

    /// Revokes a device in the cloud and takes it out of `sotto.toml`. Its record and its secret stay, and with them its stored windows
    /// can be decrypted; with `destroy_secret` nobody can any more who has no copy of the secret, as the device has in its bundle.
    ///
    /// # Errors
    /// It is not declared, the cloud is away or refuses, or a file cannot be removed.
    pub fn remove_device(&mut self, name: &str, destroy_secret: bool) -> Result<(), OwnerError> {
        if !self.settings().devices.contains_key(name) {
            return Err(OwnerError::NotDeclared { kind: "device", name: name.to_owned() });
        }
        // What it signed stays good when its record is gone.
        if let Some(record) = self.device(name)? {
            self.keep_verifying_key(&record)?;
        }
        // First: a device that is taken out of the file is revoked for sure.
        self.cloud()?.revoke_device(name)?;
        let mut files = vec![self.enrolment_path(name)];
        if destroy_secret {
            files.extend(self.device_files(name));
        }
        for file in files {
            match std::fs::remove_file(&file) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(io(&file)(error)),
                _ => {}
            }
        }
        self.edit(|document| crate::edit::remove_device(document, name))
    }
}
