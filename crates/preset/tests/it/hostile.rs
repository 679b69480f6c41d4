//! Messages that no gateway sends.

use std::fs;
use std::path::Path;

use jiff::tz::TimeZone;
use proptest::prelude::*;
use sotto_preset::{Custom, Decoded, Decoder, LONGEST_MESSAGE, Preset, Refused};

fn custom(topic: &str) -> Decoder {
    let custom = Custom { topic, values: &[], time: Some("$.time") };
    Decoder::new(Preset::custom(&custom).unwrap(), TimeZone::UTC)
}

#[test]
fn json_of_any_depth_and_size_is_refused_not_followed() {
    let mut decoder = custom("a/{device}");
    for depth in [17, 100, 127, 128, 129, 1000, 100_000] {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let text = format!("{}1{}", open.repeat(depth), close.repeat(depth));
            if text.len() <= LONGEST_MESSAGE {
                let decoded = decoder.decode("a/b", text.as_bytes(), false);
                assert!(matches!(decoded, Decoded::Refused(_)), "{depth}");
            }
        }
    }
    let many = format!("[{}1]", "1,".repeat(1000));
    assert_eq!(decoder.decode("a/b", many.as_bytes(), false), Decoded::Refused(Refused::TooManyFields));
    let long = vec![b' '; LONGEST_MESSAGE + 1];
    assert_eq!(decoder.decode("a/b", &long, false), Decoded::Refused(Refused::TooLong));
    assert_eq!(decoder.decode("a/b", b"{\"t\": \"\xFF\"}", false), Decoded::Refused(Refused::NotUtf8));
}

#[test]
fn topics_of_any_form_are_names_or_nothing() {
    let mut decoder = custom("{device...}/{channel}");
    for topic in ["", "/", "//", "a", "a/", "/a", "$SYS/a", &"a/".repeat(2000), "a\u{0}/b", "a\n/b"] {
        let decoded = decoder.decode(topic, b"1", false);
        assert!(matches!(decoded, Decoded::Unknown | Decoded::Refused(Refused::NoDevice)), "{topic:?}");
    }
    let Decoded::Reports(reports) = decoder.decode("a/日本", b"1", false) else { panic!() };
    assert!(reports[0].readings.iter().all(|reading| reading.channel.is_ascii()));
}

/// Topics and payloads.
type Messages = Vec<(String, Vec<u8>)>;

/// The recorded messages of every preset.
fn recorded() -> Vec<(&'static str, Messages)> {
    let of = |name: &'static str| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded").join(name);
        let text = fs::read_to_string(folder.join("messages.txt")).unwrap();
        let message = |line: &str| {
            let (topic, payload) = line[2..].split_once('\t').unwrap();
            let payload = match payload.strip_prefix('@') {
                Some(file) => fs::read(folder.join(file)).unwrap(),
                None => payload.as_bytes().to_vec(),
            };
            (topic.to_owned(), payload)
        };
        (name, text.lines().map(message).collect())
    };
    Preset::names().into_iter().map(of).collect()
}

#[test]
fn a_hundred_thousand_damaged_messages_are_read_or_refused() {
    // xorshift: the same messages in each run.
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut random = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below.max(1) as u64) as usize
    };
    let all = recorded();
    let (mut reports, mut others) = (0, 0);
    for (name, messages) in &all {
        let mut decoder = Decoder::new(Preset::named(name).unwrap(), TimeZone::UTC);
        for _ in 0..100_000 / all.len() + 1 {
            let (topic, payload) = &messages[random(messages.len())];
            let (mut topic, mut payload) = (topic.clone().into_bytes(), payload.clone());
            for _ in 0..random(4) {
                let bytes = if random(4) == 0 { &mut topic } else { &mut payload };
                let at = random(bytes.len());
                match random(4) {
                    0 if !bytes.is_empty() => bytes[at] = random(256) as u8,
                    1 => bytes.truncate(at),
                    2 => bytes.insert(at, b"{}[]\"/:,0"[random(9)]),
                    _ => bytes.extend_from_within(at..),
                }
            }
            match decoder.decode(&String::from_utf8_lossy(&topic), &payload, random(2) == 0) {
                Decoded::Reports(found) => {
                    for reading in found.iter().flat_map(|report| &report.readings) {
                        assert!(!reading.channel.is_empty() && reading.channel.len() <= 64);
                        assert!(reading.value.as_str().len() <= 512);
                    }
                    reports += 1;
                }
                _ => others += 1,
            }
        }
    }
    assert!(reports > 10_000 && others > 10_000, "{reports} {others}");
}

proptest! {
    #[test]
    fn no_bytes_make_a_decoder_panic(
        topic in "[a-z/{}#+$]{0,30}",
        payload in prop::collection::vec(any::<u8>(), 0..300),
        preset in 0_usize..16,
        retained: bool,
    ) {
        let names = Preset::names();
        let name = names[preset % names.len()];
        let mut decoder = Decoder::new(Preset::named(name).unwrap(), TimeZone::UTC);
        decoder.decode(&topic, &payload, retained);
    }

    #[test]
    fn no_text_makes_a_preset_panic(text in "(?s).{0,200}") {
        let _ = Preset::read(&text);
        let _ = sotto_preset::TopicPattern::parse(&text);
        let _ = sotto_preset::JsonPath::parse(&text);
    }
}
