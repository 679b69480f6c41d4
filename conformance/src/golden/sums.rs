//! A stream of sums: its header, a window in its forms, and an answer.

use std::sync::Arc;

use sotto_keys::SigningIdentity;
use sotto_pack::{LeftOut, Presence, Reason};
use sotto_rlwe::KeyId;
use sotto_sums::{Encryptor, StreamKeys, Sum};
use sotto_wire::{
    Digit, PadName, PartSum, Placed, Quantity, SumsAnswer, SumsColumn, SumsGroup, SumsHead, SumsHeader,
    SumsPart, SumsStream, SumsWindow, TickPeriod,
};

use super::{Golden, device};

/// The secret of the device of the files.
pub const SUMS_SECRET: [u8; 32] = [0x51; 32];
/// The weights of the answer's windows.
pub const SUMS_WEIGHTS: [i64; 2] = [3, -2];
/// The bins of the column's readings.
pub const SUMS_EDGES: [i64; 2] = [100, 1000];

/// The header of the stream.
pub fn sums_header() -> Arc<SumsHeader> {
    let placed = |quantity, width| Placed { quantity, digit: Digit::Whole, width };
    let stream = SumsStream {
        device: device::envelope_header().device,
        stream: "sums".into(),
        period: TickPeriod::new(1, 50).expect("a period"),
        ticks: 8,
        columns: vec![SumsColumn {
            name: "level".into(),
            unit: "°C".into(),
            origin: 0.0,
            step: 0.1,
            least: 0,
            most: 4095,
        }],
        parts: vec![
            SumsPart { quantities: vec![placed(Quantity::Reading(0), 23)], reasons: 11 },
            SumsPart {
                quantities: vec![
                    placed(Quantity::Bins { column: 0, edges: SUMS_EDGES.to_vec() }, 15),
                    placed(Quantity::Square(0), 35),
                ],
                reasons: 0,
            },
        ],
    };
    let key = |id: &[u8; 32]| KeyId(StreamKeys::derive(&SUMS_SECRET, id).id());
    Arc::new(SumsHeader::new(stream, key).expect("a header"))
}

/// The readings of a window, by tick: one is missing in the first window, which is numbered anew and counts a reading
/// left out.
pub fn sums_readings(window: usize) -> Vec<Option<i64>> {
    let reading = |tick: i64| Some((1 + window as i64) * 97 * tick);
    if window == 0 {
        (0..8).map(|tick| reading(tick).filter(|_| tick != 5)).collect()
    } else {
        (0..5).map(reading).collect()
    }
}

/// The windows.
pub fn sums_windows() -> [SumsWindow; 2] {
    [0, 1].map(|window| {
        let (header, readings) = (sums_header(), sums_readings(window));
        let pad = PadName { salt: [1 + window as u8; 12], number: 299 * (1 - window as u64) };
        let mut head =
            SumsHead::whole(&header, 300 + window as u64, pad, 1_795_000_000_000, readings.len() as u32);
        if window == 0 {
            let (mut presence, mut left_out) = (Presence::default(), LeftOut::default());
            (0..8).filter(|tick| *tick != 5).for_each(|tick| presence.insert(tick));
            left_out.add(Reason::OutOfRange, 1);
            (head.presence, head.left_out) = (vec![presence], vec![left_out]);
        }
        let present: Vec<i64> = readings.iter().copied().flatten().collect();
        let bin =
            |bin| present.iter().filter(|q| SUMS_EDGES.partition_point(|edge| edge <= *q) == bin).count();
        let squares = readings.iter().map(|reading| reading.map(|q| q * q));
        let values = [readings.clone(), (0..3).map(|at| Some(bin(at) as i64)).chain(squares).collect()];
        let mut encryptor = Encryptor::new(&SUMS_SECRET, header.stream_id(), &pad.salt, 0);
        let (mut pads, mut parts) = (encryptor.window(pad.number).expect("a new number"), Vec::new());
        for (part, values) in values.into_iter().enumerate() {
            let (form, counts) =
                (header.form(part).expect("a part"), head.counts(&header, part).expect("a part"));
            let mut body = vec![0; form.body_bytes(head.sent_ticks())];
            let tag = pads.encrypt(&form, head.sent_ticks(), part as u32, values, counts, &mut body);
            parts.extend(body);
            parts.extend(tag.expect("values of the form").to_bytes());
        }
        let identity = SigningIdentity::from_bytes(&device::SIGNING_KEY);
        SumsWindow::sign(&header, head, parts, |message| identity.sign(message)).expect("a window")
    })
}

/// The windows under one signature.
pub fn sums_group() -> SumsGroup {
    let identity = SigningIdentity::from_bytes(&device::SIGNING_KEY);
    SumsGroup::sign(sums_windows().to_vec(), |message| identity.sign(message)).expect("a group")
}

fn answer(header: &SumsHeader, windows: &[SumsWindow; 2]) -> Vec<u8> {
    let forms = [0, 1].map(|part| header.form(part).expect("a part"));
    let mut sums = forms.each_ref().map(Sum::new);
    for (window, weight) in windows.iter().zip(SUMS_WEIGHTS) {
        for (part, sum) in sums.iter_mut().enumerate() {
            let counts = window.signed().head().counts(header, part).expect("a part");
            sum.add(&window.part(part).expect("a part"), &counts, weight).expect("a sum");
        }
    }
    let names = windows.iter().map(|window| window.signed().head().pad).collect();
    let [first, second] = &sums;
    SumsAnswer { names, sums: vec![PartSum::of((0, 2), &[(0, first), (1, second)])] }
        .write(header)
        .expect("an answer")
}

pub(super) fn objects(all: &mut Vec<Golden>) {
    let (header, windows) = (sums_header(), sums_windows());
    let mut add = |name: &str, bytes: Vec<u8>| all.push(Golden { name: name.into(), bytes });
    add("sums-stream-header.bin", header.write());
    add("sums-window.bin", windows[0].write());
    add("sums-window-kept.bin", windows[1].write_kept());
    add("signed-sums.bin", windows[0].signed().write());
    let group = sums_group();
    add("sums-group.bin", group.write());
    add("sums-member.bin", group.windows()[1].write());
    add("sums-answer.bin", answer(&header, &windows));
}
