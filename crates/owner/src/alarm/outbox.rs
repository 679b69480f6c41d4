//! Events that wait for their sinks. They survive a restart.

use std::collections::{BTreeSet, VecDeque};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::event::Event;
use super::files::FOLDER;
use crate::declared::{Plant, SinkKind};
use crate::error::OwnerError;
use crate::files::{make_folder, pretty, read_json, write_private};

/// Time after which an event is not delivered any more: 7 days, in milliseconds.
pub const GIVE_UP_AFTER_MS: i64 = 7 * 86_400_000;

/// First and longest time between two attempts, in milliseconds.
const FIRST_WAIT: i64 = 2_000;

const LONGEST_WAIT: i64 = 3_600_000;

/// Number of delivered events whose names are kept, so that none is delivered again.
const REMEMBERED: usize = 4096;

/// Largest number of waiting deliveries; older ones are dropped.
const MOST: usize = 10_000;

/// An event that waits for a sink.
///
/// Example: [`Outbox`]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Delivery {
    /// The message to deliver.
    pub event: Event,
    /// Where it goes.
    pub sink: SinkKind,
    /// Number of attempts that failed.
    pub attempts: u32,
    /// Time of the next attempt, in milliseconds since 1970.
    pub next_ms: i64,
    /// Time at which the event entered the outbox, in milliseconds since 1970.
    pub since_ms: i64,
    /// True if it waits for the end of a mute, and not after a failed attempt.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub muted: bool,
    /// The addresses of e-mail that have taken the event, or refused it for good: none gets it again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reached: Vec<String>,
}

impl Delivery {
    fn is(&self, id: &str, sink: SinkKind) -> bool {
        self.sink == sink && self.event.id == id
    }
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Contents {
    waiting: Vec<Delivery>,
    /// Names of delivered events with their sinks.
    delivered: VecDeque<String>,
}

/// Events that wait for their sinks, in `alarms/outbox.json`.
///
/// Each sink gets every event at least once, and events of one alarm in their order. After a failure the sink is tried
/// again, after twice the time, at most an hour; after [`GIVE_UP_AFTER_MS`] the event is dropped.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let here = sotto_owner::NewPlant { cloud: None, listen: "127.0.0.1:7410".parse()?, time_zone: None };
/// # let plant = sotto_owner::Plant::init(&folder.path().join("dairy"), &here)?;
/// # let event: sotto_owner::alarm::Event = serde_json::from_str(r#"{
/// #     "version": 1, "id": "hot.boiler.raised.0.5c", "alarm": "hot", "device": "boiler", "event": "raised",
/// #     "when": "", "from": "", "to": "", "value": null, "bound": null, "unit": "", "readings": 60, "late": false,
/// #     "at": "", "what": ""
/// # }"#)?;
/// use sotto_owner::alarm::{Delivery, Outbox, SinkKind};
///
/// let mut outbox = Outbox::open(&plant)?; // `event` is an event of the alarm hot
/// outbox.add(&event, &[SinkKind::Webhook], 1000)?;
/// let due: Vec<Delivery> = outbox.due(1000);
/// assert_eq!((due.len(), due[0].sink), (1, SinkKind::Webhook));
/// outbox.failed(&event.id, SinkKind::Webhook, 1000)?; // the server was away
/// assert!(outbox.due(1000).is_empty());
/// let mut outbox = Outbox::open(&plant)?; // a restart
/// assert_eq!(outbox.due(3000)[0].attempts, 1);
/// outbox.delivered(&event.id, SinkKind::Webhook)?;
/// outbox.add(&event, &[SinkKind::Webhook], 4000)?;
/// assert!(outbox.is_empty(), "it was delivered");
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Outbox {
    path: PathBuf,
    contents: Contents,
}

impl Outbox {
    /// Opens the plant's outbox.
    ///
    /// # Errors
    /// [`OwnerError`] if its file is damaged.
    pub fn open(plant: &Plant) -> Result<Self, OwnerError> {
        let folder = plant.path(FOLDER);
        make_folder(&folder, true)?;
        let path = folder.join("outbox.json");
        let contents = if path.exists() { read_json(&path)? } else { Contents::default() };
        Ok(Self { path, contents })
    }

    /// Adds an event for each sink that did not get it yet.
    ///
    /// # Errors
    /// [`OwnerError`] if the file cannot be written.
    pub fn add(&mut self, event: &Event, sinks: &[SinkKind], now_ms: i64) -> Result<(), OwnerError> {
        for sink in sinks {
            let known = self.contents.waiting.iter().any(|waiting| waiting.is(&event.id, *sink));
            if known || self.contents.delivered.contains(&name(&event.id, *sink)) {
                continue;
            }
            let event = event.clone();
            let delivery = Delivery {
                event,
                sink: *sink,
                attempts: 0,
                next_ms: now_ms,
                since_ms: now_ms,
                muted: false,
                reached: Vec::new(),
            };
            self.contents.waiting.push(delivery);
        }
        let over = self.contents.waiting.len().saturating_sub(MOST);
        self.contents.waiting.drain(..over);
        self.write()
    }

    /// Returns the deliveries to attempt now: those of an alarm to a sink in order, none if the first has to wait. One that
    /// waits for the end of a mute delays those about its device alone.
    #[must_use]
    pub fn due(&self, now_ms: i64) -> Vec<Delivery> {
        let mut held: BTreeSet<(&str, SinkKind, Option<&str>)> = BTreeSet::new();
        let mut due = Vec::new();
        for delivery in &self.contents.waiting {
            let (alarm, sink) = (delivery.event.alarm.as_str(), delivery.sink);
            let device = Some(delivery.event.device.as_str());
            if held.contains(&(alarm, sink, None)) || held.contains(&(alarm, sink, device)) {
                continue;
            }
            if delivery.next_ms > now_ms {
                held.insert((alarm, sink, device.filter(|_| delivery.muted)));
                continue;
            }
            due.push(delivery.clone());
        }
        due
    }

    /// Records that a sink has taken an event.
    ///
    /// # Errors
    /// [`OwnerError`] if the file cannot be written.
    pub fn delivered(&mut self, id: &str, sink: SinkKind) -> Result<(), OwnerError> {
        self.contents.waiting.retain(|waiting| !waiting.is(id, sink));
        self.contents.delivered.push_back(name(id, sink));
        let over = self.contents.delivered.len().saturating_sub(REMEMBERED);
        self.contents.delivered.drain(..over);
        self.write()
    }

    /// Records a failed attempt. Returns the time of the next one in milliseconds since 1970; None if the event is
    /// dropped.
    ///
    /// # Errors
    /// [`OwnerError`] if the file cannot be written.
    pub fn failed(&mut self, id: &str, sink: SinkKind, now_ms: i64) -> Result<Option<i64>, OwnerError> {
        let mut next = None;
        if let Some(delivery) = self.contents.waiting.iter_mut().find(|waiting| waiting.is(id, sink)) {
            delivery.attempts = delivery.attempts.saturating_add(1);
            let wait = FIRST_WAIT.saturating_mul(1 << (delivery.attempts - 1).min(20)).min(LONGEST_WAIT);
            (delivery.next_ms, delivery.muted) = (now_ms.saturating_add(wait), false);
            next = Some(delivery.next_ms)
                .filter(|next| *next < delivery.since_ms.saturating_add(GIVE_UP_AFTER_MS));
        }
        if next.is_none() {
            self.contents.waiting.retain(|waiting| !waiting.is(id, sink));
        }
        self.write()?;
        Ok(next)
    }

    /// Holds a delivery back until a mute ends. Returns false if the event is dropped, as it has waited for
    /// [`GIVE_UP_AFTER_MS`].
    ///
    /// # Errors
    /// [`OwnerError`] if the file cannot be written.
    pub fn hold(&mut self, id: &str, sink: SinkKind, now_ms: i64, until_ms: i64) -> Result<bool, OwnerError> {
        let Some(at) = self.contents.waiting.iter().position(|waiting| waiting.is(id, sink)) else {
            return Ok(true);
        };
        let delivery = &mut self.contents.waiting[at];
        let latest = delivery.since_ms.saturating_add(GIVE_UP_AFTER_MS);
        let is_kept = now_ms < latest;
        if is_kept {
            (delivery.next_ms, delivery.muted) = (until_ms.min(latest), true);
        } else {
            self.contents.waiting.remove(at);
        }
        self.write()?;
        Ok(is_kept)
    }

    /// Lets deliveries go on that wait for the end of a mute, if `is_muted` does not say that it lasts.
    ///
    /// # Errors
    /// [`OwnerError`] if the file cannot be written.
    pub fn release(&mut self, now_ms: i64, is_muted: impl Fn(&Event) -> bool) -> Result<(), OwnerError> {
        let mut changed = false;
        for delivery in self.contents.waiting.iter_mut().filter(|delivery| delivery.muted) {
            if !is_muted(&delivery.event) {
                (delivery.next_ms, delivery.muted, changed) = (delivery.next_ms.min(now_ms), false, true);
            }
        }
        if changed { self.write() } else { Ok(()) }
    }

    /// Records that an address of e-mail has taken an event, or refused it for good.
    ///
    /// # Errors
    /// [`OwnerError`] if the file cannot be written.
    pub fn reached(&mut self, id: &str, sink: SinkKind, address: &str) -> Result<(), OwnerError> {
        if let Some(delivery) = self.contents.waiting.iter_mut().find(|waiting| waiting.is(id, sink)) {
            delivery.reached.push(address.to_owned());
        }
        self.write()
    }

    /// Drops the deliveries of an alarm, which was removed.
    ///
    /// # Errors
    /// [`OwnerError`] if the file cannot be written.
    pub fn drop_alarm(&mut self, alarm: &str) -> Result<(), OwnerError> {
        self.contents.waiting.retain(|waiting| waiting.event.alarm != alarm);
        self.write()
    }

    /// Returns the number of waiting deliveries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.contents.waiting.len()
    }

    /// Returns true if nothing waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.contents.waiting.is_empty()
    }

    fn write(&self) -> Result<(), OwnerError> {
        write_private(&self.path, &pretty(&self.contents)?)
    }
}

fn name(id: &str, sink: SinkKind) -> String {
    format!("{id} {}", sink.word())
}
