//! Receipts, heads of logs, transcripts and the sums behind them against `spec/`.

use sotto_compact::{Form, Sum};
use sotto_conformance::vectors::{self, SumsAnswer, Transcripts};
use sotto_evaluate::{SumError, Summing, window};
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
        work: Work::Job,
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

#[test]
fn requests_for_sums_over_fleets() {
    let file = vectors::transcripts();
    for answer in &file.fleet_requests {
        let fleet = FleetId(core::array::from_fn(|at| 200 + at as u8));
        let after = answer.after.as_ref().map(|key| KeyId(array(key)));
        let digest = fleet_sums_request_digest(fleet, file.time, 7, 2048, after);
        assert_eq!(hex::encode(digest), answer.request);
    }
}

#[test]
fn sums_are_repeated_to_the_bytes_of_the_specification() {
    let file = vectors::transcripts();
    for case in &file.sums {
        sums(&file, case);
    }
}

fn sums(file: &Transcripts, case: &SumsAnswer) {
    let identity = cloud(file);
    let requested: Vec<SumRequest<'_>> = case
        .sums
        .iter()
        .map(|sum| SumRequest {
            envelopes: sum.envelopes,
            places: sum.places,
            weights: sum.weights.as_deref(),
        })
        .collect();
    assert_eq!(hex::encode(sums_request_digest(&requested)), case.request);
    let mut summing = Summing::new(case.messages.len(), requested).unwrap();
    let (mut leaves, mut keys) = (Vec::new(), Vec::new());
    for ((message, leaf), body) in case.messages.iter().zip(&case.leaves).zip(&case.bodies) {
        let envelope = Envelope::read_kept(&hex::decode(message).unwrap(), LARGEST_ENVELOPE).unwrap();
        assert_eq!(hex::encode(envelope.write_kept()), *message);
        let signers = file.device_secrets.iter().map(|secret| SigningIdentity::from_bytes(&array(secret)));
        assert!(signers.map(|device| device.verifying_key()).any(|key| envelope.verify(&key).is_ok()));
        let own = SignedHeader::of(&envelope).leaf();
        assert_eq!(hex::encode(own), *leaf);
        let window = window(&envelope).unwrap();
        let form = |form: &CompactForm| {
            let places = usize::from(form.places);
            Form::new(file.degree, file.prime, file.plain_modulus, places, form.width.into())
        };
        let form = form(&window.0.form).unwrap();
        let mut alone = Sum::new(&form);
        alone.add(&window.0.body, 1).unwrap();
        assert_eq!(alone.columns().collect::<Vec<_>>(), *body, "places are packed as the specification says");
        keys.push(window.0.form.key);
        summing.add(&window, |_| Ok::<_, SumError>(form)).unwrap();
        leaves.push(own);
    }
    let frame = summing.frame().unwrap();
    assert_eq!(hex::encode(&frame), case.answer);
    let one_key = keys.iter().all(|key| *key == keys[0]);
    let parts = TranscriptParts {
        work: Work::Sums,
        parameters: ParameterId(array(&file.parameter_id)),
        key: if one_key { keys[0] } else { KeyId([0; 16]) },
        request: array(&case.request),
        evaluation_keys: None,
        inputs: TranscriptInputs::of(leaves),
        outputs: vec![frame_digest(&frame).unwrap()],
        ended_at: file.time,
        cloud: identity.verifying_key(),
    };
    let transcript = Transcript::sign(parts, |bytes| identity.sign(bytes)).unwrap();
    assert_eq!(hex::encode(transcript.write().unwrap()), case.transcript);
    assert_eq!(Transcript::read(&hex::decode(&case.transcript).unwrap()).unwrap(), transcript);
}
