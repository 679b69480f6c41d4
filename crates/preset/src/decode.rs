//! Messages to readings, by a preset.

use std::sync::Arc;

use jiff::tz::TimeZone;
use serde_json::Value as Json;

use crate::LONGEST_MESSAGE;
use crate::dsmr::Telegram;
use crate::field::{FieldRule, LONGEST_UNIT};
use crate::file::{Others, Payload, Role};
use crate::flatten::{fields, value_of};
use crate::kind::Kind;
use crate::learnt::Learnt;
use crate::name::channel_name;
use crate::preset::Preset;
use crate::reading::{Decoded, Reading, Refused, Report, Value};
use crate::rule::{CHANNEL, DEVICE, Rule};

/// The channel of wills.
const ONLINE: &str = "online";
/// Maximum length of a device's name, in bytes.
const LONGEST_NAME: usize = 256;

/// Reads messages by a preset. It remembers units and kinds that messages tell about later ones.
///
/// ```
/// use sotto_preset::{Custom, Decoded, Decoder, Preset, Refused};
///
/// let custom = Custom { topic: "home/{device}/{channel}", values: &[], time: None };
/// let mut decoder = Decoder::new(Preset::custom(&custom)?, jiff::tz::TimeZone::UTC);
/// let Decoded::Reports(reports) = decoder.decode("home/barn/humidity", b"61", false) else { panic!() };
/// assert_eq!((&*reports[0].device, &*reports[0].readings[0].channel), ("barn", "humidity"));
/// assert_eq!(reports[0].readings[0].value.as_str(), "61");
/// // A message that the broker kept states no time.
/// assert_eq!(decoder.decode("home/barn/humidity", b"61", true), Decoded::Retained);
/// assert_eq!(decoder.decode("home/barn", b"61", false), Decoded::Unknown);
/// assert_eq!(decoder.decode("home/barn/humidity", &[0xFF], false), Decoded::Refused(Refused::NotUtf8));
/// # Ok::<(), sotto_preset::PresetError>(())
/// ```
#[derive(Debug)]
pub struct Decoder {
    preset: Arc<Preset>,
    zone: TimeZone,
    learnt: Learnt,
}

/// A message and the parts of its topic.
struct Message<'m> {
    parts: Vec<(&'m str, &'m str)>,
    text: &'m str,
    /// The JSON, or null if it is none.
    json: &'m Json,
    retained: bool,
}

impl Decoder {
    /// Begins to read by a preset. Times without an offset are of `zone`.
    #[must_use]
    pub fn new(preset: Preset, zone: TimeZone) -> Self {
        Self { preset: Arc::new(preset), zone, learnt: Learnt::default() }
    }

    /// Returns the preset.
    #[must_use]
    pub fn preset(&self) -> &Preset {
        &self.preset
    }

    /// Reads a message. `retained` says that the broker had kept it for new subscribers.
    pub fn decode(&mut self, topic: &str, payload: &[u8], retained: bool) -> Decoded {
        let preset = Arc::clone(&self.preset);
        let mut json: Option<Json> = None;
        for rule in &preset.rules {
            let Some(parts) = rule.topic.parts(topic) else { continue };
            if rule.role == Role::Ignored && rule.when.is_empty() {
                return Decoded::Ignored;
            }
            if payload.len() > LONGEST_MESSAGE {
                return Decoded::Refused(Refused::TooLong);
            }
            let Ok(text) = std::str::from_utf8(payload) else { return Decoded::Refused(Refused::NotUtf8) };
            // serde_json refuses more than 128 levels.
            let json = json.get_or_insert_with(|| match rule.payload {
                Payload::Number | Payload::Text | Payload::Dsmr => Json::Null,
                Payload::Any | Payload::Json => serde_json::from_str(text).unwrap_or(Json::Null),
            });
            if !rule.holds(json) {
                continue;
            }
            if rule.role == Role::Ignored {
                return Decoded::Ignored;
            }
            let message = Message { parts, text, json, retained };
            return self.by(rule, &message).unwrap_or_else(Decoded::Refused);
        }
        Decoded::Unknown
    }

    fn by(&mut self, rule: &Rule, message: &Message<'_>) -> Result<Decoded, Refused> {
        let device = device_of(rule, message)?;
        match rule.role {
            Role::Unit | Role::Kind => return self.learn(rule, message, device),
            Role::Availability => return availability(rule, message, device),
            Role::Readings | Role::Ignored => {}
        }
        if rule.payload == Payload::Dsmr {
            return self.telegram(rule, message, &device);
        }
        let at = rule.time_of(message.json, &self.zone);
        let mut readings = match (&rule.values[..], rule.payload) {
            ([], Payload::Number | Payload::Text) => vec![self.single(rule, message, &device)?],
            ([], Payload::Any) if !message.json.is_object() && !message.json.is_array() => {
                vec![self.single(rule, message, &device)?]
            }
            ([], _) => self.object(rule, message, &device)?,
            (values, _) => {
                let mut readings = Vec::new();
                for (channel, path) in values {
                    if let Some(value) = path.find(message.json).and_then(value_of) {
                        readings.push(self.reading(rule, message, &device, channel.as_deref(), value));
                    }
                }
                if readings.is_empty() {
                    return Err(Refused::NoValue);
                }
                readings
            }
        };
        if message.retained && at.is_none() {
            // A state holds until the next message: the last one is true now.
            readings.retain(|reading| reading.kind == Some(Kind::State));
            if readings.is_empty() {
                return Ok(Decoded::Retained);
            }
        }
        Ok(Decoded::Reports(vec![Report { tags: tags_of(rule, message), device, at, readings }]))
    }

    /// Reads a message that is one number or word.
    fn single(&self, rule: &Rule, message: &Message<'_>, device: &str) -> Result<Reading, Refused> {
        let text = message.text.trim();
        // A word of JSON has quotes.
        let value = match message.json {
            Json::Null => Value::of(text),
            json => value_of(json).ok_or(Refused::NoValue)?,
        };
        if value.as_str().is_empty() || value.as_str().len() > LONGEST_NAME {
            return Err(Refused::NoValue);
        }
        if rule.payload == Payload::Number && matches!(value, Value::Text(_)) {
            return Err(Refused::NotANumber);
        }
        Ok(self.reading(rule, message, device, None, value))
    }

    fn reading(
        &self,
        rule: &Rule,
        message: &Message<'_>,
        device: &str,
        channel: Option<&str>,
        value: Value,
    ) -> Reading {
        let named = rule.channel.as_ref().map(|channel| channel.fill(&message.parts, &[]));
        let channel = channel_name([channel.or(named.as_deref()).unwrap_or("value")]);
        // A single value has the facts of the line of `fields` that fits its channel.
        let field = rule.fields.iter().find(|field| field.fit(&[&channel], message.json).is_some());
        self.with_facts(rule, field, message.json, device, channel, value)
    }

    /// Reads the fields of an object.
    fn object(&self, rule: &Rule, message: &Message<'_>, device: &str) -> Result<Vec<Reading>, Refused> {
        if !message.json.is_object() && !message.json.is_array() {
            return Err(Refused::NotJson);
        }
        let root = match &rule.root {
            Some(path) => path.find(message.json).filter(|root| root.is_object() || root.is_array()),
            None => Some(message.json),
        };
        let prefix = rule.channel.as_ref().map(|channel| channel.fill(&message.parts, &[]));
        let mut readings = Vec::new();
        fields(root.ok_or(Refused::NoValue)?, &mut |path, value| {
            readings.extend(self.field(rule, message, device, prefix.as_deref(), path, value));
        })?;
        Ok(readings)
    }

    /// Reads a field; `None` if the rule does not take it.
    fn field(
        &self,
        rule: &Rule,
        message: &Message<'_>,
        device: &str,
        prefix: Option<&str>,
        path: &[&str],
        value: Value,
    ) -> Option<Reading> {
        let found = rule.fields.iter().find_map(|field| Some((field, field.fit(path, message.json)?)));
        let taken = match (&found, rule.others) {
            (Some((field, _)), _) => !field.skip,
            (None, Others::All) => true,
            (None, Others::Numbers) => matches!(value, Value::Number(_)),
            (None, Others::None) => false,
        };
        if !taken {
            return None;
        }
        let named = found
            .as_ref()
            .and_then(|(field, stars)| Some(field.channel.as_ref()?.fill(&message.parts, stars)));
        let channel = match &named {
            Some(named) => channel_name(prefix.into_iter().chain([named.as_str()])),
            None => channel_name(prefix.into_iter().chain(path.iter().copied())),
        };
        if channel.is_empty() {
            return None;
        }
        let field = found.map(|(field, _)| field);
        Some(self.with_facts(rule, field, message.json, device, channel, value))
    }

    fn with_facts(
        &self,
        rule: &Rule,
        field: Option<&FieldRule>,
        json: &Json,
        device: &str,
        channel: String,
        value: Value,
    ) -> Reading {
        let learnt = self.learnt.of(device, &channel);
        let unit = field.and_then(|field| field.unit.as_ref()).or(rule.unit.as_ref());
        let unit = unit.and_then(|unit| unit.find(json)).or(learnt.unit).filter(|unit| !unit.is_empty());
        let kind = field.and_then(|field| field.kind).or(rule.kind).or(learnt.kind);
        let value = field.map_or(rule.factor, |field| field.factor).of(value);
        Reading { channel, value, unit, kind }
    }

    /// Notes the unit or the kind of a channel.
    fn learn(&mut self, rule: &Rule, message: &Message<'_>, device: String) -> Result<Decoded, Refused> {
        let found = match rule.values.first() {
            Some((_, path)) => path.find(message.json).ok_or(Refused::NoValue)?,
            None => message.json,
        };
        let text = match found {
            Json::Null => message.text.trim(),
            found => found.as_str().ok_or(Refused::NoValue)?,
        };
        if text.len() > LONGEST_UNIT {
            return Err(Refused::NoValue);
        }
        let channel = rule.channel.as_ref().map(|channel| channel.fill(&message.parts, &[]));
        let channel = channel_name([channel.as_deref().unwrap_or("value")]);
        if let Some(facts) = self.learnt.about(device, channel) {
            match rule.role {
                Role::Unit => facts.unit = Some(text.to_owned()),
                _ => facts.kind = Kind::of_state_class(text).or(facts.kind),
            }
        }
        Ok(Decoded::Learnt)
    }

    /// Reads a telegram: one report of the meter, and one for each meter behind it with a time of its own.
    fn telegram(&self, rule: &Rule, message: &Message<'_>, device: &str) -> Result<Decoded, Refused> {
        let telegram = Telegram::parse(message.text)?;
        let mut tags = tags_of(rule, message);
        tags.extend(telegram.meter().map(|meter| ("meter".to_owned(), meter)));
        let at = telegram.at(&self.zone);
        let report = |at, readings| Report { device: device.to_owned(), tags: tags.clone(), at, readings };
        let mut reports = vec![report(at, Vec::new())];
        for entry in telegram.entries(&self.zone) {
            let value = Value::of(entry.number);
            let Some(mut reading) = self.field(rule, message, device, None, &entry.path, value) else {
                continue;
            };
            reading.unit = entry.unit.map(str::to_owned).or(reading.unit);
            match entry.at {
                None => reports[0].readings.push(reading),
                Some(at) => reports.push(report(Some(at), vec![reading])),
            }
        }
        reports.retain(|report| !report.readings.is_empty());
        if reports.is_empty() { Err(Refused::NoValue) } else { Ok(Decoded::Reports(reports)) }
    }
}

/// Returns the device's name: from the message, else from the topic.
fn device_of(rule: &Rule, message: &Message<'_>) -> Result<String, Refused> {
    let stated = rule.device.as_ref().and_then(|path| path.find(message.json)?.as_str());
    let part = || message.parts.iter().find(|(name, _)| *name == DEVICE).map(|(_, text)| *text);
    let device = stated.filter(|name| !name.trim().is_empty()).or_else(part).ok_or(Refused::NoDevice)?;
    if device.len() > LONGEST_NAME || device.chars().any(char::is_control) {
        return Err(Refused::NoDevice);
    }
    Ok(device.to_owned())
}

/// Returns further names of the device.
fn tags_of(rule: &Rule, message: &Message<'_>) -> Vec<(String, String)> {
    let parts = message.parts.iter().filter(|(name, _)| ![DEVICE, CHANNEL].contains(name));
    let parts = parts.map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
    let stated = rule.tags.iter().filter_map(|(name, path)| {
        let text = path
            .find(message.json)?
            .as_str()
            .filter(|text| !text.is_empty() && text.len() <= LONGEST_NAME)?;
        Some((name.clone(), text.to_owned()))
    });
    parts.chain(stated).collect()
}

/// Reads a will, or its contrary.
fn availability(rule: &Rule, message: &Message<'_>, device: String) -> Result<Decoded, Refused> {
    let found = match rule.values.first() {
        Some((_, path)) => path.find(message.json),
        None => Some(message.json),
    };
    let text = match found {
        Some(Json::String(text)) => text.clone(),
        Some(Json::Bool(flag)) => flag.to_string(),
        _ => message.text.trim().to_owned(),
    };
    let online = match text {
        text if text == rule.online => "true",
        text if text == rule.offline => "false",
        _ => return Err(Refused::NoValue),
    };
    let value = Value::Text(online.to_owned());
    let reading = Reading { channel: ONLINE.to_owned(), value, unit: None, kind: Some(Kind::State) };
    Ok(Decoded::Reports(vec![Report {
        tags: tags_of(rule, message),
        device,
        at: None,
        readings: vec![reading],
    }]))
}
