//! The cloud's signed statements: a receipt's signature, the head of a log, the transcript of a job.

use sotto_keys::SigningIdentity;
use sotto_wire::{
    Digest, Envelope, Frontier, Receipt, StreamHead, Transcript, TranscriptInputs, TranscriptParts,
    WindowGroup, frame_digest,
};

use super::{Golden, envelope_header, kept, read, slots_header};

/// The signing key of the cloud of the files.
pub const CLOUD_KEY: [u8; 32] = [0xc1; 32];

/// Signs a message with the cloud's key.
#[must_use]
pub fn cloud_signs(message: &[u8]) -> [u8; 64] {
    SigningIdentity::from_bytes(&CLOUD_KEY).sign(message)
}

/// The cloud's verifying key.
#[must_use]
pub fn cloud_key() -> [u8; 32] {
    SigningIdentity::from_bytes(&CLOUD_KEY).verifying_key()
}

/// The windows of `slots-group.bin`.
#[must_use]
pub fn logged_windows() -> Vec<Envelope> {
    let group = WindowGroup::read(&read("slots-group.bin"), &slots_header()).expect("a group");
    group.windows().to_vec()
}

/// The leaves of these windows.
#[must_use]
pub fn leaves() -> Vec<Digest> {
    logged_windows().iter().map(|window| window.signed_header().leaf()).collect()
}

/// The statement of `receipt.sig`: the cloud stored the window of `envelope.bin`.
pub fn with_receipt<T>(then: impl FnOnce(&Receipt<'_>) -> T) -> T {
    let header = envelope_header();
    then(&Receipt {
        device: &header.device,
        stream: &header.stream,
        sequence: header.sequence,
        digest: frame_digest(&read("envelope.bin")).expect("a frame"),
        position: 2,
        stored_at: 1_700_000_003_000,
    })
}

/// The head of `stream-head.bin`: a log of the windows of `slots-group.bin`.
#[must_use]
pub fn stream_head() -> StreamHead {
    let (stream, log) = (slots_header(), Frontier::of(leaves()));
    let (size, root, signed_at) = (log.size(), log.root(), 1_700_000_004_000);
    StreamHead::sign(stream.device(), stream.stream(), size, root, signed_at, cloud_key(), cloud_signs)
        .expect("a head")
}

/// The statement of `transcript-job.bin`, with evaluation keys.
#[must_use]
pub fn transcript_parts() -> TranscriptParts {
    let digest = |name: &str| frame_digest(&read(name)).expect("a frame");
    let (header, inputs) = (envelope_header(), TranscriptInputs::of(leaves()));
    TranscriptParts {
        parameters: header.parameters,
        key: header.key,
        request: digest("plan.bin"),
        evaluation_keys: Some(digest("bfv-evaluation-keys.bin")),
        inputs,
        outputs: vec![digest("bfv-expanded.bin"), digest("bfv-reduced.bin")],
        ended_at: 1_700_000_005_000,
        cloud: cloud_key(),
    }
}

pub(super) fn objects(all: &mut Vec<Golden>) {
    let mut add = |name: &str, bytes: Vec<u8>| all.push(Golden { name: name.into(), bytes });
    // They name digests of other golden files, which are made in the first run.
    if kept("slots-group.bin").is_none() {
        return;
    }
    let signature = with_receipt(|receipt| receipt.sign(cloud_signs)).expect("a receipt");
    add("receipt.sig", signature.to_vec());
    add("stream-head.bin", stream_head().write().expect("a frame"));
    let transcript = Transcript::sign(transcript_parts(), cloud_signs);
    add("transcript-job.bin", transcript.and_then(|transcript| transcript.write()).expect("a frame"));
}
