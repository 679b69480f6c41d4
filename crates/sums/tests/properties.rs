//! Sums of any windows open to the sums of their values; forged ones are refused.
#![allow(missing_docs, clippy::unwrap_used)]

use proptest::collection::vec;
use proptest::prelude::*;
use sotto_sums::{
    Answer, EncryptError, Encryptor, Form, OpenError, Opening, PRIME, Part, Place, StartKeys, StreamKeys,
    Sum, SumError, TagKey,
};

const SECRET: [u8; 32] = [1; 32];
const STREAM: [u8; 32] = [2; 32];

/// A place with some room for sums: at most 2^7 values for each 2^7 of its residues.
fn place() -> impl Strategy<Value = Place> {
    (1_u32..=60).prop_flat_map(|width| {
        let values = 1_i64 << (width.saturating_sub(7));
        (0..values).prop_map(move |least| Place::new(width, -least, values - 1 - least).unwrap())
    })
}

#[derive(Clone, Debug)]
struct Shape {
    once: Vec<Place>,
    tick: Vec<Place>,
    counts: (u32, u32),
}

fn shape() -> impl Strategy<Value = Shape> {
    (vec(place(), 0..4), vec(place(), 1..4), (1_u32..3, 0_u32..3)).prop_map(|(once, tick, counts)| Shape {
        once,
        tick,
        counts,
    })
}

/// A window: salt, ticks, draws for its values and counts, presence, weight.
type Draw = (u8, u32, Vec<(u64, bool)>, Vec<u32>, i64);

fn windows(most_weight: i64) -> impl Strategy<Value = Vec<Draw>> {
    vec(
        (
            0_u8..3,
            0_u32..=5,
            vec((any::<u64>(), any::<bool>()), 18),
            vec(0_u32..9, 12),
            -most_weight..=most_weight,
        ),
        1..7,
    )
}

struct Window {
    salt: [u8; 12],
    number: u64,
    ticks: u32,
    values: Vec<Option<i64>>,
    counts: Vec<u32>,
    weight: i64,
    bytes: Vec<u8>,
}

fn places(form: &Form<'_>, shape: &Shape, ticks: u32) -> Vec<Place> {
    let mut places = shape.once.clone();
    (0..ticks).for_each(|_| places.extend(&shape.tick));
    assert_eq!(places.len(), form.places(ticks));
    places
}

fn form(shape: &Shape) -> Form<'_> {
    Form::new(&shape.once, &shape.tick, shape.counts.0, shape.counts.1, 5).unwrap()
}

/// The device's work.
fn encrypted(shape: &Shape, part: u32, draws: &[Draw]) -> Vec<Window> {
    let form = form(shape);
    let draws = draws.iter().enumerate();
    draws
        .map(|(at, (salt, ticks, values, counts, weight))| {
            let number = 3 * at as u64 + u64::from(*salt);
            let values: Vec<Option<i64>> = places(&form, shape, *ticks)
                .iter()
                .zip(values)
                .map(|(place, (draw, present))| {
                    let span = (place.most() - place.least()) as u64 + 1;
                    present.then_some(place.least() + (draw % span) as i64)
                })
                .collect();
            let counts = counts[..form.counts(*ticks)].to_vec();
            let mut bytes = vec![0; form.body_bytes(*ticks)];
            let mut encryptor = Encryptor::new(&SECRET, &STREAM, &[*salt; 12], 0);
            let mut window = encryptor.window(number).unwrap();
            let tag = window.encrypt(
                &form,
                *ticks,
                part,
                values.iter().copied(),
                counts.iter().copied(),
                &mut bytes,
            );
            bytes.extend(tag.unwrap().to_bytes());
            Window { salt: [*salt; 12], number, ticks: *ticks, values, counts, weight: *weight, bytes }
        })
        .collect()
}

/// The cloud's work.
fn summed<'a>(form: &Form<'a>, windows: &[Window]) -> Sum<'a> {
    let mut sum = Sum::new(form);
    for window in windows {
        let part = Part::read(form, window.ticks, &window.bytes).unwrap();
        sum.add(&part, &window.counts, window.weight).unwrap();
    }
    sum
}

/// The owner's request.
fn opening<'a>(form: &Form<'a>, part: u32, windows: &[Window]) -> Opening<'a> {
    let mut opening = Opening::new(form, part);
    for window in windows {
        let start = StartKeys::derive(&SECRET, &STREAM, &window.salt);
        let present = |place: usize| window.values[place].is_some();
        opening.add(&start, window.number, window.ticks, window.weight, present);
    }
    opening
}

fn key(form: &Form<'_>, part: u32) -> TagKey {
    TagKey::new(&StreamKeys::derive(&SECRET, &STREAM), form, part)
}

fn expected(form: &Form<'_>, windows: &[Window]) -> Vec<i64> {
    let ticks = windows.iter().map(|window| window.ticks).max().unwrap();
    let value =
        |window: &Window, place: usize| window.values.get(place).copied().flatten().unwrap_or_default();
    let sum = |place| windows.iter().map(|window| window.weight * value(window, place)).sum();
    (0..form.places(ticks)).map(sum).collect()
}

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
    fn rows_are_windows_of_weight_one(shape in shape(), ticks in 0_u32..=5, count in 0_usize..700) {
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

/// The largest weights that fit, for values at both ends; one more is refused before the answer is read.
#[test]
fn the_largest_sums_fit() {
    for (width, least, most, total) in [
        (8, 0, 17, 15),
        (8, -17, 0, 15),
        (8, -9, 8, 15),
        (60, 0, 1, (1 << 60) - 1),
        (1, 0, 1, 1),
        (60, -(1 << 58), 1 << 58, 1),
    ] {
        let columns = [Place::new(width, least, most).unwrap()];
        let form = Form::new(&columns, &[], 1, 0, 0).unwrap();
        for weight in [total, -total] {
            for value in [least, most] {
                let mut windows = encrypted_once(&form, value);
                windows[0].weight = weight;
                let (opening, sum) = (opening(&form, 0, &windows), summed(&form, &windows));
                assert!(opening.fits());
                assert_eq!(
                    opening.open(&key(&form, 0), &Answer::from(&sum)),
                    Ok(vec![weight * value]),
                    "{width} bits"
                );
            }
        }
        let mut windows = encrypted_once(&form, most);
        windows[0].weight = total + 1;
        let opening = opening(&form, 0, &windows);
        assert!(!opening.fits());
        windows[0].weight = 1;
        let sum = summed(&form, &windows);
        assert_eq!(opening.open(&key(&form, 0), &Answer::from(&sum)), Err(OpenError::Weights));
    }
}

fn encrypted_once(form: &Form<'_>, value: i64) -> Vec<Window> {
    let (mut bytes, values) = (vec![0; form.body_bytes(0)], vec![Some(value)]);
    let mut encryptor = Encryptor::new(&SECRET, &STREAM, &[0; 12], 0);
    let tag = encryptor.window(0).unwrap().encrypt(form, 0, 0, values.clone(), [1], &mut bytes).unwrap();
    bytes.extend(tag.to_bytes());
    vec![Window { salt: [0; 12], number: 0, ticks: 0, values, counts: vec![1], weight: 1, bytes }]
}

fn answer<'a>(form: &Form<'a>, bytes: &'a [u8]) -> Answer<'a> {
    Answer::from((&Part::read(form, 1, bytes).unwrap(), &[1][..]))
}

/// None of a million sums shifted at random, with a random difference of tags.
#[test]
fn forged_sums_are_refused() {
    let columns = [Place::new(6, 0, 1).unwrap()];
    let form = Form::new(&columns, &columns, 1, 0, 1).unwrap();
    let key = key(&form, 0);
    let mut encryptor = Encryptor::new(&SECRET, &STREAM, &[0; 12], 0);
    let mut bytes = vec![0; 2];
    let tag = encryptor.window(0).unwrap().encrypt(&form, 1, 0, [Some(1), Some(0)], [1], &mut bytes).unwrap();
    bytes.extend(tag.to_bytes());
    let mut opening = Opening::new(&form, 0);
    opening.add(&StartKeys::derive(&SECRET, &STREAM, &[0; 12]), 0, 1, 1, |_| true);
    assert_eq!(opening.open(&key, &answer(&form, &bytes)), Ok(vec![1, 0]));
    let body = u16::from_le_bytes([bytes[0], bytes[1]]);
    let mut word = 1_u64;
    for _ in 0..1_000_000 {
        word = word.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        let shifted = (body & 0xfc0) | ((body + 1 + (word >> 60) as u16) & 0x3f);
        bytes[..2].copy_from_slice(&shifted.to_le_bytes());
        bytes[2..].copy_from_slice(&((word ^ word >> 29) % PRIME).to_le_bytes());
        assert_eq!(opening.open(&key, &answer(&form, &bytes)), Err(OpenError::Refused));
    }
}

/// Two windows under one number give a difference away, with which every sum can be shifted: hence the conditions.
#[test]
fn a_number_used_twice_shifts_every_sum() {
    let columns = [Place::new(30, 0, 4095).unwrap()];
    let form = Form::new(&columns, &[], 1, 0, 0).unwrap();
    let column = |windows: &[Window]| summed(&form, windows).columns().next().unwrap();
    let (first, second, other) = (
        encrypted_once(&form, 100),
        encrypted_once(&form, 90),
        encrypted(
            &Shape { once: columns.to_vec(), tick: vec![], counts: (1, 0) },
            0,
            &[(1, 0, vec![(2000, true)], vec![1; 12], 1)],
        ),
    );
    assert_eq!(column(&first) - column(&second), 10);
    // other + first − second, told as other.
    let mut windows = other;
    let asked = opening(&form, 0, &windows);
    windows.extend(first);
    windows.extend(second.into_iter().map(|window| Window { weight: -1, ..window }));
    let shifted = summed(&form, &windows);
    assert_eq!(asked.open(&key(&form, 0), &Answer::from(&shifted)), Ok(vec![2010]));
}

#[test]
fn misfits_are_refused_by_name() {
    let columns = [Place::new(13, 0, 100).unwrap()];
    let form = Form::new(&columns, &columns, 1, 1, 2).unwrap();
    let mut encryptor = Encryptor::new(&SECRET, &STREAM, &[0; 12], 5);
    assert_eq!(encryptor.window(4).err(), Some(EncryptError::Number));
    let mut window = encryptor.window(7).unwrap();
    let mut body = [1; 4];
    let whole = [Some(1), Some(2)];
    let mut refused = |ticks, values: &[Option<i64>], counts: &[u32], length: usize| {
        body.fill(1);
        let refused = window.encrypt(
            &form,
            ticks,
            0,
            values.iter().copied(),
            counts.iter().copied(),
            &mut body[..length],
        );
        assert_eq!(body[..length], [0; 4][..length], "nothing of the window is left");
        refused.err()
    };
    assert_eq!(refused(3, &whole, &[1, 1], 4), Some(EncryptError::Ticks));
    assert_eq!(refused(1, &whole, &[1, 1], 3), Some(EncryptError::Output));
    assert_eq!(refused(1, &whole[..1], &[1, 1], 4), Some(EncryptError::Values));
    assert_eq!(refused(1, &[None; 3], &[1, 1], 4), Some(EncryptError::Values));
    assert_eq!(refused(1, &whole, &[1], 4), Some(EncryptError::Values));
    assert_eq!(refused(1, &whole, &[1, 1, 1], 4), Some(EncryptError::Values));
    assert_eq!(refused(1, &[Some(1), Some(101)], &[1, 1], 4), Some(EncryptError::Range));
    assert_eq!(refused(1, &[Some(-1), Some(1)], &[1, 1], 4), Some(EncryptError::Range));
    // A refused part may be encrypted with other values.
    assert_eq!(refused_is_none(&mut window, &form), None);
    let last = encryptor.window(u64::MAX).map(|_| ());
    assert_eq!((last, encryptor.window(u64::MAX).err()), (Ok(()), Some(EncryptError::Number)));

    let mut sum = Sum::new(&form);
    let part = Part::read(&form, 1, &[0; 12]).unwrap();
    assert_eq!(sum.add(&part, &[1], 1), Err(SumError::Counts { expected: 2, found: 1 }));
    sum.add(&part, &[1, 0], (1 << 60) - 1).unwrap();
    assert_eq!(sum.add(&part, &[1, 0], 1), Err(SumError::Overflow));
    assert_eq!(sum.add(&part, &[u32::MAX, 0], i64::MIN), Err(SumError::Overflow));
    assert!(matches!(sum.add_rows(1, &[0; 13], &[1, 1]), Err(SumError::Row(_))));
    assert!(matches!(sum.add_rows(1, &[0xff; 12], &[1, 1]), Err(SumError::Row(_))));
    assert_eq!(sum.counts(), [(1 << 60) - 1, 0], "nothing was added");
}

fn refused_is_none(window: &mut sotto_sums::Window<'_>, form: &Form<'_>) -> Option<EncryptError> {
    window.encrypt(form, 1, 0, [Some(1), Some(2)], [1, 1], &mut [0; 4]).err()
}
