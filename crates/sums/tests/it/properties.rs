//! Sums of any windows open to the sums of their values, and to nothing else.

use proptest::collection::vec;
use proptest::prelude::*;
use sotto_sums::{
    Answer, Encryptor, OpenError, Opening, PRIME, Part, Place, StartKeys, StreamKeys, Sum, TagKey,
};

use crate::windows::{
    SECRET, STREAM, Window, encrypted, expected, form, key, opening, places, shape, summed, windows,
};

proptest! {
    #[test]
    fn sums_are_exact(shape in shape(), part: u32, draws in windows(20)) {
        let form = form(&shape);
        let windows = encrypted(&shape, part, &draws);
        let opening = opening(&form, part, &windows);
        let sum = summed(&form, &windows);
        let answer = Answer::read(&form, sum.ticks(), &sum.to_bytes()).unwrap();
        prop_assert!(opening.fits(), "Σ|c| is at most 120");
        prop_assert_eq!(opening.open(&key(&form, part), &answer), Ok(expected(&form, &windows)));
    }

    #[test]
    fn a_changed_answer_is_refused(shape in shape(), draws in windows(20), at: prop::sample::Index, bit in 0..8) {
        let form = form(&shape);
        let windows = encrypted(&shape, 1, &draws);
        let (opening, sum) = (opening(&form, 1, &windows), summed(&form, &windows));
        let mut bytes = sum.to_bytes();
        let length = bytes.len();
        bytes[at.index(length)] ^= 1_u8 << bit;
        if let Ok(answer) = Answer::read(&form, sum.ticks(), &bytes) {
            prop_assert_eq!(opening.open(&key(&form, 1), &answer), Err(OpenError::Refused));
        }
    }

    #[test]
    fn other_windows_are_refused(shape in shape(), draws in windows(20), at: prop::sample::Index, by in 1_i64..5) {
        // The sum of nothing is 0 in every part.
        prop_assume!(draws.iter().any(|draw| draw.4 != 0));
        let form = form(&shape);
        let mut windows = encrypted(&shape, 1, &draws);
        let sum = summed(&form, &windows);
        let key = key(&form, 1);
        let at = at.index(windows.len());
        // Another weight, another number, another start.
        windows[at].weight += by;
        prop_assert!(opening(&form, 1, &windows).open(&key, &Answer::from(&sum)).is_err());
        windows[at].weight -= by;
        if windows[at].weight != 0 {
            windows[at].number += by as u64;
            prop_assert!(opening(&form, 1, &windows).open(&key, &Answer::from(&sum)).is_err());
            windows[at].number -= by as u64;
            windows[at].salt[11] ^= 0x80;
            prop_assert!(opening(&form, 1, &windows).open(&key, &Answer::from(&sum)).is_err());
        }
        // Another part.
        let other = opening(&form, 2, &windows);
        prop_assert_eq!(other.open(&TagKey::new(&StreamKeys::derive(&SECRET, &STREAM), &form, 2), &Answer::from(&sum)), Err(OpenError::Refused));
    }

    #[test]
    fn rows_are_windows_of_weight_one(
        shape in shape(), ticks in 0_u32..=5, count in prop_oneof![0_usize..8, 0_usize..700],
    ) {
        prop_assume!(!shape.once.is_empty() || ticks > 0);
        let form = form(&shape);
        let counts = vec![2; form.counts(ticks)];
        let mut word = count as u64 + 1;
        let mut rows = Vec::new();
        for _ in 0..count {
            let mut body: Vec<u8> = (0..form.body_bytes(ticks)).map(|_| {
                word = word.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
                (word >> 56) as u8 | if word.is_multiple_of(3) { 0xff } else { 0 }
            }).collect();
            let bits: u32 = places(&form, &shape, ticks).iter().map(Place::width).sum();
            if !bits.is_multiple_of(8) {
                *body.last_mut().unwrap() &= (1 << (bits % 8)) - 1;
            }
            rows.extend(body);
            rows.extend((word % PRIME).to_le_bytes());
        }
        let (mut one_by_one, mut together) = (Sum::new(&form), Sum::new(&form));
        for row in rows.chunks_exact(form.body_bytes(ticks) + 8) {
            one_by_one.add(&Part::read(&form, ticks, row).unwrap(), &counts, 1).unwrap();
        }
        together.add_rows(ticks, &rows, &counts).unwrap();
        if count > 0 {
            prop_assert_eq!(one_by_one.to_bytes(), together.to_bytes());
        }
    }

    #[test]
    fn many_windows_are_opened_like_each(
        shape in shape(), ticks in 0_u32..=5, windows in vec((any::<u64>(), -3_i64..=3), 0..40), ones: bool,
    ) {
        let form = form(&shape);
        let start = StartKeys::derive(&SECRET, &STREAM, &[7; 12]);
        let windows: Vec<(u64, i64)> = windows.iter().map(|(n, c)| (*n, if ones { 1 } else { *c })).collect();
        let (mut each, mut many) = (Opening::new(&form, 4), Opening::new(&form, 4));
        windows.iter().for_each(|(number, weight)| each.add(&start, *number, ticks, *weight, |_| true));
        many.add_whole(&start, ticks, &windows);
        // Both take the same pads away: an answer made for one opens with the other.
        let windows: Vec<Window> = windows.iter().map(|(number, weight)| {
            let values: Vec<Option<i64>> = vec![Some(0); form.places(ticks)];
            let (mut bytes, counts) = (vec![0; form.body_bytes(ticks)], vec![1; form.counts(ticks)]);
            let mut encryptor = Encryptor::new(&SECRET, &STREAM, &[7; 12], 0);
            let mut window = encryptor.window(*number).unwrap();
            let tag = window.encrypt(&form, ticks, 4, values.iter().copied(), counts.iter().copied(), &mut bytes).unwrap();
            bytes.extend(tag.to_bytes());
            Window { salt: [7; 12], number: *number, ticks, values, counts, weight: *weight, bytes }
        }).collect();
        prop_assume!(!windows.is_empty());
        let (sum, key) = (summed(&form, &windows), key(&form, 4));
        prop_assert_eq!(each.open(&key, &Answer::from(&sum)), Ok(vec![0; form.places(ticks)]));
        prop_assert_eq!(many.open(&key, &Answer::from(&sum)), Ok(vec![0; form.places(ticks)]));
    }
}
