//! The golden files of wire version 1: reading gives the original values, writing gives the same bytes.

use std::collections::BTreeSet;
use std::path::Path;

use sotto_compact::{MaskSum, StreamMasks, Sum, Weights, largest};
use sotto_conformance::Testable;
use sotto_conformance::firmware;
use sotto_conformance::golden::{self, MOST_KEYS, PASSPHRASE, Values, insecure_n16, secret, secret_from};
use sotto_decrypt::{Decryptor, MaskProduct, open_compact, open_compact_places, open_fleet};
use sotto_evaluate::{SumError, Summing};
use sotto_keys::{DeviceSecret, KeyFile, Protection, SecretKey, SecretSum, SigningIdentity};
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
        (golden::stream_header(), SigningIdentity::from_bytes(&golden::SIGNING_KEY).verifying_key());
    let bytes = golden::read("window-group.bin");
    let group = WindowGroup::read(&bytes, &stream).unwrap();
    group.verify(&key).unwrap();
    assert!(group.write() == bytes);
    let expected = golden::GROUPED.into_iter().zip(golden::grouped()).zip(golden::WINDOWS);
    assert_eq!(group.windows().len(), 3);
    for (window, ((sequence, description), mask)) in group.windows().iter().zip(expected) {
        assert_eq!((window.header().sequence, window.mask()), (sequence, Some(mask)));
        assert_eq!(WindowDescription::parse(&window.header().layout).unwrap(), description);
        window.verify(&key).unwrap();
    }
    // The first window of the group is that of `window.bin`, which has a signature of its own.
    let alone = Envelope::read_window(&golden::read("window.bin"), &stream).unwrap();
    assert_eq!(alone.window_digest(), group.windows()[0].window_digest());

    // Windows of slots too: their stream's header does not give their length.
    let slots = golden::slots_header();
    let window = Envelope::read_window(&golden::read("slots-window.bin"), &slots).unwrap();
    let identity = SigningIdentity::from_bytes(&golden::SIGNING_KEY);
    let sign = |message: &[u8]| identity.sign(message);
    let next = window.clone().renumbered(window.header().sequence + 1, sign).unwrap();
    let of_slots = WindowGroup::sign(vec![window.clone(), next], sign).unwrap();
    let read = WindowGroup::read(&of_slots.write(), &slots).unwrap();
    read.verify(&key).unwrap();
    assert_eq!(read, of_slots);
    assert_eq!(read.windows()[0].body(), window.body());

    let bytes = golden::read("group-member.bin");
    let member = Envelope::read_window(&bytes, &stream).unwrap();
    assert_eq!(member, group.windows()[1]);
    assert!(member.write() == bytes);
    let bytes = golden::read("signed-member.bin");
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

    for (file, work) in [("transcript-job.bin", Work::Job), ("transcript-sums.bin", Work::Sums)] {
        let bytes = golden::read(file);
        let transcript = Transcript::read(&bytes).unwrap();
        transcript.verify().unwrap();
        assert_eq!(*transcript.parts(), golden::transcript_parts(work), "{file}");
        assert!(transcript.write().unwrap() == bytes, "{file} is written otherwise");
        let signed = Transcript::sign(transcript.parts().clone(), golden::cloud_signs);
        assert_eq!(signed.unwrap(), transcript, "{file}: Ed25519 signatures are deterministic");
    }
}

/// Repeating the sums of the transcript from the windows gives the bytes that it names.
#[test]
fn a_golden_transcript_is_true() {
    let weights = golden::sum_weights();
    let mut summing = Summing::new(3, golden::requested_sums(&weights)).unwrap();
    for envelope in golden::summed_windows() {
        let form = |_: &CompactForm| Ok::<_, SumError>(*firmware::profile().form());
        summing.add(&sotto_evaluate::window(&envelope).unwrap(), form).unwrap();
    }
    let frame = summing.frame().unwrap();
    assert!(frame == golden::read("compact-sums.bin"));
    assert_eq!(golden::transcript_parts(Work::Sums).outputs, [frame_digest(&frame).unwrap()]);
}

#[test]
fn fleets() {
    let stream = golden::fleet_stream();
    let bytes = golden::read("fleet-stream-header.bin");
    assert_eq!(StreamHeader::read(&bytes).unwrap(), *stream);
    assert!(stream.write() == bytes);
    let bytes = golden::read("fleet-window.bin");
    let (sequence, description) = golden::fleet_window();
    let window = Envelope::read_window(&bytes, &stream).unwrap();
    window.verify(&SigningIdentity::from_bytes(&golden::SIGNING_KEY).verifying_key()).unwrap();
    assert!(window.write() == bytes);
    assert_eq!(window.header().sequence, sequence);
    assert_eq!(WindowDescription::parse(&window.header().layout).unwrap(), description);
    let read = CompactCiphertext::read(&window.body().frame()).unwrap();
    assert_eq!(Some(read.mask), MaskName::shared(description.start));

    let bytes = golden::read("fleet-sums.bin");
    let sums = FleetSums::read(&bytes, 4096).unwrap();
    assert!(sums.write().unwrap() == bytes);
    assert_eq!((sums.fleet, sums.start), (golden::FLEET, description.start));
    let profile = firmware::profile();
    let keys = golden::fleet_devices().map(|device| SecretKey::<Bfv>::derive(&device, profile.params()));
    assert_eq!(sums.keys, keys.each_ref().map(|key| key.id()));
    let parameters = profile.params().id();
    let masks = StreamMasks::new(keys[0].id(), "readings", parameters, Some(&golden::FLEET.0));
    let mask = masks.mask(&read.mask.salt, read.mask.sequence);
    for (sum, devices) in sums.sums.iter().zip([&[0, 1][..], &[1]]) {
        let (mut secrets, weights) = (SecretSum::new(profile.params()), devices.len() as u64);
        devices.iter().for_each(|device| assert!(secrets.add(&keys[*device])));
        let places = usize::from(sum.first)..usize::from(sum.first + sum.places);
        let weights = Weights::of_ones(weights);
        let summed = Sum::from_bytes(profile.form(), places.clone(), &sum.body, weights).unwrap();
        let opened = open_fleet(&secrets, &profile, &summed, &mask).unwrap().into_residues();
        let of = |place: usize| devices.iter().map(|device| golden::fleet_readings(*device)[place]).sum();
        assert_eq!(opened, places.map(of).collect::<Vec<i64>>());
    }
    // The first window alone opens like any other.
    let (mut sum, mut masks) = (Sum::new(profile.form()), MaskSum::new(profile.form()));
    sum.add(&read.body, 1).unwrap();
    masks.add(&mask, 1);
    let opened = open_compact(&keys[0], &profile, &sum, &masks).unwrap().into_residues();
    assert_eq!(opened, golden::fleet_readings(0));
}

#[test]
fn compact() {
    let bytes = golden::read("compact-ciphertext.bin");
    let read = CompactCiphertext::read(&bytes).unwrap();
    assert_eq!((read.form, read.mask), (golden::compact_form(), golden::WINDOWS[0]));
    assert!(read.write().unwrap() == bytes);
    let bytes = golden::read("compact-envelope.bin");
    let envelope = Envelope::read(&bytes, LARGEST_ENVELOPE).unwrap();
    envelope.verify(&SigningIdentity::from_bytes(&golden::SIGNING_KEY).verifying_key()).unwrap();
    assert!(CompactCiphertext::read(&envelope.body().frame()).unwrap() == read);
    assert_eq!(*envelope.header(), golden::compact_header());
    assert!(envelope.write() == bytes);

    let stream = golden::stream_header();
    let bytes = golden::read("stream-header.bin");
    assert_eq!(StreamHeader::read(&bytes).unwrap(), *stream);
    assert!(stream.write() == bytes);
    let bytes = golden::read("window.bin");
    let (sequence, description) = golden::window();
    let window = Envelope::read_window(&bytes, &stream).unwrap();
    window.verify(&SigningIdentity::from_bytes(&golden::SIGNING_KEY).verifying_key()).unwrap();
    assert!(CompactCiphertext::read(&window.body().frame()).unwrap() == read);
    assert_eq!(window.header().sequence, sequence);
    assert_eq!(WindowDescription::parse(&window.header().layout).unwrap(), description);
    assert!(window.write() == bytes);
    assert!(window.write_kept() == golden::read("window-kept.bin"));
    let signed = SignedHeader::read(&golden::read("signed-window.bin"), LARGEST_ENVELOPE).unwrap();
    assert_eq!(signed, SignedHeader::of(&window));

    slots_window();
    let bytes = golden::read("compact-sums.bin");
    let sums = CompactSums::read(&bytes, 4096).unwrap();
    assert!(sums.write().unwrap() == bytes);
    assert_eq!((sums.form, &sums.masks[..]), (golden::compact_form(), &golden::WINDOWS[..]));
    let profile = firmware::profile();
    let form = *profile.form();
    let key = SecretKey::<Bfv>::derive(&firmware::device(), profile.params());
    let mask = |name: &MaskName| firmware::masks().mask(&name.salt, name.sequence);
    let value = |window: usize, place: usize| firmware::reading(sums.masks[window].sequence, place);

    let mut masks = MaskSum::new(&form);
    sums.masks.iter().for_each(|name| masks.add(&mask(name), 1));
    let whole = Sum::from_bytes(&form, 0..16, &sums.sums[0].body, masks.weights()).unwrap();
    let opened = open_compact(&key, &profile, &whole, &masks).unwrap().into_residues();
    let expected: Vec<i64> = (0..16).map(|place| (0..3).map(|window| value(window, place)).sum()).collect();
    assert_eq!(opened, expected);

    let products: Vec<MaskProduct> =
        sums.masks.iter().map(|name| MaskProduct::new(&key, &profile, &mask(name)).unwrap()).collect();
    let windows: Vec<(&MaskProduct, &[i64])> =
        products.iter().zip(&golden::WEIGHTS).map(|(product, weights)| (product, &weights[..])).collect();
    let weights = windows.iter().fold(Weights::default(), |all, (_, weights)| all.and(largest(weights)));
    let weighted = Sum::from_bytes(&form, 4..8, &sums.sums[1].body, weights).unwrap();
    let opened = open_compact_places(&key, &profile, &weighted, &windows).unwrap().into_residues();
    let expected: Vec<i64> = (0..4)
        .map(|at| (0..3).map(|window| golden::WEIGHTS[window][at] * value(window, 4 + at)).sum())
        .collect();
    assert_eq!(opened, expected);
}

/// A window of slots as a message, and the slots of its expansion.
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
