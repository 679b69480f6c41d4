//! A rule: messages of one form.

use jiff::tz::TimeZone;
use serde_json::Value as Json;

use crate::field::{Factor, FieldRule, UnitOf};
use crate::file::{Others, Payload, Role, RuleFile};
use crate::json_path::JsonPath;
use crate::kind::Kind;
use crate::template::Template;
use crate::times::TimeFormat;
use crate::topic::TopicPattern;

/// The part of a topic that names the device.
pub(crate) const DEVICE: &str = "device";
/// The part of a topic that names the channel.
pub(crate) const CHANNEL: &str = "channel";

/// A rule that can be used.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    pub(crate) topic: TopicPattern,
    pub(crate) role: Role,
    pub(crate) payload: Payload,
    pub(crate) when: Vec<(JsonPath, String)>,
    pub(crate) device: Option<JsonPath>,
    pub(crate) tags: Vec<(String, JsonPath)>,
    pub(crate) channel: Option<Template>,
    /// Paths to single values, each with its channel if the option names one.
    pub(crate) values: Vec<(Option<String>, JsonPath)>,
    pub(crate) root: Option<JsonPath>,
    pub(crate) time: Option<JsonPath>,
    pub(crate) time_format: TimeFormat,
    pub(crate) unit: Option<UnitOf>,
    pub(crate) kind: Option<Kind>,
    pub(crate) factor: Factor,
    pub(crate) fields: Vec<FieldRule>,
    pub(crate) others: Others,
    pub(crate) online: String,
    pub(crate) offline: String,
}

impl Rule {
    /// Checks a rule. `base` stands in the place of `~`.
    pub(crate) fn new(file: &RuleFile, base: Option<&str>) -> Result<Self, String> {
        let topic = match (file.topic.strip_prefix('~'), base) {
            (Some(rest), Some(base)) => format!("{base}{rest}"),
            (Some(_), None) => return Err(format!("the topic {} needs a base", file.topic)),
            (None, _) => file.topic.clone(),
        };
        let topic = TopicPattern::parse(&topic).map_err(|error| error.to_string())?;
        let parts: Vec<&str> = topic.names().collect();
        let path = |text: &String| JsonPath::parse(text).map_err(|error| error.to_string());
        let reads = matches!(file.role, Role::Readings | Role::Availability | Role::Unit | Role::Kind);
        let names_device = file.device.is_some() || parts.contains(&DEVICE);
        if reads && !names_device {
            return Err("no device: put {device} into the topic, or give the path to its name".to_owned());
        }
        let is_single = file.value.is_some() || matches!(file.payload, Payload::Number | Payload::Text);
        let names_channel = file.channel.is_some() || parts.contains(&CHANNEL);
        let wants_channel =
            is_single && file.role == Role::Readings || matches!(file.role, Role::Unit | Role::Kind);
        if wants_channel && !names_channel {
            return Err("no channel: put {channel} into the topic, or name one".to_owned());
        }
        if file.value.is_some()
            && file.role == Role::Readings
            && (file.root.is_some() || !file.fields.is_empty())
        {
            return Err("value names a single value: leave out root and fields".to_owned());
        }
        let channel = match &file.channel {
            Some(text) => Some(Template::parse(text, &parts, 0)?),
            None if parts.contains(&CHANNEL) => Some(Template::parse("{channel}", &parts, 0)?),
            None => None,
        };
        let pairs = |of: &std::collections::BTreeMap<String, String>| {
            of.iter().map(|(name, text)| Ok((name.clone(), path(text)?))).collect::<Result<Vec<_>, String>>()
        };
        let when = file.when.iter().map(|(at, text)| Ok((path(at)?, text.clone())));
        Ok(Self {
            role: file.role,
            payload: file.payload,
            when: when.collect::<Result<_, String>>()?,
            device: file.device.as_ref().map(path).transpose()?,
            tags: pairs(&file.tags)?,
            channel,
            values: file.value.as_ref().map(path).transpose()?.map(|path| (None, path)).into_iter().collect(),
            root: file.root.as_ref().map(path).transpose()?,
            time: file.time.as_ref().map(path).transpose()?,
            time_format: TimeFormat::parse(file.time_format.as_deref())?,
            unit: file.unit.as_deref().map(UnitOf::parse).transpose()?,
            kind: file.kind,
            factor: Factor::new(file.multiply, file.divide)?,
            fields: file
                .fields
                .iter()
                .map(|field| FieldRule::new(field, &parts))
                .collect::<Result<_, _>>()?,
            others: file.others,
            online: file.online.clone().unwrap_or_else(|| "online".to_owned()),
            offline: file.offline.clone().unwrap_or_else(|| "offline".to_owned()),
            topic,
        })
    }

    /// Returns true if the message has the values that the rule asks for.
    pub(crate) fn holds(&self, json: &Json) -> bool {
        self.when.iter().all(|(path, text)| match path.find(json) {
            Some(Json::String(found)) => found == text,
            Some(found) => serde_json::from_str::<Json>(text).is_ok_and(|wanted| wanted == *found),
            None => false,
        })
    }

    /// Returns the time that a message states.
    pub(crate) fn time_of(&self, json: &Json, zone: &TimeZone) -> Option<i64> {
        self.time_format.read(self.time.as_ref()?.find(json)?, zone)
    }
}
