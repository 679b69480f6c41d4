//! Headers of streams of sums.

use proptest::prelude::*;
use sotto_pack::{
    Amount, Angle, Channel, ChannelKind, Counter, Digit, Gauge, Period, Quantity, Several, State, SumsPart,
};
use sotto_rlwe::{KeyId, ParameterId};
use sotto_wire::{LARGEST_STREAM_HEADER, StreamHeader, StreamParts, SumsStream, WindowValues, WireError};

use super::windows::resealed;
use super::{Refused, SECRET, channel, header, header_of, placed, stream};

fn made(stream: SumsStream) -> Result<StreamHeader, WireError> {
    StreamHeader::of_sums(stream, |_| KeyId([2; 16]))
}

#[test]
fn headers_are_read_as_written() {
    let header = header();
    let read = StreamHeader::read(&header.write()).unwrap();
    assert_eq!(read, *header);
    let given = stream();
    for header in [&read, &header] {
        assert_eq!((header.device(), header.stream()), (&given.device[..], &given.stream[..]));
        assert_eq!(header.period(), given.period);
        assert_eq!((header.layout().channels(), header.layout().ticks()), (&given.channels[..], given.ticks));
        assert_eq!(header.parts(), given.parts);
        assert_eq!(header.values(), &WindowValues::Sums(given.parts.clone()));
        assert!(header.is_of_sums() && !header.is_of_places());
    }
    assert_eq!((read.id(), read.stream_id(), read.key()), (header.id(), header.stream_id(), header.key()));
    for part in 0..3 {
        assert_eq!(read.sums_form(part), header.sums_form(part));
    }
    assert!(read.sums_form(3).is_err());
}

/// A stream of ciphertexts has neither parts nor an id of its facts, and none is made with parts.
#[test]
fn streams_of_ciphertexts_are_not_of_sums() {
    let parts = |values| StreamParts {
        device: "cellar".into(),
        stream: "tank".into(),
        parameters: ParameterId([1; 32]),
        key: KeyId([2; 16]),
        period: 20,
        ticks: 6,
        channels: stream().channels,
        values,
    };
    let slots = StreamHeader::new(parts(WindowValues::Slots(32))).unwrap();
    assert!(!slots.is_of_sums() && slots.parts().is_empty());
    assert_eq!(slots.stream_id(), None);
    assert!(slots.sums_form(0).is_err());
    assert!(StreamHeader::new(parts(WindowValues::Sums(stream().parts))).is_err());
}

/// Keys must not depend on the key's id, which is made of them; windows must tell a renewed device's headers apart.
#[test]
fn the_ids_bind_what_they_should() {
    let one = made(stream()).unwrap();
    let other = StreamHeader::of_sums(stream(), |_| KeyId([3; 16])).unwrap();
    assert_eq!(one.stream_id(), other.stream_id());
    assert_ne!(one.id(), other.id());
    let changes: [fn(&mut SumsStream); 8] = [
        |stream| stream.device.push('2'),
        |stream| stream.stream.push('2'),
        |stream| stream.period = Period::of_seconds(1, 1).unwrap(),
        |stream| stream.ticks = 7,
        |stream| stream.channels[0].maximum -= 1.0,
        |stream| stream.parts[0].quantities[0].width += 1,
        |stream| stream.parts[0].reasons -= 1,
        |stream| {
            stream.parts[1].quantities[0].quantity = Quantity::Bins { column: 0, edges: vec![-5, 100, 2001] }
        },
    ];
    for (at, change) in changes.iter().enumerate() {
        let mut stream = stream();
        change(&mut stream);
        assert_ne!(made(stream).unwrap().stream_id(), one.stream_id(), "change {at}");
    }
    let keys = sotto_sums::StreamKeys::derive(&SECRET, one.stream_id().unwrap());
    assert_eq!(header().key(), KeyId(keys.id()));
}

#[test]
fn headers_are_refused_in_words() {
    let part =
        |quantity, digit, width| SumsPart { quantities: vec![placed(quantity, digit, width)], reasons: 0 };
    let changes: Vec<Refused<SumsStream>> = vec![
        ("name", Box::new(|stream| stream.device.clear())),
        ("65535 ticks", Box::new(|stream| stream.ticks = 65_536)),
        ("65535 ticks", Box::new(|stream| stream.ticks = 0)),
        ("parts", Box::new(|stream| stream.parts.clear())),
        ("parts", Box::new(|stream| stream.parts = vec![stream.parts[0].clone(); 17])),
        ("resolutions", Box::new(|stream| stream.channels[1].name = "level".into())),
        ("resolutions", Box::new(|stream| stream.channels[0].minimum = f64::NEG_INFINITY)),
        ("resolutions", Box::new(|stream| stream.channels[0].maximum = -2.5)),
        ("resolutions", Box::new(|stream| stream.channels[0].resolution = None)),
        ("resolutions", Box::new(|stream| stream.channels[0].resolution = Some(0.0))),
        ("resolutions", Box::new(|stream| stream.channels[1].resolution = Some(1e9))),
        (
            "does not have",
            Box::new(move |stream| stream.parts[0] = part(Quantity::Reading(2), Digit::Whole, 30)),
        ),
        ("apart", Box::new(|stream| stream.parts[0].quantities[0].width = 11)),
        ("1 to 60", Box::new(|stream| stream.parts[0].quantities[0].width = 61)),
        ("split", Box::new(move |stream| stream.parts[0] = part(Quantity::Square(1), Digit::Whole, 60))),
        (
            "lower column",
            Box::new(move |stream| stream.parts[0] = part(Quantity::Product(1, 0), Digit::Whole, 60)),
        ),
        (
            "ascend",
            Box::new(move |stream| {
                stream.parts[0] = part(Quantity::Bins { column: 0, edges: vec![1, 1] }, Digit::Whole, 20);
            }),
        ),
        (
            "1024 bins",
            Box::new(move |stream| {
                stream.parts[0] =
                    part(Quantity::Bins { column: 0, edges: (0..1024).collect() }, Digit::Whole, 20);
            }),
        ),
        ("1 to 65536 places", Box::new(|stream| stream.parts[0].quantities.clear())),
        ("once come before", Box::new(|stream| stream.parts[1].quantities.reverse())),
        ("reasons", Box::new(|stream| stream.parts[0].reasons = 200)),
        (
            "64 KiB",
            Box::new(|stream| {
                let more = (0..1900).map(|at| channel(&format!("{at:010}"), 0.0, 1.0, 0.1));
                stream.channels.extend(more);
            }),
        ),
    ];
    for (words, change) in changes {
        let mut stream = stream();
        change(&mut stream);
        let refused = made(stream).map(|_| ()).unwrap_err().to_string();
        assert!(refused.contains(words), "{words}: {refused}");
    }
}

#[test]
fn headers_are_bounded() {
    let bytes = header().write();
    let long = vec![0; LARGEST_STREAM_HEADER as usize + 1];
    assert!(matches!(StreamHeader::read(&[&bytes[..16], &long].concat()), Err(WireError::TooLarge { .. })));
    // A period that is not in lowest terms has a second form.
    let at = 16 + 16 + 1 + 6 + 1 + 4;
    assert_eq!(bytes[at..at + 8], [1, 0, 0, 0, 50, 0, 0, 0]);
    let twice = super::windows::resealed(&bytes, |frame| {
        frame[at..at + 8].copy_from_slice(&[2, 0, 0, 0, 100, 0, 0, 0]);
    });
    assert_eq!(
        StreamHeader::read(&twice).unwrap_err().to_string(),
        "the period of a stream is in lowest terms"
    );
    for (denominator, possible) in [(60_u32, true), (2000, false), (0, false)] {
        let other = super::windows::resealed(&bytes, |frame| {
            frame[at + 4..at + 8].copy_from_slice(&denominator.to_le_bytes());
        });
        let read = StreamHeader::read(&other).map(|header| (header.period(), header.write() == other));
        assert_eq!(read.ok(), possible.then(|| (Period::of_seconds(1, 60).unwrap(), true)), "{denominator}");
    }
}

proptest! {
    /// Every bit behind the frame's start: refused, or another header that is written as it was read.
    #[test]
    fn flipped_bits_are_refused_or_read_as_another_header(bit in 0_usize..8 * 200) {
        let bytes = header().write();
        let bit = 8 * 16 + bit % (8 * (bytes.len() - 48));
        let flipped = super::windows::resealed(&bytes, |frame| frame[bit / 8] ^= 1 << (bit % 8));
        if let Ok(read) = StreamHeader::read(&flipped) {
            prop_assert!(read != *header());
            prop_assert_eq!(read.write(), flipped);
        }
        prop_assert!(StreamHeader::read(&bytes[..bit / 8]).is_err());
    }
}

#[test]
fn channels_have_kinds() {
    let mut stream = stream();
    let bytes = header_of(stream.clone()).write();
    let states = State { hold: Some(u64::MAX), several: Several::First, ..State::of(["closed", "open"]) };
    let kinds = [
        ChannelKind::Interval,
        ChannelKind::Gauge(Gauge { several: Several::Refuse, hold: None }),
        ChannelKind::Gauge(Gauge { hold: Some(300_000), ..Gauge::default() }),
        ChannelKind::Counter(Counter { at_most: Some(0.5), ..Counter::default() }),
        ChannelKind::Counter(Counter::default()),
        ChannelKind::State(states),
        ChannelKind::Amount(Amount::default()),
        ChannelKind::Angle(Angle { several: Several::Max }),
    ];
    for (at, kind) in kinds.into_iter().enumerate() {
        let is_state = matches!(kind, ChannelKind::State(_));
        stream.channels[0] = Channel { kind, ..channel("level", -2.5, 407.0, 0.1) };
        if at == 7 {
            stream.channels[0].unit = "°".into();
        }
        if is_state {
            let (minimum, maximum, resolution) = (0.0, 1.0, Some(1.0));
            stream.channels[0] = Channel { minimum, maximum, resolution, ..stream.channels[0].clone() };
            let quantities = vec![placed(Quantity::Changes(0), Digit::Whole, 8)];
            stream.parts = vec![SumsPart { quantities, reasons: 0 }];
        }
        let header = header_of(stream.clone());
        let written = header.write();
        assert_eq!(written == bytes, at == 0, "channels without kinds have the bytes of before");
        let read = StreamHeader::read(&written).unwrap();
        assert_eq!(read.layout().channels(), stream.channels);
        for bit in 8 * 16..8 * (written.len() - 32) {
            let flipped = resealed(&written, |frame| frame[bit / 8] ^= 1 << (bit % 8));
            if let Ok(read) = StreamHeader::read(&flipped) {
                assert_eq!(read.write(), flipped, "{at}: bit {bit}");
            }
        }
        if is_state {
            stream = super::stream();
        }
    }
}
