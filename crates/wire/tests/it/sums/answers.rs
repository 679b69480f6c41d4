//! Answers over windows of streams of sums.

use proptest::prelude::*;
use sotto_sums::Sum;
use sotto_wire::{MaskName, PartSum, StreamHeader, SumsAnswer, WindowNames, WireError};

use super::{Head, gappy, header, pad, reading, window};

/// Two sums, of parts 0 and 2 and of part 1, of two windows.
fn answer(header: &std::sync::Arc<StreamHeader>) -> Vec<u8> {
    let windows = [gappy(), Head::whole(header, 301, MaskName { salt: [4; 12], sequence: 0 }, 0, 3)];
    let windows = windows.map(|head| window(header, head, &reading));
    let forms = [0, 1, 2].map(|part| header.sums_form(part).unwrap());
    let mut sums = forms.each_ref().map(Sum::new);
    for (window, weight) in windows.iter().zip([3, -2]) {
        for (part, sum) in sums.iter_mut().enumerate() {
            let counts = header.parts()[part].counts(&window.signed_header().description().unwrap());
            sum.add(&window.part(part).unwrap(), &counts, weight).unwrap();
        }
    }
    let names = windows.iter().map(|window| window.mask().unwrap()).collect();
    let [first, second, third] = &sums;
    let sums = vec![PartSum::of((0, 2), &[(0, first), (2, third)]), PartSum::of((0, 2), &[(1, second)])];
    SumsAnswer { names, sums }.write(header).unwrap()
}

#[test]
fn answers_are_read_as_written() {
    let header = header();
    let bytes = answer(&header);
    let read = SumsAnswer::read(&bytes, &header, 1 << 20, 2).unwrap();
    assert_eq!(read.write(&header).unwrap(), bytes);
    assert_eq!(read.names.iter().collect::<Vec<_>>(), [pad(297), MaskName { salt: [4; 12], sequence: 0 }]);
    assert_eq!(read.sums[0].parts().map(|(part, _)| part).collect::<Vec<_>>(), [0, 2]);
    assert!(read.sums[0].part(1).is_none());
    assert_eq!(read.sums[1].part(1).unwrap().counts()[0], 1);
    // Limits: bytes, and windows.
    assert!(matches!(SumsAnswer::read(&bytes, &header, 100, 2), Err(WireError::TooLarge { .. })));
    assert!(SumsAnswer::read(&bytes, &header, 1 << 20, 1).is_err());
    let mut other = super::stream();
    other.ticks = 7;
    assert!(SumsAnswer::read(&bytes, &super::header_of(other), 1 << 20, 2).is_err());
}

#[test]
fn flipped_bits_are_refused_or_read_as_another_answer() {
    let header = header();
    let bytes = answer(&header);
    for bit in 8 * 16..8 * (bytes.len() - 32) {
        let flipped = super::windows::resealed(&bytes, |frame| frame[bit / 8] ^= 1 << (bit % 8));
        if let Ok(read) = SumsAnswer::read(&flipped, &header, 1 << 20, 2) {
            assert_eq!(read.write(&header).unwrap(), flipped, "bit {bit}");
        }
    }
    for end in 0..bytes.len() {
        assert!(SumsAnswer::read(&bytes[..end], &header, 1 << 20, 2).is_err());
    }
}

#[test]
fn sums_that_no_reader_takes_are_not_written() {
    let header = header();
    let (first, second) = (header.sums_form(0).unwrap(), header.sums_form(1).unwrap());
    let (first, second) = (Sum::new(&first), Sum::new(&second));
    let names: WindowNames = [pad(1)].into_iter().collect();
    let of = |windows, parts: &[(u8, &Sum<'_>)]| {
        SumsAnswer { names: names.clone(), sums: vec![PartSum::of(windows, parts)] }.write(&header)
    };
    assert!(of((0, 1), &[(0, &first), (1, &second)]).is_ok());
    assert!(of((0, 2), &[(0, &first)]).is_err());
    assert!(of((1, 1), &[(0, &first)]).is_err());
    assert!(of((0, 0), &[(0, &first)]).is_err());
    assert!(of((0, 1), &[]).is_err());
    assert!(of((0, 1), &[(1, &second), (0, &first)]).is_err());
    assert!(of((0, 1), &[(0, &first), (0, &first)]).is_err());
    assert!(of((0, 1), &[(1, &first)]).is_err());
}

proptest! {
    #[test]
    fn any_names_are_read_as_written(
        names in prop::collection::vec((0_u8..3, prop_oneof![0_u64..6, u64::MAX - 3..=u64::MAX, any::<u64>()]), 0..40),
    ) {
        let header = header();
        let names: Vec<MaskName> =
            names.into_iter().map(|(start, sequence)| MaskName { salt: [start; 12], sequence }).collect();
        let written = SumsAnswer { names: names.iter().copied().collect(), sums: Vec::new() };
        let bytes = written.write(&header).unwrap();
        let read = SumsAnswer::read(&bytes, &header, 1 << 20, names.len() as u32).unwrap();
        prop_assert_eq!(&read.names, &written.names);
        prop_assert_eq!(read.names.iter().collect::<Vec<_>>(), names);
        prop_assert_eq!(read.write(&header).unwrap(), bytes);
    }
}

/// A million windows of one start take a few bytes; a claim of 2^64 windows allocates nothing.
#[test]
fn names_are_short() {
    let names: WindowNames = (0..1_000_000).map(pad).collect();
    let bytes = SumsAnswer { names, sums: Vec::new() }.write(&header()).unwrap();
    assert!(bytes.len() < 48 + 32 + 4 + 24, "{} bytes", bytes.len());
}
