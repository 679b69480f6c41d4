//! The declared plant: `sotto.toml`, its questions, alarms and channels, read and checked.

mod address;
mod alarm;
mod apart;
mod authority;
mod channel_settings;
mod channels;
mod conditions;
mod dashboards;
mod derived;
pub mod edit;
mod fetched;
mod flooding;
mod known_tags;
mod mail;
mod members;
mod pins;
mod plant;
mod possible;
mod question_settings;
mod questions;
mod reach;
mod removed;
mod rename;
mod schedule;
pub mod settings;
mod star;
mod tags;

pub use address::{MqttAddress, NotAnAddress};
pub use alarm::{AlarmSettings, SinkKind};
pub(crate) use authority::authority;
pub(crate) use channels::remove_channel;
pub use conditions::{Declared, OnLimit, Watched};
pub(crate) use conditions::{alarm, is_alarm, named_alarm, with_alarms};
pub use derived::derived;
pub use flooding::FloodingSettings;
pub use mail::{MailServer, MailSettings, MailTls};
pub(crate) use members::Member;
pub use pins::CloudKeys;
pub(crate) use pins::{claimed_cloud_key, cloud_keys, not_pinned, pin_cloud};
pub(crate) use plant::CLOUD;
pub use plant::{FETCHED, NewPlant, Plant, SETTINGS};
pub(crate) use questions::{
    compares_in_cloud, new_question, planned_question, question, question_between, questions,
};
pub(crate) use reach::{condition, never_raised_alarms, too_slow};
pub use removed::Removal;
pub(crate) use rename::{rename_channel, rename_device};
pub use schedule::{NotASchedule, Schedule};
