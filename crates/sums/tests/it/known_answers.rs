//! The known answers of `spec/sums.py`: keys, bodies, tags, sums, opened values.

use serde::Deserialize;
use sotto_sums::{Answer, Encryptor, Form, Opening, Part, Place, StartKeys, StreamKeys, Sum, TagKey};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    secret: String,
    stream: String,
    salts: Vec<String>,
    part: u32,
    once: Vec<(u32, i64, i64)>,
    tick: Vec<(u32, i64, i64)>,
    counts_once: u32,
    counts_tick: u32,
    ticks: u32,
    /// For those who derive keys step by step; the bodies and tags below depend on them.
    #[serde(rename = "keys")]
    _keys: serde_json::Value,
    #[serde(rename = "tag_residues")]
    _tag_residues: Vec<u64>,
    #[serde(rename = "count_residues")]
    _count_residues: Vec<u64>,
    windows: Vec<Window>,
    sum: Total,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Window {
    start: usize,
    number: u64,
    ticks: u32,
    weight: i64,
    values: Vec<Option<i64>>,
    counts: Vec<u16>,
    body: String,
    tag: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Total {
    ticks: u32,
    body: String,
    counts: Vec<i64>,
    tag: String,
    opened: Vec<i64>,
}

fn bytes<const N: usize>(text: &str) -> [u8; N] {
    hex::decode(text).unwrap().try_into().unwrap()
}

fn places(list: &[(u32, i64, i64)]) -> Vec<Place> {
    list.iter().map(|(width, least, most)| Place::new(*width, *least, *most).unwrap()).collect()
}

/// Returns a sum of counts as a sum of windows has it.
fn packed(count: i64) -> Vec<u8> {
    let mut left = if count < 0 { 2 * count.unsigned_abs() - 1 } else { 2 * count as u64 };
    let mut bytes = vec![(left % 128) as u8];
    while left >= 128 {
        left /= 128;
        *bytes.last_mut().unwrap() += 128;
        bytes.push((left % 128) as u8);
    }
    bytes
}

#[test]
fn known_answers() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../conformance/vectors/sums.json");
    let file: File = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert!(!file.cases.is_empty());
    for (number, case) in file.cases.iter().enumerate() {
        check(number, case);
    }
}

fn check(number: usize, case: &Case) {
    let (once, tick) = (places(&case.once), places(&case.tick));
    let form = Form::new(&once, &tick, case.counts_once, case.counts_tick, case.ticks).unwrap();
    let (secret, stream) = (bytes(&case.secret), bytes(&case.stream));
    let key = TagKey::new(&StreamKeys::derive(&secret, &stream), &form, case.part);
    let (mut sum, mut opening) = (Sum::new(&form), Opening::new(&form, case.part));
    for (at, window) in case.windows.iter().enumerate() {
        let name = format!("case {number}, window {at}");
        let salt = bytes(&case.salts[window.start]);
        let mut body = vec![0xff; form.body_bytes(window.ticks)];
        let mut encryptor = Encryptor::new(&secret, &stream, &salt, 0);
        let values = window.values.iter().copied();
        let counts = window.counts.iter().copied();
        let tag = encryptor.window(window.number).unwrap();
        let tag = { tag }.encrypt(&form, window.ticks, case.part, values, counts, &mut body).unwrap();
        assert_eq!(hex::encode(&body), window.body, "{name}: body");
        assert_eq!(hex::encode(tag.to_bytes()), window.tag, "{name}: tag");
        body.extend(tag.to_bytes());
        let part = Part::read(&form, window.ticks, &body).unwrap();
        sum.add(&part, &window.counts, window.weight).unwrap();
        let start = StartKeys::derive(&secret, &stream, &salt);
        let present = |place: usize| window.values[place].is_some();
        opening.add(&start, window.number, window.ticks, window.weight, present);
    }
    let expected = [
        &*case.sum.body,
        &hex::encode(case.sum.counts.iter().flat_map(|count| packed(*count)).collect::<Vec<_>>()),
        &case.sum.tag,
    ]
    .concat();
    assert_eq!(hex::encode(sum.to_bytes()), expected, "case {number}: sum");
    assert_eq!(sum.ticks(), case.sum.ticks);
    let answer = Answer::read(&form, case.sum.ticks, &sum.to_bytes()).unwrap();
    assert_eq!(opening.open(&key, &answer).unwrap(), case.sum.opened, "case {number}: opened");
    assert_eq!(opening.open(&key, &Answer::from(&sum)).unwrap(), case.sum.opened, "case {number}: opened");
}
