//! Messages of gateways and meters to readings.
//!
//! A [`Preset`] is a TOML file: it states the topics of a gateway such as Zigbee2MQTT, and where device, channel, value,
//! unit and time stand in a message. A [`Decoder`] reads messages by a preset. Nothing here does I/O, and nothing from
//! outside is believed: topics, JSON and telegrams are bounded before anything is kept of them.
//!
//! ```
//! use sotto_preset::{Decoded, Decoder, Preset};
//!
//! let mut decoder = Decoder::new(Preset::named("zigbee2mqtt")?, jiff::tz::TimeZone::UTC);
//! let message = br#"{"temperature": 21.5, "last_seen": "2026-03-01T12:00:00+01:00"}"#;
//! let Decoded::Reports(reports) = decoder.decode("zigbee2mqtt/kitchen", message, false) else { panic!() };
//! assert_eq!((&*reports[0].device, reports[0].at), ("kitchen", Some(1_772_362_800_000)));
//! let reading = &reports[0].readings[0];
//! assert_eq!((&*reading.channel, reading.value.as_str()), ("temperature", "21.5"));
//! assert_eq!(reading.unit.as_deref(), Some("°C"));
//! # Ok::<(), sotto_preset::PresetError>(())
//! ```

mod built_in;
mod decode;
mod dsmr;
mod error;
mod field;
mod file;
mod flatten;
mod glob;
mod json_path;
mod kind;
mod learnt;
mod name;
mod preset;
mod reading;
mod rule;
mod telegrams;
mod template;
mod times;
mod topic;

pub use decode::Decoder;
pub use error::PresetError;
pub use json_path::JsonPath;
pub use kind::Kind;
pub use name::channel_name;
pub use preset::{Custom, LONGEST_PRESET, Preset};
pub use reading::{Decoded, Reading, Refused, Report, Value};
pub use telegrams::Telegrams;
pub use topic::TopicPattern;

/// Maximum length of a message that is read, in bytes.
pub const LONGEST_MESSAGE: usize = 256 << 10;
