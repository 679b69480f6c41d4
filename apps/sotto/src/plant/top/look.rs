//! One look at a plant: its devices by the cloud, its alarms by their files.

use sotto_owner::alarm::AlarmStatus;
use sotto_owner::{DeviceStatus, OwnerError, Plant};

use super::text::clean;

/// The plant at one time.
pub(super) struct Look {
    /// The time, in milliseconds since 1970.
    pub(super) at: i64,
    /// The name of the plant's folder.
    pub(super) plant: String,
    /// The cloud's address.
    pub(super) cloud: String,
    /// The devices that `sotto.toml` declares.
    pub(super) devices: Result<Vec<DeviceStatus>, Failure>,
    /// The alarms, each with its state or the reason why it cannot be told.
    pub(super) alarms: Vec<(String, Result<AlarmStatus, Failure>)>,
}

/// An error, as text.
pub(super) struct Failure {
    pub(super) text: String,
    pub(super) exit_code: u8,
}

impl From<OwnerError> for Failure {
    fn from(error: OwnerError) -> Self {
        Self { text: clean(&error.to_string()), exit_code: error.exit_code() }
    }
}

/// Returns the time in milliseconds since 1970.
pub(super) fn now() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}

impl Look {
    /// Looks at a plant now. Asks the cloud for the logs of all devices.
    pub(super) fn at(plant: &Plant) -> Self {
        let devices = plant.status().map_err(Failure::from);
        let alarm = |name: &String| (name.clone(), plant.alarm_status(name).map_err(Failure::from));
        Self {
            at: now(),
            plant: plant.folder().file_name().unwrap_or_default().to_string_lossy().into_owned(),
            cloud: plant.settings().cloud.url.clone(),
            devices,
            alarms: plant.settings().alarms.keys().map(alarm).collect(),
        }
    }

    /// Returns the exit code that `sotto status` has for it.
    pub(super) fn exit_code(&self) -> u8 {
        match &self.devices {
            Err(failure) => failure.exit_code,
            Ok(devices) => {
                let mut troubles = devices.iter().flat_map(|device| &device.troubles);
                troubles.next().map_or(0, |trouble| trouble.exit_code)
            }
        }
    }
}
