//! Sums without a lattice: parts of windows, sums that the cloud answers, and the frames and windows of their streams.

use std::sync::Arc;

use sotto_conformance::golden;
use sotto_evaluate::{TaggedSum, TaggedSumming};
use sotto_keys::SigningIdentity;
use sotto_sums::{Answer, Form, Opening, Part, Place, StartKeys, StreamKeys, Sum, TAG_BYTES, TagKey};
use sotto_wire::{Envelope, LARGEST_ENVELOPE, SignedHeader, StreamHeader, SumsAnswer, WindowGroup};

use super::{Inputs, Target, as_frame, once};

#[rustfmt::skip]
pub(super) const TARGETS: &[Target] = &[
    Target { name: "sums-part", run: part, inputs: Inputs::MadeAnew(parts), memory: |_| 16 << 10 },
    Target { name: "sums-answer", run: answer, inputs: Inputs::MadeAnew(answers), memory: |_| 16 << 10 },
    Target { name: "sums-header", run: header, inputs: Inputs::Kept(|| files(&["sums-stream-header"])), memory: |bytes| 64 * bytes.len() + (64 << 10) },
    Target { name: "sums-window", run: window, inputs: Inputs::Kept(|| files(&["sums-window", "sums-window-kept", "signed-sums", "sums-member"])), memory: |bytes| 64 * bytes.len() + (256 << 10) },
    Target { name: "sums-group", run: group, inputs: Inputs::Kept(|| files(&["sums-group"])), memory: |bytes| 64 * bytes.len() + (256 << 10) },
    Target { name: "sums-wire-answer", run: wire_answer, inputs: Inputs::Kept(|| files(&["sums-answer"])), memory: |bytes| 64 * bytes.len() + (64 << 10) },
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

fn files(names: &[&str]) -> Vec<Vec<u8>> {
    names.iter().map(|name| golden::read(&format!("{name}.bin"))).collect()
}

/// Reads the header of a stream of sums; each part has a form.
fn header(bytes: &[u8]) -> bool {
    as_frame(bytes, |bytes| {
        let Ok(read) = StreamHeader::read(bytes) else { return false };
        assert!(read.write() == bytes, "rewriting changes bytes");
        assert!((0..read.parts().len()).all(|part| read.sums_form(part).is_ok()));
        read.is_of_sums()
    })
}

/// Reads a window of the golden stream, one with its stream's header, or one without its bodies. Windows are added.
fn window(bytes: &[u8]) -> bool {
    let stream = once!(Arc<StreamHeader>, golden::sums_header());
    let key = once!([u8; 32], SigningIdentity::from_bytes(&golden::SIGNING_KEY).verifying_key());
    let known = once!([Envelope; 2], golden::sums_windows());
    let signed_by_the_device = |signed: &SignedHeader| {
        // A member of a group has the digest of the window alone.
        let digest = signed.window_digest();
        let known = known.iter().any(|window| window.window_digest() == digest);
        assert!(known || signed.verify(key).is_err(), "forged");
    };
    if let Ok(read) = Envelope::read_window(bytes, stream) {
        assert!(read.write() == bytes, "rewriting changes bytes");
        signed_by_the_device(read.signed_header());
        return add(&read);
    }
    as_frame(bytes, |bytes| {
        if let Ok(read) = Envelope::read_kept(bytes, LARGEST_ENVELOPE) {
            assert!(read.write_kept() == bytes, "rewriting changes bytes");
            signed_by_the_device(read.signed_header());
            return add(&read);
        }
        let Ok(read) = SignedHeader::read(bytes, LARGEST_ENVELOPE) else { return false };
        assert!(read.write() == bytes, "rewriting changes bytes");
        signed_by_the_device(&read);
        true
    })
}

/// Reads a group of windows of the golden stream; each is kept and added on its own.
fn group(bytes: &[u8]) -> bool {
    let stream = once!(Arc<StreamHeader>, golden::sums_header());
    let Ok(read) = WindowGroup::read(bytes, stream) else { return false };
    assert!(read.write() == bytes, "rewriting changes bytes");
    let key = once!([u8; 32], SigningIdentity::from_bytes(&golden::SIGNING_KEY).verifying_key());
    let signed = read.verify(key).is_ok();
    assert!(!signed || read == golden::sums_group(), "forged");
    read.windows().iter().all(|window| {
        assert!(
            Envelope::read_window(&window.write(), stream).as_ref() == Ok(window),
            "rereading changes it"
        );
        assert!(window.verify(key).is_ok() == signed);
        add(window)
    })
}

/// Adds a window to the sum of its first part, as the cloud does.
fn add(window: &Envelope) -> bool {
    let Some(header) = window.signed_header().stream().filter(|header| header.is_of_sums()) else {
        return false;
    };
    let sum = TaggedSum { windows: (0, 1), parts: &[0], weights: None };
    // Places may be too narrow for a sum of the stream, or its sums too long.
    let Ok(mut summing) = TaggedSumming::new(header, 1, vec![sum]) else { return true };
    summing.add(window).expect("a window of the stream");
    let frame = summing.frame().expect("one window");
    SumsAnswer::read(&frame, header, LARGEST_ENVELOPE, 1).is_ok()
}

/// Reads an answer over the golden windows.
fn wire_answer(bytes: &[u8]) -> bool {
    let stream = once!(Arc<StreamHeader>, golden::sums_header());
    as_frame(bytes, |bytes| {
        let Ok(read) = SumsAnswer::read(bytes, stream, 1 << 16, 1 << 20) else { return false };
        assert!(read.write(stream).is_ok_and(|written| written == bytes), "rewriting changes bytes");
        true
    })
}
