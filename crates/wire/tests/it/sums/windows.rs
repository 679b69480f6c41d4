//! Windows of streams of sums.

use proptest::prelude::*;
use sotto_pack::{LeftOut, Presence, Reason};
use sotto_sums::{WHOLE_HEAD_BYTES, WholeHead};
use sotto_wire::{SignedSums, SumsHead, SumsWindow, WireError, stream_tag, sums_tag};

use super::{Refused, gappy, header, header_of, identity, pad, reading, stream, window};

/// A frame with a changed payload and a right digest.
pub(super) fn resealed(frame: &[u8], change: impl FnOnce(&mut [u8])) -> Vec<u8> {
    let mut frame = frame.to_vec();
    let end = frame.len() - 32;
    change(&mut frame[..end]);
    let digest = blake3::hash(&frame[..end]);
    frame[end..].copy_from_slice(digest.as_bytes());
    frame
}

fn both() -> [SumsWindow; 2] {
    let header = header();
    [gappy(), SumsHead::whole(&header, 7, pad(7), 1_795_000_000_000, 6)]
        .map(|head| window(&header, head, &reading))
}

#[test]
fn devices_without_an_allocator_write_the_same_heads() {
    let header = header();
    let numbers = [0, 127, 128, (1 << 21) - 1, 1 << 21, u64::MAX];
    let starts = [0, -1, 1, 63, 64, -64, -65, 1_795_000_000_000, i64::MAX, i64::MIN];
    for (number, start) in numbers.into_iter().flat_map(|number| starts.map(|start| (number, start))) {
        for ticks in [1, 6] {
            let name = pad(number);
            let whole = SumsHead::whole(&header, number, name, start, ticks);
            let bytes = window(&header, whole, &reading).write();
            let (stream, salt) = (header.id().tag().0, name.salt);
            let mut head = [0; WHOLE_HEAD_BYTES];
            let length = WholeHead { stream, salt, number, start, ticks }.write(&mut head);
            assert_eq!(head[..length], bytes[..length], "number {number}, start {start}, {ticks} ticks");
            // Nothing but bodies, tags and the signature follows.
            let parts: usize = (0..3).map(|part| header.form(part).unwrap().body_bytes(ticks) + 8).sum();
            assert_eq!(bytes.len(), length + parts + 64);
        }
    }
}

#[test]
fn windows_are_read_as_written() {
    let (header, key) = (header(), identity().verifying_key());
    for window in both() {
        let bytes = window.write();
        let read = SumsWindow::read(&bytes, &header).unwrap();
        assert_eq!((&read, read.write()), (&window, bytes.clone()));
        read.signed().verify(&key).unwrap();
        assert_eq!(sums_tag(&bytes), Ok(Some(header.id().tag())));
        // Older readers take it for none of theirs.
        assert_eq!(stream_tag(&bytes), Ok(None));
        assert_eq!(SumsWindow::read_kept(&window.write_kept(), 1 << 20).as_ref(), Ok(&window));
        let signed = SignedSums::read(&window.signed().write(), 1 << 20).unwrap();
        signed.verify(&key).unwrap();
        assert_eq!(&signed, window.signed());
        assert_eq!(read.part(2).unwrap().tag().to_bytes(), *signed.tags().nth(2).unwrap());
        assert!(read.part(3).is_err());
    }
}

#[test]
fn a_window_that_is_numbered_anew_keeps_its_pads() {
    let [window, _] = both();
    let again = window.clone().renumbered(400, |message| identity().sign(message)).unwrap();
    assert!(again.signed().is_same_encryption(window.signed()));
    assert_eq!((again.signed().head().sequence, again.signed().head().pad), (400, pad(297)));
    assert_ne!(again.message_digest(), window.message_digest());
    assert!(window.renumbered(296, |message| identity().sign(message)).is_err());
    // Another encryption under the same pads.
    let header = header();
    let other = super::window(&header, gappy(), &|column, tick| reading(column, tick) + 1);
    assert!(!other.signed().is_same_encryption(again.signed()));
}

#[test]
fn the_signature_covers_each_byte() {
    let (header, key) = (header(), identity().verifying_key());
    for window in both() {
        let bytes = window.write();
        for bit in 0..8 * bytes.len() {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            if let Ok(read) = SumsWindow::read(&flipped, &header) {
                assert_eq!(read.write(), flipped, "bit {bit}");
                assert_eq!(read.signed().verify(&key), Err(WireError::Signature), "bit {bit}");
            }
        }
        for end in 0..bytes.len() {
            assert!(SumsWindow::read(&bytes[..end], &header).is_err(), "{end} bytes");
        }
        assert!(SumsWindow::read(&[&bytes[..], &[0]].concat(), &header).is_err());
    }
}

#[test]
fn frames_of_windows_are_refused_or_others() {
    let key = identity().verifying_key();
    let [window, _] = both();
    let (kept, signed) = (window.write_kept(), window.signed().write());
    for bit in 8 * 16..8 * (kept.len() - 32) {
        let flipped = resealed(&kept, |frame| frame[bit / 8] ^= 1 << (bit % 8));
        if let Ok(read) = SumsWindow::read_kept(&flipped, 1 << 20) {
            assert_eq!(read.write_kept(), flipped, "bit {bit}");
            assert!(read.signed().verify(&key).is_err(), "bit {bit}");
        }
    }
    for bit in 8 * 16..8 * (signed.len() - 32) {
        let flipped = resealed(&signed, |frame| frame[bit / 8] ^= 1 << (bit % 8));
        if let Ok(read) = SignedSums::read(&flipped, 1 << 20) {
            assert_eq!(read.write(), flipped, "bit {bit}");
            assert!(read.verify(&key).is_err(), "bit {bit}");
        }
    }
}

#[test]
fn windows_of_other_streams_are_refused() {
    let [window, _] = both();
    let mut other = stream();
    other.device.push('2');
    let refused = SumsWindow::read(&window.write(), &header_of(other)).unwrap_err();
    assert_eq!(refused, WireError::UnknownStream(header().id().tag()));
    let mut version = window.write();
    version[0] = 2;
    assert_eq!(SumsWindow::read(&version, &header()), Err(WireError::Version(2)));
}

#[test]
fn heads_are_refused_in_words() {
    let (header, [whole, _]) = (header(), both());
    let parts = whole.write();
    let changes: Vec<Refused<SumsHead>> = vec![
        ("1 tick", Box::new(|head| head.ticks = 0)),
        ("1 tick", Box::new(|head| head.ticks = 7)),
        ("columns", Box::new(|head| drop(head.presence.pop()))),
        ("columns", Box::new(|head| drop(head.left_out.pop()))),
        ("outside", Box::new(|head| head.presence[0] = Presence::first(7))),
        ("comes after", Box::new(|head| head.pad.number = 301)),
        (
            "65535",
            Box::new(|head| {
                let mut all = LeftOut::default();
                all.add(Reason::Late, 65_536);
                head.left_out[0] = all;
            }),
        ),
    ];
    for (words, change) in changes {
        let mut head = gappy();
        change(&mut head);
        let refused = SumsWindow::sign(&header, head, parts.clone(), |_| [0; 64]).unwrap_err().to_string();
        assert!(refused.contains(words), "{words}: {refused}");
    }
    let refused = SumsWindow::sign(&header, gappy(), parts, |_| [0; 64]);
    assert!(matches!(refused, Err(WireError::Length { .. })), "{refused:?}");
}

prop_compose! {
    fn heads()(
        sequence: u64, back in 0_u64..3, start: i64, ticks in 1_u32..=6, generated: bool, salt: [u8; 12],
        present in prop::array::uniform2(prop::collection::vec(prop::bool::weighted(0.8), 6)),
        left_out in prop::option::of(prop::array::uniform2(prop::collection::vec((0_usize..11, 1_u64..3000), 0..4))),
    ) -> SumsHead {
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
        SumsHead {
            sequence,
            pad: sotto_wire::PadName { salt, number: sequence.saturating_sub(back) },
            start,
            ticks,
            presence: presence.to_vec(),
            left_out: left_out.map(|lists| lists.to_vec()).unwrap_or_default(),
            generated,
        }
    }
}

proptest! {
    #[test]
    fn any_window_is_read_as_written(head in heads()) {
        let header = header();
        let window = window(&header, head, &reading);
        let read = SumsWindow::read(&window.write(), &header).unwrap();
        prop_assert_eq!(&read, &window);
        prop_assert_eq!(read.write(), window.write());
        prop_assert_eq!(&SumsWindow::read_kept(&window.write_kept(), 1 << 20).unwrap(), &window);
        prop_assert_eq!(&SignedSums::read(&window.signed().write(), 1 << 20).unwrap(), window.signed());
    }
}
