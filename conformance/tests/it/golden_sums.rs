//! The golden files of a stream of sums: reading gives the original values, writing gives the same bytes.

use sotto_conformance::golden::{self, SUMS_EDGES, SUMS_SECRET, SUMS_WEIGHTS};
use sotto_keys::SigningIdentity;
use sotto_sums::{Opening, StartKeys, StreamKeys, TagKey};
use sotto_wire::{
    Envelope, Heads, LARGEST_ENVELOPE, LogPage, SignedHeader, StreamHeader, SumsAnswer, WindowGroup,
};

#[test]
fn sums_are_read_to_the_same_values() {
    let header = golden::sums_header();
    let bytes = golden::read("sums-stream-header.bin");
    assert_eq!((StreamHeader::read(&bytes).unwrap(), header.write()), ((*header).clone(), bytes));
    let windows = golden::sums_windows();
    let key = SigningIdentity::from_bytes(&golden::SIGNING_KEY).verifying_key();

    let bytes = golden::read("sums-window.bin");
    let window = Envelope::read_window(&bytes, &header).unwrap();
    window.verify(&key).unwrap();
    assert_eq!((&window, window.write()), (&windows[0], bytes));
    let bytes = golden::read("sums-window-kept.bin");
    let kept = Envelope::read_kept(&bytes, LARGEST_ENVELOPE).unwrap();
    assert_eq!((&kept, kept.write_kept()), (&windows[1], bytes));
    let bytes = golden::read("signed-sums.bin");
    let signed = SignedHeader::read(&bytes, LARGEST_ENVELOPE).unwrap();
    signed.verify(&key).unwrap();
    assert_eq!((&signed, signed.write()), (windows[0].signed_header(), bytes));

    let bytes = golden::read("sums-group.bin");
    let group = WindowGroup::read(&bytes, &header).unwrap();
    group.verify(&key).unwrap();
    assert_eq!((&group, group.write()), (&golden::sums_group(), bytes));
    let bytes = golden::read("sums-member.bin");
    let member = Envelope::read_window(&bytes, &header).unwrap();
    member.verify(&key).unwrap();
    assert_eq!((&member, member.write()), (&group.windows()[1], bytes));

    let bytes = golden::read("heads.bin");
    let heads = Heads::read(&bytes).unwrap();
    heads.heads.iter().for_each(|head| head.verify(&key).unwrap());
    assert_eq!((&heads, heads.write()), (&golden::sums_heads(), bytes));

    let bytes = golden::read("log-page.bin");
    let page = LogPage::read(&bytes).unwrap();
    page.items.iter().for_each(|item| item.verify(&key).unwrap());
    assert_eq!((&page, page.write()), (&golden::log_page(), bytes));

    let bytes = golden::read("sums-answer.bin");
    let answer = SumsAnswer::read(&bytes, &header, LARGEST_ENVELOPE, 2).unwrap();
    assert_eq!(answer.write(&header).unwrap(), bytes);
    let keys = StreamKeys::derive(&SUMS_SECRET, header.stream_id().unwrap());
    let sum = |value: &dyn Fn(i64) -> i64, tick: usize| -> i64 {
        let readings =
            [0, 1].map(|window| golden::sums_readings(window).get(tick).copied().flatten().map_or(0, value));
        readings.iter().zip(SUMS_WEIGHTS).map(|(value, weight)| value * weight).sum()
    };
    let bin = |bin: usize| -> i64 {
        let inside = |q: &i64| SUMS_EDGES.partition_point(|edge| edge <= q) == bin;
        let count =
            |window| golden::sums_readings(window).into_iter().flatten().filter(inside).count() as i64;
        SUMS_WEIGHTS.iter().enumerate().map(|(window, weight)| weight * count(window)).sum()
    };
    let expected: [Vec<i64>; 2] = [
        (0..8).map(|tick| sum(&|q| q, tick)).collect(),
        (0..3).map(bin).chain((0..8).map(|tick| sum(&|q| q * q, tick))).collect(),
    ];
    for (part, expected) in expected.iter().enumerate() {
        let form = header.sums_form(part).unwrap();
        let mut opening = Opening::new(&form, part as u32);
        for (window, weight) in windows.iter().zip(SUMS_WEIGHTS) {
            let (described, mask) = (window.signed_header().description().unwrap(), window.mask().unwrap());
            let present = header.parts()[part].present(&described);
            let start = StartKeys::derive(&SUMS_SECRET, header.stream_id().unwrap(), &mask.salt);
            opening.add(&start, mask.sequence, described.sent_ticks(), weight, |place| present[place]);
        }
        let tags = TagKey::new(&keys, &form, part as u32);
        assert_eq!(opening.open(&tags, answer.sums[0].part(part as u8).unwrap()).as_ref(), Ok(expected));
    }
}
