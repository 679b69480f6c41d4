//! Messages that the gateway reads by presets, files of presets and of registers, telegrams of meters.

use sotto_agent::gateway::ModbusFile;
use sotto_preset::{Decoded, Decoder, JsonPath, Preset, Telegrams, TopicPattern};

use super::{Inputs, Target};

#[rustfmt::skip]
pub(super) const TARGETS: &[Target] = &[
    // A value of JSON takes some ten times its text.
    Target { name: "preset-messages", run: messages, inputs: Inputs::MadeAnew(recorded), memory: |bytes| 256 * bytes.len() + (2 << 20) },
    Target { name: "preset-file", run: file, inputs: Inputs::MadeAnew(files), memory: |bytes| 512 * bytes.len() + (1 << 20) },
    Target { name: "telegrams", run: telegrams, inputs: Inputs::MadeAnew(streams), memory: |bytes| 64 * bytes.len() + (2 << 20) },
    Target { name: "modbus-file", run: registers, inputs: Inputs::MadeAnew(register_files), memory: |bytes| 512 * bytes.len() + (1 << 20) },
];

/// Recorded messages: the preset's number, the topic, and behind a line end the payload.
fn recorded() -> Vec<Vec<u8>> {
    let texts = [
        ("chirpstack", include_str!("../../../crates/preset/tests/recorded/chirpstack/messages.txt")),
        ("home-assistant", include_str!("../../../crates/preset/tests/recorded/home-assistant/messages.txt")),
        ("shelly", include_str!("../../../crates/preset/tests/recorded/shelly/messages.txt")),
        ("tasmota", include_str!("../../../crates/preset/tests/recorded/tasmota/messages.txt")),
        ("zigbee2mqtt", include_str!("../../../crates/preset/tests/recorded/zigbee2mqtt/messages.txt")),
    ];
    let mut inputs = Vec::new();
    for (name, text) in texts {
        let number = Preset::names().iter().position(|known| *known == name).unwrap_or_default() as u8;
        for line in text.lines() {
            let mut parts = line.splitn(3, '\t').skip(1);
            let (topic, payload) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
            inputs.push([&[number][..], topic.as_bytes(), b"\n", payload.as_bytes()].concat());
        }
    }
    // Those with readings: the others test the head alone.
    inputs.retain(|input| messages(input));
    inputs
}

/// Reads a message by a preset, as new and as one that was kept. True if it has readings.
fn messages(bytes: &[u8]) -> bool {
    let Some((number, rest)) = bytes.split_first() else { return false };
    let end = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
    let (topic, payload) = (String::from_utf8_lossy(&rest[..end]), rest.get(end + 1..).unwrap_or_default());
    let names = Preset::names();
    let preset = Preset::named(names[usize::from(*number) % names.len()]).expect("a preset of this program");
    let mut decoder = Decoder::new(preset, jiff::tz::TimeZone::UTC);
    let _ = decoder.decode(&topic, payload, true);
    match decoder.decode(&topic, payload, false) {
        Decoded::Reports(reports) => {
            for reading in reports.iter().flat_map(|report| &report.readings) {
                assert!((1..=64).contains(&reading.channel.len()));
            }
            true
        }
        _ => false,
    }
}

fn files() -> Vec<Vec<u8>> {
    [
        include_str!("../../../crates/preset/presets/tasmota.toml"),
        include_str!("../../../crates/preset/presets/p1.toml"),
        "name = \"x\"\nabout = \"y\"\n[[message]]\ntopic = \"a/{device}\"\nvalue = \"$.a[0]['b']\"\nchannel = \"c\"\nwhen = { a = \"1\" }",
    ]
    .map(|text| text.as_bytes().to_vec())
    .to_vec()
}

/// Reads a preset; a refusal must be printable.
fn file(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let _ = (TopicPattern::parse(&text), JsonPath::parse(&text));
    match Preset::read(&text) {
        Ok(preset) => {
            assert!(preset.filters().iter().all(|filter| !filter.is_empty()));
            true
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            false
        }
    }
}

fn streams() -> Vec<Vec<u8>> {
    let new = include_bytes!("../../../crates/preset/tests/recorded/p1/dsmr5.telegram");
    let old = include_bytes!("../../../crates/preset/tests/recorded/p1/dsmr22.telegram");
    vec![new.to_vec(), old.to_vec(), [&new[300..], &new[..], &old[..]].concat()]
}

/// Finds and reads the telegrams in a stream. True if one has readings.
fn telegrams(bytes: &[u8]) -> bool {
    let mut decoder =
        Decoder::new(Preset::named("p1").expect("a preset of this program"), jiff::tz::TimeZone::UTC);
    let mut telegrams = Telegrams::default();
    let mut taken = false;
    for part in bytes.chunks(100) {
        telegrams.push(part);
        while let Some(telegram) = telegrams.next() {
            taken |= matches!(decoder.decode("p1/house", telegram.as_bytes(), false), Decoded::Reports(_));
        }
    }
    taken
}

fn register_files() -> Vec<Vec<u8>> {
    ["device = 'x'\nhost = 'h:1502'\nunit = 3\nevery = '10s'\nlimit = '1s'\ngap = 4\nwords = 'little'\n\
      [[register]]\nchannel = 'a'\naddress = 7\ntype = 'f32'\nscale = 0.1\noffset = -40\nunit = 'W'\nmissing = [-1]\n\
      [[register]]\nchannel = 'b'\ntable = 'coil'\naddress = 9"]
    .map(|text| text.as_bytes().to_vec())
    .to_vec()
}

fn registers(bytes: &[u8]) -> bool {
    ModbusFile::parse(&String::from_utf8_lossy(bytes)).is_ok()
}
