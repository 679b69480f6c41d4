//! A stream of sums: its header, a window in its forms, and an answer.

use std::sync::Arc;

use sotto_keys::SigningIdentity;
use sotto_pack::{
    Channel, Digit, LeftOut, Period, Placed, Presence, Quantity, Reason, SumsPart, WindowDescription,
};
use sotto_rlwe::KeyId;
use sotto_sums::{Encryptor, StreamKeys, Sum};
use sotto_wire::{
    Envelope, Heads, LogEntry, LogPage, MaskName, PartSum, StreamHeader, SumsAnswer, SumsStream, WindowGroup,
    sums_window_id,
};

use super::{Golden, device};

/// The secret of the device of the files.
pub const SUMS_SECRET: [u8; 32] = [0x51; 32];
/// The weights of the answer's windows.
pub const SUMS_WEIGHTS: [i64; 2] = [3, -2];
/// The bins of the channel's readings.
pub const SUMS_EDGES: [i64; 2] = [-100, 200];

/// The header of the stream.
pub fn sums_header() -> Arc<StreamHeader> {
    let placed = |quantity, width| Placed { quantity, digit: Digit::Whole, width };
    let stream = SumsStream {
        device: device::envelope_header().device,
        stream: "sums".into(),
        period: Period::of_seconds(1, 50).expect("a period"),
        ticks: 8,
        // -2,047 to 2,047 steps.
        channels: vec![Channel {
            name: "level".into(),
            unit: "°C".into(),
            minimum: -100.0,
            maximum: 309.4,
            resolution: Some(0.1),
            ..Channel::default()
        }],
        rounded: false,
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
    Arc::new(StreamHeader::of_sums(stream, key).expect("a header"))
}

/// The readings of a window, by tick: one is missing in the first window, which is numbered anew and counts a reading
/// left out.
pub fn sums_readings(window: usize) -> Vec<Option<i64>> {
    let reading = |tick: i64| Some((1 + window as i64) * 97 * tick - 300);
    if window == 0 {
        (0..8).map(|tick| reading(tick).filter(|_| tick != 5)).collect()
    } else {
        (0..5).map(reading).collect()
    }
}

/// The windows.
pub fn sums_windows() -> [Envelope; 2] {
    [0, 1].map(|window| {
        let (header, readings) = (sums_header(), sums_readings(window));
        let mask = MaskName { salt: [1 + window as u8; 12], sequence: 299 * (1 - window as u64) };
        let mut described = WindowDescription::whole(
            header.layout(),
            1_795_000_000_000,
            header.period(),
            readings.len() as u32,
        );
        if window == 0 {
            let (mut presence, mut left_out) = (Presence::default(), LeftOut::default());
            (0..8).filter(|tick| *tick != 5).for_each(|tick| presence.insert(tick));
            left_out.add(Reason::OutOfRange, 1);
            described = WindowDescription {
                present: vec![presence.count()],
                presence: vec![presence],
                left_out: vec![left_out],
                ..described
            };
        }
        let slots: Vec<i64> = readings.iter().map(|reading| reading.unwrap_or_default()).collect();
        let (ticks, presence) = (described.sent_ticks(), described.presence(0).expect("a channel"));
        let stream = header.stream_id().expect("a stream of sums");
        let mut encryptor = Encryptor::new(&SUMS_SECRET, stream, &mask.salt, 0);
        let (mut pads, mut parts) = (encryptor.window(mask.sequence).expect("a new number"), Vec::new());
        for (at, part) in header.parts().iter().enumerate() {
            let form = header.sums_form(at).expect("a part");
            let values = part.values(header.layout(), ticks, &slots, std::slice::from_ref(&presence));
            let mut body = vec![0; form.body_bytes(ticks)];
            let tag = pads.encrypt(&form, ticks, at as u32, values, part.counts(&described), &mut body);
            parts.extend(body);
            parts.extend(tag.expect("values of the form").to_bytes());
        }
        let identity = SigningIdentity::from_bytes(&device::SIGNING_KEY);
        let sign = |message: &[u8]| identity.sign(message);
        Envelope::sign_sums(&header, 300 + window as u64, mask, described, &parts, sign).expect("a window")
    })
}

/// The head of the first window, and that of the second as a member of the group.
pub fn sums_heads() -> Heads {
    let (alone, group) = (sums_windows(), sums_group());
    let heads = [&alone[0], &group.windows()[1]].map(|window| window.signed_header().clone());
    Heads { heads: heads.to_vec(), more: true }
}

/// A page of a log: the first window alone, both in their group, one that is gone, one that cannot be read.
pub fn log_page() -> LogPage {
    let (alone, group) = (sums_windows(), sums_group());
    let signed = |window: &Envelope, id: Option<[u8; 16]>| {
        let signed = window.signed_header().clone();
        let (sequence, leaf) = (signed.header().sequence, signed.leaf());
        let bytes = window.member_bytes().unwrap_or(window.message_bytes()) as u64;
        let own = |stream: &Arc<StreamHeader>| sums_window_id(stream.id().tag(), signed.header().sequence);
        let id = id.or_else(|| signed.stream().map(own));
        LogEntry { sequence, leaf, id, bytes, signed: Some(signed) }
    };
    let without =
        |sequence, id| LogEntry { sequence, leaf: [sequence as u8; 32], id, bytes: 0, signed: None };
    let entries = [
        signed(&alone[0], Some([9; 16])),
        without(7, None),
        signed(&group.windows()[0], None),
        signed(&group.windows()[1], None),
        without(9, Some([4; 16])),
    ];
    LogPage::of(super::read("stream-head.bin"), entries)
}

/// The windows under one signature.
pub fn sums_group() -> WindowGroup {
    let identity = SigningIdentity::from_bytes(&device::SIGNING_KEY);
    WindowGroup::sign(sums_windows().to_vec(), |message| identity.sign(message)).expect("a group")
}

fn answer(header: &StreamHeader, windows: &[Envelope; 2]) -> Vec<u8> {
    let forms = [0, 1].map(|part| header.sums_form(part).expect("a part"));
    let mut sums = forms.each_ref().map(Sum::new);
    for (window, weight) in windows.iter().zip(SUMS_WEIGHTS) {
        for (part, sum) in sums.iter_mut().enumerate() {
            let described = window.signed_header().description().expect("a window");
            let counts = header.parts()[part].counts(&described);
            sum.add(&window.part(part).expect("a part"), &counts, weight).expect("a sum");
        }
    }
    let names = windows.iter().filter_map(Envelope::mask).collect();
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
    add("signed-sums.bin", windows[0].signed_header().write());
    let group = sums_group();
    add("sums-group.bin", group.write());
    add("sums-member.bin", group.windows()[1].write());
    add("heads.bin", sums_heads().write());
    add("log-page.bin", log_page().write());
    add("sums-answer.bin", answer(&header, &windows));
}
