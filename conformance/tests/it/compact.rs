//! Compact ciphertexts: known answers of `spec/`, and sums that open to the sums of the values within their bounds.

use std::sync::Arc;

use chacha20::ChaCha20Rng;
use proptest::prelude::*;
use rand_core::{Rng, SeedableRng};
use sotto_compact::{CompactError, Form, MaskKey, MaskSum, Profile, Sum, Weights, mask_key};
use sotto_conformance::vectors::{self, CompactCase};
use sotto_decrypt::{DecryptError, RangeError, open_compact};
use sotto_device::{Head, SecretBits, WHOLE_HEAD_BYTES, encrypt, fraction};
use sotto_keys::{CompactEncryptor, DeviceSecret, SecretKey, mask_product, secret_bits};
use sotto_pack::{Channel, FleetId, Places, Presence, WindowDescription};
use sotto_ring::SmallPoly;
use sotto_rlwe::{Bfv, ChainRequest, KeyId, ParameterId, ParameterSpec, Params, SchemeId};
use sotto_wire::{EnvelopeHeader, StreamHeader, StreamParts, WindowValues};

fn bytes<const N: usize>(text: &str) -> [u8; N] {
    hex::decode(text).unwrap().try_into().unwrap()
}

/// Returns a word with this error: |error| ones in its low 21 bits if it is positive, else in the 21 bits above.
fn word_of(error: i64) -> u64 {
    let ones = (1u64 << error.unsigned_abs()) - 1;
    if error < 0 { ones << 21 } else { ones }
}

#[test]
fn known_answers() {
    for case in vectors::cases::<CompactCase>("compact") {
        let CompactCase { degree, prime, plain_modulus: t, places, width, .. } = case;
        let what = format!("n = {degree}, {places} places of {width} bits");
        let form = Form::new(degree, prime, t, places, width).unwrap();
        let mut bits = vec![0; degree / 4];
        SecretBits::write(case.secret.iter().copied(), &mut bits);
        let key = MaskKey(bytes(&case.mask_key));
        let (mut sum, mut masks) = (Sum::new(&form), MaskSum::new(&form));
        for (window, weight) in case.windows.iter().zip(&case.weights) {
            let mask = key.mask(&bytes(&case.salt), window.sequence);
            let residues: Vec<u64> = mask.residues(0, prime).take(degree).collect();
            assert_eq!(residues, window.mask, "{what}: the mask");
            let values: Vec<u64> = window.values.iter().map(|v| v.rem_euclid(t as i64) as u64).collect();
            let mut errors = window.errors.iter();
            let mut body = vec![0; form.body_bytes()];
            let source = &mut || word_of(*errors.next().unwrap());
            let secret = SecretBits::new(&bits);
            encrypt(&form, secret, &mask, &values, source, &mut vec![0; places], &mut body).unwrap();
            assert_eq!(hex::encode(&body), window.body, "{what}: the body");
            sum.add(&body, *weight).unwrap();
            masks.add(&mask, *weight);
        }
        assert_eq!(hex::encode(sum.to_bytes()), case.sum, "{what}: the sum");
        let spec = ParameterSpec {
            scheme: SchemeId::Bfv,
            degree,
            special: Vec::new(),
            data: vec![prime],
            digit_primes: 1,
            plain: t,
        };
        let params = Params::<Bfv>::insecure(spec).unwrap();
        assert_eq!(masks.polynomial(&params).limb(0), case.mask_sum, "{what}: the masks' sum");
        let secret = SmallPoly::from_coefficients(case.secret.clone());
        let key = SecretKey::from_secret(&params, KeyId([0; 16]), &secret);
        let profile = Profile::new(&params, places, width).unwrap();
        let opened = open_compact(&key, &profile, &sum, &masks).unwrap().into_residues();
        assert_eq!(opened, case.opened, "{what}: opened");
    }
}

fn params(degree: usize, bits: u32, plain: u64) -> Params<Bfv> {
    try_params(degree, bits, plain).unwrap()
}

/// Returns parameters of one prime; None if the plain modulus is too large for the prime.
fn try_params(degree: usize, bits: u32, plain: u64) -> Option<Params<Bfv>> {
    let request = ChainRequest::one_prime(SchemeId::Bfv, degree, plain, bits);
    Params::new(request.build().ok()?).ok()
}

/// A device with windows of one form, and the owner's side of it.
struct Story {
    profile: Profile,
    encryptor: CompactEncryptor,
    key: SecretKey<Bfv>,
    masks: MaskKey,
    rng: ChaCha20Rng,
}

impl Story {
    fn new(profile: Profile, seed: u8) -> Self {
        let mut rng = ChaCha20Rng::from_seed([seed; 32]);
        let device = DeviceSecret::generate(&mut rng);
        let encryptor = CompactEncryptor::derive(&device, profile.params());
        let key = SecretKey::derive(&device, profile.params());
        assert_eq!(encryptor.key(), key.id());
        let masks = mask_key(key.id(), "temperature");
        Self { profile, encryptor, key, masks, rng }
    }

    /// Adds windows with weights; returns the sum, the sum of the masks and the sum of the values.
    fn summed(&mut self, weights: &[i64], limit: i64) -> (Sum, MaskSum, Vec<i64>) {
        let form = *self.profile.form();
        let (mut sum, mut masks) = (Sum::new(&form), MaskSum::new(&form));
        let mut expected = vec![0; form.places()];
        for (sequence, weight) in weights.iter().enumerate() {
            let mask = self.masks.mask(&[5; 12], sequence as u64);
            let mut value = || (self.rng.next_u64() % (2 * limit as u64 + 1)) as i64 - limit;
            let values: Vec<i64> = (0..form.places()).map(|_| value()).collect();
            let body = self.encryptor.encrypt(&self.profile, &values, &mask, &mut self.rng).unwrap();
            sum.add(&body, *weight).unwrap();
            masks.add(&mask, *weight);
            expected.iter_mut().zip(values).for_each(|(total, value)| *total += weight * value);
        }
        (sum, masks, expected)
    }

    /// Returns the largest distance of t·(column/2^w + (a·s)/q) from a whole number, as a part of the allowed 1/2.
    fn measured(&self, sum: &Sum, masks: &MaskSum) -> f64 {
        let form = self.profile.form();
        let product = mask_product(&self.key, masks);
        let off = |(index, column): (usize, u64)| {
            let part = fraction(product.limb(0)[index * form.spacing()], form.prime());
            let scaled =
                u128::from(part.wrapping_add(column << (64 - form.width()))) * u128::from(form.plain());
            // The distance from the nearest multiple of 2^64.
            (scaled as u64).min((scaled as u64).wrapping_neg()) as f64 / 2f64.powi(63)
        };
        sum.columns().enumerate().map(off).fold(0.0, f64::max)
    }
}

/// A cloud may answer zeros in place of a sum. The owner then decrypts the coefficients of mask times secret, modulo t:
/// nearly all residues of t exceed every sum of readings.
#[test]
fn a_sum_that_the_cloud_made_up_is_refused() {
    let profile = Profile::new(&params(4096, 50, (1 << 24) + 43), 16, 36).unwrap();
    let mut story = Story::new(profile, 1);
    let (sum, masks, expected) = story.summed(&[1; 8], 15);
    let forged = vec![0; story.profile.form().body_bytes()];
    let forged = Sum::from_bytes(story.profile.form(), 0..16, &forged, sum.weights()).unwrap();
    let open = |sum| open_compact(&story.key, &story.profile, sum, &masks).unwrap();
    assert_eq!(open(&sum).into_exact(8.0 * 15.0).unwrap(), expected);
    assert!(open(&forged).into_residues().iter().any(|value| value.abs() > 120), "random values");
    assert_eq!(open(&forged).into_exact(8.0 * 15.0), Err(RangeError::Beyond));
}

#[test]
fn sums_of_2048_windows_of_12_bits_are_exact_at_36_bits_a_place() {
    let profile = Profile::new(&params(4096, 50, (1 << 24) + 43), 16, 36).unwrap();
    assert_eq!(profile.form().body_bytes(), 72);
    let mut story = Story::new(profile, 1);
    let (sum, masks, expected) = story.summed(&[1; 2048], 4095);
    let opened = open_compact(&story.key, &story.profile, &sum, &masks).unwrap();
    assert_eq!(opened.into_exact(2048.0 * 4095.0).unwrap(), expected);
    let (measured, bound) = (story.measured(&sum, &masks), (-story.profile.room(sum.weights())).exp2());
    println!("error {measured:.1e} of the allowed error, bound {bound:.2}");
    assert!(measured <= bound);
}

#[test]
fn what_cannot_be_opened_is_refused() {
    let profile = Profile::new(&params(2048, 50, 65537), 4, 24).unwrap();
    let most = profile.most_windows();
    assert!(profile.room(Weights::of_ones(most)) >= 0.0 && profile.room(Weights::of_ones(most + 1)) < 0.0);
    let mut story = Story::new(profile, 2);
    let (sum, masks, _) = story.summed(&vec![1; most as usize + 1], 1);
    let refused = open_compact(&story.key, &story.profile, &sum, &masks).err();
    assert!(matches!(refused, Some(DecryptError::Compact(CompactError::Noise { .. }))), "{refused:?}");
    let (sum, _, _) = story.summed(&[1, 2], 1);
    let (_, masks, _) = story.summed(&[1, 1], 1);
    let refused = open_compact(&story.key, &story.profile, &sum, &masks).err();
    assert_eq!(refused, Some(DecryptError::Compact(CompactError::Weights)));
    let other = Story::new(Profile::new(&params(4096, 50, 65537), 4, 24).unwrap(), 2);
    let refused = open_compact(&other.key, &story.profile, &sum, &masks).err();
    assert_eq!(refused, Some(DecryptError::Parameters));
}

#[test]
fn bodies_by_a_transform_are_those_of_the_smallest_device() {
    for (places, width) in [(1, 36), (16, 36), (300, 40), (2048, 25)] {
        let profile = Profile::new(&params(2048, 50, (1 << 24) + 43), places, width).unwrap();
        let story = Story::new(profile, 5);
        let form = *story.profile.form();
        let device = DeviceSecret::generate(&mut ChaCha20Rng::from_seed([5; 32]));
        let bits = secret_bits(&device, story.profile.params().spec()).unwrap();
        let values: Vec<i64> =
            (0..places as i64).map(|place| 9973 * place % 16_000_000 - 8_000_000).collect();
        let mask = story.masks.mask(&[1; 12], 9);
        let body = story
            .encryptor
            .encrypt(&story.profile, &values, &mask, &mut ChaCha20Rng::from_seed([7; 32]))
            .unwrap();
        let residues: Vec<u64> =
            values.iter().map(|value| value.rem_euclid(form.plain() as i64) as u64).collect();
        let (mut rng, mut other) = (ChaCha20Rng::from_seed([7; 32]), vec![0; form.body_bytes()]);
        let (errors, sums) = (&mut || rng.next_u64(), &mut vec![0; places]);
        encrypt(&form, SecretBits::new(&bits), &mask, &residues, errors, sums, &mut other).unwrap();
        assert!(body == other, "{places} places");
    }
}

#[test]
fn rounded_coefficients_are_spread_evenly() {
    // 8 bits a place: a chi-squared test over 256 values, for any message.
    let profile = Profile::new(&params(2048, 40, 17), 64, 8).unwrap();
    let mut story = Story::new(profile, 3);
    let form = *story.profile.form();
    let mut counts = [0u32; 256];
    for sequence in 0..400 {
        let mask = story.masks.mask(&[6; 12], sequence);
        let body = story.encryptor.encrypt(&story.profile, &[8; 64], &mask, &mut story.rng).unwrap();
        (0..64).for_each(|index| counts[sotto_device::unpack(&body, form.width(), index) as usize] += 1);
    }
    let expected = 400.0 * 64.0 / 256.0;
    let chi: f64 = counts.iter().map(|count| (f64::from(*count) - expected).powi(2) / expected).sum();
    // 255 degrees of freedom: the statistic lies in 150 … 380 except with probability 10^-6.
    assert!((150.0..380.0).contains(&chi), "{chi}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// With random forms and weights a sum opens to the weighted sum with an error within the bound, or is refused.
    #[test]
    fn sums_open_to_sums(
        degree in prop::sample::select(vec![1024usize, 2048, 4096]),
        plain in prop::sample::select(vec![17u64, 1000, 65537, 786_433, (1 << 24) + 43]),
        places in 1usize..100,
        width in 8u32..=64,
        weights in prop::collection::vec(-9i64..=9, 1..20),
        seed in any::<u8>(),
    ) {
        let bits = if degree == 1024 { 26 } else { 46 };
        let Some(params) = try_params(degree, bits, plain) else { return Ok(()) };
        let Ok(profile) = Profile::new(&params, places, width) else { return Ok(()) };
        let mut story = Story::new(profile, seed);
        let total: i64 = weights.iter().map(|weight| weight.abs()).sum();
        let limit = ((plain as i64 - 1) / 2 / total.max(1)).min(4095);
        let (sum, masks, expected) = story.summed(&weights, limit);
        let bound = (-story.profile.room(sum.weights())).exp2();
        match open_compact(&story.key, &story.profile, &sum, &masks) {
            Ok(opened) => {
                prop_assert_eq!(opened.into_residues(), expected);
                let measured = story.measured(&sum, &masks);
                prop_assert!(measured <= bound, "{} of {}", measured, bound);
            }
            Err(error) => prop_assert!(bound > 1.0, "{error}"),
        }
    }
}

/// The smallest device writes heads that the wire crate reads, with any readings missing.
#[test]
fn heads_of_the_smallest_device_are_those_of_windows() {
    let mut rng = ChaCha20Rng::from_seed([23; 32]);
    for round in 0..400u32 {
        let (channels, ticks) = (1 + rng.next_u32() as usize % 3, 1 + rng.next_u32() % 40);
        let channel = |at: usize| Channel {
            name: format!("c{at}"),
            maximum: 100.0,
            resolution: Some(1.0),
            ..Channel::default()
        };
        let stream = StreamHeader::new(StreamParts {
            device: "board".into(),
            stream: "readings".into(),
            parameters: ParameterId([1; 32]),
            key: KeyId([2; 16]),
            period: 1000,
            ticks,
            channels: (0..channels).map(channel).collect(),
            values: WindowValues::Places(Places { width: 8, ..Places::default() }),
            fleet: Some(FleetId([4; 16])),
        });
        let stream = Arc::new(stream.unwrap());
        let length = 1 + rng.next_u32() % ticks;
        let missing = round % 4;
        let presence: Vec<Presence> = (0..channels)
            .map(|_| {
                let mut presence = Presence::default();
                (0..length).filter(|_| rng.next_u32() % 4 >= missing).for_each(|tick| presence.insert(tick));
                presence
            })
            .collect();
        let mut id = [0; 8];
        id.copy_from_slice(&stream.id().0[..8]);
        // Masks of a fleet have a salt of zeros, and their windows start in 1970 or later.
        let (shared, start) = (round % 5 == 0, rng.next_u64() as i64 >> (round % 64));
        let head = Head {
            stream: id,
            salt: if shared { [0; 12] } else { [1 + (round % 255) as u8; 12] },
            sequence: rng.next_u64() >> (round % 64),
            start: if shared { start & i64::MAX } else { start },
            ticks: length,
            channels: channels as u16,
        };
        let mut out = [0; 256];
        let used = head.write(|channel, tick| presence[usize::from(channel)].contains(tick), &mut out);
        let used = used.unwrap();
        let header = EnvelopeHeader::of_window(&out[..used], &stream).unwrap();
        let described = WindowDescription::parse(&header.layout).unwrap();
        assert_eq!((header.sequence, described.start, described.length), (head.sequence, head.start, length));
        let found: Vec<Presence> =
            (0..channels as u16).map(|channel| described.presence(channel).unwrap()).collect();
        assert_eq!(found, presence);
        assert_eq!(head.write(|_, _| true, &mut [0; 20]), None, "no room");
        let whole = head.write(|_, _| true, &mut [0; WHOLE_HEAD_BYTES]);
        assert!(whole.is_some_and(|used| used <= WHOLE_HEAD_BYTES));
    }
}
