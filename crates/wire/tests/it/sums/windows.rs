//! Windows of streams of sums.

use proptest::prelude::*;
use sotto_pack::{LeftOut, Presence, Reason, Replaces};
use sotto_sums::{WHOLE_HEAD_BYTES, WholeHead};
use sotto_wire::{Envelope, MaskName, SignedHeader, WireError, message_digest, stream_tag};

use super::{Head, Refused, gappy, header, header_of, identity, pad, reading, stream, window};

/// A frame with a changed payload and a right digest.
pub(super) fn resealed(frame: &[u8], change: impl FnOnce(&mut [u8])) -> Vec<u8> {
    let mut frame = frame.to_vec();
    let end = frame.len() - 32;
    change(&mut frame[..end]);
    let digest = blake3::hash(&frame[..end]);
    frame[end..].copy_from_slice(digest.as_bytes());
    frame
}

/// A window with gaps, one without, and one that comes in the place of others.
fn both() -> [Envelope; 3] {
    let header = header();
    let mut again = Head::whole(&header, 900, pad(900), -1, 6);
    again.description.replaces = Some(Replaces { windows: vec![0, 7, 300, 899], channels: vec![1] });
    [gappy(), Head::whole(&header, 7, pad(7), 1_795_000_000_000, 6), again]
        .map(|head| window(&header, head, &reading))
}

#[test]
fn a_window_names_the_windows_in_whose_place_it_comes() {
    let (header, [plain, _, again]) = (header(), both());
    assert!(again.replaces() && !plain.replaces());
    let described = again.signed_header().description().unwrap();
    assert_eq!(described.replaces, Some(Replaces { windows: vec![0, 7, 300, 899], channels: vec![1] }));
    let signed = |windows: Vec<u64>, channels: Vec<u16>| {
        let mut head = Head::whole(&header, 900, pad(900), -1, 6);
        head.description.replaces = Some(Replaces { windows, channels });
        head.sign(&header, &vec![0; header.parts_bytes(6).unwrap()]).map(|_| ())
    };
    assert_eq!(signed(vec![1, 2], vec![0, 1]), Ok(()));
    for (windows, channels) in [
        (vec![], vec![0]),
        (vec![1], vec![]),
        (vec![2, 1], vec![0]),
        (vec![1, 1], vec![0]),
        (vec![900], vec![0]),
        (vec![901], vec![0]),
        (vec![1], vec![2]),
        (vec![1], vec![1, 0]),
        ((0..4097).collect(), vec![0]),
    ] {
        assert!(signed(windows.clone(), channels.clone()).is_err(), "{windows:?} {channels:?}");
    }
}

#[test]
fn devices_without_an_allocator_write_the_same_heads() {
    let header = header();
    let numbers = [0, 127, 128, (1 << 21) - 1, 1 << 21, u64::MAX];
    let starts = [0, -1, 1, 63, 64, -64, -65, 1_795_000_000_000, i64::MAX, i64::MIN];
    for (number, start) in numbers.into_iter().flat_map(|number| starts.map(|start| (number, start))) {
        for ticks in [1, 6] {
            let name = pad(number);
            let whole = Head::whole(&header, number, name, start, ticks);
            let bytes = window(&header, whole, &reading).write();
            let (stream, salt) = (header.id().tag().0, name.salt);
            let mut head = [0; WHOLE_HEAD_BYTES];
            let length = WholeHead { stream, salt, number, start, ticks }.write(&mut head);
            assert_eq!(head[..length], bytes[..length], "number {number}, start {start}, {ticks} ticks");
            // Nothing but bodies, tags and the signature follows.
            let parts: usize = (0..3).map(|part| header.sums_form(part).unwrap().body_bytes(ticks) + 8).sum();
            assert_eq!(bytes.len(), length + parts + 64);
        }
    }
}

#[test]
fn windows_are_read_as_written() {
    let (header, key) = (header(), identity().verifying_key());
    for window in both() {
        let bytes = window.write();
        let read = Envelope::read_window(&bytes, &header).unwrap();
        assert_eq!((&read, read.write()), (&window, bytes.clone()));
        read.verify(&key).unwrap();
        assert_eq!(stream_tag(&bytes), Ok(Some(header.id().tag())));
        // It is no frame, and no window of slots.
        assert_eq!(bytes[0], 5);
        assert_eq!(Envelope::read(&bytes, 1 << 20), Err(WireError::UnknownStream(header.id().tag())));
        assert_eq!(Envelope::read_kept(&window.write_kept(), 1 << 20).as_ref(), Ok(&window));
        let signed = SignedHeader::read(&window.signed_header().write(), 1 << 20).unwrap();
        signed.verify(&key).unwrap();
        assert_eq!(&signed, window.signed_header());
        // The tags stand before the digest of the parts, the signature, and the digest of the frame.
        let (bytes, parts) = (signed.write(), 0..3);
        let tags = parts.flat_map(|part| read.part(part).unwrap().tag().to_bytes());
        assert_eq!(bytes[bytes.len() - 32 - 64 - 32 - 24..][..24], tags.collect::<Vec<_>>());
        assert!(read.part(3).is_err());
        let described = signed.description().unwrap();
        assert_eq!(described, window.signed_header().description().unwrap());
        assert_eq!((read.mask(), signed.mask()), (window.mask(), window.mask()));
        assert_eq!(described.to_json().unwrap(), read.header().layout);
    }
}

#[test]
fn a_window_that_is_numbered_anew_keeps_its_pads() {
    let [window, ..] = both();
    let again = window.clone().renumbered(400, |message| identity().sign(message)).unwrap();
    assert!(again.signed_header().is_same_encryption(window.signed_header()));
    assert_eq!((again.header().sequence, again.mask()), (400, Some(pad(297))));
    assert_eq!(again.header().upload_key(), "cellar.tank.400");
    assert_ne!(message_digest(&again.write()), message_digest(&window.write()));
    // The windows that it replaces may have new numbers, too.
    let [.., naming] = both();
    let sign = |message: &[u8]| identity().sign(message);
    let renamed =
        naming.clone().renamed(1000, |number| Some(number + 1).filter(|now| *now > 8), sign).unwrap();
    let described = renamed.signed_header().description().unwrap();
    assert_eq!(described.replaces, Some(Replaces { windows: vec![301, 900], channels: vec![1] }));
    let read = Envelope::read_window(&renamed.write(), &super::header()).unwrap();
    read.verify(&identity().verifying_key()).unwrap();
    assert_eq!((read.mask(), read.part(0).unwrap().tag()), (naming.mask(), naming.part(0).unwrap().tag()));
    let alone = naming.clone().renamed(900, |_| None, sign).unwrap();
    assert!(!alone.replaces());
    assert!(naming.renamed(900, |number| Some(number + 1), sign).is_err(), "the window itself");
    assert!(window.renumbered(296, |message| identity().sign(message)).is_err());
    // Another encryption under the same pads.
    let header = header();
    let other = super::window(&header, gappy(), &|column, tick| reading(column, tick) + 1);
    assert!(!other.signed_header().is_same_encryption(again.signed_header()));
}

#[test]
fn the_signature_covers_each_byte() {
    let (header, key) = (header(), identity().verifying_key());
    for window in both() {
        let bytes = window.write();
        for bit in 0..8 * bytes.len() {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            if let Ok(read) = Envelope::read_window(&flipped, &header) {
                assert_eq!(read.write(), flipped, "bit {bit}");
                assert_eq!(read.verify(&key), Err(WireError::Signature), "bit {bit}");
            }
        }
        for end in 0..bytes.len() {
            assert!(Envelope::read_window(&bytes[..end], &header).is_err(), "{end} bytes");
        }
        assert!(Envelope::read_window(&[&bytes[..], &[0]].concat(), &header).is_err());
    }
}

#[test]
fn frames_of_windows_are_refused_or_others() {
    let key = identity().verifying_key();
    let [window, ..] = both();
    let (kept, signed) = (window.write_kept(), window.signed_header().write());
    for bit in 8 * 16..8 * (kept.len() - 32) {
        let flipped = resealed(&kept, |frame| frame[bit / 8] ^= 1 << (bit % 8));
        if let Ok(read) = Envelope::read_kept(&flipped, 1 << 20) {
            assert_eq!(read.write_kept(), flipped, "bit {bit}");
            assert!(read.verify(&key).is_err(), "bit {bit}");
        }
    }
    for bit in 8 * 16..8 * (signed.len() - 32) {
        let flipped = resealed(&signed, |frame| frame[bit / 8] ^= 1 << (bit % 8));
        if let Ok(read) = SignedHeader::read(&flipped, 1 << 20) {
            assert_eq!(read.write(), flipped, "bit {bit}");
            assert!(read.verify(&key).is_err(), "bit {bit}");
        }
    }
}

#[test]
fn windows_of_other_streams_are_refused() {
    let [window, ..] = both();
    let mut other = stream();
    other.device.push('2');
    let refused = Envelope::read_window(&window.write(), &header_of(other)).unwrap_err();
    assert_eq!(refused, WireError::UnknownStream(header().id().tag()));
    let mut version = window.write();
    version[0] = 2;
    assert_eq!(Envelope::read_window(&version, &header()), Err(WireError::Version(2)));
}

#[test]
fn heads_are_refused_in_words() {
    let (header, [gaps, ..]) = (header(), both());
    let (mut parts, bytes) = (Vec::new(), gaps.write());
    (0..3).for_each(|at| {
        let part = gaps.part(at).unwrap();
        parts.extend([part.body(), &part.tag().to_bytes()].concat());
    });
    assert!(bytes[..bytes.len() - 64].ends_with(&parts));
    assert_eq!(gappy().sign(&header, &parts), Ok(gaps));
    let changes: Vec<Refused<Head>> = vec![
        ("not that of", Box::new(|head| head.description.length = 0)),
        ("not that of", Box::new(|head| head.description.length = 7)),
        ("not that of", Box::new(|head| head.description.length = 3)),
        ("not that of", Box::new(|head| head.description.period = sotto_pack::Period::from_milliseconds(21))),
        ("not that of", Box::new(|head| head.description.present.truncate(1))),
        ("not that of", Box::new(|head| head.description.present[0] = 2)),
        ("not that of", Box::new(|head| drop(head.description.presence.pop()))),
        ("not that of", Box::new(|head| drop(head.description.left_out.pop()))),
        ("not that of", Box::new(|head| *head = head.clone().with_presence(vec![Presence::first(7); 2]))),
        ("comes after", Box::new(|head| head.mask.sequence = 301)),
        (
            "65535",
            Box::new(|head| {
                let mut all = LeftOut::default();
                all.add(Reason::Late, 65_536);
                head.description.left_out[0] = all;
            }),
        ),
    ];
    for (words, change) in changes {
        let mut head = gappy();
        change(&mut head);
        let refused = head.sign(&header, &parts).unwrap_err().to_string();
        assert!(refused.contains(words), "{words}: {refused}");
    }
    for wrong in [&parts[1..], &[&parts[..], &[0]].concat()] {
        let refused = gappy().sign(&header, wrong);
        assert!(matches!(refused, Err(WireError::Length { .. })), "{refused:?}");
    }
    // A tag of 2^61 - 1 is a second form of 0.
    let at = parts.len() - 8;
    parts[at..].copy_from_slice(&((1_u64 << 61) - 1).to_le_bytes());
    assert!(gappy().sign(&header, &parts).unwrap_err().to_string().contains("2^61"));
}

prop_compose! {
    fn heads()(
        sequence: u64, back in 0_u64..3, start: i64, ticks in 1_u32..=6, generated: bool, provisional: bool,
        salt: [u8; 12],
        present in prop::array::uniform2(prop::collection::vec(prop::bool::weighted(0.8), 6)),
        left_out in prop::option::of(prop::array::uniform2(prop::collection::vec((0_usize..11, 1_u64..3000), 0..4))),
    ) -> Head {
        let presence = present.map(|ticks_of| {
            let mut presence = Presence::default();
            (0..ticks).filter(|tick| ticks_of[*tick as usize]).for_each(|tick| presence.insert(tick));
            presence
        });
        let left_out = left_out.map(|lists| lists.map(|list| {
            let mut all = LeftOut::default();
            list.iter().for_each(|(reason, count)| all.add(Reason::ALL[*reason], *count));
            all
        })).filter(|lists| lists.iter().any(|list| !list.is_empty()));
        let mask = MaskName { salt, sequence: sequence.saturating_sub(back) };
        let mut head =
            Head::whole(&header(), sequence, mask, start, ticks).with_presence(presence.to_vec());
        head.description.left_out = left_out.map(|lists| lists.to_vec()).unwrap_or_default();
        head.description.generated = generated;
        head.description.provisional = provisional;
        head
    }
}

proptest! {
    #[test]
    fn any_window_is_read_as_written(head in heads()) {
        let header = header();
        let window = window(&header, head, &reading);
        let read = Envelope::read_window(&window.write(), &header).unwrap();
        prop_assert_eq!(&read, &window);
        let signed = read.signed_header();
        prop_assert_eq!(Some(signed.is_provisional()), signed.description().map(|of| of.provisional));
        prop_assert_eq!(read.write(), window.write());
        prop_assert_eq!(&Envelope::read_kept(&window.write_kept(), 1 << 20).unwrap(), &window);
        prop_assert_eq!(&SignedHeader::read(&window.signed_header().write(), 1 << 20).unwrap(), window.signed_header());
    }
}
