//! Forms and windows at random, and the work of device, cloud and owner on them.

use proptest::collection::vec;
use proptest::prelude::*;
use sotto_sums::{Encryptor, Form, Opening, Part, Place, StartKeys, StreamKeys, Sum, TagKey};

pub(crate) const SECRET: [u8; 32] = [1; 32];
pub(crate) const STREAM: [u8; 32] = [2; 32];

/// A place with some room for sums: at most 2^7 values for each 2^7 of its residues.
pub(crate) fn place() -> impl Strategy<Value = Place> {
    (1_u32..=60).prop_flat_map(|width| {
        let values = 1_i64 << (width.saturating_sub(7));
        (0..values).prop_map(move |least| Place::new(width, -least, values - 1 - least).unwrap())
    })
}

#[derive(Clone, Debug)]
pub(crate) struct Shape {
    pub(crate) once: Vec<Place>,
    pub(crate) tick: Vec<Place>,
    pub(crate) counts: (u32, u32),
}

pub(crate) fn shape() -> impl Strategy<Value = Shape> {
    (vec(place(), 0..4), vec(place(), 1..4), (1_u32..3, 0_u32..3)).prop_map(|(once, tick, counts)| Shape {
        once,
        tick,
        counts,
    })
}

/// A window: salt, ticks, draws for its values and counts, presence, weight.
pub(crate) type Draw = (u8, u32, Vec<(u64, bool)>, Vec<u16>, i64);

pub(crate) fn windows(most_weight: i64) -> impl Strategy<Value = Vec<Draw>> {
    vec(
        (
            0_u8..3,
            0_u32..=5,
            vec((any::<u64>(), any::<bool>()), 18),
            vec(0_u16..9, 12),
            -most_weight..=most_weight,
        ),
        1..7,
    )
}

pub(crate) struct Window {
    pub(crate) salt: [u8; 12],
    pub(crate) number: u64,
    pub(crate) ticks: u32,
    pub(crate) values: Vec<Option<i64>>,
    pub(crate) counts: Vec<u16>,
    pub(crate) weight: i64,
    pub(crate) bytes: Vec<u8>,
}

pub(crate) fn places(form: &Form<'_>, shape: &Shape, ticks: u32) -> Vec<Place> {
    let mut places = shape.once.clone();
    (0..ticks).for_each(|_| places.extend(&shape.tick));
    assert_eq!(places.len(), form.places(ticks));
    places
}

pub(crate) fn form(shape: &Shape) -> Form<'_> {
    Form::new(&shape.once, &shape.tick, shape.counts.0, shape.counts.1, 5).unwrap()
}

/// The device's work.
pub(crate) fn encrypted(shape: &Shape, part: u32, draws: &[Draw]) -> Vec<Window> {
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
pub(crate) fn summed<'a>(form: &Form<'a>, windows: &[Window]) -> Sum<'a> {
    let mut sum = Sum::new(form);
    for window in windows {
        let part = Part::read(form, window.ticks, &window.bytes).unwrap();
        sum.add(&part, &window.counts, window.weight).unwrap();
    }
    sum
}

/// The owner's request.
pub(crate) fn opening<'a>(form: &Form<'a>, part: u32, windows: &[Window]) -> Opening<'a> {
    let mut opening = Opening::new(form, part);
    for window in windows {
        let start = StartKeys::derive(&SECRET, &STREAM, &window.salt);
        let present = |place: usize| window.values[place].is_some();
        opening.add(&start, window.number, window.ticks, window.weight, present);
    }
    opening
}

pub(crate) fn key(form: &Form<'_>, part: u32) -> TagKey {
    TagKey::new(&StreamKeys::derive(&SECRET, &STREAM), form, part)
}

pub(crate) fn expected(form: &Form<'_>, windows: &[Window]) -> Vec<i64> {
    let ticks = windows.iter().map(|window| window.ticks).max().unwrap();
    let value =
        |window: &Window, place: usize| window.values.get(place).copied().flatten().unwrap_or_default();
    let sum = |place| windows.iter().map(|window| window.weight * value(window, place)).sum();
    (0..form.places(ticks)).map(sum).collect()
}

/// A window of one place, with this value.
pub(crate) fn encrypted_once(form: &Form<'_>, value: i64) -> Vec<Window> {
    let (mut bytes, values) = (vec![0; form.body_bytes(0)], vec![Some(value)]);
    let mut encryptor = Encryptor::new(&SECRET, &STREAM, &[0; 12], 0);
    let tag = encryptor.window(0).unwrap().encrypt(form, 0, 0, values.clone(), [1], &mut bytes).unwrap();
    bytes.extend(tag.to_bytes());
    vec![Window { salt: [0; 12], number: 0, ticks: 0, values, counts: vec![1], weight: 1, bytes }]
}
