//! Sums of windows of several devices under one mask.

use chacha20::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use sotto_compact::{CompactError, Mask, MaskSum, Profile, Sum, Weights, fleet_mask_key};
use sotto_decrypt::{DecryptError, open_compact, open_fleet};
use sotto_keys::{CompactEncryptor, DeviceSecret, SecretKey, SecretSum};
use sotto_rlwe::{Bfv, ChainRequest, Params, SchemeId};

/// Returns a form for sums of `windows` windows with values up to ±1000, of the smallest sufficient width.
fn profile(degree: usize, windows: u64, places: usize) -> Profile {
    let plain = 2 * 1000 * windows + 1;
    let request = ChainRequest::one_prime(SchemeId::Bfv, degree, plain, 40);
    let params = Params::<Bfv>::new(request.build().unwrap()).unwrap();
    let widths = u64::BITS - plain.leading_zeros()..=64;
    let profiles = widths.map(|width| Profile::new(&params, places, width).unwrap());
    profiles.into_iter().find(|profile| profile.room(Weights::of_ones(windows)) >= 0.0).unwrap()
}

fn mask(profile: &Profile) -> Mask {
    fleet_mask_key(profile.params().id(), &[7; 16]).mask(&[0; 12], 1_795_000_000_000)
}

fn device(at: u64) -> DeviceSecret {
    let mut bytes = [5; 32];
    bytes[..8].copy_from_slice(&at.to_le_bytes());
    DeviceSecret::from_bytes(&bytes)
}

#[test]
fn a_sum_over_devices_opens_with_the_sum_of_their_secrets() {
    let mut rng = ChaCha20Rng::from_seed([31; 32]);
    for (degree, devices, places) in [(2048, 1, 1), (2048, 2, 24), (2048, 40, 100), (4096, 16, 333)] {
        let profile = profile(degree, devices, places);
        let (params, mask) = (profile.params(), mask(&profile));
        let (mut sum, mut secrets) = (Sum::new(profile.form()), SecretSum::new(params));
        let mut expected = vec![0; places];
        for at in 0..devices {
            let values: Vec<i64> = (0..places).map(|_| i64::from(rng.next_u32() % 2001) - 1000).collect();
            let encryptor = CompactEncryptor::derive(&device(at), params);
            let body = encryptor.encrypt(&profile, &values, &mask, &mut rng).unwrap();
            sum.add(&body, 1).unwrap();
            let key = SecretKey::derive(&device(at), params);
            assert!(secrets.add(&key));
            expected.iter_mut().zip(&values).for_each(|(sum, value)| *sum += value);
            // Each window opens alone too.
            let (mut alone, mut masks) = (Sum::new(profile.form()), MaskSum::new(profile.form()));
            alone.add(&body, 1).unwrap();
            masks.add(&mask, 1);
            assert_eq!(open_compact(&key, &profile, &alone, &masks).unwrap().into_residues(), values);
        }
        assert_eq!(secrets.keys(), devices);
        let opened = open_fleet(&secrets, &profile, &sum, &mask).unwrap();
        assert_eq!(opened.key(), secrets.id());
        assert_eq!(opened.into_residues(), expected, "{devices} devices at n = {degree}");
    }
}

#[test]
fn a_sum_is_right_at_the_ends_of_what_the_form_bears() {
    let profile = profile(2048, 300, 16);
    let (params, mask, most) = (profile.params(), mask(&profile), profile.most_windows());
    assert!((300..600).contains(&most), "{most}");
    let mut rng = ChaCha20Rng::from_seed([32; 32]);
    for value in [-1000, 1000] {
        let (mut sum, mut secrets) = (Sum::new(profile.form()), SecretSum::new(params));
        for at in 0..300 {
            let encryptor = CompactEncryptor::derive(&device(at), params);
            sum.add(&encryptor.encrypt(&profile, &[value; 16], &mask, &mut rng).unwrap(), 1).unwrap();
            assert!(secrets.add(&SecretKey::derive(&device(at), params)));
        }
        let opened = open_fleet(&secrets, &profile, &sum, &mask).unwrap();
        assert_eq!(opened.into_exact(300.0 * 1000.0).unwrap(), [300 * value; 16]);
    }
    // One window more than the form allows.
    let (mut sum, mut secrets) = (Sum::new(profile.form()), SecretSum::new(params));
    let (body, key) = (vec![0; profile.form().body_bytes()], SecretKey::derive(&device(0), params));
    for _ in 0..=most {
        sum.add(&body, 1).unwrap();
        assert!(secrets.add(&key));
    }
    let refused = open_fleet(&secrets, &profile, &sum, &mask).map(drop);
    assert!(matches!(refused, Err(DecryptError::Compact(CompactError::Noise { .. }))));
}

#[test]
fn other_keys_than_those_that_took_part_open_nothing() {
    let (profile, mut rng) = (profile(2048, 4, 16), ChaCha20Rng::from_seed([33; 32]));
    let (params, mask) = (profile.params(), mask(&profile));
    let mut sum = Sum::new(profile.form());
    for at in 0..3 {
        let encryptor = CompactEncryptor::derive(&device(at), params);
        sum.add(&encryptor.encrypt(&profile, &[1; 16], &mask, &mut rng).unwrap(), 1).unwrap();
    }
    let secrets = |devices: &[u64]| {
        let mut secrets = SecretSum::new(params);
        devices.iter().for_each(|at| assert!(secrets.add(&SecretKey::derive(&device(*at), params))));
        secrets
    };
    let open = |devices: &[u64]| open_fleet(&secrets(devices), &profile, &sum, &mask);
    assert_eq!(open(&[2, 0, 1]).unwrap().into_residues(), [3; 16]);
    for wrong in [[0, 1, 3], [0, 0, 1]] {
        let values = open(&wrong).unwrap().into_residues();
        assert!(values.iter().filter(|value| **value == 3).count() < 3, "{values:?}");
    }
    for count in [&[0, 1][..], &[0, 1, 2, 3]] {
        let refused = open(count).map(drop);
        assert!(matches!(refused, Err(DecryptError::Compact(CompactError::Weights))));
    }
    // The id of a sum does not depend on the order of its keys.
    assert_eq!(secrets(&[0, 1]).id(), secrets(&[1, 0]).id());
    assert_ne!(secrets(&[0, 1]).id(), secrets(&[0, 2]).id());
    let other = self::profile(4096, 4, 16);
    assert!(!secrets(&[]).add(&SecretKey::derive(&device(0), other.params())), "other parameters");
    let none = open_fleet(&SecretSum::new(other.params()), &profile, &sum, &mask).map(drop);
    assert!(matches!(none, Err(DecryptError::Parameters)));
}
