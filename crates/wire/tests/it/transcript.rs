//! Receipts, heads of logs and transcripts round-trip, refuse every changed byte, and sign every field.

use proptest::prelude::*;
use sotto_keys::SigningIdentity;
use sotto_rlwe::{KeyId, ParameterId};
use sotto_wire::*;

fn cloud() -> SigningIdentity {
    SigningIdentity::from_bytes(&[0xc1; 32])
}

fn other_cloud() -> SigningIdentity {
    SigningIdentity::from_bytes(&[0xc2; 32])
}

fn signs(message: &[u8]) -> [u8; 64] {
    cloud().sign(message)
}

fn parts(outputs: usize) -> TranscriptParts {
    TranscriptParts {
        parameters: ParameterId([1; 32]),
        key: KeyId([2; 16]),
        request: [3; 32],
        evaluation_keys: Some([4; 32]),
        inputs: TranscriptInputs { count: 5, root: [6; 32] },
        outputs: (0..outputs).map(|at| [at as u8; 32]).collect(),
        ended_at: 1_700_000_000_000,
        cloud: cloud().verifying_key(),
    }
}

fn transcript(outputs: usize) -> Transcript {
    Transcript::sign(parts(outputs), signs).unwrap()
}

fn head() -> StreamHead {
    StreamHead::sign("boiler", "exact-1h", 7, [8; 32], -9, cloud().verifying_key(), signs).unwrap()
}

/// Returns a frame of this kind and payload, with a valid length and digest.
fn sealed(kind: Kind, payload: &[u8]) -> Vec<u8> {
    let mut frame =
        [&b"sott\x01"[..], &[kind as u8, 0, 0], &(payload.len() as u64).to_le_bytes(), payload].concat();
    let digest: [u8; 32] = blake3::hash(&frame).into();
    frame.extend_from_slice(&digest);
    frame
}

fn payload(frame: &[u8]) -> &[u8] {
    &frame[16..frame.len() - 32]
}

fn read_signed_head(bytes: &[u8]) -> Result<StreamHead, WireError> {
    let head = StreamHead::read(bytes)?;
    head.verify().map(|()| head)
}

fn read_signed_transcript(bytes: &[u8]) -> Result<Transcript, WireError> {
    let transcript = Transcript::read(bytes)?;
    transcript.verify().map(|()| transcript)
}

/// Checks that every changed byte is refused: by the digest or, under a valid digest, by the fields or the signature.
fn every_byte_counts<T>(kind: Kind, frame: &[u8], read: impl Fn(&[u8]) -> Result<T, WireError>) {
    assert!(read(frame).is_ok());
    for at in 0..frame.len() {
        for flip in [0x01, 0x80] {
            let mut changed = frame.to_vec();
            changed[at] ^= flip;
            assert!(read(&changed).is_err(), "byte {at}");
        }
        assert!(read(&frame[..at]).is_err(), "cut to {at} bytes");
    }
    for at in 0..payload(frame).len() {
        for flip in [0x01, 0x80] {
            let mut changed = payload(frame).to_vec();
            changed[at] ^= flip;
            assert!(read(&sealed(kind, &changed)).is_err(), "byte {at} of the payload, under a right digest");
        }
        assert!(read(&sealed(kind, &payload(frame)[..at])).is_err(), "a payload of {at} bytes");
    }
    assert!(read(&[frame, &[0]].concat()).is_err(), "a byte behind the frame");
    assert!(read(&sealed(kind, &[payload(frame), &[0]].concat())).is_err(), "a byte behind the payload");
    let other = if kind == Kind::Transcript { Kind::StreamHead } else { Kind::Transcript };
    assert!(read(&sealed(other, payload(frame))).is_err(), "another kind");
}

#[test]
fn heads_are_read_as_they_were_written() {
    let bytes = head().write().unwrap();
    assert_eq!(StreamHead::read(&bytes).unwrap(), head());
    assert_eq!(StreamHead::read(&bytes).unwrap().write().unwrap(), bytes);
    every_byte_counts(Kind::StreamHead, &bytes, read_signed_head);
}

#[test]
fn transcripts_are_read_as_they_were_written() {
    for outputs in [0, 1, 3] {
        for evaluation_keys in [None, Some([4; 32])] {
            let transcript =
                Transcript::sign(TranscriptParts { evaluation_keys, ..parts(outputs) }, signs).unwrap();
            let bytes = transcript.write().unwrap();
            assert_eq!(Transcript::read(&bytes).unwrap(), transcript);
            assert_eq!(Transcript::read(&bytes).unwrap().write().unwrap(), bytes);
            every_byte_counts(Kind::Transcript, &bytes, read_signed_transcript);
        }
    }
}

#[test]
fn the_longest_frames_are_read() {
    let longest = transcript(MOST_TRANSCRIPT_OUTPUTS).write().unwrap();
    assert!(longest.len() as u64 <= LARGEST_TRANSCRIPT);
    assert_eq!(Transcript::read(&longest).unwrap().parts().outputs.len(), MOST_TRANSCRIPT_OUTPUTS);
    let name = "a".repeat(64);
    let head = StreamHead::sign(&name, &name, u64::MAX, [0; 32], i64::MIN, [0; 32], signs).unwrap();
    let longest = head.write().unwrap();
    assert!(longest.len() as u64 <= LARGEST_STREAM_HEAD);
    assert_eq!(StreamHead::read(&longest).unwrap(), head);
}

#[test]
fn more_outputs_are_refused() {
    let too_many = WireError::Value("a transcript has at most 4,096 outputs");
    assert_eq!(Transcript::sign(parts(MOST_TRANSCRIPT_OUTPUTS + 1), signs).unwrap_err(), too_many);
    // Change the count together with the outputs.
    let bytes = transcript(MOST_TRANSCRIPT_OUTPUTS).write().unwrap();
    let (before, count) = (1 + 32 + 16 + 32 + 33 + 40, MOST_TRANSCRIPT_OUTPUTS as u32 + 1);
    let (fields, rest) = payload(&bytes).split_at(before);
    let more = [fields, &count.to_le_bytes(), &[7; 32], &rest[4..]].concat();
    assert_eq!(Transcript::read(&sealed(Kind::Transcript, &more)).unwrap_err(), too_many);
    // Change the count alone; nothing is allocated for it.
    for count in [0, 2, 3, u32::MAX] {
        let mut changed = payload(&transcript(1).write().unwrap()).to_vec();
        changed[before..before + 4].copy_from_slice(&count.to_le_bytes());
        assert!(Transcript::read(&sealed(Kind::Transcript, &changed)).is_err(), "{count} outputs");
    }
}

#[test]
fn absent_evaluation_keys_are_zeros() {
    let without = Transcript::sign(TranscriptParts { evaluation_keys: None, ..parts(1) }, signs).unwrap();
    let bytes = without.write().unwrap();
    let flag = 1 + 32 + 16 + 32;
    assert_eq!(payload(&bytes)[flag..flag + 33], [0; 33]);
    for at in flag + 1..flag + 33 {
        let mut changed = payload(&bytes).to_vec();
        changed[at] = 1;
        let read = Transcript::read(&sealed(Kind::Transcript, &changed));
        assert_eq!(read.unwrap_err(), WireError::Padding);
    }
    let mut changed = payload(&bytes).to_vec();
    changed[flag] = 2;
    assert!(Transcript::read(&sealed(Kind::Transcript, &changed)).is_err(), "a flag is 0 or 1");
    // A digest of zeros differs from no digest.
    let zeros =
        Transcript::sign(TranscriptParts { evaluation_keys: Some([0; 32]), ..parts(1) }, signs).unwrap();
    assert_ne!(zeros.write().unwrap(), bytes);
    assert_eq!(Transcript::read(&zeros.write().unwrap()).unwrap(), zeros);
}

#[test]
fn work_is_a_job() {
    for work in 0..=u8::MAX {
        let mut changed = payload(&transcript(1).write().unwrap()).to_vec();
        changed[0] = work;
        let read = Transcript::read(&sealed(Kind::Transcript, &changed));
        match work {
            1 => assert_eq!(read.unwrap(), transcript(1)),
            2 | 3 => assert_eq!(read, Err(WireError::Places)),
            _ => assert!(matches!(read, Err(WireError::Value(_))), "{work}"),
        }
    }
}

#[test]
fn the_signature_of_a_transcript_covers_every_field() {
    let honest = parts(2);
    let change = |edit: &dyn Fn(&mut TranscriptParts)| {
        let mut changed = honest.clone();
        edit(&mut changed);
        changed
    };
    let changes = [
        change(&|parts| parts.parameters.0[31] ^= 1),
        change(&|parts| parts.key.0[15] ^= 1),
        change(&|parts| parts.request[0] ^= 1),
        change(&|parts| parts.evaluation_keys = None),
        change(&|parts| parts.evaluation_keys = Some([5; 32])),
        change(&|parts| parts.inputs.count += 1),
        change(&|parts| parts.inputs.root[0] ^= 1),
        change(&|parts| parts.outputs[1][31] ^= 1),
        change(&|parts| parts.outputs.reverse()),
        change(&|parts| parts.outputs.truncate(1)),
        change(&|parts| parts.outputs.push([9; 32])),
        change(&|parts| parts.ended_at += 1),
        change(&|parts| parts.cloud = other_cloud().verifying_key()),
    ];
    for changed in changes {
        assert_ne!(changed, honest);
        // An honest signature is put under other fields.
        let mut signature = [0; 64];
        Transcript::sign(honest.clone(), |message| {
            signature = signs(message);
            signature
        })
        .unwrap();
        let forged = Transcript::sign(changed.clone(), |_| signature).unwrap();
        assert_eq!(forged.verify(), Err(WireError::Signature), "{changed:?}");
    }
    assert_eq!(transcript(2).verify(), Ok(()));
}

#[test]
fn the_signature_of_a_head_covers_every_field() {
    let mut signature = [0; 64];
    let key = cloud().verifying_key();
    let forge = |names: (&str, &str), state: (u64, Digest), at: i64, key: [u8; 32], signature: [u8; 64]| {
        StreamHead::sign(names.0, names.1, state.0, state.1, at, key, |_| signature).unwrap().verify()
    };
    StreamHead::sign("boiler", "exact-1h", 7, [8; 32], -9, key, |message| {
        signature = signs(message);
        signature
    })
    .unwrap();
    assert_eq!(forge(("boiler", "exact-1h"), (7, [8; 32]), -9, key, signature), Ok(()));
    for (names, state, at, key) in [
        (("boiles", "exact-1h"), (7, [8; 32]), -9, key),
        (("boiler", "exact-1d"), (7, [8; 32]), -9, key),
        // The same letters, split differently between the two names.
        (("boilerexact", "-1h"), (7, [8; 32]), -9, key),
        (("boiler", "exact-1h"), (8, [8; 32]), -9, key),
        (("boiler", "exact-1h"), (7, [9; 32]), -9, key),
        (("boiler", "exact-1h"), (7, [8; 32]), -8, key),
        (("boiler", "exact-1h"), (7, [8; 32]), -9, other_cloud().verifying_key()),
    ] {
        assert_eq!(forge(names, state, at, key, signature), Err(WireError::Signature));
    }
}

#[test]
fn the_signature_of_a_receipt_covers_every_field() {
    let honest = Receipt {
        device: "boiler",
        stream: "exact-1h",
        sequence: 3,
        digest: [4; 32],
        position: 5,
        stored_at: -6,
    };
    let (key, signature) = (cloud().verifying_key(), honest.sign(signs).unwrap());
    assert_eq!(honest.verify(&signature, &key), Ok(()));
    assert_eq!(honest.verify(&signature, &other_cloud().verifying_key()), Err(WireError::Signature));
    for changed in [
        Receipt { device: "boiles", ..honest },
        Receipt { stream: "exact-1d", ..honest },
        Receipt { device: "boilerexact", stream: "-1h", ..honest },
        Receipt { sequence: 4, ..honest },
        Receipt { digest: [5; 32], ..honest },
        Receipt { position: 6, ..honest },
        Receipt { stored_at: -5, ..honest },
    ] {
        assert_eq!(changed.verify(&signature, &key), Err(WireError::Signature), "{changed:?}");
    }
    for at in 0..64 {
        let mut changed = signature;
        changed[at] ^= 1;
        assert_eq!(honest.verify(&changed, &key), Err(WireError::Signature), "byte {at} of the signature");
    }
    assert!(Receipt { device: "no name", ..honest }.sign(signs).is_err());
}

/// A signature on one kind of statement is invalid for any other: each kind has a context of its own.
#[test]
fn statements_have_contexts_of_their_own() {
    let mut messages: Vec<Vec<u8>> = Vec::new();
    let mut note = |message: &[u8]| {
        messages.push(message.to_vec());
        [0; 64]
    };
    let receipt =
        Receipt { device: "d", stream: "s", sequence: 0, digest: [0; 32], position: 0, stored_at: 0 };
    receipt.sign(&mut note).unwrap();
    StreamHead::sign("d", "s", 0, [0; 32], 0, [0; 32], &mut note).unwrap();
    Transcript::sign(parts(0), &mut note).unwrap();
    for (message, context) in
        messages.iter().zip(["sotto receipt v1", "sotto stream head v1", "sotto transcript v1"])
    {
        assert!(message.starts_with(context.as_bytes()));
    }
}

/// A key of small order would accept signatures on anything, so it is refused.
#[test]
fn keys_of_small_order_sign_nothing() {
    let mut neutral = [0; 32];
    neutral[0] = 1;
    let mut signature = [0; 64];
    signature[0] = 1;
    let forged = Transcript::sign(TranscriptParts { cloud: neutral, ..parts(1) }, |_| signature).unwrap();
    assert_eq!(forged.verify(), Err(WireError::Signature));
}

proptest! {
    /// Reordered, doubled or omitted inputs give another root or count.
    #[test]
    fn inputs_are_a_sequence(leaves in prop::collection::vec(any::<[u8; 32]>(), 2..40), at in any::<prop::sample::Index>()) {
        let honest = TranscriptInputs::of(leaves.iter().copied());
        prop_assert_eq!(honest.count, leaves.len() as u64);
        let at = at.index(leaves.len());
        let without: Vec<Digest> = leaves.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, leaf)| *leaf).collect();
        prop_assert_ne!(TranscriptInputs::of(without), honest);
        let mut doubled = leaves.clone();
        doubled.insert(at, leaves[at]);
        prop_assert_ne!(TranscriptInputs::of(doubled), honest);
        let mut exchanged = leaves.clone();
        exchanged.swap(at, 0);
        prop_assert_eq!(TranscriptInputs::of(exchanged) == honest, at == 0);
        let mut changed = leaves;
        changed[at][0] ^= 1;
        prop_assert_ne!(TranscriptInputs::of(changed), honest);
    }
}
