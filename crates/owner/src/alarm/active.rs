//! Alarms during a round.

use std::sync::{Mutex, PoisonError};

use sotto_cloud_client::CloudError;

use super::files::{self, Stored};
use super::judge::{self, Judged};
use super::lasting::Lasting;
use super::mutes::{self, Mutes};
use super::outbox::Outbox;
use super::silence::HeardTimes;
use crate::declared::{self, Declared, Plant, SETTINGS};
use crate::error::OwnerError;
use crate::windows::StoredWindow;

/// An alarm during a round.
pub(super) struct Active {
    pub(super) name: String,
    pub(super) declared: Declared,
    pub(super) devices: Vec<String>,
    /// The time from which the alarm looks, in milliseconds since 1970.
    pub(super) since: i64,
    pub(super) stored: Stored,
    pub(super) mutes: Mutes,
}

/// The facts of a round about an alarm and a device.
pub(super) struct Evaluated {
    /// The position of the alarm among those of the round.
    pub(super) alarm: usize,
    pub(super) device: String,
    /// The windows that were asked for. Empty if there are none, or if they could not be listed.
    pub(super) asked: Vec<StoredWindow>,
    pub(super) outcome: Result<Found, Failure>,
}

/// The facts that decide about an alarm.
pub(super) enum Found {
    /// The verdicts on new windows.
    Windows(Judged),
    /// The times of readings.
    Heard(HeardTimes),
}

/// The reason why an alarm about a device could not be evaluated.
pub(super) struct Failure {
    pub(super) reason: String,
    /// True if the next round asks for the same windows again. False if the values of an answer are the reason: they must
    /// not decide about a request.
    pub(super) again: bool,
    /// True if the cloud could not be reached: then the alarm fails after some rounds.
    pub(super) away: bool,
}

impl From<OwnerError> for Failure {
    fn from(error: OwnerError) -> Self {
        Self {
            reason: error.to_string(),
            again: !matches!(error, OwnerError::WrongAnswer(_)),
            away: matches!(error, OwnerError::Cloud(CloudError::Away { .. })),
        }
    }
}

impl Active {
    /// Reads an alarm and its state, and posts events that were left by a process that was stopped.
    pub(super) fn read(plant: &Plant, outbox: &Mutex<Outbox>, name: &str) -> Result<Self, OwnerError> {
        let declared = declared::alarm(plant, name)?;
        let mut stored = files::stored_alarm(plant, name, &declared)?;
        for state in stored.devices.values_mut().filter(|state| state.lasting.is_none()) {
            state.lasting = Some(Lasting::known(state.raised(&declared).is_some()));
        }
        let mutes = mutes::read_and_log(plant, name, &declared)?;
        let (name, devices) = (name.to_owned(), Vec::new());
        let mut active = Self { name, declared, devices, since: i64::MIN, stored, mutes };
        active.post(plant, outbox)?;
        active.devices = judge::alarm_devices(plant, &active.declared)?;
        active.since = judge::alarm_since(plant, &active.declared)?;
        Ok(active)
    }

    /// Reads an alarm and everything that it is evaluated with, and changes nothing.
    ///
    /// # Errors
    /// [`OwnerError::Alarm`] with the file at fault.
    pub(super) fn check(plant: &Plant, name: &str) -> Result<(), OwnerError> {
        let because = |remedy: String| {
            let name = name.to_owned();
            move |error: OwnerError| OwnerError::Alarm { name, reason: error.to_string(), remedy }
        };
        let settings = plant.path(SETTINGS);
        let in_settings = || because(format!("Mend `[alarms.{name}]` in {}", settings.display()));
        let declared = declared::alarm(plant, name).map_err(in_settings())?;
        judge::alarm_since(plant, &declared).map_err(in_settings())?;
        let unmuted = "Move this file away: mutes and acknowledgements that commands gave end with it";
        Mutes::of(plant, name, &declared).map_err(because(unmuted.to_owned()))?;
        let anew = "Move this file away, and the alarm begins anew";
        files::stored_alarm(plant, name, &declared).map_err(because(anew.to_owned()))?;
        let devices = "Take the file of its device from a backup (`sotto restore`)";
        judge::alarm_devices(plant, &declared).map_err(because(devices.to_owned()))?;
        Ok(())
    }

    /// Moves events into the journal and the outbox.
    pub(super) fn post(&mut self, plant: &Plant, outbox: &Mutex<Outbox>) -> Result<(), OwnerError> {
        if self.stored.unposted.is_empty() {
            return Ok(());
        }
        let now = jiff::Timestamp::now().as_millisecond();
        let sinks = self.declared.settings.sinks();
        for event in &self.stored.unposted {
            files::journal(plant, event)?;
            if event.muted {
                continue;
            }
            outbox.lock().unwrap_or_else(PoisonError::into_inner).add(event, &sinks, now)?;
        }
        self.stored.unposted.clear();
        self.store(plant)
    }

    /// Writes the state.
    pub(super) fn store(&self, plant: &Plant) -> Result<(), OwnerError> {
        files::store_alarm(plant, &self.name, &self.stored)
    }
}
