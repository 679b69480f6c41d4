//! The rounded form: sums at the limit of their bound, errors at the ends of their range, and the distributions of
//! bodies and errors.

use chacha20::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use sotto_compact::{CompactError, MaskKey, MaskSum, Profile, Sum, Weights, mask_key};
use sotto_decrypt::{DecryptError, open_compact};
use sotto_device::{SecretBits, encrypt, fraction, unpack};
use sotto_keys::{CompactEncryptor, DeviceSecret, SecretKey, mask_product, secret_bits};
use sotto_rlwe::{Bfv, ChainRequest, Params, SchemeId};

/// Factor on the number of cases in the deep suite.
fn times() -> usize {
    std::env::var("SOTTO_NOISE_PROGRAMS").map_or(1, |times| times.parse().unwrap())
}

/// Returns parameters of one prime; None if the plain modulus is too large for it.
fn params(degree: usize, bits: u32, plain: u64) -> Option<Params<Bfv>> {
    let request = ChainRequest::one_prime(SchemeId::Bfv, degree, plain, bits);
    Params::new(request.build().ok()?).ok()
}

struct Story {
    profile: Profile,
    device: DeviceSecret,
    encryptor: CompactEncryptor,
    key: SecretKey<Bfv>,
    masks: MaskKey,
    rng: ChaCha20Rng,
    /// Sequence number of the next window.
    sequence: u64,
}

/// A sum, the sum of its masks, and its expected values modulo t.
struct Summed {
    sum: Sum,
    masks: MaskSum,
    expected: Vec<i64>,
}

impl Story {
    fn new(profile: Profile, seed: u64) -> Self {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let device = DeviceSecret::generate(&mut rng);
        let encryptor = CompactEncryptor::derive(&device, profile.params());
        let key = SecretKey::derive(&device, profile.params());
        let masks = mask_key(key.id(), "temperature");
        Self { profile, device, encryptor, key, masks, rng, sequence: 0 }
    }

    fn empty(&self) -> Summed {
        let form = self.profile.form();
        Summed { sum: Sum::new(form), masks: MaskSum::new(form), expected: vec![0; form.places()] }
    }

    fn values(&mut self) -> Vec<i64> {
        let t = self.profile.form().plain();
        (0..self.profile.form().places()).map(|_| (self.rng.next_u64() % t) as i64).collect()
    }

    /// Adds a window of these values under a fresh mask; its errors are drawn, or all equal the given one.
    fn add(&mut self, to: &mut Summed, values: &[i64], weight: i64, error: Option<i64>) {
        let mask = self.masks.mask(&[5; 12], self.sequence);
        self.sequence += 1;
        let body = match error {
            None => self.encryptor.encrypt(&self.profile, values, &mask, &mut self.rng).unwrap(),
            Some(error) => self.encrypt_with(values, &mask, error),
        };
        to.sum.add(&body, weight).unwrap();
        to.masks.add(&mask, weight);
        let t = i128::from(self.profile.form().plain());
        for (total, value) in to.expected.iter_mut().zip(values) {
            let sum = (i128::from(*total) + i128::from(*value) * i128::from(weight)).rem_euclid(t) as i64;
            *total = if sum > (t as i64 - 1) / 2 { sum - t as i64 } else { sum };
        }
    }

    fn encrypt_with(&self, values: &[i64], mask: &sotto_device::Mask, error: i64) -> Vec<u8> {
        let form = self.profile.form();
        let bits = secret_bits(&self.device, self.profile.params().spec()).unwrap();
        let residues: Vec<u64> = values.iter().map(|value| *value as u64).collect();
        // The error is the number of ones in the low 21 bits less that in the 21 bits above.
        let ones = (1u64 << error.unsigned_abs()) - 1;
        let word = if error < 0 { ones << 21 } else { ones };
        let (mut body, mut sums) = (vec![0; form.body_bytes()], vec![0; form.places()]);
        let secret = SecretBits::new(&bits);
        encrypt(form, secret, mask, &residues, &mut || word, &mut sums, &mut body).unwrap();
        body
    }

    /// Returns for each place the distance of t·(column/2^w + (a·s)/q) from the nearest whole number.
    fn distances(&self, summed: &Summed) -> Vec<f64> {
        let form = self.profile.form();
        let product = mask_product(&self.key, &summed.masks);
        let limb = self.profile.params().limbs(0).start;
        let distance = |(place, column): (usize, u64)| {
            let masked = fraction(product.limb(limb)[place * form.spacing()], form.prime());
            let part = masked.wrapping_add(column << (64 - form.width()));
            // The representative modulo 2^64 that is nearest to zero.
            (u128::from(part) * u128::from(form.plain())) as u64 as i64 as f64 / 2f64.powi(64)
        };
        summed.sum.columns().enumerate().map(distance).collect()
    }

    /// Checks that the sum opens to the values, and that every error is within the bound. Returns the largest error as
    /// a part of the bound.
    fn check(&self, what: &str, summed: &Summed) -> f64 {
        let opened = open_compact(&self.key, &self.profile, &summed.sum, &summed.masks);
        assert!(opened.unwrap().into_residues() == summed.expected, "{what}: other values");
        // The allowed error is 1/2; the bound is 2^-room of it.
        let bound = (-self.profile.room(summed.sum.weights())).exp2() / 2.0;
        let measured = self.distances(summed).into_iter().map(f64::abs).fold(0.0, f64::max);
        assert!(measured <= bound, "{what}: {measured:.3e} measured, bound {bound:.3e}");
        measured / bound
    }
}

fn random_profile(rng: &mut ChaCha20Rng, windows: core::ops::RangeInclusive<u64>) -> Profile {
    loop {
        let degree = 1024usize << (rng.next_u32() % 3);
        let bits = if degree == 1024 { 26 } else { 40 + rng.next_u32() % 11 };
        let bits = if degree == 2048 { bits.min(46) } else { bits };
        let plain = 2 + rng.next_u64() % (1u64 << (4 + rng.next_u32() % 28));
        let (places, width) = (1 + rng.next_u32() as usize % 100, 8 + rng.next_u32() % 50);
        let profile =
            params(degree, bits, plain).and_then(|params| Profile::new(&params, places, width).ok());
        if let Some(profile) = profile.filter(|profile| windows.contains(&profile.most_windows())) {
            return profile;
        }
    }
}

#[test]
fn the_most_windows_open_and_one_more_is_refused() {
    let mut rng = ChaCha20Rng::seed_from_u64(41);
    let mut nearest = 0f64;
    for round in 0..12 * times() as u64 {
        let profile = random_profile(&mut rng, 1..=700);
        let (form, most) = (*profile.form(), profile.most_windows());
        let what = format!("{most} windows of {form:?}");
        let mut story = Story::new(profile, round);
        let mut summed = story.empty();
        for _ in 0..most {
            let values = story.values();
            story.add(&mut summed, &values, 1, None);
        }
        nearest = nearest.max(story.check(&what, &summed));
        let values = story.values();
        story.add(&mut summed, &values, 1, None);
        let refused = open_compact(&story.key, &story.profile, &summed.sum, &summed.masks).err();
        let over = matches!(refused, Some(DecryptError::Compact(CompactError::Noise { over })) if over > 0.0);
        assert!(over, "{what}: {refused:?}");
    }
    println!("sums of as many windows as are allowed: at most {nearest:.2} of the bound");
}

#[test]
fn weighted_sums_open_as_long_as_their_bound_allows() {
    let mut rng = ChaCha20Rng::seed_from_u64(42);
    for round in 0..12 * times() as u64 {
        let profile = random_profile(&mut rng, 20..=5000);
        let what = format!("round {round}, {:?}", profile.form());
        let mut story = Story::new(profile, round);
        let (mut summed, mut weights) = (story.empty(), Weights::default());
        loop {
            let size = 1i64 << (rng.next_u32() % 8);
            let weight = (rng.next_u64() % (2 * size as u64 + 1)) as i64 - size;
            weights = weights.and(weight);
            if story.profile.room(weights) < 0.0 {
                break;
            }
            let values = story.values();
            story.add(&mut summed, &values, weight, None);
        }
        story.check(&what, &summed);
    }
}

/// Where errors count most, four windows of the largest errors stay within the bound, and come near it.
#[test]
fn errors_at_the_ends_of_their_range_are_within_the_bound() {
    let mut rng = ChaCha20Rng::seed_from_u64(43);
    let mut found = 0;
    while found < 8 * times() {
        let windows = 1 + rng.next_u64() % 4;
        let plain = (1 << 17) + rng.next_u64() % (1 << 21);
        let profile = params(1024, 26, plain).and_then(|params| Profile::new(&params, 20, 48).ok());
        let Some(profile) = profile.filter(|p| (0.0..0.5).contains(&p.room(Weights::of_ones(windows))))
        else {
            continue;
        };
        found += 1;
        for error in [21, -21] {
            let what = format!("{windows} windows of errors {error}, t = {plain}");
            let mut story = Story::new(profile.clone(), found as u64);
            let mut summed = story.empty();
            for _ in 0..windows {
                let values = story.values();
                story.add(&mut summed, &values, 1, Some(error));
            }
            let part = story.check(&what, &summed);
            assert!(part > 0.9, "{what}: only {part:.2} of the bound");
        }
    }
}

/// Pearson's statistic of counts whose expected values are equal.
fn chi_squared(counts: &[u32]) -> f64 {
    let expected = f64::from(counts.iter().sum::<u32>()) / counts.len() as f64;
    counts.iter().map(|count| (f64::from(*count) - expected).powi(2) / expected).sum()
}

/// Range of the statistic with 255 degrees of freedom, except with probability 10^-6.
const LIKELY: core::ops::Range<f64> = 150.0..380.0;

#[test]
fn bodies_of_a_constant_look_uniform() {
    // The forms in use, and one with all bits of a word. Bits beyond the prime's length are not random.
    for (degree, bits, plain, width) in
        [(2048, 46, 65537, 32), (4096, 50, (1 << 24) + 43, 36), (2048, 40, 17, 16), (4096, 50, 257, 40)]
    {
        let profile = Profile::new(&params(degree, bits, plain).unwrap(), 64, width).unwrap();
        let mut story = Story::new(profile, 44);
        let what = format!("n = {degree}, {width} of {bits} bits");
        let [mut high, mut low, mut neighbours, mut next] = [(); 4].map(|()| [0u32; 256]);
        let constant = vec![plain as i64 / 3; 64];
        let mut last = [0u64; 64];
        for window in 0..400 * times() {
            let mask = story.masks.mask(&[6; 12], window as u64);
            let body = story.encryptor.encrypt(&story.profile, &constant, &mask, &mut story.rng).unwrap();
            let columns: Vec<u64> = (0..64).map(|at| unpack(&body, width, at)).collect();
            for column in &columns {
                high[(column >> (width - 8)) as usize] += 1;
                low[(column & 255) as usize] += 1;
            }
            // Disjoint pairs: of one window, and of one place in two windows.
            for pair in columns.chunks_exact(2) {
                neighbours[(pair[0] >> (width - 4) << 4 | pair[1] >> (width - 4)) as usize] += 1;
            }
            if window % 2 == 1 {
                for (before, now) in last.iter().zip(&columns) {
                    next[(before >> (width - 4) << 4 | now >> (width - 4)) as usize] += 1;
                }
            }
            last.copy_from_slice(&columns);
        }
        for (name, counts) in
            [("high bits", high), ("low bits", low), ("neighbouring places", neighbours), ("windows", next)]
        {
            let chi = chi_squared(&counts);
            println!("{what}: χ² of {name} {chi:.1} at 255 degrees of freedom");
            assert!(LIKELY.contains(&chi), "{what}: χ² of {name} is {chi:.1}");
        }
    }
}

/// The error of a sum before it is rounded to t has mean 0. Its variance in units of 2^-w has three parts:
/// 10.5·Σc²·(2^w/q)² from the errors, Σc²/12 from rounded bodies, and Σc²/12·(2^w/q)² from messages rounded to whole
/// residues.
#[test]
fn errors_of_sums_have_the_variance_that_is_predicted() {
    // Rounding dominates, both parts are equal, errors dominate; and 17 values in place of 257.
    for (bits, plain, width) in [(46, 257, 34), (46, 257, 42), (46, 257, 43), (46, 257, 56), (40, 17, 30)] {
        for weights in [&[1i64][..], &[1; 16], &[3, -1, 4, 1, -5, 9, 2, -6]] {
            let profile = Profile::new(&params(2048, bits, plain).unwrap(), 256, width).unwrap();
            let q = profile.form().prime() as f64;
            let mut story = Story::new(profile, 45);
            let mut errors = Vec::new();
            for _ in 0..80 * times() {
                let mut summed = story.empty();
                for weight in weights {
                    let values = story.values();
                    story.add(&mut summed, &values, *weight, None);
                }
                let unit = (f64::from(width)).exp2() / plain as f64;
                errors.extend(story.distances(&summed).into_iter().map(|distance| distance * unit));
            }
            let squares: f64 = weights.iter().map(|weight| (weight * weight) as f64).sum();
            let residue = (f64::from(width)).exp2() / q;
            let predicted = squares * ((10.5 + 1.0 / 12.0) * residue.powi(2) + 1.0 / 12.0);
            let count = errors.len() as f64;
            let mean = errors.iter().sum::<f64>() / count;
            let variance = errors.iter().map(|error| (error - mean).powi(2)).sum::<f64>() / count;
            let what = format!("{width} of {bits} bits, Σc² = {squares}");
            println!("{what}: variance {variance:.4}, predicted {predicted:.4}, mean {mean:.4} of {count}");
            // Five standard deviations of mean and of variance, over 20,480 errors and more.
            assert!(mean.abs() < 5.0 * (predicted / count).sqrt(), "{what}: mean {mean:.4}");
            let off = (variance / predicted - 1.0).abs();
            assert!(
                off < 5.0 * (2.0 / count).sqrt(),
                "{what}: variance {variance:.4}, predicted {predicted:.4}"
            );
        }
    }
}
