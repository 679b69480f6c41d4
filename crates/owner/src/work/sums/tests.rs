//! Random edits of answers, whose digests are made anew: none opens as another sum.
#![allow(clippy::unwrap_used)]

use std::cell::Cell;
use std::sync::Arc;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use sotto_evaluate::{TaggedSum, TaggedSumming};
use sotto_keys::DeviceSecret;
use sotto_pack::{Channel, Digit, Period, Placed, Quantity as Sent, SumsPart, WindowDescription};
use sotto_rlwe::{KeyId, Origin};
use sotto_sums::{Encryptor, SALT_BYTES};
use sotto_wire::{Envelope, MaskName, StreamHeader, SumsAnswer, SumsStream};

use super::Task;
use super::open::Keys;
use crate::quantities::{Input, Inputs};

const SECRET: [u8; 32] = [5; 32];
const SALT: [u8; SALT_BYTES] = [3; SALT_BYTES];
const TICKS: u32 = 6;
const WINDOWS: u64 = 5;

/// Returns the stream: readings, and their squares beside counts by bin in a part of their own.
pub(super) fn stream() -> Arc<StreamHeader> {
    let level = Channel { name: "level".into(), maximum: 100.0, resolution: Some(1.0), ..Channel::default() };
    let part = |quantity, width| SumsPart {
        quantities: vec![Placed { quantity, digit: Digit::Whole, width }],
        reasons: 0,
    };
    let stream = SumsStream {
        device: "cellar".into(),
        stream: "tank".into(),
        period: Period::of_seconds(60, 1).unwrap(),
        ticks: TICKS,
        channels: vec![level],
        rounded: false,
        parts: vec![part(Sent::Reading(0), 16), part(Sent::Square(0), 24)],
    };
    Arc::new(StreamHeader::of_sums(stream, |_| KeyId([2; 16])).unwrap())
}

/// Returns a window of readings as its device signs it.
fn window(stream: &Arc<StreamHeader>, number: u64) -> Envelope {
    let description = WindowDescription::whole(
        stream.layout(),
        60_000 * i64::from(TICKS) * number as i64,
        Period::from_milliseconds(60_000),
        TICKS,
    );
    let readings: Vec<i64> = (0..i64::from(TICKS)).map(|tick| (tick * 7 + number as i64 * 5) % 50).collect();
    let id = stream.stream_id().unwrap();
    let mut encryptor = Encryptor::new(&SECRET, id, &SALT, number);
    let mut window = encryptor.window(number).unwrap();
    let mut parts = Vec::new();
    for (at, described) in (0..).zip(stream.parts()) {
        let form = stream.sums_form(at).unwrap();
        let counts = described.counts(&description);
        let value = |reading: &i64| Some(if at == 0 { *reading } else { reading * reading });
        let mut body = vec![0; form.body_bytes(TICKS)];
        let tag =
            window.encrypt(&form, TICKS, at as u32, readings.iter().map(value), counts, &mut body).unwrap();
        parts.extend_from_slice(&body);
        parts.extend_from_slice(&tag.to_bytes());
    }
    let name = MaskName { salt: SALT, sequence: number };
    Envelope::sign_sums(stream, number, name, description, &parts, |_| [0; 64]).unwrap()
}

fn input(window: &Envelope) -> Input {
    Input {
        id: String::new(),
        identity: window.signed_header().leaf(),
        sequence: window.header().sequence,
        name: window.mask(),
        window: Arc::new(window.signed_header().description().unwrap()),
        offset: 0,
        ticks: 0..TICKS,
        bytes: 0,
        origin: Origin::SecretKey,
        rolled: None,
        count: 1,
    }
}

/// A change of an answer's bytes.
#[derive(Clone, Debug)]
enum Edit {
    Flip(prop::sample::Index, u8),
    Add(prop::sample::Index, u64),
    Exchange(prop::sample::Index, prop::sample::Index, usize),
    Zeros(prop::sample::Index, usize),
    Insert(prop::sample::Index, Vec<u8>),
    Remove(prop::sample::Index, usize),
}

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    use prop::sample::Index;
    let one = prop_oneof![
        8 => (any::<Index>(), 1_u8..).prop_map(|(at, bits)| Edit::Flip(at, bits)),
        4 => (any::<Index>(), any::<u64>()).prop_map(|(at, number)| Edit::Add(at, number)),
        2 => (any::<Index>(), any::<Index>(), 1_usize..24).prop_map(|(a, b, length)| Edit::Exchange(a, b, length)),
        2 => (any::<Index>(), 1_usize..24).prop_map(|(at, length)| Edit::Zeros(at, length)),
        1 => (any::<Index>(), prop::collection::vec(any::<u8>(), 1..9)).prop_map(|(at, bytes)| Edit::Insert(at, bytes)),
        1 => (any::<Index>(), 1_usize..9).prop_map(|(at, length)| Edit::Remove(at, length)),
    ];
    prop::collection::vec(one, 1..3)
}

/// Edits what stands between the head of a frame and its digest, and makes the digest anew.
fn edited(frame: &[u8], edits: &[Edit]) -> Vec<u8> {
    let (head, mut payload) = (frame[..16].to_vec(), frame[16..frame.len() - 32].to_vec());
    for edit in edits {
        let length = payload.len().max(1);
        let at = |index: &prop::sample::Index| index.index(length);
        match edit {
            Edit::Flip(index, bits) => payload[at(index)] ^= bits,
            Edit::Add(index, number) => {
                let at = at(index).min(length.saturating_sub(8));
                let bytes: [u8; 8] = payload[at..at + 8].try_into().unwrap();
                let sum = u64::from_le_bytes(bytes).wrapping_add(*number);
                payload[at..at + 8].copy_from_slice(&sum.to_le_bytes());
            }
            Edit::Exchange(a, b, length) => {
                let (a, b) = (at(a), at(b));
                for offset in 0..*length {
                    if a + offset < payload.len() && b + offset < payload.len() {
                        payload.swap(a + offset, b + offset);
                    }
                }
            }
            Edit::Zeros(index, length) => {
                let at = at(index);
                let end = (at + length).min(payload.len());
                payload[at..end].fill(0);
            }
            Edit::Insert(index, bytes) => {
                let at = at(index);
                payload.splice(at..at, bytes.iter().copied());
            }
            Edit::Remove(index, length) => {
                let at = at(index);
                let end = (at + length).min(payload.len().saturating_sub(16));
                payload.drain(at.min(end)..end);
            }
        }
    }
    let mut frame = head;
    let length = (payload.len() as u64).to_le_bytes();
    frame[8..16].copy_from_slice(&length);
    frame.extend_from_slice(&payload);
    let digest = blake3::hash(&frame);
    frame.extend_from_slice(digest.as_bytes());
    frame
}

/// The number of edits is 100,000, or `SOTTO_EDITS`.
#[test]
fn no_edited_answer_opens_as_another_sum() {
    let stream = stream();
    let windows: Vec<Envelope> = (0..WINDOWS).map(|number| window(&stream, number)).collect();
    let (sums, parts) = ([(0, 5), (1, 3)], [0, 1]);
    let wanted =
        sums.iter().map(|windows| TaggedSum { windows: *windows, parts: &parts, weights: None }).collect();
    let mut summing = TaggedSumming::new(&stream, windows.len(), wanted).unwrap();
    windows.iter().for_each(|window| summing.add(window).unwrap());
    let frame = summing.frame().unwrap();

    let (inputs, secret): (Vec<Input>, _) =
        (windows.iter().map(input).collect(), DeviceSecret::from_bytes(&SECRET));
    let inputs = Inputs::of(&inputs);
    let task = |(first, count): (u32, u32)| Task {
        part: 0,
        windows: first as usize..(first + count) as usize,
        parts: parts.to_vec(),
        weights: None,
        factor: 1,
        read: Vec::new(),
        each: false,
    };
    let tasks: Vec<Task> = sums.map(task).into();
    let reads = |frame: &[u8]| SumsAnswer::read(frame, &stream, 1 << 16, WINDOWS as u32).is_ok();
    let opened = |frame: &[u8]| {
        let answer = SumsAnswer::read(frame, &stream, 1 << 16, WINDOWS as u32).ok()?;
        let mut keys = Keys::new(&secret, &stream).unwrap();
        let opened = keys.open(&answer, 0..inputs.len(), &tasks, &inputs).ok()?;
        Some(opened.into_iter().flatten().map(|part| (part.part, part.values)).collect::<Vec<_>>())
    };
    let honest = opened(&frame).expect("the honest answer opens");
    assert_eq!(opened(&edited(&frame, &[])), Some(honest.clone()), "the frame is made as it was");
    let number = |text: String| text.parse().expect("SOTTO_EDITS is a number");
    let cases = std::env::var("SOTTO_EDITS").map_or(100_000, number);
    let (reached, refused) = (Cell::new(0_u32), Cell::new(0_u32));
    let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    runner
        .run(&edits(), |edits| {
            let changed = edited(&frame, &edits);
            reached.set(reached.get() + u32::from(reads(&changed)));
            match opened(&changed) {
                Some(found) => prop_assert_eq!(&found, &honest, "{:?}", edits),
                None => refused.set(refused.get() + 1),
            }
            Ok(())
        })
        .unwrap();
    // Many are answers by their form, so that the tags decide.
    assert!(reached.get() > cases / 6 && refused.get() > cases / 2, "{reached:?} and {refused:?} of {cases}");
}
