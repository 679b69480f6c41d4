//! Compact ciphertexts, from encryption through their expansion to decryption, in every scheme.

use sotto_conformance::{Fixture, Testable};
use sotto_decrypt::Decryptor;
use sotto_keys::{DeviceSecret, SecretKey};
use sotto_ring::Scratch;
use sotto_rlwe::{
    Bfv, Bgv, Ciphertext, Ckks, DefaultChain, EvalError, Kept, Origin, Params, Plaintext, Shape,
};

fn fixture<S: Testable>(degree: usize, kept: Kept, seed: u8) -> Fixture<S> {
    let params =
        Params::<S>::new(DefaultChain::spec(S::ID, degree, S::plain_modulus(degree)).unwrap()).unwrap();
    let mut steps = params.expansion_steps(kept).unwrap();
    steps.push(1);
    Fixture::with_steps(params, &steps, seed)
}

fn decrypt<S: Testable>(f: &Fixture<S>, ciphertext: &Ciphertext<S>) -> Plaintext<S> {
    Decryptor::new(&f.secret).decrypt(ciphertext).unwrap()
}

/// Values come back slot for slot, as from the ordinary ciphertext. The measured noise is within the bound. The result
/// rotates and multiplies like any other ciphertext.
fn comes_back<S: Testable>(degree: usize, kept: Kept) {
    let count = kept.values();
    let what = format!("{}: n = {degree}, {kept:?}", S::ID);
    let mut f = fixture::<S>(degree, kept, 9);
    let top = f.params.top_level();
    let values = f.values()[..count].to_vec();
    let repeated = f.params.encode_repeated(&values, top).unwrap();
    let plaintext = match kept {
        Kept::Whole(_) => f.params.encode_repeated(&values, top),
        Kept::Folded(_) => f.params.encode_folded(&values, 1.0, top),
    };
    let seeded = f.secret.encrypt(&plaintext.unwrap(), &mut f.rng).unwrap();
    let compact = seeded.compact(kept).unwrap();
    assert_eq!((compact.kept(), compact.limbs().len()), (kept, top + 1));
    assert!(compact.limbs().iter().all(|limb| limb.len() == kept.places()));
    let expanded = f.evaluator.expand(&compact, &f.keys, &mut Scratch::new()).unwrap();
    let check = |what: &str, found: &Ciphertext<S>, expected: &dyn Fn(usize) -> S::Value| {
        let bound = found.shape().slot_error(&f.params);
        let slots = f.params.decode_repeated(&decrypt(&f, found), count).unwrap();
        for (at, slot) in slots.into_iter().enumerate() {
            let off = S::distance(slot, expected(at));
            assert!(off <= bound, "{what}: value {at} is off by {off:e}, bound {bound:e}");
        }
    };
    check(&what, &expanded, &|at| values[at]);
    if kept == Kept::Whole(kept.places()) {
        check(&what, &seeded.expand(), &|at| values[at]);
    }

    // A folded message is rounded before it is doubled, so its coefficients differ from the ordinary ones by at most
    // one further unit.
    let measured = Decryptor::new(&f.secret).measure_error_bits(&expanded, Some(repeated.coefficients()));
    let bound = expanded.shape().noise.error.0;
    assert!(measured <= bound, "{what}: 2^{measured:.1} measured, bound 2^{bound:.1}");

    let rotated = f.evaluator.rotate(&expanded, 1, &f.keys).unwrap();
    check(&format!("{what}, rotated"), &rotated, &|at| values[(at + 1) % count]);
    if degree < 8192 {
        return;
    }
    let product = f.evaluator.multiply(&expanded, &expanded).unwrap();
    let product = f.evaluator.relinearise(&product, &f.keys).unwrap();
    let product = S::after_product(&f.evaluator, product);
    check(&format!("{what}, squared"), &product, &|at| S::times(&f.params, values[at], values[at]));
}

fn all<S: Testable>() {
    for (degree, counts) in
        [(4096, &[2, 8, 256, 2048][..]), (8192, &[4, 512, 4096]), (16384, &[16, 4096]), (32768, &[64])]
    {
        for count in counts {
            comes_back::<S>(degree, Kept::Folded(*count));
            comes_back::<S>(degree, Kept::Whole(2 * count));
        }
    }
}

#[test]
fn bgv() {
    all::<Bgv>();
}

#[test]
fn bfv() {
    all::<Bfv>();
}

#[test]
fn ckks() {
    all::<Ckks>();
}

/// Checks the formula of the bound, as measured noise does not show its slack: a folded message and its error are
/// doubled, and each of the n/k − 1 switches counts.
fn bounds_count_the_fold_and_every_switch<S: Testable>() {
    let params = Params::<S>::default_chain(8192, S::plain_modulus(8192)).unwrap();
    let fresh = Shape::fresh(&params, Origin::SecretKey, 1.0).unwrap();
    let error = |shape: &Shape<S>| shape.noise.error.0.exp2();
    let switch = error(&fresh.switch_key(&params).unwrap()) - error(&fresh);
    for (kept, doubled) in
        [4, 64, 4096].into_iter().flat_map(|places| [(Kept::Whole(places), 1.0), (Kept::Folded(places), 2.0)])
    {
        let expanded = fresh.expanded(&params, kept).unwrap();
        let expected = doubled * error(&fresh) + (8192 / kept.places() - 1) as f64 * switch;
        let off = (error(&expanded) / expected - 1.0).abs();
        assert!(off < 1e-6, "{}: {kept:?}: {:e}, not {expected:e}", S::ID, error(&expanded));
    }
    // Values of the declared magnitude in every slot give the message its largest norm.
    let values = vec![S::small(1); 64];
    let whole = params.encode_repeated(&values, params.top_level()).unwrap();
    let halves = Shape::fresh_expanded(&params, Origin::SecretKey, 1.0, Kept::Folded(64)).unwrap();
    assert!(whole.norm() <= halves.noise.message, "{}: the message is larger than its bound", S::ID);
}

#[test]
fn bounds_count() {
    bounds_count_the_fold_and_every_switch::<Bfv>();
    bounds_count_the_fold_and_every_switch::<Bgv>();
    bounds_count_the_fold_and_every_switch::<Ckks>();
}

#[test]
fn what_cannot_be_expanded_is_refused() {
    let mut f = fixture::<Bfv>(4096, Kept::Whole(8), 3);
    let plaintext = f.params.encode_repeated(&[1, 2, 3, 4], f.params.top_level()).unwrap();
    let seeded = f.secret.encrypt(&plaintext, &mut f.rng).unwrap();
    let whole = [0, 1, 2, 3, 5, 8192].map(Kept::Whole);
    let folded = [0, 1, 3, 4096].map(Kept::Folded);
    for kept in whole.into_iter().chain(folded) {
        assert!(matches!(seeded.compact(kept), Err(EvalError::Places { .. })), "{kept:?}");
    }
    let scratch = &mut Scratch::new();
    // Keys for eight places do not fit four places or folded ones; keys of another secret fit none.
    for kept in [Kept::Whole(4), Kept::Folded(4)] {
        let compact = seeded.compact(kept).unwrap();
        assert!(matches!(f.evaluator.expand(&compact, &f.keys, scratch), Err(EvalError::MissingKey(_))));
    }
    let other = SecretKey::derive(&DeviceSecret::generate(&mut f.rng), &f.params);
    let steps = f.params.expansion_steps(Kept::Whole(8)).unwrap();
    let keys = other.evaluation_keys(false, &steps, &mut f.rng).unwrap();
    let compact = seeded.compact(Kept::Whole(8)).unwrap();
    assert!(matches!(f.evaluator.expand(&compact, &keys, scratch), Err(EvalError::KeyMismatch { .. })));
    // A ciphertext with all places is already expanded, and needs no key.
    let whole = seeded.compact(Kept::Whole(4096)).unwrap();
    let expanded = f.evaluator.expand(&whole, &f.keys, scratch).unwrap();
    assert_eq!(expanded.components(), seeded.expand().components());
}
