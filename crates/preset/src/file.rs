//! The form of preset files. Unknown keys are errors.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::kind::Kind;

/// A preset.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PresetFile {
    pub(crate) name: String,
    pub(crate) about: String,
    /// The text in the place of `~` at the beginning of a topic.
    pub(crate) base: Option<String>,
    #[serde(rename = "message")]
    pub(crate) messages: Vec<RuleFile>,
}

/// Messages of one form. The first rule whose topic and conditions fit reads a message.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RuleFile {
    pub(crate) topic: String,
    #[serde(default)]
    pub(crate) role: Role,
    #[serde(default)]
    pub(crate) payload: Payload,
    /// Values of JSON that the message has to have, by their paths.
    #[serde(default)]
    pub(crate) when: BTreeMap<String, String>,
    /// The path to the device's name. The part `{device}` of the topic stands in if there is none.
    pub(crate) device: Option<String>,
    /// Paths to further names of the device.
    #[serde(default)]
    pub(crate) tags: BTreeMap<String, String>,
    /// The channel of a single value; with fields, the beginning of their channels' names.
    pub(crate) channel: Option<String>,
    /// The path to a single value.
    pub(crate) value: Option<String>,
    /// The path to the object whose fields are channels.
    pub(crate) root: Option<String>,
    /// The path to the time.
    pub(crate) time: Option<String>,
    pub(crate) time_format: Option<String>,
    pub(crate) unit: Option<String>,
    pub(crate) kind: Option<Kind>,
    pub(crate) multiply: Option<f64>,
    pub(crate) divide: Option<f64>,
    #[serde(default)]
    pub(crate) fields: Vec<FieldFile>,
    #[serde(default)]
    pub(crate) others: Others,
    /// The texts of a device that is there and of one that is not.
    pub(crate) online: Option<String>,
    pub(crate) offline: Option<String>,
}

/// The meaning of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Role {
    #[default]
    Readings,
    /// Known to have none.
    Ignored,
    /// The unit of a channel.
    Unit,
    /// The kind of a channel, as Home Assistant's statistics name it.
    Kind,
    /// A will, or its contrary: a reading of the state channel `online`.
    Availability,
}

/// The form of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Payload {
    /// An object of JSON; else one number or word.
    #[default]
    Any,
    Json,
    Number,
    /// One number or word.
    Text,
    /// A telegram of a P1 port.
    Dsmr,
}

/// The treatment of fields that no line of `fields` names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Others {
    #[default]
    All,
    Numbers,
    None,
}

/// Fields of one form. The first line whose path fits is about a field.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FieldFile {
    pub(crate) path: String,
    /// The path to a value that the message has to have as well.
    pub(crate) beside: Option<String>,
    #[serde(default)]
    pub(crate) skip: bool,
    pub(crate) channel: Option<String>,
    /// A unit, or the path to it.
    pub(crate) unit: Option<String>,
    pub(crate) kind: Option<Kind>,
    pub(crate) multiply: Option<f64>,
    pub(crate) divide: Option<f64>,
}
