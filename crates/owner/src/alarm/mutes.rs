//! Mutes and acknowledgements that commands give: `alarms/mutes/NAME.json`. `sotto watch` reads them in each round.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::event::{Event, EventKind};
use super::files::{self, FOLDER};
use super::judge;
use crate::declared::{self, Declared, Plant, edit};
use crate::error::OwnerError;
use crate::files::{
    lock_file, make_folder, pretty, random, read_json, remove_if_there, remove_left_over, write_private,
};

const MUTES: &str = "mutes";

/// An order about an alarm, as a command gives it.
///
/// Example: [`Plant::mute_alarm`]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Order {
    /// The device; None: all devices of the alarm.
    pub device: Option<String>,
    /// The reason, for the log.
    pub reason: Option<String>,
    /// The command, for the log.
    pub by: String,
}

/// The mutes and acknowledgements of an alarm.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Mutes {
    /// The definition of the alarm that they were given for. Empty: a file of an earlier version, which is of any one.
    #[serde(default)]
    definition: String,
    #[serde(default)]
    mutes: Vec<Mute>,
    /// The start of the window that raised an acknowledged alarm, by device.
    #[serde(default)]
    acknowledged: BTreeMap<String, i64>,
    /// Lines that are not in the journal yet.
    #[serde(default)]
    unlogged: Vec<Event>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Mute {
    /// The device; None: all devices.
    device: Option<String>,
    /// The end, in milliseconds since 1970.
    until: i64,
}

fn file(plant: &Plant, name: &str) -> PathBuf {
    plant.path(FOLDER).join(MUTES).join(format!("{name}.json"))
}

impl Mutes {
    /// Reads the mutes of an alarm. Those of another alarm that had its name are none of it; their lines stay for the log.
    pub(super) fn of(plant: &Plant, name: &str, declared: &Declared) -> Result<Self, OwnerError> {
        let path = file(plant, name);
        let definition = files::definition(declared);
        let known: Self = if path.exists() { read_json(&path)? } else { Self::default() };
        if known.definition.is_empty() || known.definition == definition {
            return Ok(Self { definition, ..known });
        }
        Ok(Self { definition, unlogged: known.unlogged, ..Self::default() })
    }

    /// Returns the time until which a command muted an alarm about a device, in milliseconds since 1970; None if it is not muted.
    pub(super) fn until(&self, device: &str, now: i64) -> Option<i64> {
        let of = |mute: &&Mute| mute.device.as_deref().is_none_or(|name| name == device) && now < mute.until;
        self.mutes.iter().filter(of).map(|mute| mute.until).max()
    }

    /// Returns true if somebody acknowledged the alarm that was raised by the window with this start.
    pub(super) fn is_acknowledged(&self, device: &str, raised: i64) -> bool {
        self.acknowledged.get(device) == Some(&raised)
    }
}

/// Locks the mutes of a plant while they are read, changed and written.
fn lock(plant: &Plant) -> Result<File, OwnerError> {
    make_folder(&plant.path(FOLDER), true)?;
    make_folder(&plant.path(FOLDER).join(MUTES), true)?;
    let folder = plant.path(FOLDER).join(MUTES);
    let lock = lock_file(&folder.join("lock"))?;
    remove_left_over(&folder)?;
    Ok(lock)
}

/// Writes mutes with a line for the log, and then the log: a command that is killed between them leaves the line to the next
/// round.
fn write(plant: &Plant, name: &str, mutes: &mut Mutes, lines: &[Event]) -> Result<(), OwnerError> {
    mutes.unlogged.extend(lines.iter().cloned());
    write_private(&file(plant, name), &pretty(mutes)?)?;
    log(plant, name, mutes)
}

fn log(plant: &Plant, name: &str, mutes: &mut Mutes) -> Result<(), OwnerError> {
    for line in &mutes.unlogged {
        files::journal(plant, line)?;
    }
    mutes.unlogged.clear();
    write_private(&file(plant, name), &pretty(mutes)?)
}

/// Returns the mutes of an alarm, after writing into the log what a command could not.
pub(super) fn read_and_log(plant: &Plant, name: &str, declared: &Declared) -> Result<Mutes, OwnerError> {
    let mutes = Mutes::of(plant, name, declared)?;
    if mutes.unlogged.is_empty() {
        return Ok(mutes);
    }
    let _lock = lock(plant)?;
    // A command may have logged them or removed the alarm since: then there is nothing to write.
    let mut mutes = Mutes::of(plant, name, declared)?;
    if !mutes.unlogged.is_empty() {
        log(plant, name, &mut mutes)?;
    }
    Ok(mutes)
}

/// Removes an alarm: its mutes and its state, then its part of `sotto.toml`. If it is stopped between them, the alarm begins anew.
pub(crate) fn remove_alarm(plant: &mut Plant, name: &str) -> Result<(), OwnerError> {
    let remove = |document: &mut _| edit::remove_alarm(document, name);
    // Refused before anything is lost.
    plant.edited(remove)?;
    let _lock = lock(plant)?;
    remove_if_there(&file(plant, name))?;
    files::remove_state(plant, name)?;
    plant.edit(remove)
}

/// Mutes an alarm until a time in milliseconds since 1970. Returns the line of the log.
pub(crate) fn mute(plant: &Plant, name: &str, until: i64, order: &Order) -> Result<Event, OwnerError> {
    let declared = declared::alarm(plant, name)?;
    check_device(plant, name, &declared, order)?;
    let now = jiff::Timestamp::now().as_millisecond();
    if until <= now {
        let clock = plant.settings().clock()?;
        let reason =
            format!("the mute would end at {}, which is over: give a later time", clock.rfc3339(until));
        return Err(OwnerError::Argument(reason));
    }
    let _lock = lock(plant)?;
    let mut mutes = Mutes::of(plant, name, &declared)?;
    mutes.mutes.retain(|mute| now < mute.until && mute.device != order.device);
    mutes.mutes.push(Mute { device: order.device.clone(), until });
    let line = Line { kind: EventKind::Muted, device: order.device.as_deref(), from: now, to: until };
    let line = line.of(plant, name, &declared, order)?;
    write(plant, name, &mut mutes, std::slice::from_ref(&line))?;
    Ok(line)
}

/// Ends the mutes that commands gave. Returns the line of the log.
pub(crate) fn unmute(plant: &Plant, name: &str, order: &Order) -> Result<Event, OwnerError> {
    let declared = declared::alarm(plant, name)?;
    let now = jiff::Timestamp::now().as_millisecond();
    let _lock = lock(plant)?;
    let mut mutes = Mutes::of(plant, name, &declared)?;
    mutes.mutes.retain(|mute| now < mute.until);
    // A mute about a device that the alarm is not about any more can be ended.
    if !mutes.mutes.iter().any(|mute| mute.device == order.device) {
        check_device(plant, name, &declared, order)?;
    }
    let before = mutes.mutes.len();
    mutes.mutes.retain(|mute| order.device.is_some() && mute.device != order.device);
    if mutes.mutes.len() == before {
        let about = order.device.as_ref().map_or_else(String::new, |device| format!(" about {device} alone"));
        let schedule = declared
            .settings
            .mute
            .as_ref()
            .map_or_else(String::new, |mute| format!("; its times in sotto.toml are mute = \"{mute}\""));
        return Err(OwnerError::NotNow(format!("no command has muted {name}{about}{schedule}")));
    }
    let line = Line { kind: EventKind::Unmuted, device: order.device.as_deref(), from: now, to: now };
    let line = line.of(plant, name, &declared, order)?;
    write(plant, name, &mut mutes, std::slice::from_ref(&line))?;
    Ok(line)
}

/// Acknowledges an alarm about each device about which it lasts. Returns the lines of the log.
pub(crate) fn acknowledge(plant: &Plant, name: &str, order: &Order) -> Result<Vec<Event>, OwnerError> {
    let declared = declared::alarm(plant, name)?;
    check_device(plant, name, &declared, order)?;
    let now = jiff::Timestamp::now().as_millisecond();
    let _lock = lock(plant)?;
    let mut mutes = Mutes::of(plant, name, &declared)?;
    let states = files::stored_alarm(plant, name, &declared)?.devices;
    let of = |device: &String| order.device.as_ref().is_none_or(|named| named == device);
    let raised: BTreeMap<String, i64> = states
        .iter()
        .filter(|(device, _)| of(device))
        .filter_map(|(device, state)| Some((device.clone(), state.raised(&declared)?)))
        .collect();
    if raised.is_empty() {
        let about = order.device.as_ref().map_or_else(String::new, |device| format!(" about {device}"));
        let reason = format!("{name} does not last{about}: there is nothing to acknowledge");
        return Err(OwnerError::NotNow(reason));
    }
    let line = |(device, since): (&String, &i64)| {
        let line = Line { kind: EventKind::Acknowledged, device: Some(device), from: *since, to: now };
        line.of(plant, name, &declared, order)
    };
    let lines = raised.iter().map(line).collect::<Result<Vec<Event>, OwnerError>>()?;
    let lasts = |device: &str| states.get(device).and_then(|state| state.raised(&declared));
    mutes.acknowledged.retain(|device, since| lasts(device) == Some(*since));
    mutes.acknowledged.extend(raised);
    write(plant, name, &mut mutes, &lines)?;
    Ok(lines)
}

/// Refuses a device that the alarm is not about.
fn check_device(plant: &Plant, name: &str, declared: &Declared, order: &Order) -> Result<(), OwnerError> {
    let Some(device) = &order.device else { return Ok(()) };
    let declares = |device: &String| plant.settings().devices.contains_key(device);
    if !declares(device) {
        return Err(OwnerError::NotDeclared { kind: "device", name: device.clone() });
    }
    let devices = plant.settings().devices.keys();
    let of: Vec<&str> =
        devices.filter(|device| judge::is_about(plant, declared, device)).map(String::as_str).collect();
    if of.contains(&device.as_str()) {
        return Ok(());
    }
    let are = if of.is_empty() { "no device".to_owned() } else { of.join(", ") };
    Err(OwnerError::Unanswerable(format!("{name} is not about {device}: it is about {are}")))
}

/// A line of the log about a command.
struct Line<'d> {
    kind: EventKind,
    device: Option<&'d str>,
    from: i64,
    to: i64,
}

impl Line<'_> {
    fn of(self, plant: &Plant, name: &str, declared: &Declared, order: &Order) -> Result<Event, OwnerError> {
        let clock = plant.settings().clock()?;
        let now = jiff::Timestamp::now().as_millisecond();
        let number = hex::encode(random::<4>()?);
        Ok(Event {
            version: 1,
            id: format!("{name}.{}.{now}.{number}", self.kind.word()),
            alarm: name.to_owned(),
            device: self.device.unwrap_or_default().to_owned(),
            event: self.kind,
            when: declared.to_string(),
            from: clock.rfc3339(self.from),
            to: clock.rfc3339(self.to),
            value: None,
            bound: None,
            unit: declared.unit().to_owned(),
            readings: 0,
            late: false,
            at: clock.rfc3339(now),
            what: order.by.clone(),
            reason: order.reason.clone(),
            muted: false,
            mends: None,
        })
    }
}

#[cfg(test)]
mod tests;
