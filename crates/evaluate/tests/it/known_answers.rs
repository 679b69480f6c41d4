//! The known answers of `spec/sums_wire.py`: header, windows, an answer byte for byte, and its values.

use std::sync::Arc;

use serde::Deserialize;
use sotto_evaluate::{TaggedSum, TaggedSumming};
use sotto_pack::Presence;
use sotto_rlwe::KeyId;
use sotto_sums::{Encryptor, Opening, StartKeys, StreamKeys, TagKey};
use sotto_wire::{Envelope, StreamHeader, SumsAnswer, SumsStream, TakenReceipt};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    secret: String,
    verifying_key: String,
    tops: Vec<i64>,
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
    /// By column and tick; None where a reading is missing.
    readings: Vec<Vec<Option<i64>>>,
    /// By part and place.
    values: Vec<Vec<Option<i64>>>,
    /// By column, of a stream that counts rounded readings.
    #[serde(default)]
    rounded: Option<Vec<u32>>,
    /// The numbers of the windows in whose place it comes, and the columns whose readings it replaces.
    #[serde(default)]
    replaces: Option<(Vec<u64>, Vec<u16>)>,
    #[serde(default)]
    provisional: bool,
    /// The number and the position of the last receipt that the device took.
    #[serde(default)]
    receipt: Option<(u64, u64)>,
}

fn array(text: &str) -> [u8; 32] {
    hex::decode(text).unwrap().try_into().unwrap()
}

/// Returns the cases: of a stream that does not count rounded readings, of one that does, and of one with windows of all flags
/// and with quantities of a counter.
fn read() -> [(Case, Arc<StreamHeader>); 3] {
    ["sums-wire", "sums-wire-rounded", "sums-wire-flags"].map(|name| {
        let path = format!("{}/../../conformance/vectors/{name}.json", env!("CARGO_MANIFEST_DIR"));
        let case: Case = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let header = StreamHeader::read(&hex::decode(&case.header).unwrap()).unwrap();
        assert_eq!(header.counts_rounded(), name == "sums-wire-rounded");
        (case, Arc::new(header))
    })
}

#[test]
fn headers_and_ids_are_those_of_the_specification() {
    read().into_iter().for_each(|(case, header)| header_of(&case, &header));
}

fn header_of(case: &Case, header: &Arc<StreamHeader>) {
    let id = header.stream_id().unwrap();
    let keys = StreamKeys::derive(&array(&case.secret), id);
    assert_eq!(hex::encode(header.write()), case.header);
    assert_eq!((hex::encode(id), hex::encode(keys.id())), (case.stream_id.clone(), case.key_id.clone()));
    assert_eq!(
        (hex::encode(header.id().0), header.key().to_string()),
        (case.header_id.clone(), case.key_id.clone())
    );
    let quantisers = (0..).map_while(|column| header.layout().quantiser(column));
    assert_eq!(quantisers.map(|quantiser| quantiser.top()).collect::<Vec<_>>(), case.tops);
    // Made of its facts, it is the same.
    let facts = SumsStream {
        device: header.device().into(),
        stream: header.stream().into(),
        period: sotto_pack::Period::of_seconds(1, 50).unwrap(),
        ticks: header.layout().ticks(),
        channels: header.layout().channels().to_vec(),
        rounded: header.counts_rounded(),
        parts: header.parts().to_vec(),
    };
    assert_eq!(StreamHeader::of_sums(facts, |_| KeyId(keys.id())).unwrap().write(), header.write());
}

/// A device that packs and encrypts the readings sends the bytes of the specification.
#[test]
fn windows_are_those_of_the_specification() {
    read().into_iter().for_each(|(case, header)| windows_of(&case, &header));
}

fn windows_of(case: &Case, header: &Arc<StreamHeader>) {
    let (secret, layout) = (array(&case.secret), header.layout());
    for told in &case.windows {
        let message = hex::decode(&told.message).unwrap();
        let window = Envelope::read_window(&message, header).unwrap();
        window.verify(&array(&case.verifying_key)).unwrap();
        assert_eq!(window.write(), message);
        let mask = window.mask().unwrap();
        assert_eq!((window.header().sequence, mask.sequence), (told.sequence, told.number));

        let described = window.signed_header().description().unwrap();
        assert_eq!(described.rounded, told.rounded);
        let replaces = described.replaces.clone().map(|replaces| (replaces.windows, replaces.channels));
        assert_eq!((replaces, described.provisional), (told.replaces.clone(), told.provisional));
        let receipt = told.receipt.map(|(sequence, position)| TakenReceipt { sequence, position });
        assert_eq!(window.signed_header().taken_receipt(), receipt);
        let mut slots = vec![0; layout.slots()];
        for (column, readings) in (0..).zip(&told.readings) {
            let mut presence = Presence::default();
            for (tick, q) in (0..).zip(readings).filter_map(|(tick, q)| Some((tick, (*q)?))) {
                slots[layout.slot(column, tick).unwrap()] = q;
                presence.insert(tick);
            }
            assert_eq!(described.presence(column), Some(presence));
        }
        let presence: Vec<Presence> =
            (0..layout.channels().len() as u16).map(|column| described.presence(column).unwrap()).collect();
        let ticks = described.sent_ticks();
        let mut encryptor = Encryptor::new(&secret, header.stream_id().unwrap(), &mask.salt, 0);
        let (mut pads, mut parts) = (encryptor.window(mask.sequence).unwrap(), Vec::new());
        for (at, (part, expected)) in header.parts().iter().zip(&told.values).enumerate() {
            let form = header.sums_form(at).unwrap();
            let values = part.values(layout, ticks, &slots, &presence);
            assert_eq!(values, *expected, "part {at} of window {}", told.sequence);
            let (mut body, counts) = (vec![0; form.body_bytes(ticks)], part.counts(&described));
            let tag = pads.encrypt(&form, ticks, at as u32, values, counts, &mut body).unwrap();
            parts.extend([&body[..], &tag.to_bytes()].concat());
        }
        let signature = *message.last_chunk().unwrap();
        let written =
            Envelope::sign_sums(header, told.sequence, mask, described, &parts, |_| signature).unwrap();
        let written = match receipt {
            Some(receipt) => written.after_receipt(receipt, |_| signature).unwrap(),
            None => written,
        };
        assert_eq!(written.write(), message);
    }
}

#[test]
fn answers_are_those_of_the_specification_and_open() {
    read().into_iter().for_each(|(case, header)| answer_of(&case, &header));
}

fn answer_of(case: &Case, header: &Arc<StreamHeader>) {
    let (secret, id) = (array(&case.secret), header.stream_id().unwrap());
    let window = |told: &Window| Envelope::read_window(&hex::decode(&told.message).unwrap(), header).unwrap();
    let windows: Vec<Envelope> = case.windows.iter().map(window).collect();
    let weights: Vec<i64> = case.windows.iter().map(|told| told.weight).collect();
    let count = windows.len() as u32;
    let sum = |parts| TaggedSum { windows: (0, count), parts, weights: Some(&weights) };
    let wanted = case.asked.iter().map(|parts| sum(parts)).collect();
    let mut summing = TaggedSumming::new(header, windows.len(), wanted).unwrap();
    windows.iter().for_each(|window| summing.add(window).unwrap());
    let answer = summing.frame().unwrap();
    assert_eq!(hex::encode(&answer), case.answer);

    let keys = StreamKeys::derive(&secret, id);
    let answer = SumsAnswer::read(&answer, header, 1 << 20, count).unwrap();
    for (asked, sum) in case.asked.iter().zip(&answer.sums) {
        for part in asked {
            let at = usize::from(*part);
            let form = header.sums_form(at).unwrap();
            let mut opening = Opening::new(&form, (*part).into());
            for (window, weight) in windows.iter().zip(&weights) {
                let described = window.signed_header().description().unwrap();
                let (mask, present) = (window.mask().unwrap(), header.parts()[at].present(&described));
                let start = StartKeys::derive(&secret, id, &mask.salt);
                let ticks = described.sent_ticks();
                opening.add(&start, mask.sequence, ticks, *weight, |place| present[place]);
            }
            let key = TagKey::new(&keys, &form, (*part).into());
            let opened = opening.open(&key, sum.part(*part).unwrap()).unwrap();
            assert_eq!(opened, case.opened[at], "part {part}");
        }
    }
}
