//! Telegrams of a smart meter's P1 port: DSMR 2 to 5, and the Belgian, Luxembourg and Swedish ones.
//!
//! `/header`, lines of `code(value)(value)`, `!` and, since version 4, a checksum.

use crc::{CRC_16_ARC, Crc};
use jiff::tz::TimeZone;

use crate::reading::Refused;
use crate::times::of_telegram;

/// The checksum of a telegram, over all from `/` to `!`.
const CHECKSUM: Crc<u16> = Crc::<u16>::new(&CRC_16_ARC);
/// Maximum number of objects of a telegram, and of values of an object.
const MOST_OBJECTS: usize = 500;
const MOST_VALUES: usize = 32;

/// The time of the telegram.
const TIME: &str = "0-0:1.0.0";
/// Versions of telegrams that have a checksum.
const VERSIONS: [&str; 2] = ["1-3:0.2.8", "0-0:96.1.4"];
/// The number of the electricity meter, in hexadecimal.
const METER: &str = "0-0:96.1.1";

/// A telegram.
#[derive(Debug)]
pub(crate) struct Telegram<'t> {
    objects: Vec<Object<'t>>,
}

#[derive(Debug)]
struct Object<'t> {
    code: &'t str,
    values: Vec<&'t str>,
}

/// A value of a telegram.
#[derive(Debug)]
pub(crate) struct Entry<'t> {
    /// The code in parts, such as `1-0:1`, `8`, `1`; the medium of a meter behind the electricity meter, such as `gas`.
    pub(crate) path: Vec<&'t str>,
    pub(crate) number: &'t str,
    pub(crate) unit: Option<&'t str>,
    /// The time of this value, if it has one of its own.
    pub(crate) at: Option<i64>,
}

impl<'t> Telegram<'t> {
    /// Parses a telegram and compares its checksum.
    pub(crate) fn parse(text: &'t str) -> Result<Self, Refused> {
        let begin = text.find('/').ok_or(Refused::NotATelegram)?;
        let end = text.rfind('!').filter(|end| *end > begin).ok_or(Refused::NotATelegram)?;
        let sum = text[end + 1..].trim();
        let mut objects: Vec<Object<'t>> = Vec::new();
        for line in text[begin..end].lines().skip(1) {
            let line = line.trim();
            let Some((code, values)) = line.split_once('(') else { continue };
            let values = values.strip_suffix(')').ok_or(Refused::NotATelegram)?.split(")(");
            // Up to version 3 the number of a gas meter stands in a line of its own.
            if code.is_empty() {
                let object = objects.last_mut().ok_or(Refused::NotATelegram)?;
                object.values.extend(values.take(MOST_VALUES));
            } else {
                objects.push(Object { code, values: values.take(MOST_VALUES).collect() });
            }
            if objects.len() > MOST_OBJECTS {
                return Err(Refused::TooManyFields);
            }
        }
        let telegram = Self { objects };
        match u16::from_str_radix(sum, 16) {
            Ok(stated) if sum.len() == 4 => {
                let found = CHECKSUM.checksum(&text.as_bytes()[begin..=end]);
                if found == stated { Ok(telegram) } else { Err(Refused::Checksum) }
            }
            // A checksum that was cut off is no telegram of a version without one.
            _ if !sum.is_empty() || VERSIONS.iter().any(|code| telegram.first(code).is_some()) => {
                Err(Refused::Checksum)
            }
            _ if telegram.objects.is_empty() => Err(Refused::NotATelegram),
            _ => Ok(telegram),
        }
    }

    fn first(&self, code: &str) -> Option<&'t str> {
        let object = self.objects.iter().find(|object| object.code == code)?;
        object.values.first().copied()
    }

    /// Returns the time.
    pub(crate) fn at(&self, zone: &TimeZone) -> Option<i64> {
        of_telegram(self.first(TIME)?, zone)
    }

    /// Returns the meter's number.
    pub(crate) fn meter(&self) -> Option<String> {
        let bytes = self.first(METER)?.as_bytes();
        let digit = |byte: u8| char::from(byte).to_digit(16);
        let pair = |pair: &[u8]| Some(char::from((digit(pair[0])? * 16 + digit(*pair.get(1)?)?) as u8));
        let number: String = bytes.chunks(2).take(32).map(pair).collect::<Option<_>>()?;
        number
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric())
            .then_some(number)
            .filter(|name| !name.is_empty())
    }

    /// Returns the values that are numbers.
    pub(crate) fn entries(&self, zone: &TimeZone) -> Vec<Entry<'t>> {
        self.objects.iter().filter_map(|object| self.entry(object, zone)).collect()
    }

    fn entry(&self, object: &Object<'t>, zone: &TimeZone) -> Option<Entry<'t>> {
        let path =
            self.medium(object.code).map_or_else(|| object.code.split('.').collect(), |medium| vec![medium]);
        match object.values[..] {
            [value] => {
                let (number, unit) = number_of(value)?;
                Some(Entry { path, number, unit, at: None })
            }
            [time, value] => {
                let (number, unit) = number_of(value)?;
                Some(Entry { path, number, unit, at: Some(of_telegram(time, zone)?) })
            }
            // Version 2 and 3: time, three numbers, the code and the unit of the value.
            [time, _, _, _, _, unit, value, ..] if object.code.ends_with(":24.3.0") => {
                let (number, _) = number_of(value)?;
                Some(Entry { path, number, unit: Some(unit), at: Some(of_telegram(time, zone)?) })
            }
            _ => None,
        }
    }

    /// Returns the medium of a reading of a meter behind the electricity meter.
    fn medium(&self, code: &str) -> Option<&'t str> {
        let (channel, code) = code.strip_prefix("0-")?.split_once(':')?;
        if !["24.2.1", "24.2.3", "24.3.0"].contains(&code) {
            return None;
        }
        match self.first(&format!("0-{channel}:24.1.0"))?.trim_start_matches('0') {
            "3" => Some("gas"),
            "4" | "12" => Some("heat"),
            "6" => Some("warm_water"),
            "7" => Some("water"),
            "9" | "10" | "11" => Some("cold"),
            "2" => Some("second_electricity"),
            _ => None,
        }
    }
}

/// Returns the number and the unit of `001234.567*kWh`.
fn number_of(value: &str) -> Option<(&str, Option<&str>)> {
    let (number, unit) = match value.split_once('*') {
        Some((number, unit)) => (number, Some(unit)),
        None => (value, None),
    };
    let is_number = number.bytes().any(|byte| byte.is_ascii_digit())
        && number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
        && number.len() <= 16
        && number.matches('.').count() <= 1;
    is_number.then_some((number, unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the telegram with lines as a meter ends them, and its checksum.
    fn telegram(lines: &str, sum: Option<&str>) -> String {
        let text = format!("/X\r\n\r\n{}\r\n!", lines.replace('\n', "\r\n"));
        let own = format!("{:04X}", CHECKSUM.checksum(text.as_bytes()));
        format!("{text}{}\r\n", sum.unwrap_or(&own))
    }

    #[test]
    fn the_checksum_is_the_arc_of_all_to_the_exclamation_mark() {
        // The check value of CRC-16/ARC: catalogue of parametrised CRC algorithms.
        assert_eq!(CHECKSUM.checksum(b"123456789"), 0xBB3D);
        let lines = "1-3:0.2.8(50)\n1-0:1.8.1(000001.500*kWh)";
        assert!(Telegram::parse(&telegram(lines, None)).is_ok());
        for wrong in ["0000", "", "12", "12345", "zzzz"] {
            assert_eq!(
                Telegram::parse(&telegram(lines, Some(wrong))).err(),
                Some(Refused::Checksum),
                "{wrong}"
            );
        }
        // Before version 4 there is none.
        assert!(Telegram::parse(&telegram("1-0:1.8.1(00001.500*kWh)", Some(""))).is_ok());
        for wrong in ["", "/", "!", "!/", "/X!", "/X\n(1)\n!", "/X\n1-0:1.8.1(1\n!"] {
            assert!(Telegram::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn meters_behind_the_meter_have_times_of_their_own() {
        let old = "0-1:24.1.0(03)\n0-1:24.3.0(121030140000)(00)(60)(1)(0-1:24.2.1)(m3)\n(00024.123)";
        let old = telegram(old, Some(""));
        let found = Telegram::parse(&old).unwrap();
        let entries = found.entries(&TimeZone::UTC);
        let gas = entries.iter().find(|entry| entry.path == ["gas"]).unwrap();
        // 30 October 2012, 14:00 UTC.
        assert_eq!((gas.number, gas.unit, gas.at), ("00024.123", Some("m3"), Some(1_351_605_600_000)));
        let water = telegram("0-2:24.1.0(007)\n0-2:24.2.1(260301120000W)(00872.234*m3)", Some(""));
        let found = Telegram::parse(&water).unwrap();
        let entries = found.entries(&TimeZone::UTC);
        let water = entries.iter().find(|entry| entry.path == ["water"]).unwrap();
        assert_eq!((water.number, water.at), ("00872.234", Some(1_772_362_800_000)));
    }

    #[test]
    fn the_number_of_a_meter_is_text_in_hexadecimal() {
        let text = telegram("0-0:96.1.1(4B384547303034303436333935353037)", Some(""));
        assert_eq!(Telegram::parse(&text).unwrap().meter().as_deref(), Some("K8EG004046395507"));
        for none in ["4", "4B3", "zz", "0A", ""] {
            let text = telegram(&format!("0-0:96.1.1({none})"), Some(""));
            assert_eq!(Telegram::parse(&text).unwrap().meter(), None, "{none}");
        }
    }
}
