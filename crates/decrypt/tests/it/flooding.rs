//! Cost, refusals and error bound of flooding.

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use sotto_decrypt::{BudgetError, Decrypted, Decryptor, FloodingBudget, PublishError};
use sotto_keys::{DeviceSecret, SecretKey};
use sotto_rlwe::{Ckks, KeyId, Params, Scheme};

const DEGREE: usize = 4096;

struct Owner {
    key: SecretKey<Ckks>,
    rng: ChaCha20Rng,
}

impl Owner {
    fn new(seed: u8) -> Self {
        let mut rng = ChaCha20Rng::from_seed([seed; 32]);
        let params = Params::default_chain(DEGREE, 0).unwrap();
        Self { key: SecretKey::derive(&DeviceSecret::generate(&mut rng), &params), rng }
    }

    fn values() -> Vec<f64> {
        (0..DEGREE / 2).map(|i| (i as f64 / 100.0).sin()).collect()
    }

    /// Encrypts and decrypts the values.
    fn result(&mut self) -> Decrypted<Vec<f64>> {
        let params = self.key.params().clone();
        let plain = Ckks::encode_slots(&params, &Self::values(), params.top_level()).unwrap();
        let ciphertext = self.key.encrypt(&plain, &mut self.rng).unwrap().expand();
        Decryptor::new(&self.key).slots(&ciphertext).unwrap()
    }

    fn budget(&self, statistical_bits: u32, allowed: u64) -> FloodingBudget {
        FloodingBudget::for_key_of_this_process(self.key.id(), statistical_bits, allowed).unwrap()
    }
}

/// The cost is σ over the error bound: √(12τ)·2^(s/2)·√values, and 0.04 bits for the grid.
#[test]
fn the_cost_is_that_of_the_formula() {
    let owner = Owner::new(1);
    for (s, allowed, values, whole_bits) in [
        (30, 1, 1, 17),
        (30, 1000, 1, 22),
        (30, 1, 2048, 23),
        (30, 1000, 16_384, 29),
        (40, 1_000_000, 16_384, 39),
    ] {
        let exact = (12.0 * allowed as f64 * values as f64).sqrt().log2() + f64::from(s) / 2.0;
        let cost = owner.budget(s, allowed).cost_bits(values);
        println!("s = {s}, {allowed} results of {values} values: {cost:.2} bits (formula {exact:.2})");
        assert!(cost >= exact && cost < exact + 0.04, "{cost} {exact}");
        assert_eq!(cost.ceil() as i32, whole_bits);
    }
    assert_eq!(owner.budget(64, 1 << 32).cost_bits(1 << 20), f64::INFINITY, "no sampler is as wide");
}

#[test]
fn flooded_values_are_within_the_bound_and_as_noisy_as_they_say() {
    let mut owner = Owner::new(2);
    let mut budget = owner.budget(30, 8);
    let result = owner.result();
    let error = result.error_bound();
    let promised = budget.published_error(DEGREE / 2, error);
    let flooded = result.publish_flooded(&mut budget, &mut owner.rng).unwrap();
    assert_eq!(flooded.error_bound, promised);
    let deviations: Vec<f64> = flooded
        .values
        .iter()
        .zip(Owner::values())
        .map(|(found, exact)| {
            assert!((found - exact).abs() <= flooded.error_bound);
            (found - exact) / flooded.deviation
        })
        .collect();
    let variance = deviations.iter().map(|d| d * d).sum::<f64>() / deviations.len() as f64;
    // For 2048 values the variance is 1 ± 0.031.
    assert!((variance - 1.0).abs() < 0.15, "{variance}");
    println!(
        "noise bound {error:.1e}, flooded: deviation {:.1e}, bound {:.1e}",
        flooded.deviation, flooded.error_bound
    );
}

#[test]
fn fewer_values_need_less_noise() {
    let mut owner = Owner::new(3);
    let mut budget = owner.budget(30, 8);
    let all = owner.result().publish_flooded(&mut budget, &mut owner.rng).unwrap();
    let kept = owner.result().keep(&[5, 7]).unwrap();
    let two = kept.publish_flooded(&mut budget, &mut owner.rng).unwrap();
    assert_eq!(two.values.len(), 2);
    let exact = Owner::values();
    assert!((two.values[0] - exact[5]).abs() < two.error_bound);
    assert!((two.values[1] - exact[7]).abs() < two.error_bound);
    let ratio = all.deviation / two.deviation;
    assert!((ratio - 32.0).abs() < 1.0, "√(2048/2): {ratio}");
    assert!(matches!(owner.result().keep(&[2048]), Err(PublishError::Slot { slot: 2048, slots: 2048 })));
}

#[test]
fn every_result_is_counted_and_none_too_many_leaves() {
    let mut owner = Owner::new(4);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("budget");
    let mut budget = FloodingBudget::create(&path, owner.key.id(), 30, 2).unwrap();
    let mut published = Vec::new();
    for left in [1, 0] {
        published.push(owner.result().publish_flooded(&mut budget, &mut owner.rng).unwrap());
        assert_eq!(budget.left(), left);
        // As if the process had ended here.
        drop(budget);
        budget = FloodingBudget::open(&path).unwrap();
        assert_eq!(budget.left(), left);
    }
    let last = owner.result().publish_flooded(&mut budget, &mut owner.rng);
    assert!(matches!(last, Err(PublishError::Budget(BudgetError::Spent { allowed: 2, .. }))));
    assert!(published[0].values != published[1].values, "fresh noise each time");
}

#[test]
fn other_keys_are_refused_and_not_counted() {
    let mut owner = Owner::new(5);
    let stranger = KeyId([9; 16]);
    let mut budget = FloodingBudget::for_key_of_this_process(stranger, 30, 1).unwrap();
    let refused = owner.result().publish_flooded(&mut budget, &mut owner.rng).unwrap_err();
    assert!(matches!(refused, PublishError::Key { budget: found, .. } if found == stranger));
    assert_eq!(budget.left(), 1);
    // This budget needs a wider Gaussian than any sampler has.
    let mut wide = owner.budget(64, 1 << 32);
    let refused = owner.result().publish_flooded(&mut wide, &mut owner.rng).unwrap_err();
    assert!(matches!(refused, PublishError::CannotFlood { values: 2048, .. }));
    assert_eq!(wide.left(), 1 << 32);
}

#[test]
fn one_value_is_flooded_like_a_vector_of_one() {
    let mut owner = Owner::new(6);
    let params = owner.key.params().clone();
    let plain = Ckks::encode_scalar(&params, 0.5, params.top_level()).unwrap();
    let ciphertext = owner.key.encrypt(&plain, &mut owner.rng).unwrap().expand();
    let value = Decryptor::new(&owner.key).scalar(&ciphertext).unwrap();
    assert!((value.raw_value_for_owner_only() - 0.5).abs() <= value.error_bound());
    let mut budget = owner.budget(30, 1);
    let promised = budget.published_error(1, value.error_bound());
    let flooded = value.publish_flooded(&mut budget, &mut owner.rng).unwrap();
    assert_eq!(flooded.error_bound, promised);
    assert!((flooded.values - 0.5).abs() <= flooded.error_bound);
    assert_eq!(budget.left(), 0);
}
