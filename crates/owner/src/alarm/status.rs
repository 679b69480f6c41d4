//! The states of alarms, for people.

use serde::Serialize;

use super::event::Event;
use super::files::{journal_end, stored_alarm};
use super::judge::alarm_devices;
use super::words::what;
use crate::declared::{self, Plant};
use crate::error::OwnerError;

/// The state of an alarm, for people.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let here = sotto_owner::NewPlant { cloud: None, listen: "127.0.0.1:7410".parse()?, time_zone: None };
/// # let mut plant = sotto_owner::Plant::init(&folder.path().join("dairy"), &here)?;
/// # let (unit, range, every) = ("°C", "-20..120".parse()?, "5m".parse()?);
/// # let boiler = sotto_owner::settings::ChannelSettings::new(unit, range, 0.1, every);
/// # plant.edit(|settings| sotto_owner::edit::add_channel(settings, "boiler", &boiler))?;
/// # let hot = sotto_owner::alarm::AlarmSettings::new("boiler > 80");
/// # plant.edit(|settings| sotto_owner::edit::add_alarm(settings, "hot", &hot))?;
/// use sotto_owner::alarm::{AlarmStatus, DeviceAlarm};
///
/// let status: AlarmStatus = plant.alarm_status("hot")?; // `plant` has an alarm hot, and no device yet
/// let devices: &[DeviceAlarm] = &status.devices;
/// assert!(devices.is_empty() && status.events.is_empty());
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Debug, Serialize)]
pub struct AlarmStatus {
    /// The alarm's name.
    pub alarm: String,
    /// The condition.
    pub when: String,
    /// The alarm's devices.
    pub devices: Vec<DeviceAlarm>,
    /// The last events, oldest first.
    pub events: Vec<Event>,
}

/// The state of an alarm about one device, for people.
///
/// Example: [`AlarmStatus`]
#[derive(Clone, Debug, Serialize)]
pub struct DeviceAlarm {
    /// The device's name.
    pub device: String,
    /// Start of the window that raised the alarm, as RFC 3339; None while it is quiet.
    pub raised_since: Option<String>,
    /// Number of consecutive windows that count towards the next change.
    pub run: u32,
    /// Number of windows needed for it.
    pub needed: u32,
    /// End of the last window that was evaluated.
    pub last: Option<String>,
    /// The last value in words.
    pub value: Option<String>,
    /// The reason why windows could not be evaluated in the last round.
    pub failing: Option<String>,
    /// Number of late windows that were put aside, as nothing is kept of their time.
    pub put_aside: u64,
}

/// Returns the state of an alarm about each of its devices, and its last 10 events.
pub(crate) fn alarm_status(plant: &Plant, name: &str) -> Result<AlarmStatus, OwnerError> {
    let declared = declared::alarm(plant, name)?;
    let (clock, rule) = (plant.settings().clock()?, declared.rule());
    let mut devices = Vec::new();
    let stored = stored_alarm(plant, name, &declared)?;
    for device in alarm_devices(plant, &declared)? {
        let state = stored.devices.get(&device).cloned().unwrap_or_default();
        let raised = state.machine.raised_since(rule);
        let last = state.machine.last();
        devices.push(DeviceAlarm {
            raised_since: raised.map(|at| clock.rfc3339(at)),
            run: state.machine.run(rule),
            needed: if raised.is_some() { rule.clear_after } else { rule.windows },
            last: last.map(|seen| clock.rfc3339(seen.to)),
            value: last.map(|seen| what(&declared, plant, seen, declared.alarm.limit)),
            failing: state.failing,
            put_aside: state.forgotten.count(),
            device,
        });
    }
    let mut events = journal_end(plant)?;
    events.retain(|event| event.alarm == name);
    let old = events.len().saturating_sub(10);
    Ok(AlarmStatus {
        alarm: name.to_owned(),
        when: declared.alarm.to_string(),
        devices,
        events: events.split_off(old),
    })
}
