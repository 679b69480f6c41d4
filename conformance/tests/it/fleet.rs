//! Sums over a fleet: devices with secrets of their own under one mask, one switch by the sum of their transfer keys,
//! then expansion.

use sotto_conformance::{Fixture, Testable};
use sotto_decrypt::Decryptor;
use sotto_keys::{DeviceSecret, SecretKey};
use sotto_ring::{Scratch, Seed, SmallPoly};
use sotto_rlwe::{
    Bfv, Bgv, Ciphertext, Ckks, Compact, CompactSum, EvalError, EvaluationKeys, Kept, KeyId, KeySum, Origin,
    Params, Shape, TransferSum,
};

/// An owner, and devices with transfer keys to the owner.
struct Fleet<S: Testable> {
    owner: Fixture<S>,
    devices: Vec<(SecretKey<S>, EvaluationKeys<S>)>,
}

impl<S: Testable> Fleet<S> {
    fn new(degree: usize, forms: &[Kept], devices: usize, seed: u8) -> Self {
        let params = Params::<S>::default_chain(degree, S::plain_modulus(degree)).unwrap();
        let steps: Vec<i32> =
            forms.iter().flat_map(|kept| params.expansion_steps(*kept).unwrap()).chain([1]).collect();
        let owner = Fixture::with_steps(params, &steps, seed);
        let mut fleet = Self { owner, devices: Vec::new() };
        for _ in 0..devices {
            let f = &mut fleet.owner;
            let device = SecretKey::derive(&DeviceSecret::generate(&mut f.rng), &f.params);
            let keys = fleet.transfer(&device);
            fleet.devices.push((device, keys));
        }
        fleet
    }

    /// Makes a transfer key from a device, with fresh randomness.
    fn transfer(&mut self, device: &SecretKey<S>) -> EvaluationKeys<S> {
        let f = &mut self.owner;
        let mut keys = EvaluationKeys::empty(&f.params, f.secret.id());
        keys.transfers.insert(device.id(), f.secret.transfer_key(device, &mut f.rng).unwrap());
        keys
    }

    fn id(&self, device: usize) -> KeyId {
        self.devices[device].0.id()
    }

    fn values(&mut self, kept: Kept) -> Vec<S::Value> {
        self.owner.values()[..kept.values()].to_vec()
    }

    fn compact(&mut self, device: usize, values: &[S::Value], kept: Kept, seed: Seed) -> Compact<S> {
        let f = &mut self.owner;
        let plaintext = match kept {
            Kept::Whole(_) => f.params.encode_repeated(values, f.params.top_level()),
            Kept::Folded(_) => f.params.encode_folded(values, 1.0, f.params.top_level()),
        };
        let error = SmallPoly::centred_binomial(f.params.degree(), &mut f.rng);
        self.devices[device].0.encrypt_with(&plaintext.unwrap(), seed, &error).unwrap().compact(kept).unwrap()
    }

    fn transfer_sum(&self, devices: impl IntoIterator<Item = usize>) -> TransferSum<S> {
        let mut sum = TransferSum::new(&self.owner.params, self.owner.secret.id()).unwrap();
        for device in devices {
            sum.add(self.id(device), &self.devices[device].1).unwrap();
        }
        sum
    }

    fn check(&self, what: &str, found: &Ciphertext<S>, expected: &[S::Value]) {
        let params = &self.owner.params;
        assert_eq!(found.key(), self.owner.secret.id(), "{what}: the owner's key");
        let decrypted = Decryptor::new(&self.owner.secret).decrypt(found).unwrap();
        let values = params.decode_repeated(&decrypted, expected.len()).unwrap();
        let bound = found.shape().slot_error(params);
        for (at, (value, expected)) in values.into_iter().zip(expected).enumerate() {
            let off = S::distance(value, *expected);
            assert!(off <= bound, "{what}: value {at} is off by {off:e}, bound {bound:e}");
        }
    }
}

/// Sums the devices' values for ascending sizes of a fleet; compares measured noise with bound and estimate; the sum
/// multiplies and rotates like any ciphertext. The sum of keys is updated from size to size: devices join, and the
/// first one leaves and comes back.
fn adds_up<S: Testable>(degree: usize, kept: Kept, sizes: &[usize]) {
    let most = sizes.iter().copied().max().unwrap();
    let mut fleet = Fleet::<S>::new(degree, &[kept], most, 21);
    let mut scratch = Scratch::new();
    let mut transfer = fleet.transfer_sum([]);
    for size in sizes {
        let what = format!("{}: n = {degree}, {kept:?}, {size} devices", S::ID);
        let seed = Seed::random(&mut fleet.owner.rng);
        let mut expected = vec![S::small(0); kept.values()];
        let mut sum: Option<CompactSum<S>> = None;
        for device in 0..*size {
            let values = fleet.values(kept);
            let compact = fleet.compact(device, &values, kept, seed);
            for (total, value) in expected.iter_mut().zip(values) {
                *total = S::plus(&fleet.owner.params, *total, value);
            }
            match &mut sum {
                None => sum = Some(CompactSum::new(compact)),
                Some(sum) => sum.add(&compact).unwrap(),
            }
        }
        for device in transfer.len()..*size {
            transfer.add(fleet.id(device), &fleet.devices[device].1).unwrap();
        }
        transfer.remove(fleet.id(0), &fleet.devices[0].1).unwrap();
        transfer.add(fleet.id(0), &fleet.devices[0].1).unwrap();
        let (sum, f) = (sum.unwrap(), &fleet.owner);
        let expanded = f.evaluator.expand_sum(&sum, &transfer, &f.keys, &mut scratch).unwrap();
        let promised = sum.expandable(&transfer, &f.keys).unwrap();
        assert_eq!(
            (promised.level, promised.noise),
            (expanded.level(), expanded.shape().noise),
            "{what}: as promised"
        );
        fleet.check(&what, &expanded, &expected);

        let message = f.params.encode_repeated(&expected, f.params.top_level()).unwrap();
        let measured = Decryptor::new(&f.secret).measure_error_bits(&expanded, Some(message.coefficients()));
        let (bound, estimate) =
            (expanded.shape().noise.error.0, expanded.shape().estimated(&f.params).error.0);
        println!("{what}: noise 2^{measured:.1} measured, 2^{estimate:.1} estimated, 2^{bound:.1} bound");
        assert!(measured <= bound, "{what}: 2^{measured:.1} measured, bound 2^{bound:.1}");
        assert!(bound <= measured + 12.0, "{what}: a loose bound, 2^{bound:.1} for 2^{measured:.1}");
        assert!(
            (estimate - measured).abs() <= 3.0,
            "{what}: 2^{estimate:.1} expected, 2^{measured:.1} measured"
        );

        let rotated = f.evaluator.rotate(&expanded, 1, &f.keys).unwrap();
        let mut moved = expected.clone();
        moved.rotate_left(1);
        fleet.check(&format!("{what}, rotated"), &rotated, &moved);
        if degree >= 8192 {
            let product = f.evaluator.multiply(&expanded, &expanded).unwrap();
            let product = f.evaluator.relinearise(&product, &f.keys).unwrap();
            let product = S::after_product(&f.evaluator, product);
            let squares: Vec<S::Value> = expected.iter().map(|x| S::times(&f.params, *x, *x)).collect();
            fleet.check(&format!("{what}, squared"), &product, &squares);
        }
    }
}

fn all<S: Testable>() {
    adds_up::<S>(4096, Kept::Whole(16), &[1, 2, 50]);
    adds_up::<S>(4096, Kept::Folded(16), &[1, 3, 50]);
    // With all places there is no expansion, whose noise would hide that of the switch.
    adds_up::<S>(4096, Kept::Whole(4096), &[1, 50]);
    adds_up::<S>(8192, Kept::Whole(64), &[2, 17]);
    adds_up::<S>(8192, Kept::Folded(64), &[2, 17]);
}

#[test]
fn bfv() {
    all::<Bfv>();
}

#[test]
fn bgv() {
    all::<Bgv>();
}

#[test]
fn ckks() {
    all::<Ckks>();
}

/// Every size up to 50 devices.
#[test]
#[ignore = "half a minute: cargo ci noise"]
fn every_size_of_a_fleet() {
    let sizes: Vec<usize> = (1..=50).collect();
    for kept in [Kept::Whole(32), Kept::Folded(8)] {
        adds_up::<Bfv>(8192, kept, &sizes);
        adds_up::<Bgv>(8192, kept, &sizes);
        adds_up::<Ckks>(8192, kept, &sizes);
    }
}

/// The bound of one key is that of any switch; each further key adds its errors only, without another rounding.
fn bounds_grow_by_one_key_each<S: Testable>() {
    let params = Params::<S>::default_chain(8192, S::plain_modulus(8192)).unwrap();
    let fresh = Shape::fresh(&params, Origin::SecretKey, 1.0).unwrap();
    let error = |shape: Shape<S>| shape.noise.error.0.exp2();
    let by = |count: usize| error(fresh.switch_key_sum(&params, count).unwrap());
    assert_eq!(by(1), error(fresh.switch_key(&params).unwrap()), "{}", S::ID);
    let one = by(2) - by(1);
    assert!(one > 0.0);
    for count in [3, 50, 1000] {
        let (grown, expected) = (by(count) - by(1), one * (count - 1) as f64);
        assert!(
            (grown / expected - 1.0).abs() < 1e-3,
            "{}: {count} keys add {grown:e}, not {expected:e}",
            S::ID
        );
    }
}

#[test]
fn bounds_count_every_key() {
    bounds_grow_by_one_key_each::<Bfv>();
    bounds_grow_by_one_key_each::<Bgv>();
    bounds_grow_by_one_key_each::<Ckks>();
}

fn assert_same_bits<S: Testable>(what: &str, a: &TransferSum<S>, b: &TransferSum<S>) {
    assert!(a.key().bodies() == b.key().bodies() && a.key().masks() == b.key().masks(), "{what}");
    assert_eq!(a.keys(), b.keys(), "{what}");
}

#[test]
fn a_sum_of_transfer_keys_has_one_form_whoever_came_and_left() {
    let fleet = Fleet::<Bfv>::new(4096, &[], 5, 22);
    let transfer = |device: usize| &fleet.devices[device].1;
    let sum = fleet.transfer_sum([0, 1, 2, 3]);
    assert_same_bits("another order", &fleet.transfer_sum([3, 1, 0, 2]), &sum);
    let mut other = fleet.transfer_sum([4, 2, 3, 0]);
    other.add(fleet.id(1), transfer(1)).unwrap();
    assert_eq!(other.len(), 5);
    other.remove(fleet.id(4), transfer(4)).unwrap();
    assert_same_bits("one left", &other, &sum);
    for device in [2, 0, 3, 1] {
        other.remove(fleet.id(device), transfer(device)).unwrap();
    }
    assert!(other.is_empty() && other.key().bodies().iter().chain(other.key().masks()).all(|p| p.is_zero()));
    // The sum of one key equals that key.
    let (one, key) = (fleet.transfer_sum([2]), &transfer(2).transfers[&fleet.id(2)]);
    assert!(one.key().bodies() == key.bodies() && one.key().masks() == key.masks());
    assert_eq!(one.keys().id(), Some(fleet.id(2)));
}

/// The slow twin: one device with all places is an ordinary ciphertext under an ordinary key switch.
#[test]
fn one_whole_ciphertext_is_switched_as_ever() {
    let mut fleet = Fleet::<Bfv>::new(4096, &[], 1, 23);
    let seed = Seed::random(&mut fleet.owner.rng);
    let f = &mut fleet.owner;
    let (plaintext, error) =
        (Bfv::encode(&f.params, 7), SmallPoly::centred_binomial(f.params.degree(), &mut f.rng));
    let seeded = fleet.devices[0].0.encrypt_with(&plaintext, seed, &error).unwrap();
    let mut keys = fleet.owner.keys.clone();
    keys.transfers.clone_from(&fleet.devices[0].1.transfers);
    let switched = fleet.owner.evaluator.switch_key(&seeded.expand(), &keys).unwrap();
    let sum = CompactSum::new(seeded.compact(Kept::Whole(4096)).unwrap());
    let transfer = fleet.transfer_sum([0]);
    let expanded = fleet.owner.evaluator.expand_sum(&sum, &transfer, &keys, &mut Scratch::new()).unwrap();
    assert_eq!(expanded.components(), switched.components());
    assert_eq!(expanded.shape(), switched.shape());
}

/// A plaintext of one value in every slot.
trait Constant: Testable {
    fn encode(params: &Params<Self>, value: i64) -> sotto_rlwe::Plaintext<Self> {
        Self::encode_scalar(params, Self::small(value), params.top_level()).unwrap()
    }
}
impl<S: Testable> Constant for S {}

#[test]
fn the_name_of_a_sum_says_who_is_in_it() {
    let keys = [3u8, 1, 2].map(|byte| KeyId([byte; 16]));
    let sum: KeySum = keys.into_iter().collect();
    let mut ascending = keys.to_vec();
    ascending.sort_unstable();
    let bytes: Vec<u8> = ascending.iter().flat_map(|key| key.0).collect();
    let expected: [u8; 32] = blake3::derive_key("sotto sum of keys v1", &bytes);
    assert_eq!(sum.id().unwrap().0, expected[..16]);
    assert_eq!(keys.into_iter().rev().collect::<KeySum>().id(), sum.id());
    let names = [&keys[..1], &keys[..2], &keys[1..], &keys[..]]
        .map(|keys| keys.iter().copied().collect::<KeySum>().id().unwrap());
    assert!((1..4).all(|at| !names[..at].contains(&names[at])));
    assert_eq!(names[0], keys[0]);
    assert_eq!(KeySum::default().id(), None);
}

#[test]
fn sums_that_do_not_fit_are_refused() {
    let (whole, folded) = (Kept::Whole(8), Kept::Folded(8));
    let mut fleet = Fleet::<Bgv>::new(4096, &[whole], 3, 24);
    let (seed, other_seed) = (Seed::random(&mut fleet.owner.rng), Seed::random(&mut fleet.owner.rng));
    let [values, eight] = [whole, folded].map(|kept| fleet.values(kept));
    let first = fleet.compact(0, &values, whole, seed);
    let mut sum = CompactSum::new(first.clone());
    let before = sum.to_compact();

    let refused = sum.add(&fleet.compact(1, &values, whole, other_seed));
    assert_eq!(refused, Err(EvalError::SeedMismatch));
    let refused = sum.add(&fleet.compact(1, &eight, folded, seed));
    assert_eq!(refused, Err(EvalError::KeptMismatch { left: whole, right: folded }));
    let refused = sum.add(&first);
    assert_eq!(refused, Err(EvalError::RepeatedKey { key: fleet.id(0) }));
    let mut foreign = Fleet::<Bgv>::new(8192, &[whole], 1, 25);
    let refused = sum.add(&foreign.compact(0, &values, whole, seed));
    assert_eq!(refused, Err(EvalError::ParameterMismatch));
    let lower = Compact::from_parts(
        &fleet.owner.params,
        fleet.id(1),
        first.shape().drop_prime(&fleet.owner.params).unwrap(),
        seed,
        whole,
        first.limbs()[..first.shape().level].to_vec(),
    );
    let refused = sum.add(&lower.unwrap());
    assert!(matches!(refused, Err(EvalError::LevelMismatch { .. })), "{refused:?}");
    assert_eq!((sum.to_compact().limbs(), sum.keys().len()), (before.limbs(), 1), "nothing was added");

    sum.add(&fleet.compact(1, &values, whole, seed)).unwrap();
    assert_eq!(Some(sum.to_compact().key()), sum.keys().id());
    let f = &fleet.owner;
    let expand = |sum: &CompactSum<Bgv>, transfer: &TransferSum<Bgv>, keys: &EvaluationKeys<Bgv>| {
        f.evaluator.expand_sum(sum, transfer, keys, &mut Scratch::new()).err()
    };
    let refused = expand(&sum, &fleet.transfer_sum([0, 1, 2]), &f.keys);
    assert_eq!(refused, Some(EvalError::NotInBothSums { key: fleet.id(2) }));
    let refused = expand(&sum, &fleet.transfer_sum([1]), &f.keys);
    assert_eq!(refused, Some(EvalError::NotInBothSums { key: fleet.id(0) }));
    let none = EvaluationKeys::empty(&f.params, f.secret.id());
    assert!(matches!(expand(&sum, &fleet.transfer_sum([0, 1]), &none), Some(EvalError::MissingKey(_))));
    let others = EvaluationKeys::empty(&f.params, KeyId([9; 16]));
    let refused = expand(&sum, &fleet.transfer_sum([0, 1]), &others);
    assert!(matches!(refused, Some(EvalError::KeyMismatch { .. })), "{refused:?}");
    assert_eq!(
        expand(&sum, &fleet.transfer_sum([0, 1]), &foreign.owner.keys),
        Some(EvalError::ParameterMismatch)
    );
    assert_eq!(expand(&sum, &fleet.transfer_sum([0, 1]), &f.keys), None);

    let mut transfer = fleet.transfer_sum([0, 1]);
    let twice = transfer.add(fleet.id(0), &fleet.devices[0].1);
    assert_eq!(twice, Err(EvalError::RepeatedKey { key: fleet.id(0) }));
    let absent = transfer.remove(fleet.id(2), &fleet.devices[2].1);
    assert_eq!(absent, Err(EvalError::NotInSum { key: fleet.id(2) }));
    let missing = transfer.add(fleet.id(2), &fleet.devices[1].1);
    assert!(matches!(missing, Err(EvalError::MissingKey(_))), "{missing:?}");
    assert!(matches!(transfer.add(fleet.id(2), &others), Err(EvalError::KeyMismatch { .. })));
    assert_eq!(transfer.add(fleet.id(2), &foreign.owner.keys), Err(EvalError::ParameterMismatch));
    let before = fleet.transfer_sum([0, 1]);
    let device = fleet.devices.pop().unwrap();
    let (first_key, _) = fleet.devices.remove(0);
    let renewed = fleet.transfer(&first_key);
    let other = transfer.remove(first_key.id(), &renewed);
    assert_eq!(other, Err(EvalError::OtherTransferKey { key: first_key.id() }));
    assert_same_bits("nothing was taken out", &transfer, &before);
    transfer.add(device.0.id(), &device.1).unwrap();

    let one_prime = sotto_rlwe::ChainRequest::one_prime(sotto_rlwe::SchemeId::Bfv, 4096, 65537, 40);
    let one_prime = Params::<Bfv>::new(one_prime.build().unwrap()).unwrap();
    let refused = TransferSum::new(&one_prime, KeyId([1; 16])).err();
    assert_eq!(refused, Some(EvalError::NoSpecialPrime));
}
