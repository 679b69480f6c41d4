//! Windows of places, which earlier programs sent: refused by name, and their signed headers stay readable.
//!
//! The files are in `tests/data/places`.

use std::sync::Arc;

use sotto_keys::SigningIdentity;
use sotto_pack::{Channel, DeviceProfile, Period};
use sotto_rlwe::{KeyId, ParameterId};
use sotto_wire::{
    Body, Envelope, LARGEST_ENVELOPE, PROBLEM_TYPE, SignedHeader, StreamHeader, StreamParts, Transcript,
    WindowGroup, WindowValues, WireError, frame_kind, is_final_refusal, stream_tag,
};

fn file(name: &str) -> Vec<u8> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/places");
    std::fs::read(format!("{folder}/{name}.bin")).unwrap()
}

fn stored(name: &str) -> Arc<StreamHeader> {
    Arc::new(StreamHeader::read_stored(&file(name)).unwrap())
}

/// The device that signed the files.
fn device() -> [u8; 32] {
    SigningIdentity::from_bytes(&[9; 32]).verifying_key()
}

#[test]
fn every_form_is_refused_by_name() {
    for kind in ["compact-ciphertext", "compact-sums", "fleet-sums"] {
        assert_eq!(frame_kind(&file(kind)), Err(WireError::Places), "{kind}");
        assert_eq!(Body::read(file(kind), LARGEST_ENVELOPE), Err(WireError::Places), "{kind}");
    }
    for header in ["stream-header", "fleet-stream-header"] {
        assert_eq!(StreamHeader::read(&file(header)), Err(WireError::Places), "{header}");
    }
    let first = file("compact-envelope");
    assert_eq!(Envelope::read(&first, LARGEST_ENVELOPE), Err(WireError::Places));
    for kept in [first, file("window-kept")] {
        assert_eq!(Envelope::read_kept(&kept, LARGEST_ENVELOPE), Err(WireError::Places));
    }
    let (stream, fleet) = (stored("stream-header"), stored("fleet-stream-header"));
    for (window, stream) in [("window", &stream), ("group-member", &stream), ("fleet-window", &fleet)] {
        assert_eq!(Envelope::read_window(&file(window), stream), Err(WireError::Places), "{window}");
    }
    assert_eq!(WindowGroup::read(&file("window-group"), &stream), Err(WireError::Places));
    assert_eq!(Transcript::read(&file("transcript-sums")), Err(WireError::Places));
}

#[test]
fn the_refusal_tells_the_form_and_the_cure() {
    let told = WireError::Places.to_string();
    assert!(told.contains("windows of places") && told.contains("sotto device renew"), "{told}");
    assert_eq!(WireError::Places.name(), "places-not-read");
    assert!(is_final_refusal(&format!("{PROBLEM_TYPE}places-not-read")));
}

#[test]
fn headers_of_streams_stay_readable() {
    for (header, window) in [("stream-header", "window"), ("fleet-stream-header", "fleet-window")] {
        let stream = stored(header);
        assert!(stream.is_of_places() && !stream.is_of_sums());
        assert_eq!((stream.device(), stream.stream()), ("device-1", "readings"));
        assert_eq!((stream.period(), stream.layout().ticks()), (Period::from_milliseconds(60_000), 16));
        assert_eq!(stream.write(), file(header));
        assert_eq!(stream_tag(&file(window)), Ok(Some(stream.id().tag())));
        for at in 0..file(header).len() {
            assert!(StreamHeader::read_stored(&file(header)[..at]).is_err(), "{at}");
        }
    }
}

/// The log of a stream has the signed headers, so nothing of them may change.
#[test]
fn signed_headers_stay_readable() {
    let stream = stored("stream-header");
    for (signed, message) in [("signed-window", "window"), ("signed-member", "group-member")] {
        let bytes = file(signed);
        let read = SignedHeader::read(&bytes, LARGEST_ENVELOPE).unwrap();
        assert_eq!(read.write(), bytes);
        assert_eq!(read.verify(&device()), Ok(()));
        assert_eq!(read.stream(), Some(&stream));
        assert_eq!(SignedHeader::of_window(&file(message), &stream), Ok(read), "{message}");
    }
    let read = SignedHeader::of_kept(&file("window-kept"), LARGEST_ENVELOPE).unwrap();
    assert_eq!(read.write(), file("signed-window"));
    let header = read.header();
    assert_eq!((&header.device[..], header.sequence, header.readings), ("device-1", 300, 15));
    // The window of a fleet, and an envelope of version 1.
    let shared = SignedHeader::of_window(&file("fleet-window"), &stored("fleet-stream-header")).unwrap();
    let first = SignedHeader::of_kept(&file("compact-envelope"), LARGEST_ENVELOPE).unwrap();
    for (read, sequence) in [(shared, 301), (first, 0)] {
        assert_eq!(read.verify(&device()), Ok(()));
        assert_eq!(read.header().sequence, sequence);
        assert_eq!(SignedHeader::read(&read.write(), LARGEST_ENVELOPE), Ok(read));
    }
}

#[test]
fn a_changed_window_has_no_signed_header() {
    let (stream, bytes) = (stored("stream-header"), file("window"));
    let accepted = |bytes: &[u8]| {
        SignedHeader::of_window(bytes, &stream).is_ok_and(|signed| signed.verify(&device()).is_ok())
    };
    assert!(accepted(&bytes));
    for at in 0..bytes.len() {
        assert!(!accepted(&bytes[..at]), "{at}");
        for bit in 0..8 {
            let mut changed = bytes.clone();
            changed[at] ^= 1 << bit;
            assert!(!accepted(&changed), "bit {bit} of byte {at}");
        }
    }
}

#[test]
fn no_header_of_places_is_made() {
    let channel = Channel { name: "level".into(), maximum: 9.0, resolution: Some(1.0), ..Channel::default() };
    let parts = StreamParts {
        device: "boiler".into(),
        stream: "readings".into(),
        parameters: ParameterId([1; 32]),
        key: KeyId([2; 16]),
        period: 60_000,
        ticks: 16,
        channels: vec![channel],
        values: WindowValues::Places,
    };
    assert_eq!(StreamHeader::new(parts), Err(WireError::Places));
    let profile =
        br#"{"device":"d","period_ms":1,"streams":[{"stream":"s","parameters":"00","encoding":"resolution",
        "ticks":2,"channels":[{"name":"a","unit":"","minimum":0,"maximum":9,"resolution":1}],
        "compact":{"width":24},"envelope":2}]}"#;
    let profile = &DeviceProfile::parse(profile).unwrap().streams[0];
    let made = StreamHeader::of_profile(
        "d",
        Period::from_milliseconds(1),
        profile,
        ParameterId([1; 32]),
        KeyId([2; 16]),
    );
    assert_eq!(made, Err(WireError::Places));
}
