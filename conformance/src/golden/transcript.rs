//! The cloud's signed statements: a receipt's signature, the head of a log, transcripts of a job and of sums.

use sotto_keys::SigningIdentity;
use sotto_wire::{
    Digest, Envelope, Frontier, Receipt, StreamHead, SumRequest, Transcript, TranscriptInputs,
    TranscriptParts, WindowGroup, Work, frame_digest, sums_request_digest,
};

use super::{Golden, WEIGHTS, compact_form, envelope_header, kept, read, stream_header};

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

/// The windows of `window-group.bin`, whose sums are in `compact-sums.bin`.
#[must_use]
pub fn summed_windows() -> Vec<Envelope> {
    let group = WindowGroup::read(&read("window-group.bin"), &stream_header()).expect("a group");
    group.windows().to_vec()
}

/// The leaves of these windows.
#[must_use]
pub fn leaves() -> Vec<Digest> {
    summed_windows().iter().map(|window| window.signed_header().leaf()).collect()
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

/// The head of `stream-head.bin`: a log of the windows of `window-group.bin`.
#[must_use]
pub fn stream_head() -> StreamHead {
    let (stream, log) = (stream_header(), Frontier::of(leaves()));
    let (size, root, signed_at) = (log.size(), log.root(), 1_700_000_004_000);
    StreamHead::sign(stream.device(), stream.stream(), size, root, signed_at, cloud_key(), cloud_signs)
        .expect("a head")
}

/// Weights of the second sum in `compact-sums.bin`, as the request has them.
#[must_use]
pub fn sum_weights() -> Vec<i32> {
    WEIGHTS.as_flattened().iter().map(|weight| i32::try_from(*weight).expect("a small weight")).collect()
}

/// The request of `transcript-sums.bin`, which `compact-sums.bin` answers.
#[must_use]
pub fn requested_sums(weights: &[i32]) -> Vec<SumRequest<'_>> {
    vec![
        SumRequest { envelopes: (0, 3), places: (0, 16), weights: None },
        SumRequest { envelopes: (0, 3), places: (4, 4), weights: Some(weights) },
    ]
}

/// The statements of `transcript-job.bin`, with evaluation keys, and of `transcript-sums.bin`, without.
#[must_use]
pub fn transcript_parts(work: Work) -> TranscriptParts {
    let digest = |name: &str| frame_digest(&read(name)).expect("a frame");
    let (header, inputs) = (envelope_header(), TranscriptInputs::of(leaves()));
    let job = TranscriptParts {
        work,
        parameters: header.parameters,
        key: header.key,
        request: digest("plan.bin"),
        evaluation_keys: Some(digest("bfv-evaluation-keys.bin")),
        inputs,
        outputs: vec![digest("bfv-expanded.bin"), digest("bfv-reduced.bin")],
        ended_at: 1_700_000_005_000,
        cloud: cloud_key(),
    };
    if work == Work::Job {
        return job;
    }
    let (parameters, key) = (compact_form().parameters, compact_form().key);
    let (request, outputs) =
        (sums_request_digest(&requested_sums(&sum_weights())), vec![digest("compact-sums.bin")]);
    TranscriptParts { parameters, key, request, evaluation_keys: None, outputs, ..job }
}

pub(super) fn objects(all: &mut Vec<Golden>) {
    let mut add = |name: &str, bytes: Vec<u8>| all.push(Golden { name: name.into(), bytes });
    // They name digests of other golden files, which are made in the first run.
    if kept("compact-sums.bin").is_none() {
        return;
    }
    let signature = with_receipt(|receipt| receipt.sign(cloud_signs)).expect("a receipt");
    add("receipt.sig", signature.to_vec());
    add("stream-head.bin", stream_head().write().expect("a frame"));
    for (name, work) in [("transcript-job.bin", Work::Job), ("transcript-sums.bin", Work::Sums)] {
        let transcript = Transcript::sign(transcript_parts(work), cloud_signs);
        add(name, transcript.and_then(|transcript| transcript.write()).expect("a frame"));
    }
}
