//! Every object round-trips byte for byte, and every changed byte is refused.

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use sotto_keys::{DeviceSecret, SecretKey, SigningIdentity};
use sotto_program::{
    ConstantId, KeyNumber, OutputForm, PlainConstant, Plan, PlanError, PlanInput, PlanOutput, PlanStep,
    Predicted, Register, Step,
};
use sotto_rlwe::{
    Bfv, Bgv, Ckks, EvaluationKeys, Evaluator, Kept, ParameterSpec, Params, Reduction, Scheme, SchemeId,
    Selection,
};
use sotto_wire::*;

fn rng() -> ChaCha20Rng {
    ChaCha20Rng::from_seed([3; 32])
}

/// n = 16, three data primes, one special: no security, few bytes.
fn insecure_n16<S: Scheme>() -> Params<S> {
    // CKKS: the special and the first prime are above the scale, the others near it.
    let (bits, plain) = if S::ID == SchemeId::Ckks { (41, 40) } else { (40, 97) };
    let large = sotto_ring::primes::below(1 << bits, 16).take(2);
    let others = sotto_ring::primes::below(1 << 40, 16).skip(2).take(2);
    let primes: Vec<u64> = large.chain(others).collect();
    let (special, data) = (primes[..1].to_vec(), primes[1..].to_vec());
    Params::insecure(ParameterSpec { scheme: S::ID, degree: 16, special, data, digit_primes: 1, plain })
        .unwrap()
}

fn secret<S: Scheme>(params: &Params<S>) -> SecretKey<S> {
    SecretKey::derive(&DeviceSecret::from_bytes(&[8; 32]), params)
}

/// Limits slightly above the numbers of keys in [`evaluation_keys`].
const MOST: EvaluationKeyCounts = EvaluationKeyCounts { relinearisation: true, galois: 8, transfers: 3 };

/// A relinearisation key, three rotations, and transfer keys from two other secret keys.
fn evaluation_keys<S: Scheme>(key: &SecretKey<S>, rng: &mut ChaCha20Rng) -> EvaluationKeys<S> {
    let mut keys = key.evaluation_keys(true, &[0, 1, -1], rng).unwrap();
    for other in [1, 2] {
        let from = SecretKey::derive(&DeviceSecret::from_bytes(&[other; 32]), key.params());
        keys.transfers.insert(from.id(), key.transfer_key(&from, rng).unwrap());
    }
    keys
}

/// Reads bytes and writes them again.
type RoundTrip = Box<dyn Fn(&[u8]) -> Result<Vec<u8>, WireError>>;
type Object = (&'static str, Vec<u8>, RoundTrip);

/// Both representations, the keys, an envelope and a plan, each with a reader that accepts or refuses bytes.
fn objects<S: Scheme>(value: S::Value) -> Vec<Object> {
    let params = insecure_n16::<S>();
    let key = secret(&params);
    let mut rng = rng();
    let plain = S::encode_scalar(&params, value, params.top_level()).unwrap();
    let seeded = key.encrypt(&plain, &mut rng).unwrap();
    let (width, selection) = (if S::ID == SchemeId::Ckks { 50 } else { 21 }, Selection::new(8, 3));
    let lower = Evaluator::new(&params).lower(&seeded.expand(), 1).unwrap();
    let reduced = write_reduced(&lower.reduce(Reduction { width, selection }).unwrap());
    let compact = write_compact(&seeded.compact(Kept::Whole(8)).unwrap());
    let expanded = AnyCiphertext::Expanded(seeded.expand()).write();
    let seeded = AnyCiphertext::Seeded(seeded).write();
    let keys = evaluation_keys(&key, &mut rng);
    let identity = SigningIdentity::generate(&mut rng);
    let verifying = identity.verifying_key();
    let header = EnvelopeHeader {
        device: "device-1".into(),
        stream: "bfv".into(),
        sequence: 7,
        parameters: params.id(),
        key: key.id(),
        started_at: 1_700_000_000_000,
        ended_at: 1_700_000_001_000,
        readings: 12,
        layout: b"{}".to_vec(),
    };
    let envelope = Envelope::sign(header, seeded.clone(), |message| identity.sign(message)).unwrap();
    let [p1, p2, p3, p4, p5, p6] = [(); 6].map(|()| params.clone());
    vec![
        (
            "seeded ciphertext",
            seeded,
            Box::new(move |b| AnyCiphertext::read(b, &p1).map(|c| c.with_claimed_shape().write())),
        ),
        (
            "ciphertext",
            expanded,
            Box::new(move |b| AnyCiphertext::read(b, &p2).map(|c| c.with_claimed_shape().write())),
        ),
        (
            "compact ciphertext",
            compact,
            Box::new(move |b| read_compact(b, &p5).map(|c| write_compact(&c.with_claimed_shape()))),
        ),
        (
            "reduced ciphertext",
            reduced,
            Box::new(move |b| read_reduced(b, &p6).map(|c| write_reduced(&c.with_claimed_shape()))),
        ),
        (
            "public key",
            write_public_key(&key.public_key(&mut rng)),
            Box::new(move |b| read_public_key(b, &p3).map(|k| write_public_key(&k))),
        ),
        (
            "evaluation keys",
            write_evaluation_keys(&keys),
            Box::new(move |b| read_evaluation_keys(b, &p4, MOST).map(|k| write_evaluation_keys(&k))),
        ),
        (
            "envelope",
            envelope.write(),
            Box::new(move |b| {
                let envelope = Envelope::read(b, LARGEST_ENVELOPE)?;
                envelope.verify(&verifying)?;
                Ok(envelope.write())
            }),
        ),
        (
            "parameters",
            write_parameters(params.spec()),
            Box::new(|b| read_parameters(b).map(|spec| write_parameters(&spec))),
        ),
        ("plan", write_plan(&plan()).unwrap(), Box::new(|b| write_plan(&read_plan(b)?))),
        (
            "plan with forms",
            write_plan(&with_forms()).unwrap(),
            Box::new(|b| {
                let plan = read_plan(b)?;
                // Cut before its forms, with a new digest, it is another plan.
                assert!(plan == with_forms() || plan.outputs.iter().all(|output| output.form.is_none()));
                write_plan(&plan)
            }),
        ),
    ]
}

/// The plan with two more outputs, one of them reduced.
fn with_forms() -> Plan {
    let mut plan = plan();
    for (name, form) in [("few", Some(OutputForm { width: 34, spacing: 64, count: 3 })), ("whole", None)] {
        plan.outputs.push(PlanOutput { name: name.into(), register: Register(8), form });
    }
    plan
}

fn plan() -> Plan {
    let steps = [
        Step::Multiply(Register(0), Register(1)),
        Step::Relinearise(Register(3)),
        Step::Rotate(Register(4), -3),
        Step::AddPlain(Register(5), ConstantId(0)),
        Step::MultiplyScalar(Register(6), -12),
        Step::DropModulus { of: Register(7), count: 1 },
        Step::SwapRows(Register(8)),
        Step::Sub(Register(8), Register(9)),
        Step::Negate(Register(10)),
        Step::MultiplyPlain(Register(11), ConstantId(1)),
        Step::MatchScale { of: Register(12), level: 0 },
        Step::MatchFactor { of: Register(13), scalar: 5 },
        Step::Add(Register(14), Register(14)),
        Step::SwitchKey(Register(2)),
        Step::Sub(Register(15), Register(16)),
        Step::MultiplyMonomial(Register(17), 131_071),
        Step::Table { of: Register(17), values: ConstantId(1), first: -129 },
        Step::Sign { of: Register(19), gap_bits: 8 },
    ];
    let steps: Vec<PlanStep> = steps
        .into_iter()
        .enumerate()
        .map(|(i, step)| PlanStep { step, output: Register(i as u32 + 3) })
        .collect();
    let mut plan = Plan {
        parameter_id: [9; 32],
        inputs: vec![
            PlanInput { name: "x".into(), key: KeyNumber::ANSWER },
            PlanInput { name: "y".into(), key: KeyNumber::ANSWER },
            PlanInput { name: "z".into(), key: KeyNumber(1) },
        ],
        constants: vec![
            PlainConstant { coefficients: vec![1, -1, 300, i64::MIN, i64::MAX], level: 2, power: 1 },
            PlainConstant { coefficients: vec![-128, 127], level: 1, power: 1 },
        ],
        steps,
        outputs: vec![PlanOutput { name: "result".into(), register: Register(17), form: None }],
        keys: Default::default(),
        predicted: Predicted { noise_bits_left: 3.5, levels_used: 1, output_bytes: 1234 },
    };
    plan.keys = plan.keys_needed();
    plan
}

fn every_object() -> Vec<Object> {
    let mut all = objects::<Bfv>(5);
    all.extend(objects::<Bgv>(-7));
    all.extend(objects::<Ckks>(0.25));
    all
}

#[test]
fn objects_round_trip_byte_for_byte() {
    for (what, bytes, read) in every_object() {
        assert_eq!(read(&bytes).unwrap_or_else(|e| panic!("{what}: {e}")), bytes, "{what}");
    }
}

#[test]
fn every_bit_flip_and_every_length_is_refused() {
    for (what, bytes, read) in every_object() {
        let stride = (bytes.len() / 700).max(1);
        for i in (0..bytes.len()).step_by(stride).chain(bytes.len() - 34..bytes.len()).chain(0..60) {
            let mut mutant = bytes.clone();
            mutant[i] ^= 1 << (i % 8);
            assert!(read(&mutant).is_err(), "{what}: bit {} of byte {i}", i % 8);
            assert!(read(&bytes[..i]).is_err(), "{what}: cut at {i}");
        }
        let mut longer = bytes.clone();
        longer.push(0);
        assert!(
            matches!(read(&longer), Err(WireError::Trailing { .. } | WireError::TooLarge { .. })),
            "{what}"
        );
    }
}

/// Returns the frame with a changed payload and a valid length and digest.
fn reseal(bytes: &[u8], change: &dyn Fn(&mut Vec<u8>)) -> Vec<u8> {
    let mut body = bytes[..bytes.len() - DIGEST_BYTES].to_vec();
    change(&mut body);
    let payload = (body.len() - 16) as u64;
    body[8..16].copy_from_slice(&payload.to_le_bytes());
    let digest = blake3::hash(&body);
    body.extend_from_slice(digest.as_bytes());
    body
}

/// Tests forms of outputs under a valid digest.
#[test]
fn forged_forms_of_outputs_are_refused() {
    let frame = write_plan(&with_forms()).unwrap();
    assert_eq!(read_plan(&frame).unwrap(), with_forms());
    // The section at the end: a whole output; one with 34 bits, log2 of the spacing and the count; a whole output.
    let first = frame.len() - DIGEST_BYTES - 8;
    assert_eq!(frame[first..first + 8], [0, 34, 6, 3, 0, 0, 0, 0]);
    let refused = |change: &dyn Fn(&mut Vec<u8>)| read_plan(&reseal(&frame, change)).unwrap_err();
    for (at, wrong) in [(1, 7), (1, 57), (2, 18), (2, 31), (3, 0), (3, 64), (2, 1)] {
        let error = refused(&|b| b[first + at] = wrong);
        assert!(matches!(error, WireError::Plan(_)), "{at} {wrong}: {error}");
    }
    assert!(matches!(refused(&|b| b[first + 2] = 32), WireError::Value(_)), "spacing");
    let nothing = refused(&|b| {
        b.truncate(first);
        b.extend_from_slice(&[0; 3]);
    });
    assert!(matches!(nothing, WireError::Value(_)), "no form at all: {nothing}");
    assert!(matches!(refused(&|b| b.truncate(b.len() - 1)), WireError::Truncated { .. }));
    assert!(matches!(refused(&|b| b.push(0)), WireError::Trailing { .. }));
    // A plan without the section has only whole outputs.
    let whole = read_plan(&reseal(&frame, &|b| b.truncate(first))).unwrap();
    assert!(whole.outputs.iter().all(|output| output.form.is_none()));
    // A product that is not relinearised cannot be reduced.
    let mut tensor = with_forms();
    tensor.outputs[1].register = Register(3);
    assert!(matches!(write_plan(&tensor), Err(WireError::Plan(_))));
}

/// Tests forms and coefficients of reduced ciphertexts under a valid digest.
#[test]
fn forged_reduced_ciphertexts_are_refused() {
    let params = insecure_n16::<Bgv>();
    let plain = Bgv::encode_scalar(&params, 3, params.top_level()).unwrap();
    let fresh = secret(&params).encrypt(&plain, &mut rng()).unwrap().expand();
    let reduction = Reduction { width: 21, selection: Selection::new(8, 3) };
    let frame = write_reduced(&fresh.reduce(reduction).unwrap());
    assert_eq!(frame.len(), reduced_bytes(&params, reduction));
    let read = |change: &dyn Fn(&mut Vec<u8>)| read_reduced(&reseal(&frame, change), &params).map(drop);
    assert_eq!(read(&|_| ()), Ok(()));
    let header = 16 + 32 + 16;
    let value = |what: &str, change: &dyn Fn(&mut Vec<u8>)| {
        let found = read(change);
        assert!(matches!(found, Err(WireError::Value(_))), "{what}: {found:?}");
    };
    value("form", &|b| b[header] = 1);
    value("representation", &|b| b[header + 1] = 0);
    value("level", &|b| b[header + 2] = 3);
    value("components", &|b| b[header + 3] = 3);
    let form = header + 28;
    assert_eq!(frame[form..form + 6], [21, 3, 3, 0, 0, 0]);
    for width in [0, 7, 9, 57, 255] {
        value("bits", &|b| b[form] = width);
    }
    assert!(matches!(read(&|b| b[form] = 22), Err(WireError::Length { .. })));
    for spacing in [0, 1, 5, 64, 255] {
        value("spacing", &|b| b[form + 1] = spacing);
    }
    value("no coefficient", &|b| b[form + 2] = 0);
    value("all of a spacing", &|b| b[form + 2] = 8);
    value("more than there can be", &|b| b[form + 2..form + 6].fill(0xff));
    assert!(matches!(read(&|b| b[form + 2] = 4), Err(WireError::Length { .. })));
    // 6 coefficients of 21 bits leave two padding bits in the last byte.
    let end = frame.len() - DIGEST_BYTES;
    assert_eq!(read(&|b| b[end - 1] |= 0x40), Err(WireError::Padding));
    value("transparent", &|b| b[form + 6..form + 6 + 42].fill(0));
    let noisy = |b: &mut Vec<u8>| b[header + 20..header + 28].copy_from_slice(&119f64.to_le_bytes());
    value("noise beyond what so few bits hold", &|b| noisy(b));
}

/// Changes under a valid digest, as an attacker who writes frames would send them.
#[test]
fn what_only_a_forger_can_write_is_refused_by_its_meaning() {
    let params = insecure_n16::<Bfv>();
    let key = secret(&params);
    let plain = Bfv::encode_scalar(&params, 3, params.top_level()).unwrap();
    let c = AnyCiphertext::Expanded(key.encrypt(&plain, &mut rng()).unwrap().expand()).write();
    let read = |bytes: &[u8]| AnyCiphertext::<Bfv>::read(bytes, &params).map(drop);
    let header = 16 + 32 + 16;
    assert!(read(&reseal(&c, &|_| ())).is_ok());
    // All bits of the first residue are set: it is not below its prime.
    let large = reseal(&c, &|b| b[header + 28..header + 33].fill(0xff));
    assert_eq!(read(&large), Err(WireError::Residue { limb: 1 }));
    assert!(matches!(read(&reseal(&c, &|b| b[header] = 0)), Err(WireError::Value(_))), "form");
    assert!(matches!(read(&reseal(&c, &|b| b[header + 2] = 3)), Err(WireError::Value(_))), "level");
    assert!(
        matches!(read(&reseal(&c, &|b| b[header + 2] = 1)), Err(WireError::Length { .. })),
        "shorter level"
    );
    assert!(matches!(read(&reseal(&c, &|b| b[header + 3] = 9)), Err(WireError::Value(_))), "components");
    assert!(matches!(read(&reseal(&c, &|b| b[header + 4] = 2)), Err(WireError::Value(_))), "scaling");
    let nan = reseal(&c, &|b| b[header + 20..header + 28].fill(0xff));
    assert!(matches!(read(&nan), Err(WireError::Value(_))), "noise");
    let noisy = reseal(&c, &|b| b[header + 20..header + 28].copy_from_slice(&200f64.to_le_bytes()));
    assert!(matches!(read(&noisy), Err(WireError::Value(_))), "noise beyond the limit");
    let other = reseal(&c, &|b| b[16] ^= 1);
    assert!(matches!(read(&other), Err(WireError::Parameters { .. })));
    let transparent = reseal(&c, &|b| {
        let half = (b.len() - header - 28) / 2;
        let end = b.len();
        b[end - half..].fill(0);
    });
    assert!(matches!(read(&transparent), Err(WireError::Value(_))), "transparent");
    let announced = {
        let mut bytes = c;
        bytes[8..16].copy_from_slice(&u64::MAX.to_le_bytes());
        bytes
    };
    assert!(matches!(read(&announced), Err(WireError::TooLarge { .. })));
}

#[test]
fn forged_counts_and_sources_of_evaluation_keys_are_refused() {
    let params = insecure_n16::<Bgv>();
    let key = secret(&params);
    let keys = evaluation_keys(&key, &mut rng());
    let frame = write_evaluation_keys(&keys);
    assert_eq!(frame.len(), evaluation_keys_bytes(&params, EvaluationKeyCounts::of(&keys)));
    let read = |bytes: &[u8], most| read_evaluation_keys(bytes, &params, most).map(drop);
    assert_eq!(read(&reseal(&frame, &|_| ()), MOST), Ok(()));

    // After the frame's header and the ids come the flag and two counts of four bytes.
    let flag = 16 + 32 + 16;
    let length = |change: &dyn Fn(&mut Vec<u8>)| {
        let found = read(&reseal(&frame, change), MOST);
        assert!(matches!(found, Err(WireError::Length { .. })), "{found:?}");
    };
    length(&|b| b[flag] = 0);
    length(&|b| b[flag + 1] = 2);
    length(&|b| b[flag + 5] = 1);
    length(&|b| b[flag + 5] = 3);
    length(&|b| {
        b.truncate(b.len() - 1);
    });
    let value = |bytes: &[u8], most| {
        let found = read(bytes, most);
        assert!(matches!(found, Err(WireError::Value(_))), "{found:?}");
    };
    value(&reseal(&frame, &|b| b[flag] = 2), MOST);
    value(&reseal(&frame, &|b| b[flag + 1..flag + 5].fill(0xff)), MOST);
    value(&reseal(&frame, &|b| b[flag + 5..flag + 9].fill(0xff)), MOST);
    // Counts above the reader's limits are refused even if the bytes match them.
    let room = EvaluationKeyCounts { galois: 9, transfers: 1, ..MOST };
    value(&frame, room);
    value(&frame, EvaluationKeyCounts { relinearisation: false, galois: 9, ..MOST });
    let few = EvaluationKeyCounts { transfers: 1, galois: 3, ..MOST };
    assert!(matches!(read(&frame, few), Err(WireError::TooLarge { .. })));

    // The source keys of the two transfer keys, which end the frame.
    let one = (frame.len() - DIGEST_BYTES - flag - 9 - 3 * 4 - 2 * 16) / 6;
    let second = frame.len() - DIGEST_BYTES - 16 - one;
    let first = second - 16 - one;
    let sources: Vec<[u8; 16]> = keys.transfers.keys().map(|from| from.0).collect();
    assert_eq!((&frame[first..first + 16], &frame[second..second + 16]), (&sources[0][..], &sources[1][..]));
    let with = |a: [u8; 16], b: [u8; 16]| {
        reseal(&frame, &|bytes| {
            bytes[first..first + 16].copy_from_slice(&a);
            bytes[second..second + 16].copy_from_slice(&b);
        })
    };
    assert_eq!(read(&with([0; 16], [0xff; 16]), MOST), Ok(()));
    value(&with(sources[1], sources[0]), MOST);
    value(&with(sources[0], sources[0]), MOST);
    value(&with(key.id().0, [0xff; 16]), MOST);
    value(&with([0; 16], key.id().0), MOST);
    let residues = reseal(&frame, &|b| b[second + 16 + 24..second + 16 + 29].fill(0xff));
    assert_eq!(read(&residues, MOST), Err(WireError::Residue { limb: 0 }));
}

#[test]
fn forged_gaps_of_signs_are_refused() {
    let frame = write_plan(&plan()).unwrap();
    // The last step: its code, a register of four bytes, the bits of the gap. Then comes one output: the count, its name of
    // six letters with a length, its register; then the prediction.
    let gap = frame.len() - DIGEST_BYTES - (8 + 1 + 8) - (4 + 1 + 6 + 4) - 1;
    assert_eq!(frame[gap - 5..=gap], [17, 19, 0, 0, 0, 8]);
    for gap_bits in 0..=u8::MAX {
        let read = read_plan(&reseal(&frame, &|b| b[gap] = gap_bits));
        if [4, 6, 8, 12].contains(&gap_bits) {
            let step = read.unwrap().steps.last().map(|step| step.step);
            assert_eq!(step, Some(Step::Sign { of: Register(19), gap_bits }));
        } else {
            assert!(matches!(read, Err(WireError::Plan(PlanError::Amount { .. }))), "{gap_bits}: {read:?}");
        }
    }
    let unknown = read_plan(&reseal(&frame, &|b| b[gap - 5] = 18));
    assert!(matches!(unknown, Err(WireError::Value(_))), "{unknown:?}");
}

#[test]
fn forged_keys_of_a_plans_inputs_are_refused() {
    let frame = write_plan(&plan()).unwrap();
    // Header, parameters, the count; x, y and z with a length, a letter and a key of two bytes each.
    let z = 16 + 32 + 4 + 2 * 4 + 2;
    assert_eq!(frame[z..z + 2], [1, 0]);
    for key in [0u16, 2, 0x0100, u16::MAX] {
        let forged = reseal(&frame, &|b| b[z..z + 2].copy_from_slice(&key.to_le_bytes()));
        assert!(matches!(read_plan(&forged), Err(WireError::Plan(_))), "{key}");
    }
}

#[test]
fn a_window_at_n_4096_fits_small_links() {
    let params = Params::<Bfv>::default_chain(4096, 65537).unwrap();
    let key = secret(&params);
    let values: Vec<i64> = (0..4096).map(|i| i - 2048).collect();
    // 65537 supports slots at degree 4096; not every plain modulus of 17 bits does at every degree.
    let plain = Bfv::encode_slots(&params, &values, params.top_level()).unwrap();
    let body = AnyCiphertext::Seeded(key.encrypt(&plain, &mut rng()).unwrap()).write();
    assert_eq!(body.len(), seeded_bytes(&params));
    assert!(body.len() < 38_000, "{} bytes", body.len());
    let identity = SigningIdentity::generate(&mut rng());
    let header = EnvelopeHeader {
        device: "d".repeat(64),
        stream: "s".repeat(64),
        sequence: u64::MAX,
        parameters: params.id(),
        key: key.id(),
        started_at: 0,
        ended_at: 1,
        readings: 4096,
        layout: vec![b' '; LARGEST_LAYOUT],
    };
    let of_group = header.upload_key().len() + "-18446744073709551615".len();
    assert_eq!(of_group, LONGEST_UPLOAD_KEY, "what the cloud takes");
    let envelope = Envelope::sign(header, body, |m| identity.sign(m)).unwrap().write();
    assert!(envelope.len() < 65_000, "{} bytes with the longest layout", envelope.len());
}

#[test]
fn envelopes_say_what_is_in_them() {
    let (params, other) = (insecure_n16::<Bfv>(), insecure_n16::<Bgv>());
    let (key, identity) = (secret(&params), SigningIdentity::generate(&mut rng()));
    let plain = Bfv::encode_scalar(&params, 3, 2).unwrap();
    let body = AnyCiphertext::Seeded(key.encrypt(&plain, &mut rng()).unwrap()).write();
    let header = |parameters, key| EnvelopeHeader {
        device: "d".into(),
        stream: "s".into(),
        sequence: 0,
        parameters,
        key,
        started_at: 0,
        ended_at: 0,
        readings: 1,
        layout: Vec::new(),
    };
    let write = |header| Envelope::sign(header, body.clone(), |m| identity.sign(m)).unwrap().write();
    let wrong_parameters = Envelope::read(&write(header(other.id(), key.id())), LARGEST_ENVELOPE);
    assert!(matches!(wrong_parameters, Err(WireError::Parameters { .. })));
    let wrong_key = Envelope::read(&write(header(params.id(), secret(&other).id())), LARGEST_ENVELOPE);
    assert!(matches!(wrong_key, Err(WireError::Key { .. })));
    let right = Envelope::read(&write(header(params.id(), key.id())), LARGEST_ENVELOPE).unwrap();
    let stranger = SigningIdentity::generate(&mut ChaCha20Rng::from_seed([4; 32]));
    assert_eq!(right.verify(&stranger.verifying_key()), Err(WireError::Signature));
    assert_eq!(right.verify(&identity.verifying_key()), Ok(()));
}
