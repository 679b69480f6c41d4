//! The states of alarms, for people.

use serde::Serialize;

use super::event::Event;
use super::files::DeviceState;
use super::files::{journal_end, stored_alarm};
use super::judge::alarm_devices;
use super::mutes::Mutes;
use super::words::what;
use crate::declared::{self, Declared, Plant, Watched};
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
    /// Start of the window or the silence that raised the alarm, as RFC 3339; None while it is quiet.
    pub raised_since: Option<String>,
    /// Number of consecutive windows that count towards the next change.
    pub run: u32,
    /// Number of windows needed for it.
    pub needed: u32,
    /// Start of the first of these windows, if the time that they cover decides.
    pub run_since: Option<String>,
    /// End of the last window that was evaluated; of a silence, the last reading.
    pub last: Option<String>,
    /// The last value in words.
    pub value: Option<String>,
    /// The reason why windows could not be evaluated in the last round.
    pub failing: Option<String>,
    /// Number of late windows that were put aside, as nothing is kept of their time.
    pub put_aside: u64,
    /// The end of a mute that a command gave.
    pub muted_until: Option<String>,
    /// True if the times of sotto.toml mute it now.
    pub muted_now: bool,
    /// True if somebody acknowledged it: it is not told again.
    pub acknowledged: bool,
}

/// Returns the state of an alarm about each of its devices, and its last 10 events.
pub(crate) fn alarm_status(plant: &Plant, name: &str) -> Result<AlarmStatus, OwnerError> {
    let declared = declared::alarm(plant, name)?;
    let mut devices = Vec::new();
    let (stored, mutes) = (stored_alarm(plant, name, &declared)?, Mutes::of(plant, name, &declared)?);
    for device in alarm_devices(plant, &declared)? {
        let state = stored.devices.get(&device).cloned().unwrap_or_default();
        devices.push(about(plant, &declared, device, &state, &mutes)?);
    }
    let mut events = journal_end(plant)?;
    events.retain(|event| event.alarm == name);
    let old = events.len().saturating_sub(10);
    let events = events.split_off(old);
    Ok(AlarmStatus { alarm: name.to_owned(), when: declared.to_string(), devices, events })
}

fn about(
    plant: &Plant,
    declared: &Declared,
    device: String,
    state: &DeviceState,
    mutes: &Mutes,
) -> Result<DeviceAlarm, OwnerError> {
    let (clock, now) = (plant.settings().clock()?, jiff::Timestamp::now().as_millisecond());
    let raised = state.raised(declared);
    let time = |at: i64| clock.rfc3339(at);
    let quiet = DeviceAlarm {
        raised_since: raised.map(time),
        run: 0,
        needed: 1,
        run_since: None,
        last: state.silences.newest.map(time),
        value: None,
        failing: state.failing.clone(),
        put_aside: state.forgotten.count(),
        muted_until: mutes.until(&device, now).map(time),
        muted_now: declared.settings.schedule().is_some_and(|schedule| schedule.covers(&clock, now)),
        acknowledged: raised.is_some_and(|since| mutes.is_acknowledged(&device, since)),
        device,
    };
    let Watched::Limit(of) = &declared.watched else { return Ok(quiet) };
    let (rule, last) = (of.rule(), state.machine.last());
    Ok(DeviceAlarm {
        run: state.machine.run(rule),
        needed: if raised.is_some() { rule.clear_after } else { rule.windows },
        run_since: state.machine.run_since(rule).filter(|_| raised.is_none()).map(time),
        last: last.map(|seen| time(seen.to)),
        value: last.map(|seen| what(of, plant, seen, of.alarm.limit)),
        ..quiet
    })
}
