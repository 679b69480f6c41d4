//! The output of a command: a number, an object of JSON, or lines of InfluxDB's protocol.

use sotto_preset::{Custom, Decoded, Decoder, Preset, PresetError, Report};

/// The readings of an output.
#[derive(Debug, PartialEq)]
pub(super) enum Output {
    Reports(Vec<Report>),
    /// Lines, which name their own devices and times.
    Lines,
    /// Neither.
    Unreadable,
}

/// Reads outputs of a command.
pub(super) struct Outputs(Decoder);

impl Outputs {
    pub(super) fn new(zone: &jiff::tz::TimeZone) -> Result<Self, PresetError> {
        let custom = Custom { topic: "{device...}", values: &[], time: Some("$.time") };
        Ok(Self(Decoder::new(Preset::custom(&custom)?, zone.clone())))
    }

    /// Reads an output. A number alone is of the channel `value`.
    pub(super) fn read(&mut self, device: &str, output: &[u8]) -> Output {
        let text = String::from_utf8_lossy(output);
        let text = text.trim();
        let is_json = text.starts_with(['{', '[']);
        if !is_json && text.contains(' ') && text.contains('=') {
            return Output::Lines;
        }
        let is_whole = !is_json || serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
        if !is_whole || text.contains(char::is_control) && !is_json {
            return Output::Unreadable;
        }
        match self.0.decode(device, text.as_bytes(), false) {
            Decoded::Reports(mut reports) => {
                // The field of the time is no reading.
                reports
                    .iter_mut()
                    .for_each(|report| report.readings.retain(|reading| reading.channel != "time"));
                reports.retain(|report| !report.readings.is_empty());
                if reports.is_empty() { Output::Unreadable } else { Output::Reports(reports) }
            }
            _ => Output::Unreadable,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_are_numbers_objects_or_lines() {
        let mut outputs = Outputs::new(&jiff::tz::TimeZone::UTC).unwrap();
        let mut read = |text: &str| outputs.read("pump", text.as_bytes());
        let Output::Reports(one) = read("21.5\n") else { panic!() };
        assert_eq!((&*one[0].device, &*one[0].readings[0].channel), ("pump", "value"));
        assert_eq!((one[0].readings[0].value.as_str(), one[0].at), ("21.5", None));
        let Output::Reports(object) = read(r#"{"time": 1772362800, "flow": {"hot": 61}, "on": true}"#) else {
            panic!()
        };
        let names: Vec<&str> = object[0].readings.iter().map(|reading| &*reading.channel).collect();
        assert_eq!((names, object[0].at), (vec!["flow_hot", "on"], Some(1_772_362_800_000)));
        assert_eq!(read("pump,room=cellar flow=61.5 1772362800000000000\n"), Output::Lines);
        for none in ["", "\n", "{", "{}", "\u{0}"] {
            assert_eq!(read(none), Output::Unreadable, "{none:?}");
        }
    }
}
