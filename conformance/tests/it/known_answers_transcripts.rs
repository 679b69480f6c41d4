//! Receipts, heads of logs and transcripts against `spec/`.

use sotto_conformance::vectors::{self, Transcripts};
use sotto_keys::SigningIdentity;
use sotto_rlwe::{KeyId, ParameterId};
use sotto_wire::*;

fn array<const N: usize>(text: &str) -> [u8; N] {
    hex::decode(text).unwrap().try_into().unwrap()
}

fn cloud(file: &Transcripts) -> SigningIdentity {
    SigningIdentity::from_bytes(&array(&file.cloud_secret))
}

/// Returns the leaves of the file's trees: hashes of one byte each, 0, 1, 2, ….
fn leaves(file: &Transcripts) -> Vec<Digest> {
    let leaf = |at: usize| blake3::hash(&[0, at as u8]).into();
    (0..file.trees.len() - 1).map(leaf).collect()
}

#[test]
fn trees() {
    let file = vectors::transcripts();
    let leaves = leaves(&file);
    for (size, root) in file.trees.iter().enumerate() {
        let tree = Frontier::of(leaves[..size].iter().copied());
        assert_eq!((tree.size(), hex::encode(tree.root())), (size as u64, root.clone()));
    }
}

#[test]
fn receipts() {
    let file = vectors::transcripts();
    let (answer, identity) = (&file.receipt, cloud(&file));
    let receipt = Receipt {
        device: "boiler",
        stream: "climate",
        sequence: answer.sequence,
        digest: array(&answer.digest),
        position: answer.position,
        stored_at: answer.stored_at,
    };
    let mut message = Vec::new();
    let signature = receipt.sign(|bytes| {
        message = bytes.to_vec();
        identity.sign(bytes)
    });
    assert_eq!(hex::encode(message), answer.message);
    assert_eq!(hex::encode(signature.unwrap()), answer.signature);
    receipt.verify(&array(&answer.signature), &identity.verifying_key()).unwrap();
}

#[test]
fn heads_of_logs() {
    let file = vectors::transcripts();
    let (identity, tree) = (cloud(&file), Frontier::of(leaves(&file)));
    let head = StreamHead::sign(
        "boiler",
        "climate",
        tree.size(),
        tree.root(),
        file.time,
        identity.verifying_key(),
        |bytes| identity.sign(bytes),
    );
    assert_eq!(hex::encode(head.as_ref().unwrap().write().unwrap()), file.head);
    let read = StreamHead::read(&hex::decode(&file.head).unwrap()).unwrap();
    read.verify().unwrap();
    assert_eq!(Ok(read), head);
}

#[test]
fn transcripts_of_jobs() {
    let file = vectors::transcripts();
    let (identity, leaves) = (cloud(&file), leaves(&file));
    let parts = TranscriptParts {
        parameters: ParameterId(array(&file.parameter_id)),
        key: KeyId(core::array::from_fn(|at| at as u8)),
        request: leaves[0],
        evaluation_keys: Some(leaves[1]),
        inputs: TranscriptInputs::of(leaves.iter().copied()),
        outputs: leaves[2..5].to_vec(),
        ended_at: file.time + 1,
        cloud: identity.verifying_key(),
    };
    let transcript = Transcript::sign(parts, |bytes| identity.sign(bytes)).unwrap();
    assert_eq!(hex::encode(transcript.write().unwrap()), file.job);
    let read = Transcript::read(&hex::decode(&file.job).unwrap()).unwrap();
    read.verify().unwrap();
    assert_eq!(read, transcript);
}
