//! Windows of places, which earlier programs sent: their headers and signed parts are read, and nothing else of them.

use std::path::Path;
use std::sync::Arc;

use sotto_conformance::golden;
use sotto_keys::SigningIdentity;
use sotto_wire::{
    Envelope, LARGEST_ENVELOPE, SignedHeader, StreamHeader, Transcript, WindowGroup, WireError, frame_kind,
};

use super::{Inputs, Target, as_frame, once};

#[rustfmt::skip]
pub(super) const TARGETS: &[Target] = &[
    Target { name: "places", run: places, inputs: Inputs::Kept(files), memory: |bytes| 64 * bytes.len() + (256 << 10) },
];

/// Files that are read in part, then those that are refused by name.
const FILES: [&str; 14] = [
    "stream-header",
    "fleet-stream-header",
    "signed-window",
    "signed-member",
    "window",
    "group-member",
    "window-kept",
    "compact-envelope",
    "compact-ciphertext",
    "compact-sums",
    "fleet-sums",
    "fleet-window",
    "window-group",
    "transcript-sums",
];

fn file(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/wire/tests/data/places");
    std::fs::read(folder.join(format!("{name}.bin"))).expect("a file")
}

fn files() -> Vec<Vec<u8>> {
    FILES.map(file).to_vec()
}

/// Returns true for the header of a stream of places, the signed part of a window of one, and what is refused by name.
fn places(bytes: &[u8]) -> bool {
    let stream = once!(Arc<StreamHeader>, {
        Arc::new(StreamHeader::read_stored(&file("stream-header")).expect("a header"))
    });
    assert!(Envelope::read_window(bytes, stream).is_err(), "a window of places is read");
    assert!(WindowGroup::read(bytes, stream).is_err(), "a group of places is read");
    if let Ok(signed) = SignedHeader::of_window(bytes, stream) {
        return rewritten(&signed);
    }
    as_frame(bytes, |bytes| {
        if let Ok(header) = StreamHeader::read_stored(bytes) {
            assert!(header.write() == bytes, "rewriting changes bytes");
            assert_eq!(StreamHeader::read(bytes).is_err(), header.is_of_places());
            return true;
        }
        if let Ok(signed) = SignedHeader::of_kept(bytes, LARGEST_ENVELOPE) {
            let of_places = signed.stream().is_some_and(|stream| stream.is_of_places());
            assert!(!of_places || Envelope::read_kept(bytes, LARGEST_ENVELOPE) == Err(WireError::Places));
            return rewritten(&signed);
        }
        if let Ok(signed) = SignedHeader::read(bytes, LARGEST_ENVELOPE) {
            assert!(signed.write() == bytes, "rewriting changes bytes");
            return true;
        }
        frame_kind(bytes) == Err(WireError::Places) || Transcript::read(bytes) == Err(WireError::Places)
    })
}

/// Writes a signed part and reads it again; only the device can have signed it.
fn rewritten(signed: &SignedHeader) -> bool {
    let key = once!([u8; 32], SigningIdentity::from_bytes(&golden::SIGNING_KEY).verifying_key());
    assert_eq!(
        SignedHeader::read(&signed.write(), LARGEST_ENVELOPE).as_ref(),
        Ok(signed),
        "rereading changes it"
    );
    assert!(signed.verify(key).is_err() || [0, 300, 301, 305].contains(&signed.header().sequence), "forged");
    true
}
