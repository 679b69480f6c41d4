//! Streams and windows that encryptors of sums refuse, and the words of each refusal.

use sotto_agent::encrypt::{EncryptError, KeyError, SumsEncryptor};
use sotto_agent::streams;
use sotto_keys::{DeviceKeys, DeviceSecret};
use sotto_pack::{Period, Reading, Reason, StreamProfile, Window, WindowDescription};
use sotto_wire::Envelope;

use super::{PERIOD, profile, stream};

fn keys() -> DeviceKeys {
    DeviceKeys::Secret(DeviceSecret::from_bytes(&[9; 32]))
}

fn sums() -> SumsEncryptor {
    SumsEncryptor::new("boiler", Period::from_milliseconds(1000), &stream(), &keys()).unwrap()
}

/// Returns a window of one reading, with a count of readings left out.
fn window(sums: &SumsEncryptor, left_out: u64) -> (sotto_pack::Slots, WindowDescription) {
    let mut window = Window::new(sums.layout().clone(), 0, Period::from_milliseconds(PERIOD)).unwrap();
    window.push(&Reading { at: 0, channel: 0, value: 12.5 }).unwrap();
    window.leave_out(0, Reason::Empty, left_out);
    let packed = window.close();
    let rounded = Some(packed.rounded.clone());
    let description = WindowDescription { rounded, ..WindowDescription::from(&packed) };
    (packed.slots, description)
}

#[test]
fn a_number_serves_once_and_a_start_has_a_salt_of_its_own() {
    let (first, second) = (sums(), sums());
    let encrypt = |sums: &SumsEncryptor, sequence| {
        let (slots, description) = window(sums, 0);
        sums.encrypt(sequence, slots, &description)
    };
    let one = encrypt(&first, 5).unwrap();
    // 127, 140 and 59 bits, each in whole bytes, and three tags.
    assert_eq!(one.parts.len(), 16 + 18 + 8 + 3 * 8);
    for used in [5, 4, 0] {
        let refused = encrypt(&first, used).map(drop);
        assert!(matches!(refused, Err(EncryptError::Pads(sotto_sums::EncryptError::Number))), "{used}");
    }
    let (next, other) = (encrypt(&first, 6).unwrap(), encrypt(&second, 5).unwrap());
    assert_eq!((next.pads.salt, next.pads.sequence), (one.pads.salt, 6));
    assert_ne!(other.pads.salt, one.pads.salt);
    assert!(next.parts != one.parts && other.parts != one.parts, "the same readings under other pads");
}

#[test]
fn counts_above_65535_are_not_signed() {
    let sums = sums();
    for (sequence, left_out, taken) in [(0, 65_535, true), (1, 65_536, false)] {
        let (slots, description) = window(&sums, left_out);
        let sent = sums.encrypt(sequence, slots, &description).unwrap();
        let signed =
            Envelope::sign_sums(sums.header(), sequence, sent.pads, description, &sent.parts, |_| [0; 64]);
        assert_eq!(signed.is_ok(), taken, "{left_out}");
    }
}

#[test]
fn streams_that_cannot_be_of_sums_are_refused() {
    let public = SumsEncryptor::new(
        "boiler",
        Period::from_milliseconds(1000),
        &stream(),
        &DeviceKeys::Public(Vec::new()),
    );
    assert!(matches!(public.map(drop), Err(EncryptError::Key(KeyError::NoSecret))));
    let none = StreamProfile { sums: Vec::new(), ..stream() };
    assert!(SumsEncryptor::new("boiler", Period::from_milliseconds(1000), &none, &keys()).is_err());
    let refused =
        |stream: StreamProfile| streams::open(&profile(stream), &keys()).map(drop).unwrap_err().to_string();
    let no_span = StreamProfile { span: None, ..stream() };
    assert!(refused(no_span).contains("it has no span"));
    // A place of 8 bits for readings of ±200.
    let mut narrow = stream();
    narrow.sums[0].quantities[1].width = 8;
    let said = refused(narrow);
    assert!(said.contains("do not tell all values of its quantity apart"), "{said}");
}
