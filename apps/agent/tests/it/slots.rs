//! Compact windows of reals: a few coefficients travel, and their expansion holds the readings.

use sotto_agent::encrypt::{DeviceKey, EncryptError, PublicKeyFile, SentTicks, encryptor};
use sotto_decrypt::Decryptor;
use sotto_keys::{DeviceSecret, SecretKey};
use sotto_pack::{Channel, Encoding, Layout, Slots, StreamProfile};
use sotto_ring::{Scratch, secure_rng};
use sotto_rlwe::{Bfv, Ckks, DefaultChain, Evaluator, Params, Scheme, SchemeId};
use sotto_wire::{SlotsWindow, mask_seed, write_parameters, write_public_key};

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
        period_ms: Some(300_000),
        span: None,
        channels: vec![channel("a"), channel("b")],
        compact: None,
        slots: Some(slots),
        envelope: 2,
        fleet: None,
    }
}

fn sent() -> SentTicks {
    SentTicks { ticks: 12, presence: Vec::new() }
}

#[test]
fn readings_come_back_from_a_few_coefficients() {
    let params = params::<Ckks>(SchemeId::Ckks);
    let mut rng = secure_rng().unwrap();
    let secret = || DeviceSecret::from_bytes(&[9; 32]);
    let key = SecretKey::<Ckks>::derive(&secret(), &params);
    let profile = stream(&params, 32);
    let made = encryptor(&profile, params.spec().clone(), &DeviceKey::Secret(secret())).unwrap();
    let (rows, columns) = made.slot_shape();
    assert_eq!((rows, columns, made.largest()), (1, 32, None));
    let layout = Layout::smallest(profile.channels.clone(), 12, columns, rows, Encoding::Real).unwrap();
    made.check(&layout).unwrap();
    let values: Vec<f64> = (0..32).map(|slot| f64::from(slot) / 32.0 - 0.5).collect();
    let encrypted = made.encrypt(Slots::Reals(values.clone()), 0, &sent()).unwrap();
    assert_eq!(encrypted.frame.len(), made.frame_bytes());
    let whole = sotto_wire::seeded_bytes(&params);
    assert!(encrypted.frame.len() < whole / 80, "{} of {whole}", encrypted.frame.len());
    let window = SlotsWindow::read(&encrypted.frame).unwrap();
    let compact = window.compact(&params).unwrap();
    assert_eq!(*compact.seed(), mask_seed(key.id(), &profile.stream, &window.mask));
    let again = made.encrypt(Slots::Reals(values.clone()), 1, &sent()).unwrap();
    assert_ne!(SlotsWindow::read(&again.frame).unwrap().seed, window.seed, "a mask of its own");
    // No mask serves twice, neither after one start nor after another.
    for sequence in [0, 1] {
        let repeated = made.encrypt(Slots::Reals(values.clone()), sequence, &sent());
        assert!(matches!(repeated, Err(EncryptError::RepeatedMask { .. })), "{sequence}");
    }
    let spec = params.spec().clone();
    let restarted = encryptor(&profile, spec, &DeviceKey::Secret(secret())).unwrap();
    let other =
        SlotsWindow::read(&restarted.encrypt(Slots::Reals(values.clone()), 0, &sent()).unwrap().frame);
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
    let mut rng = secure_rng().unwrap();
    let secret = DeviceSecret::generate(&mut rng);
    let public = SecretKey::<Ckks>::derive(&secret, &ckks).public_key(&mut rng);
    let file = PublicKeyFile { path: "device.public".into(), bytes: write_public_key(&public) };
    let public = encryptor(&stream(&ckks, 32), ckks.spec().clone(), &DeviceKey::Public(vec![file]));
    assert!(matches!(public.map(drop), Err(EncryptError::NoCompactForm)));
    let secret = DeviceKey::Secret(secret);
    for slots in [0, 1, 3, 8192] {
        let refused = encryptor(&stream(&ckks, slots), ckks.spec().clone(), &secret);
        assert!(matches!(refused.map(drop), Err(EncryptError::Slots { .. })), "{slots}");
    }
    let rows = encryptor(&stream(&bfv, 32), bfv.spec().clone(), &secret);
    assert!(matches!(rows.map(drop), Err(EncryptError::Slots { .. })), "two rows");
}
