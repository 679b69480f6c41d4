//! Headers of streams of sums.

use proptest::prelude::*;
use sotto_rlwe::KeyId;
use sotto_wire::{
    Digit, LARGEST_SUMS_HEADER, Quantity, SumsHeader, SumsPart, SumsStream, TickPeriod, WireError,
};

use super::{Refused, SECRET, column, header, placed, stream};

fn made(stream: SumsStream) -> Result<SumsHeader, WireError> {
    SumsHeader::new(stream, |_| KeyId([2; 16]))
}

#[test]
fn headers_are_read_as_written() {
    let header = header();
    let read = SumsHeader::read(&header.write()).unwrap();
    assert_eq!(read, *header);
    assert_eq!(
        (read.stream(), read.id(), read.stream_id()),
        (header.stream(), header.id(), header.stream_id())
    );
    for part in 0..3 {
        assert_eq!(read.form(part), header.form(part));
    }
    assert!(read.form(3).is_err());
}

/// Keys must not depend on the key's id, which is made of them; windows must tell a renewed device's headers apart.
#[test]
fn the_ids_bind_what_they_should() {
    let one = made(stream()).unwrap();
    let other = SumsHeader::new(stream(), |_| KeyId([3; 16])).unwrap();
    assert_eq!(one.stream_id(), other.stream_id());
    assert_ne!(one.id(), other.id());
    let changes: [fn(&mut SumsStream); 8] = [
        |stream| stream.device.push('2'),
        |stream| stream.stream.push('2'),
        |stream| stream.period = TickPeriod::new(1, 1).unwrap(),
        |stream| stream.ticks = 7,
        |stream| stream.columns[0].most -= 1,
        |stream| stream.parts[0].quantities[0].width += 1,
        |stream| stream.parts[0].reasons -= 1,
        |stream| {
            stream.parts[1].quantities[0].quantity = Quantity::Bins { column: 0, edges: vec![-5, 100, 4001] }
        },
    ];
    for (at, change) in changes.iter().enumerate() {
        let mut stream = stream();
        change(&mut stream);
        assert_ne!(made(stream).unwrap().stream_id(), one.stream_id(), "change {at}");
    }
    let keys = sotto_sums::StreamKeys::derive(&SECRET, one.stream_id());
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
        ("one name", Box::new(|stream| stream.columns[1].name = "level".into())),
        ("origin", Box::new(|stream| stream.columns[0].origin = f64::INFINITY)),
        ("step", Box::new(|stream| stream.columns[0].step = 0.0)),
        ("include 0", Box::new(|stream| stream.columns[0].least = 1)),
        ("2^60", Box::new(|stream| (stream.columns[0].least, stream.columns[0].most) = (i64::MIN, i64::MAX))),
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
        ("reasons", Box::new(|stream| stream.parts[0].reasons = 12)),
        (
            "64 KiB",
            Box::new(|stream| {
                stream.columns.extend((0..1900).map(|at| column(&at.to_string(), 0, 1)));
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
    let long = vec![0; LARGEST_SUMS_HEADER as usize + 1];
    assert!(matches!(SumsHeader::read(&[&bytes[..16], &long].concat()), Err(WireError::TooLarge { .. })));
    // A period that is not in lowest terms has a second form.
    let at = 16 + 16 + 1 + 6 + 1 + 4;
    assert_eq!(bytes[at..at + 8], [1, 0, 0, 0, 0x44, 0xac, 0, 0]);
    let twice = super::windows::resealed(&bytes, |frame| {
        frame[at..at + 8].copy_from_slice(&[2, 0, 0, 0, 0x88, 0x58, 1, 0]);
    });
    assert_eq!(
        SumsHeader::read(&twice).unwrap_err().to_string(),
        "the period of a stream is in lowest terms"
    );
}

proptest! {
    /// Every bit behind the frame's start: refused, or another header that is written as it was read.
    #[test]
    fn flipped_bits_are_refused_or_read_as_another_header(bit in 0_usize..8 * 200) {
        let bytes = header().write();
        let bit = 8 * 16 + bit % (8 * (bytes.len() - 48));
        let flipped = super::windows::resealed(&bytes, |frame| frame[bit / 8] ^= 1 << (bit % 8));
        if let Ok(read) = SumsHeader::read(&flipped) {
            prop_assert!(read != *header());
            prop_assert_eq!(read.write(), flipped);
        }
        prop_assert!(SumsHeader::read(&bytes[..bit / 8]).is_err());
    }
}
