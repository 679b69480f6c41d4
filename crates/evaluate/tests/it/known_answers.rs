//! The known answers of `spec/sums_wire.py`: header, windows, an answer byte for byte, and its values.

use std::sync::Arc;

use serde::Deserialize;
use sotto_evaluate::{TaggedSum, TaggedSumming};
use sotto_sums::{Opening, StartKeys, StreamKeys, TagKey};
use sotto_wire::{SumsAnswer, SumsHeader, SumsWindow};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    secret: String,
    verifying_key: String,
    stream_id: String,
    key_id: String,
    header_id: String,
    header: String,
    windows: Vec<Window>,
    asked: Vec<Vec<u8>>,
    answer: String,
    opened: Vec<Vec<i64>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Window {
    message: String,
    weight: i64,
    number: u64,
    sequence: u64,
}

fn array(text: &str) -> [u8; 32] {
    hex::decode(text).unwrap().try_into().unwrap()
}

#[test]
fn the_specification_makes_and_opens_the_same_bytes() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../conformance/vectors/sums-wire.json");
    let case: Case = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let frame = hex::decode(&case.header).unwrap();
    let header = Arc::new(SumsHeader::read(&frame).unwrap());
    let (secret, id) = (array(&case.secret), header.stream_id());
    let keys = StreamKeys::derive(&secret, id);
    assert_eq!(header.write(), frame);
    assert_eq!((hex::encode(id), hex::encode(keys.id())), (case.stream_id, case.key_id.clone()));
    assert_eq!((hex::encode(header.id().0), header.key().to_string()), (case.header_id, case.key_id));

    let windows: Vec<SumsWindow> = case
        .windows
        .iter()
        .map(|told| {
            let message = hex::decode(&told.message).unwrap();
            let window = SumsWindow::read(&message, &header).unwrap();
            window.signed().verify(&array(&case.verifying_key)).unwrap();
            assert_eq!(window.write(), message);
            let head = window.signed().head();
            assert_eq!((head.sequence, head.pad.number), (told.sequence, told.number));
            window
        })
        .collect();
    let weights: Vec<i64> = case.windows.iter().map(|told| told.weight).collect();
    let count = windows.len() as u32;
    let sum = |parts| TaggedSum { windows: (0, count), parts, weights: Some(&weights) };
    let wanted = case.asked.iter().map(|parts| sum(parts)).collect();
    let mut summing = TaggedSumming::new(&header, windows.len(), wanted).unwrap();
    windows.iter().for_each(|window| summing.add(window).unwrap());
    let answer = summing.frame().unwrap();
    assert_eq!(hex::encode(&answer), case.answer);

    let answer = SumsAnswer::read(&answer, &header, 1 << 20, count).unwrap();
    for (asked, sum) in case.asked.iter().zip(&answer.sums) {
        for part in asked {
            let form = header.form(usize::from(*part)).unwrap();
            let mut opening = Opening::new(&form, (*part).into());
            for (window, weight) in windows.iter().zip(&weights) {
                let head = window.signed().head();
                let present = head.present(&header, usize::from(*part)).unwrap();
                let start = StartKeys::derive(&secret, id, &head.pad.salt);
                opening.add(&start, head.pad.number, head.sent_ticks(), *weight, |place| present[place]);
            }
            let key = TagKey::new(&keys, &form, (*part).into());
            let opened = opening.open(&key, sum.part(*part).unwrap()).unwrap();
            assert_eq!(opened, case.opened[usize::from(*part)], "part {part}");
        }
    }
}
