//! Windows whose slots repeat: under the secret a few coefficients travel, and their expansion holds the readings; under
//! a public key whole ciphertexts do.

use sotto_agent::encrypt::{EncryptError, Encrypted, Encryptor, KeyError, Unencrypted, encryptor};
use sotto_decrypt::Decryptor;
use sotto_keys::{DeviceKeys, DeviceSecret, SecretKey};
use sotto_pack::{Channel, Encoding, Layout, Period, Slots, StepDigits, StreamProfile};
use sotto_ring::{Scratch, secure_rng};
use sotto_rlwe::{Bfv, Bgv, Ckks, DefaultChain, Evaluator, Params, Scheme, SchemeId};
use sotto_wire::{AnyCiphertext, SlotsWindow, mask_seed, write_parameters, write_public_key};

fn params<S: Scheme>(id: SchemeId) -> Params<S> {
    Params::new(DefaultChain::spec(id, 8192, if id == SchemeId::Ckks { 0 } else { 65_537 }).unwrap()).unwrap()
}

fn stream<S: Scheme>(params: &Params<S>, slots: u32) -> StreamProfile {
    let channel = |name: &str| Channel { name: name.into(), maximum: 10.0, ..Channel::default() };
    StreamProfile {
        stream: "reals".into(),
        parameters: hex::encode(write_parameters(params.spec())),
        encoding: Encoding::Real,
        ticks: 12,
        period_ms: Some(Period::from_milliseconds(300_000)),
        span: None,
        channels: vec![channel("a"), channel("b")],
        sums: Vec::new(),
        rounded: false,
        compact: None,
        slots: Some(slots),
        envelope: 2,
        public: false,
        absolute: false,
    }
}

fn encrypt(encryptor: &dyn Encryptor, slots: Slots, sequence: u64) -> Result<Encrypted, EncryptError> {
    encryptor.encrypt(Unencrypted { slots, sequence })
}

/// Returns a bundle's keys with the public key of a secret.
fn public<S: Scheme>(secret: &DeviceSecret, params: &Params<S>) -> DeviceKeys {
    let key = SecretKey::derive(secret, params).public_key(&mut secure_rng().unwrap());
    DeviceKeys::Public(vec![write_public_key(&key)])
}

#[test]
fn readings_come_back_from_a_few_coefficients() {
    let params = params::<Ckks>(SchemeId::Ckks);
    let mut rng = secure_rng().unwrap();
    let secret = || DeviceSecret::from_bytes(&[9; 32]);
    let key = SecretKey::<Ckks>::derive(&secret(), &params);
    let profile = stream(&params, 32);
    let made = encryptor(&profile, params.spec().clone(), &DeviceKeys::Secret(secret())).unwrap();
    let (rows, columns) = made.slot_shape();
    assert_eq!((rows, columns), (1, 32));
    let layout = Layout::smallest(profile.channels.clone(), 12, columns, rows, Encoding::Real).unwrap();
    made.check(&layout).unwrap();
    let values: Vec<f64> = (0..32).map(|slot| f64::from(slot) / 32.0 - 0.5).collect();
    let encrypted = encrypt(&*made, Slots::Reals(values.clone()), 0).unwrap();
    assert_eq!(encrypted.frame.len(), made.frame_bytes());
    let whole = sotto_wire::seeded_bytes(&params);
    assert!(encrypted.frame.len() < whole / 80, "{} of {whole}", encrypted.frame.len());
    let window = SlotsWindow::read(&encrypted.frame).unwrap();
    let compact = window.compact(&params).unwrap();
    assert_eq!(*compact.seed(), mask_seed(key.id(), &profile.stream, &window.mask));
    let again = encrypt(&*made, Slots::Reals(values.clone()), 1).unwrap();
    assert_ne!(SlotsWindow::read(&again.frame).unwrap().seed, window.seed, "a mask of its own");
    // No mask serves twice, neither after one start nor after another.
    for sequence in [0, 1] {
        let repeated = encrypt(&*made, Slots::Reals(values.clone()), sequence);
        assert!(matches!(repeated, Err(EncryptError::RepeatedMask { .. })), "{sequence}");
    }
    let spec = params.spec().clone();
    let restarted = encryptor(&profile, spec, &DeviceKeys::Secret(secret())).unwrap();
    let other = SlotsWindow::read(&encrypt(&*restarted, Slots::Reals(values.clone()), 0).unwrap().frame);
    assert_ne!(other.unwrap().mask.salt, window.mask.salt);

    let steps = params.expansion_steps(compact.kept()).unwrap();
    let keys = key.evaluation_keys(false, &steps, &mut rng).unwrap();
    let expanded = Evaluator::new(&params).expand(&compact, &keys, &mut Scratch::new()).unwrap();
    let slots = Decryptor::new(&key).slots(&expanded).unwrap();
    for (slot, found) in slots.raw_values_for_owner_only().iter().enumerate() {
        assert!((found - values[slot % 32]).abs() <= slots.error_bound(), "slot {slot}: {found}");
    }
}

#[test]
fn what_has_no_compact_form_of_slots_is_refused() {
    let (ckks, bfv) = (params::<Ckks>(SchemeId::Ckks), params::<Bfv>(SchemeId::Bfv));
    let secret = DeviceSecret::generate(&mut secure_rng().unwrap());
    let refused = encryptor(&stream(&ckks, 32), ckks.spec().clone(), &public(&secret, &ckks));
    assert!(matches!(refused.map(drop), Err(EncryptError::Key(KeyError::NoSecret))));
    let secret = DeviceKeys::Secret(secret);
    for slots in [0, 1, 3, 8192] {
        let refused = encryptor(&stream(&ckks, slots), ckks.spec().clone(), &secret);
        assert!(matches!(refused.map(drop), Err(EncryptError::Slots { .. })), "{slots}");
    }
    let rows = encryptor(&stream(&bfv, 32), bfv.spec().clone(), &secret);
    assert!(matches!(rows.map(drop), Err(EncryptError::Slots { .. })), "two rows");
}

fn under_public_key(profile: StreamProfile) -> StreamProfile {
    StreamProfile { envelope: 1, public: true, ..profile }
}

#[test]
fn reals_come_back_from_a_whole_ciphertext_under_a_public_key() {
    let (params, secret) = (params::<Ckks>(SchemeId::Ckks), DeviceSecret::from_bytes(&[9; 32]));
    let (profile, keys) = (under_public_key(stream(&params, 32)), public(&secret, &params));
    let made = encryptor(&profile, params.spec().clone(), &keys).unwrap();
    assert_eq!((made.slot_shape(), made.key()), ((1, 32), secret.key_id(&params.id())));
    let layout = Layout::smallest(profile.channels.clone(), 12, 32, 1, Encoding::Real).unwrap();
    made.check(&layout).unwrap();
    let values: Vec<f64> = (0..32).map(|slot| f64::from(slot) / 32.0 - 0.5).collect();
    let frames: Vec<_> =
        (0..2).map(|_| encrypt(&*made, Slots::Reals(values.clone()), 0).unwrap().frame).collect();
    assert_ne!(frames[0], frames[1], "no mask: a number may repeat");
    assert_eq!(frames[0].len(), made.frame_bytes());
    let AnyCiphertext::Expanded(whole) =
        AnyCiphertext::read(&frames[0], &params).unwrap().with_claimed_shape()
    else {
        panic!("a ciphertext without a seed");
    };
    let key = SecretKey::<Ckks>::derive(&secret, &params);
    let slots = Decryptor::new(&key).slots(&whole).unwrap();
    for (slot, found) in slots.raw_values_for_owner_only().iter().enumerate() {
        assert!((found - values[slot % 32]).abs() <= slots.error_bound(), "slot {slot}: {found}");
    }
}

#[test]
fn steps_come_back_from_whole_ciphertexts_under_a_public_key() {
    fn check<S: Scheme<Value = i64>>(id: SchemeId) {
        let (params, secret) = (params::<S>(id), DeviceSecret::from_bytes(&[9; 32]));
        let mut profile = under_public_key(stream(&params, 64));
        profile.encoding = Encoding::Resolution;
        profile.channels.iter_mut().for_each(|channel| channel.resolution = Some(0.01));
        let keys = public(&secret, &params);
        let made = encryptor(&profile, params.spec().clone(), &keys).unwrap();
        let layout = Layout::of_steps(&profile.channels, 12, 64).unwrap();
        made.check(&layout).unwrap();
        let digits = StepDigits::of(&layout).unwrap();
        let numbers: Vec<i64> = (0..layout.slots() as i64).map(|slot| slot * 7 - 100).collect();
        let expected = digits.expand(&layout, &numbers).unwrap();
        let frame = encrypt(&*made, Slots::Integers(numbers), 0).unwrap().frame;
        let whole = AnyCiphertext::read(&frame, &params).unwrap().with_claimed_shape().expand();
        let key = SecretKey::<S>::derive(&secret, &params);
        let slots = Decryptor::new(&key).slots(&whole).unwrap().into_residues();
        assert!(slots.iter().enumerate().all(|(slot, found)| *found == expected[slot % 64]), "{id}");
    }
    check::<Bfv>(SchemeId::Bfv);
    check::<Bgv>(SchemeId::Bgv);
}
