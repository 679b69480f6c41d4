//! The golden files of wire version 1: reading gives the original values, writing gives the same bytes.

use std::collections::BTreeSet;
use std::path::Path;

use sotto_conformance::Testable;
use sotto_conformance::golden::{self, MOST_KEYS, PASSPHRASE, Values, insecure_n16, secret, secret_from};
use sotto_decrypt::Decryptor;
use sotto_keys::{DeviceSecret, KeyFile, Protection, SigningIdentity};
use sotto_pack::WindowDescription;
use sotto_ring::{Scratch, secure_rng};
use sotto_rlwe::{
    Bfv, Bgv, Ciphertext, Ckks, EvalError, EvaluationKeys, Evaluator, Kept, Params, Scheme, Selection,
};
use sotto_wire::*;

fn values(scheme: &str) -> Values {
    let all: Vec<Values> = serde_json::from_slice(&golden::read("values.json")).unwrap();
    all.into_iter().find(|values| values.scheme == scheme).unwrap()
}

/// Reads a ciphertext, writes it again and compares the bytes.
fn ciphertext<S: Scheme>(file: &str, params: &Params<S>) -> Ciphertext<S> {
    let bytes = golden::read(file);
    let read = AnyCiphertext::read(&bytes, params).unwrap_or_else(|error| panic!("{file}: {error}"));
    let read = read.with_claimed_shape();
    assert_eq!(matches!(read, AnyCiphertext::Seeded(_)), file.contains("seeded"), "{file}");
    assert!(read.write() == bytes, "{file} is written otherwise");
    read.expand()
}

fn evaluation_keys<S: Scheme>(params: &Params<S>, expected: &Values) -> EvaluationKeys<S> {
    let bytes = golden::read(&format!("{}-evaluation-keys.bin", S::ID.name()));
    let keys = read_evaluation_keys(&bytes, params, MOST_KEYS).unwrap();
    assert!(write_evaluation_keys(&keys) == bytes);
    assert_eq!(keys.key.to_string(), expected.key_id);
    assert_eq!(keys.galois.iter().map(|(element, _)| element).collect::<Vec<_>>(), expected.galois);
    assert_eq!(keys.transfers.keys().map(ToString::to_string).collect::<Vec<_>>(), expected.transfers);
    keys
}

/// Panics unless a ciphertext decrypts to these slots within its own bound.
fn holds<S: Testable>(what: &str, decryptor: &Decryptor<'_, S>, ciphertext: &Ciphertext<S>, slots: &[i64]) {
    let (found, bound) = S::slots(decryptor, ciphertext);
    assert!(bound < 0.01, "{what}: bound {bound}");
    for (slot, (found, expected)) in found.iter().zip(slots).enumerate() {
        assert!(S::distance(*found, S::small(*expected)) <= bound, "{what}: slot {slot} is {found:?}");
    }
}

fn scheme<S: Testable>() {
    let expected = values(S::ID.name());
    let bytes = golden::read(&format!("{}-parameters.bin", S::ID.name()));
    let spec = read_parameters(&bytes).unwrap();
    assert_eq!((spec.scheme, spec.degree, spec.plain), (S::ID, expected.degree, expected.plain));
    assert_eq!((&spec.special, &spec.data), (&expected.special, &expected.data));
    assert_eq!(spec.digit_primes, expected.digit_primes);
    assert!(write_parameters(&spec) == bytes);
    let params = Params::<S>::insecure(spec).unwrap();
    assert_eq!(params.id().to_string(), expected.parameter_id);
    assert_eq!(params, insecure_n16::<S>(), "the files are made for these parameters");

    let key = secret(&params);
    assert_eq!(key.id().to_string(), expected.key_id);
    let (decryptor, evaluator) = (Decryptor::new(&key), Evaluator::new(&params));
    let keys = evaluation_keys(&params, &expected);
    for one in &expected.ciphertexts {
        let read = ciphertext(&one.file, &params);
        assert_eq!((read.level(), read.components().len()), (one.level, one.components), "{}", one.file);
        assert_eq!(S::scaling_number(read.shape().scaling), one.scaling, "{}", one.file);
        assert_eq!(read.key(), key.id());
        if one.components == 3 {
            let product = evaluator.relinearise(&read, &keys).unwrap();
            holds(&one.file, &decryptor, &S::after_product(&evaluator, product), &one.slots);
        } else {
            holds(&one.file, &decryptor, &read, &one.slots);
        }
    }
    keys_work(&params, &evaluator, &keys, &decryptor, &expected.ciphertexts[0].slots);
    compact_slots(&params, &decryptor);
    reduced(&params, &decryptor, &expected.ciphertexts[1].slots);
}

/// Reduced ciphertexts: reducing the golden ciphertext gives the kept bytes, and they open to its values.
fn reduced<S: Testable>(params: &Params<S>, decryptor: &Decryptor<'_, S>, slots: &[i64]) {
    let source = golden::reduced_from::<S>(&golden::read(&format!("{}-expanded.bin", S::ID.name())));
    let whole = decryptor.decrypt(&source).unwrap();
    for (name, reduction) in golden::reductions::<S>() {
        let file = format!("{}-{name}.bin", S::ID.name());
        let bytes = golden::read(&file);
        assert_eq!(bytes.len(), reduced_bytes(params, reduction));
        let read = read_reduced(&bytes, params).unwrap().with_claimed_shape();
        assert!(write_reduced(&read) == bytes, "{file} is written otherwise");
        assert!(
            write_reduced(&source.reduce(reduction).unwrap()) == bytes,
            "{file}: its ciphertext is reduced otherwise"
        );
        assert_eq!((read.reduction(), read.key()), (reduction, secret(params).id()));
        let lifted = read.lift().unwrap();
        if reduction.selection == Selection::ALL {
            holds(&file, decryptor, &lifted, slots);
        }
        let plaintext = decryptor.decrypt_selected(&lifted, reduction.selection).unwrap();
        for at in reduction.selection.exponents(params.degree()) {
            let off = plaintext.coefficients()[at].abs_diff(whole.coefficients()[at]);
            assert!(
                if S::EXACT { off == 0 } else { off < 1 << 32 },
                "{file}: coefficient {at} is off by {off}"
            );
        }
    }
}

/// Expands a compact ciphertext of slots with new keys, and checks its slots.
fn compact_slots<S: Testable>(params: &Params<S>, decryptor: &Decryptor<'_, S>) {
    let values = golden::COMPACT_SLOTS.len();
    for (name, kept) in [("compact-slots", Kept::Whole(2 * values)), ("folded-slots", Kept::Folded(values))] {
        let file = format!("{}-{name}.bin", S::ID.name());
        let bytes = golden::read(&file);
        let compact = read_compact(&bytes, params).unwrap().with_claimed_shape();
        assert!(write_compact(&compact) == bytes, "{file} is written otherwise");
        assert_eq!(compact.kept(), kept);
        let header = CiphertextHeader::read(&bytes, 4096).unwrap();
        assert_eq!((header.compact, header.seeded, header.key), (true, true, compact.key()));
        let steps = params.expansion_steps(kept).unwrap();
        let keys = secret(params).evaluation_keys(false, &steps, &mut secure_rng().unwrap()).unwrap();
        let told = compact.expandable(&keys).unwrap();
        let expanded = Evaluator::new(params).expand(&compact, &keys, &mut Scratch::new()).unwrap();
        assert_eq!(told.noise, expanded.shape().noise);
        let (rows, columns) = S::slot_shape(params).unwrap();
        let slots = golden::COMPACT_SLOTS.repeat(rows * columns / golden::COMPACT_SLOTS.len());
        holds(&file, decryptor, &expanded, &slots);
        let none = EvaluationKeys::<S>::empty(params, compact.key());
        assert!(matches!(compact.expandable(&none), Err(EvalError::MissingKey(_))));
    }
}

/// Checks rotation, row swap and transfer with the kept keys, and encryption with the public key.
fn keys_work<S: Testable>(
    params: &Params<S>,
    evaluator: &Evaluator<S>,
    keys: &EvaluationKeys<S>,
    decryptor: &Decryptor<'_, S>,
    slots: &[i64],
) {
    let fresh = ciphertext(&format!("{}-seeded.bin", S::ID.name()), params);
    let columns = S::slot_shape(params).unwrap().1;
    let rotated: Vec<i64> = slots.chunks(columns).flat_map(|row| [&row[1..], &row[..1]].concat()).collect();
    holds("rotated", decryptor, &evaluator.rotate(&fresh, 1, keys).unwrap(), &rotated);

    let bytes = golden::read(&format!("{}-public-key.bin", S::ID.name()));
    let public = read_public_key(&bytes, params).unwrap();
    assert!(write_public_key(&public) == bytes);
    assert_eq!(public.key(), keys.key);
    let small: Vec<S::Value> = slots.iter().map(|x| S::small(*x)).collect();
    let plain = S::encode_slots(params, &small, params.top_level()).unwrap().declare_magnitude(4.0);
    let mut rng = secure_rng().unwrap();
    holds("public key", decryptor, &public.encrypt(&plain, &mut rng).unwrap(), slots);

    // The files without seeds hold the same keys.
    let bytes = golden::read(&format!("{}-public-key-written-out.bin", S::ID.name()));
    let written_out = read_public_key(&bytes, params).unwrap();
    assert!(write_public_key(&written_out) == bytes);
    assert!(written_out.seed().is_none());
    assert!((written_out.body(), written_out.mask()) == (public.body(), public.mask()));
    let bytes = golden::read(&format!("{}-evaluation-keys-written-out.bin", S::ID.name()));
    let written_out = read_evaluation_keys(&bytes, params, MOST_KEYS).unwrap();
    assert!(write_evaluation_keys(&written_out) == bytes);
    let [ours, theirs] = [keys, &written_out].map(|keys| keys.relinearisation.as_ref().unwrap());
    assert!(theirs.seed().is_none());
    assert!((theirs.bodies(), theirs.masks()) == (ours.bodies(), ours.masks()));

    let other = secret_from([1; 32], params);
    let foreign = other.encrypt(&plain, &mut rng).unwrap().expand();
    holds("transferred", decryptor, &evaluator.switch_key(&foreign, keys).unwrap(), slots);
}

#[test]
fn bfv() {
    scheme::<Bfv>();
}

#[test]
fn bgv() {
    scheme::<Bgv>();
}

#[test]
fn ckks() {
    scheme::<Ckks>();
}

#[test]
fn plan_and_envelope() {
    let bytes = golden::read("plan.bin");
    assert_eq!(read_plan(&bytes).unwrap(), golden::plan());
    assert!(write_plan(&golden::plan()).unwrap() == bytes);

    let bytes = golden::read("plan-with-forms.bin");
    assert_eq!(read_plan(&bytes).unwrap(), golden::plan_with_forms());
    assert!(write_plan(&golden::plan_with_forms()).unwrap() == bytes);

    let bytes = golden::read("envelope.bin");
    let envelope = Envelope::read(&bytes, LARGEST_ENVELOPE).unwrap();
    assert_eq!(*envelope.header(), golden::envelope_header());
    let identity = SigningIdentity::from_bytes(&golden::SIGNING_KEY);
    envelope.verify(&identity.verifying_key()).unwrap();
    assert!(*envelope.body().frame() == golden::read("bfv-seeded.bin"));
    assert!(envelope.write() == bytes);
    // Ed25519 signatures are deterministic: signing again gives the kept signature.
    let signed = Envelope::sign(golden::envelope_header(), envelope.into_body().into_frame(), |message| {
        identity.sign(message)
    });
    assert!(signed.unwrap().write() == bytes);
}

#[test]
fn positions() {
    let key = SigningIdentity::from_bytes(&golden::SIGNING_KEY).verifying_key();
    let bytes = golden::read("position-request.bin");
    let request = PositionRequest::read(&bytes).unwrap();
    request.verify(&key).unwrap();
    assert_eq!(request, golden::position_request());
    assert!(request.write().unwrap() == bytes);

    let bytes = golden::read("heads-request.bin");
    let request = HeadsRequest::read(&bytes).unwrap();
    request.verify(&key).unwrap();
    assert_eq!(request, golden::heads_request());
    assert!(request.write().unwrap() == bytes);

    let bytes = golden::read("order.bin");
    let order = Order::read(&bytes).unwrap();
    order.verify(&key).unwrap();
    assert_eq!(order, golden::order());
    assert!(order.write().unwrap() == bytes);

    let bytes = golden::read("signed-header.bin");
    let signed = SignedHeader::read(&bytes, LARGEST_ENVELOPE).unwrap();
    signed.verify(&key).unwrap();
    assert_eq!(*signed.header(), golden::envelope_header());
    let envelope = Envelope::read(&golden::read("envelope.bin"), LARGEST_ENVELOPE).unwrap();
    assert_eq!(signed, SignedHeader::of(&envelope));
    assert!(signed.write() == bytes);
}

#[test]
fn groups() {
    let (stream, key) =
        (golden::slots_header(), SigningIdentity::from_bytes(&golden::SIGNING_KEY).verifying_key());
    let bytes = golden::read("slots-group.bin");
    let group = WindowGroup::read(&bytes, &stream).unwrap();
    group.verify(&key).unwrap();
    assert!(group.write() == bytes);
    let expected = golden::GROUPED.into_iter().zip(golden::grouped()).zip((1..4).map(golden::slots_mask));
    assert_eq!(group.windows().len(), 3);
    for (window, ((sequence, description), mask)) in group.windows().iter().zip(expected) {
        assert_eq!((window.header().sequence, window.mask()), (sequence, Some(mask)));
        assert_eq!(WindowDescription::parse(&window.header().layout).unwrap(), description);
        window.verify(&key).unwrap();
    }
    let bytes = golden::read("slots-member.bin");
    let member = Envelope::read_window(&bytes, &stream).unwrap();
    assert_eq!(member, group.windows()[1]);
    assert!(member.write() == bytes);
    let bytes = golden::read("slots-member-signed.bin");
    let signed = SignedHeader::read(&bytes, LARGEST_ENVELOPE).unwrap();
    signed.verify(&key).unwrap();
    assert_eq!(signed, SignedHeader::of(&member));
    assert!(signed.write() == bytes);
}

#[test]
fn receipts_logs_and_transcripts() {
    let receipt: [u8; 64] = golden::read("receipt.sig").try_into().unwrap();
    golden::with_receipt(|statement| {
        statement.verify(&receipt, &golden::cloud_key()).unwrap();
        assert_eq!(statement.sign(golden::cloud_signs).unwrap(), receipt);
    });

    let bytes = golden::read("stream-head.bin");
    let head = StreamHead::read(&bytes).unwrap();
    head.verify().unwrap();
    assert_eq!(head, golden::stream_head());
    assert!(head.write().unwrap() == bytes);

    let bytes = golden::read("transcript-job.bin");
    let transcript = Transcript::read(&bytes).unwrap();
    transcript.verify().unwrap();
    assert_eq!(*transcript.parts(), golden::transcript_parts());
    assert!(transcript.write().unwrap() == bytes, "it is written otherwise");
    let signed = Transcript::sign(transcript.parts().clone(), golden::cloud_signs);
    assert_eq!(signed.unwrap(), transcript, "Ed25519 signatures are deterministic");
}

/// A window of slots as a message, and the slots of its expansion.
#[test]
fn slots_window() {
    let (params, stream) = (insecure_n16::<Ckks>(), golden::slots_header());
    let bytes = golden::read("slots-stream-header.bin");
    assert_eq!(StreamHeader::read(&bytes).unwrap(), *stream);
    assert!(stream.write() == bytes);
    let bytes = golden::read("slots-window.bin");
    let envelope = Envelope::read_window(&bytes, &stream).unwrap();
    envelope.verify(&SigningIdentity::from_bytes(&golden::SIGNING_KEY).verifying_key()).unwrap();
    assert!(envelope.write() == bytes);
    assert!(envelope.write_kept() == golden::read("slots-window-kept.bin"));
    assert!(envelope.signed_header().write() == golden::read("slots-window-signed.bin"));
    assert!(*envelope.body().frame() == golden::read("slots-window-ciphertext.bin"));
    let window = SlotsWindow::read(&envelope.body().frame()).unwrap();
    assert_eq!(envelope.mask(), Some(window.mask));
    let compact = window.compact(&params).unwrap();
    let (secret, kept) = (secret(&params), compact.kept());
    let steps = params.expansion_steps(kept).unwrap();
    let keys = secret.evaluation_keys(false, &steps, &mut secure_rng().unwrap()).unwrap();
    let expanded = Evaluator::new(&params).expand(&compact, &keys, &mut Scratch::new()).unwrap();
    let slots = Decryptor::new(&secret).slots(&expanded).unwrap();
    let bound = slots.error_bound();
    for (at, value) in slots.raw_values_for_owner_only().iter().enumerate() {
        let expected = golden::SLOTS_WINDOW[at % golden::SLOTS_WINDOW.len()];
        assert!((value - expected).abs() <= bound, "slot {at}: {value}");
    }
}

#[test]
fn key_files() {
    let folder = tempfile::tempdir().unwrap();
    let mut rng = secure_rng().unwrap();
    for (name, kind, secret) in [
        ("device.key", KeyFile::Device, golden::DEVICE_SECRET),
        ("signing.key", KeyFile::Signing, golden::SIGNING_KEY),
    ] {
        let bytes = golden::read(name);
        assert_eq!(*kind.parse(&bytes, Path::new(name), None).unwrap(), secret);
        let path = folder.path().join(name);
        kind.write(&path, &secret, &Protection::FileMode, &mut rng).unwrap();
        assert!(std::fs::read(path).unwrap() == bytes, "{name} is written otherwise");
    }
    // Byte 10 is the kind of protection: a fixed cost of the passphrase, or the cost in the file.
    for (name, protection) in [("owner.key", 1), ("owner-cost.key", 2)] {
        let locked = golden::read(name);
        assert_eq!(locked[10], protection, "{name}");
        let opened = KeyFile::Device.parse(&locked, Path::new(name), Some(PASSPHRASE)).unwrap();
        assert_eq!(*opened, golden::DEVICE_SECRET);
        let params = insecure_n16::<Bgv>();
        let id = DeviceSecret::from_bytes(&opened).key_id(&params.id());
        assert_eq!(id.to_string(), values("bgv").key_id);
    }
}

#[test]
fn every_file_is_one_that_the_command_makes() {
    let made: BTreeSet<String> = golden::make().into_iter().map(|golden| golden.name).collect();
    let kept = std::fs::read_dir(golden::folder()).unwrap();
    let kept: BTreeSet<String> =
        kept.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    assert_eq!(made, kept);
}
