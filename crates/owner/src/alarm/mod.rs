//! Standing alarms: conditions that the owner's process evaluates as windows arrive.
//!
//! An alarm is a [question](crate::question::Alarm) by window and per device, and is therefore declared as one:
//! devices count their readings on both sides of its limits. [`Watch::round`] fetches sums of the windows that have
//! arrived since the round before, whatever the answers were, and turns them into changes of [`AlarmState`]s. Changes
//! become [`Event`]s, which wait in the [`Outbox`] until each of the alarm's sinks has taken them.
//!
//! An alarm on a [silence](crate::question::Silence) asks for nothing: the signed heads of windows tell which ticks have a
//! reading.
//!
//! ```no_run
//! use sotto_owner::alarm::{Outbox, Watch};
//! use sotto_owner::Plant;
//! use std::sync::Mutex;
//!
//! let plant = Plant::open("dairy".as_ref())?;
//! let outbox = Mutex::new(Outbox::open(&plant)?);
//! let mut watch = Watch::open(&plant, 300_000)?; // a round every five minutes
//! let round = watch.round(&plant, &outbox);
//! for event in &round.events {
//!     println!("{}", event.text());
//! }
//! # Ok::<(), sotto_owner::OwnerError>(())
//! ```

mod active;
mod event;
mod files;
mod forgotten;
mod judge;
mod judged_streams;
mod lasting;
mod machine;
mod missing;
mod muted;
mod mutes;
mod outbox;
mod round;
mod seen;
mod silence;
mod status;
mod take;
mod told;
mod watch;
mod words;

pub use event::{Event, EventKind};
pub use machine::{AlarmState, Rule};
pub(crate) use muted::muted_until;
pub use mutes::Order;
pub(crate) use mutes::{acknowledge, mute, remove_alarm, unmute};
pub use outbox::{Delivery, GIVE_UP_AFTER_MS, Outbox};
pub use round::Round;
pub use seen::{Seen, Verdict};
pub(crate) use status::alarm_status;
pub use status::{AlarmStatus, DeviceAlarm};
pub use told::{Change, Told};
pub use watch::Watch;

pub use crate::declared::{
    AlarmSettings, Declared, MailServer, MailSettings, MailTls, MqttAddress, NotASchedule, NotAnAddress,
    OnLimit, Schedule, SinkKind, Watched,
};
