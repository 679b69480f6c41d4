//! Times that messages state.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::{Offset, TimeZone};
use serde_json::Value as Json;

/// Maximum length of a time, in bytes.
const LONGEST: usize = 64;
/// 1 January 2000 in milliseconds since 1970. A clock that shows an earlier time was not set.
const EARLIEST: i64 = 946_684_800_000;

/// The format of times.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TimeFormat {
    /// ISO 8601, with the plant's zone if there is no offset; numbers by their size.
    Auto,
    Seconds,
    Milliseconds,
    /// As strftime writes it.
    Pattern(String),
}

impl TimeFormat {
    pub(crate) fn parse(text: Option<&str>) -> Result<Self, String> {
        match text {
            None | Some("auto") => Ok(Self::Auto),
            Some("seconds") => Ok(Self::Seconds),
            Some("milliseconds") => Ok(Self::Milliseconds),
            Some(pattern) if pattern.contains('%') => Ok(Self::Pattern(pattern.to_owned())),
            Some(other) => Err(format!(
                "time_format {other}: it is auto, seconds, milliseconds, or a pattern such as %d.%m.%Y %H:%M"
            )),
        }
    }

    /// Returns milliseconds since 1970; `None` if the value states no time, or one before the year 2000.
    pub(crate) fn read(&self, value: &Json, zone: &TimeZone) -> Option<i64> {
        let at = match value {
            Json::Number(number) => self.of_number(number.as_f64()?)?,
            Json::String(text) if text.len() <= LONGEST => self.of_text(text.trim(), zone)?,
            _ => return None,
        };
        (at >= EARLIEST).then_some(at)
    }

    fn of_number(&self, number: f64) -> Option<i64> {
        let scale = match self {
            Self::Seconds => 1e3,
            Self::Milliseconds => 1.0,
            // The size tells the unit: of seconds, 10^11 are in the year 5138.
            Self::Auto if number.abs() < 1e11 => 1e3,
            Self::Auto if number.abs() < 1e14 => 1.0,
            Self::Auto if number.abs() < 1e17 => 1e-3,
            Self::Auto => 1e-6,
            Self::Pattern(_) => return None,
        };
        let milliseconds = (number * scale).round();
        (milliseconds.abs() < 1e15).then_some(milliseconds as i64)
    }

    fn of_text(&self, text: &str, zone: &TimeZone) -> Option<i64> {
        if let Self::Pattern(pattern) = self {
            let parsed = jiff::fmt::strtime::parse(pattern, text).ok()?;
            let at = parsed.to_timestamp().ok();
            return at.or_else(|| local(parsed.to_datetime().ok()?, zone)).map(Timestamp::as_millisecond);
        }
        if let Ok(number) = text.parse::<f64>() {
            return self.of_number(number);
        }
        let at = text.parse::<Timestamp>().ok();
        at.or_else(|| local(text.parse::<DateTime>().ok()?, zone)).map(Timestamp::as_millisecond)
    }
}

/// Returns the instant of a time of day; of two, the earlier one.
fn local(time: DateTime, zone: &TimeZone) -> Option<Timestamp> {
    zone.to_ambiguous_timestamp(time).compatible().ok()
}

/// Returns the milliseconds since 1970 of a telegram's `YYMMDDhhmmss`, with W or S for winter or summer time in central
/// Europe.
pub(crate) fn of_telegram(text: &str, zone: &TimeZone) -> Option<i64> {
    let (digits, offset) = match text.as_bytes() {
        [.., b'W'] => (&text[..text.len() - 1], Some(Offset::constant(1))),
        [.., b'S'] => (&text[..text.len() - 1], Some(Offset::constant(2))),
        _ => (text, None),
    };
    if digits.len() != 12 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let two = |at: usize| digits[at..at + 2].parse::<i8>().ok();
    let year = 2000 + i16::from(two(0)?);
    let time = DateTime::new(year, two(2)?, two(4)?, two(6)?, two(8)?, two(10)?, 0).ok()?;
    let at = match offset {
        Some(offset) => offset.to_timestamp(time).ok()?,
        None => local(time, zone)?,
    };
    Some(at.as_millisecond()).filter(|at| *at >= EARLIEST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn times_are_read_in_the_forms_that_gateways_write() {
        let vienna = TimeZone::get("Europe/Vienna").unwrap();
        let read = |value: Json| TimeFormat::Auto.read(&value, &vienna);
        // 1 March 2026, 12:00 in Vienna: 11:00 UTC.
        let noon = Some(1_772_362_800_000);
        for value in [
            json!("2026-03-01T12:00:00+01:00"),
            json!("2026-03-01T11:00:00Z"),
            json!("2026-03-01T12:00:00"),
            json!("2026-03-01 12:00:00"),
            json!(1_772_362_800),
            json!(1_772_362_800_000_i64),
            json!(1_772_362_800_000_000_i64),
            json!("1772362800"),
            json!(1_772_362_800.0),
        ] {
            assert_eq!(read(value.clone()), noon, "{value}");
        }
        for none in
            [json!("1970-01-01T00:00:10"), json!(12), json!(null), json!("soon"), json!(1e300), json!({})]
        {
            assert_eq!(read(none.clone()), None, "{none}");
        }
        let pattern = TimeFormat::parse(Some("%d.%m.%Y %H:%M")).unwrap();
        assert_eq!(pattern.read(&json!("01.03.2026 12:00"), &vienna), noon);
        assert!(TimeFormat::parse(Some("iso")).is_err());
    }

    #[test]
    fn telegrams_say_winter_or_summer() {
        let utc = TimeZone::UTC;
        assert_eq!(of_telegram("260301120000W", &utc), Some(1_772_362_800_000));
        assert_eq!(of_telegram("260701120000S", &utc), Some(1_782_900_000_000));
        assert_eq!(of_telegram("260301110000", &utc), Some(1_772_362_800_000));
        for wrong in ["", "W", "26030112000W", "261301120000W", "2603011200000", "26030112000éW"] {
            assert_eq!(of_telegram(wrong, &utc), None, "{wrong}");
        }
    }
}
