//! Counts of the topics and channels that came, for `check`. No value is kept.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use serde::Serialize;
use sotto_preset::{Decoded, Report};

use crate::nouns::counted;

/// Maximum number of topics, and of channels, that are listed.
const MOST: usize = 2000;

/// Topics and channels that came.
#[derive(Debug, Default)]
pub(crate) struct Seen(Mutex<Counts>);

#[derive(Clone, Debug, Default, Serialize)]
struct Counts {
    topics: BTreeMap<String, Topic>,
    /// By device and channel.
    channels: BTreeMap<String, BTreeMap<String, Channel>>,
    /// Messages of further topics.
    not_listed: u64,
}

/// Messages of a topic, by outcome.
#[derive(Clone, Debug, Default, Serialize)]
struct Topic {
    taken: u64,
    retained: u64,
    learnt: u64,
    ignored: u64,
    unknown: u64,
    refused: BTreeMap<String, u64>,
}

/// Readings of a channel.
#[derive(Clone, Debug, Default, Serialize)]
struct Channel {
    readings: u64,
    unit: Option<String>,
    kind: Option<&'static str>,
    /// True if messages state the time.
    timed: bool,
}

impl Seen {
    /// Counts a message.
    pub(crate) fn count(&self, topic: &str, decoded: &Decoded) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.topics.len() >= MOST && !counts.topics.contains_key(topic) {
            counts.not_listed += 1;
            return;
        }
        let of = counts.topics.entry(topic.to_owned()).or_default();
        match decoded {
            Decoded::Reports(_) => of.taken += 1,
            Decoded::Retained => of.retained += 1,
            Decoded::Learnt => of.learnt += 1,
            Decoded::Ignored => of.ignored += 1,
            Decoded::Unknown => of.unknown += 1,
            Decoded::Refused(reason) => *of.refused.entry(reason.to_string()).or_default() += 1,
        }
        if let Decoded::Reports(reports) = decoded {
            reports.iter().for_each(|report| counts.add(report));
        }
    }

    /// Counts a report that came from no topic.
    pub(crate) fn report(&self, report: &Report) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).add(report);
    }

    /// Returns the counts as JSON.
    #[must_use]
    pub(crate) fn json(&self) -> serde_json::Value {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        serde_json::to_value(&*counts).unwrap_or_default()
    }

    /// Returns the counts as lines for people.
    #[must_use]
    pub(crate) fn lines(&self) -> Vec<String> {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut lines = Vec::new();
        for (device, channels) in &counts.channels {
            lines.push(format!("{device}:"));
            for (channel, found) in channels {
                let unit = found.unit.as_ref().map_or_else(String::new, |unit| format!(", in {unit}"));
                let kind = found.kind.map_or_else(String::new, |kind| format!(", {kind}"));
                let timed = if found.timed { "" } else { ", of the time of arrival" };
                lines.push(format!("  {channel}: {}{unit}{kind}{timed}", counted(found.readings, "reading")));
            }
        }
        for (topic, of) in &counts.topics {
            let mut words = Vec::new();
            for (count, word) in
                [(of.retained, "kept by the broker, of an unknown time"), (of.unknown, "not of the preset")]
            {
                if count > 0 {
                    words.push(format!("{} {word}", counted(count, "message")));
                }
            }
            words.extend(
                of.refused.iter().map(|(reason, count)| format!("{}: {reason}", counted(*count, "message"))),
            );
            if !words.is_empty() {
                lines.push(format!("{topic}: {}", words.join("; ")));
            }
        }
        if counts.topics.is_empty() && counts.channels.is_empty() {
            lines.push("no message came".to_owned());
        }
        if counts.not_listed > 0 {
            lines.push(format!("{} of further topics", counted(counts.not_listed, "message")));
        }
        lines
    }
}

impl Counts {
    fn add(&mut self, report: &Report) {
        let all: usize = self.channels.values().map(BTreeMap::len).sum();
        for reading in &report.readings {
            let channels = self.channels.entry(report.device.clone()).or_default();
            if all >= MOST && !channels.contains_key(&reading.channel) {
                continue;
            }
            let found = channels.entry(reading.channel.clone()).or_default();
            found.readings += 1;
            found.timed |= report.at.is_some();
            found.kind = reading.kind.map(sotto_preset::Kind::word).or(found.kind);
            if reading.unit.is_some() {
                found.unit.clone_from(&reading.unit);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use sotto_preset::{Decoder, Preset};

    use super::*;

    #[test]
    fn topics_and_channels_are_counted_without_a_value() {
        let mut decoder = Decoder::new(Preset::named("tasmota").unwrap(), jiff::tz::TimeZone::UTC);
        let seen = Seen::default();
        for (topic, payload, retained) in [
            ("tele/plug/SENSOR", r#"{"Time":"2026-03-01T12:00:00","ENERGY":{"Power":61}}"#, false),
            ("tele/plug/SENSOR", "nonsense", false),
            ("tele/plug/SENSOR", r#"{"ENERGY":{"Power":61}}"#, true),
            ("cmnd/plug/POWER", "ON", false),
        ] {
            seen.count(topic, &decoder.decode(topic, payload.as_bytes(), retained));
        }
        let text = seen.lines().join("\n");
        assert!(text.contains("energy_power: 1 reading, in W"), "{text}");
        assert!(text.contains(
            "tele/plug/SENSOR: 1 message kept by the broker, of an unknown time; 1 message: not JSON"
        ));
        assert!(text.contains("cmnd/plug/POWER: 1 message not of the preset"), "{text}");
        assert!(!text.contains("61"));
        assert_eq!(seen.json()["channels"]["plug"]["energy_power"]["readings"], 1);
        assert_eq!(Seen::default().lines(), ["no message came"]);
    }
}
