//! Recorded messages: each preset gives the readings that people have written beside them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use jiff::tz::TimeZone;
use sotto_preset::{Decoded, Decoder, Preset};

/// Outcome, device, channel, value, unit, kind, time.
type Row = [String; 7];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded")
}

/// Returns the rows of readings.csv by message.
fn expected(folder: &Path) -> BTreeMap<usize, Vec<Row>> {
    let mut rows: BTreeMap<usize, Vec<Row>> = BTreeMap::new();
    let mut reader = csv::Reader::from_path(folder.join("readings.csv")).unwrap();
    for row in reader.records() {
        let row = row.unwrap();
        let of: Row = std::array::from_fn(|column| row[column + 1].to_owned());
        let at = of[6].parse::<jiff::Timestamp>().map_or(String::new(), |at| at.as_millisecond().to_string());
        let [outcome, device, channel, value, unit, kind, _] = of;
        rows.entry(row[0].parse().unwrap())
            .or_default()
            .push([outcome, device, channel, value, unit, kind, at]);
    }
    rows
}

fn found(decoded: Decoded) -> Vec<Row> {
    let only = |outcome: &str| {
        let mut row = Row::default();
        row[0] = outcome.to_owned();
        vec![row]
    };
    match decoded {
        Decoded::Reports(reports) => {
            let mut rows = Vec::new();
            for report in reports {
                let at = report.at.map_or(String::new(), |at| at.to_string());
                for reading in report.readings {
                    rows.push([
                        "taken".to_owned(),
                        report.device.clone(),
                        reading.channel,
                        reading.value.as_str().to_owned(),
                        reading.unit.unwrap_or_default(),
                        reading.kind.map_or(String::new(), |kind| kind.word().to_owned()),
                        at.clone(),
                    ]);
                }
            }
            rows
        }
        Decoded::Retained => only("retained"),
        Decoded::Learnt => only("learnt"),
        Decoded::Ignored => only("ignored"),
        Decoded::Unknown => only("unknown"),
        Decoded::Refused(_) => only("refused"),
    }
}

/// Returns the numbers of a row as numbers: 2.910 and 2.91 are one reading.
fn comparable(mut rows: Vec<Row>) -> Vec<Row> {
    for row in &mut rows {
        if let Ok(number) = row[3].parse::<f64>() {
            row[3] = number.to_string();
        }
    }
    rows.sort();
    rows
}

#[test]
fn each_preset_reads_its_recorded_messages() {
    let vienna = TimeZone::get("Europe/Vienna").unwrap();
    for name in Preset::names() {
        let folder = folder().join(name);
        let expected = expected(&folder);
        let mut decoder = Decoder::new(Preset::named(name).unwrap(), vienna.clone());
        let messages = fs::read_to_string(folder.join("messages.txt")).unwrap();
        let mut count = 0;
        for (number, line) in messages.lines().enumerate().map(|(index, line)| (index + 1, line)) {
            let [retained, topic, payload] = line.splitn(3, '\t').collect::<Vec<_>>()[..] else {
                panic!("{line}")
            };
            let bytes = match payload.strip_prefix('@') {
                Some(file) => fs::read(folder.join(file)).unwrap(),
                None => payload.as_bytes().to_vec(),
            };
            let found = comparable(found(decoder.decode(topic, &bytes, retained == "1")));
            let right = comparable(expected.get(&number).cloned().unwrap_or_default());
            assert_eq!(found, right, "{name}, message {number}: {line}");
            count += 1;
        }
        assert_eq!(expected.keys().next_back(), Some(&count), "{name}: rows of messages that are not there");
    }
}

#[test]
fn each_preset_subscribes_to_the_topics_that_it_reads() {
    for name in Preset::names() {
        let preset = Preset::named(name).unwrap();
        let filters = preset.filters();
        let messages = fs::read_to_string(folder().join(name).join("messages.txt")).unwrap();
        let expected = expected(&folder().join(name));
        for (number, line) in messages.lines().enumerate().map(|(index, line)| (index + 1, line)) {
            let topic = line.split('\t').nth(1).unwrap();
            let is_read =
                expected[&number].iter().any(|row| ["taken", "learnt", "retained"].contains(&&*row[0]));
            let fits = filters.iter().any(|filter| {
                sotto_preset::TopicPattern::parse(filter).is_ok_and(|pattern| pattern.parts(topic).is_some())
            });
            assert!(fits || !is_read, "{name}: no filter of {filters:?} is about {topic}");
        }
    }
}

#[test]
fn tags_name_the_device_in_other_words() {
    let message = fs::read_to_string(folder().join("chirpstack/messages.txt")).unwrap();
    let line = message.lines().next().unwrap();
    let (topic, payload) = line[2..].split_once('\t').unwrap();
    let mut decoder = Decoder::new(Preset::named("chirpstack").unwrap(), TimeZone::UTC);
    let Decoded::Reports(reports) = decoder.decode(topic, payload.as_bytes(), false) else { panic!() };
    let tag = |name: &str| reports[0].tags.iter().find(|(tag, _)| tag == name).map(|(_, text)| text.as_str());
    assert_eq!(tag("dev_eui"), Some("0101010101010101"));
    assert_eq!(tag("application_name"), Some("Fields"));
    assert_eq!(tag("application"), Some("17c82e96-be03-4f38-aef3-f83d48582d97"));
}

#[test]
fn another_beginning_of_topics_takes_the_place_of_the_usual_one() {
    let preset = Preset::based("zigbee2mqtt", Some("home/zigbee")).unwrap();
    assert_eq!(preset.filters(), ["home/zigbee/#"]);
    let mut decoder = Decoder::new(preset, TimeZone::UTC);
    assert!(matches!(decoder.decode("home/zigbee/lamp", b"{\"state\":\"ON\"}", false), Decoded::Reports(_)));
    assert_eq!(decoder.decode("zigbee2mqtt/lamp", b"{\"state\":\"ON\"}", false), Decoded::Unknown);
}
