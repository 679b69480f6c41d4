//! Sums without a lattice: parts of windows, and sums that the cloud answers.

use sotto_sums::{Answer, Form, Opening, Part, Place, StartKeys, StreamKeys, Sum, TAG_BYTES, TagKey};

use super::{Inputs, Target};

#[rustfmt::skip]
pub(super) const TARGETS: &[Target] = &[
    Target { name: "sums-part", run: part, inputs: Inputs::MadeAnew(parts), memory: |_| 16 << 10 },
    Target { name: "sums-answer", run: answer, inputs: Inputs::MadeAnew(answers), memory: |_| 16 << 10 },
];

const ONCE: [Place; 2] = [place(12, 0, 15), place(60, -(1 << 40), 1 << 40)];
const TICK: [Place; 2] = [place(23, 0, 4095), place(33, -100, 100)];

const fn place(width: u32, least: i64, most: i64) -> Place {
    match Place::new(width, least, most) {
        Ok(place) => place,
        Err(_) => panic!("a place"),
    }
}

fn form() -> Form<'static> {
    Form::new(&ONCE, &TICK, 1, 1, 24).expect("a form")
}

fn parts() -> Vec<Vec<u8>> {
    (0..=24).step_by(8).map(|ticks| vec![7 << 4; form().body_bytes(ticks) + TAG_BYTES]).map(short).collect()
}

/// Makes the padding zero, and the tag canonical.
fn short(mut bytes: Vec<u8>) -> Vec<u8> {
    let tag = bytes.len() - TAG_BYTES;
    bytes[tag - 1] = 0;
    bytes[tag..].fill(1);
    bytes
}

/// The bytes decide the length of the window.
fn part(bytes: &[u8]) -> bool {
    let mut accepted = false;
    for ticks in 0..=25 {
        let Ok(part) = Part::read(&form(), ticks, bytes) else { continue };
        accepted = true;
        let counts = vec![1; form().counts(ticks)];
        let mut sum = Sum::new(&form());
        sum.add(&part, &counts, 1).expect("a window of the form");
        let again = sum.to_bytes();
        assert_eq!(again[..part.body().len()], *part.body());
        assert_eq!(again[again.len() - TAG_BYTES..], bytes[part.body().len()..]);
    }
    accepted
}

fn answers() -> Vec<Vec<u8>> {
    let windows = parts();
    let ticks = [0, 8, 16, 24];
    ticks
        .iter()
        .zip(&windows)
        .map(|(ticks, bytes)| {
            let mut sum = Sum::new(&form());
            let part = Part::read(&form(), *ticks, bytes).expect("a part");
            sum.add(&part, &vec![1; form().counts(*ticks)], 3).expect("a window of the form");
            sum.to_bytes()
        })
        .collect()
}

/// Reads an answer, and opens it: no answer here is the sum of the window that was asked for.
fn answer(bytes: &[u8]) -> bool {
    let mut accepted = false;
    for ticks in 0..=25 {
        let Ok(answer) = Answer::read(&form(), ticks, bytes) else { continue };
        accepted = true;
        assert_eq!(answer.to_bytes(), bytes);
        let mut opening = Opening::new(&form(), 0);
        opening.add(&StartKeys::derive(&[1; 32], &[2; 32], &[3; 12]), 7, ticks, 3, |_| true);
        let key = TagKey::new(&StreamKeys::derive(&[1; 32], &[2; 32]), &form(), 0);
        assert!(opening.open(&key, &answer).is_err(), "forged");
    }
    accepted
}
