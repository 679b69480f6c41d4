//! The evaluator's own operations at every level, once for every scheme.

use sotto_circuits::{Clear, Machine};
use sotto_conformance::{Fixture, Testable};
use sotto_keys::{DeviceSecret, SecretKey};
use sotto_ring::Scratch;
use sotto_rlwe::{
    Addend, Bfv, Bgv, Ciphertext, Ckks, EvalError, EvaluationKeys, Multiplier, Params, SchemeId,
};

/// Returns the result; None if noise or levels do not allow it.
#[track_caller]
fn allowed<T>(result: Result<T, EvalError>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(EvalError::Noise { .. } | EvalError::NoLevel { .. } | EvalError::ScalePower { .. }) => None,
        Err(other) => panic!("{other}"),
    }
}

/// Brings a product to rest: CKKS rescales.
fn rest<S: Testable>(f: &Fixture<S>, product: Ciphertext<S>) -> Option<Ciphertext<S>> {
    if S::RESCALES { allowed(f.evaluator.drop_modulus(&product)) } else { Some(product) }
}

/// Operations with plaintexts, and between two ciphertexts of one level.
fn linear<S: Testable>(
    f: &Fixture<S>,
    (x, y): (&Vec<S::Value>, &Vec<S::Value>),
    a: &Ciphertext<S>,
    b: &Ciphertext<S>,
) {
    let (e, m, level) = (&f.evaluator, &mut f.clear(), a.level());
    let check = |what: &str, found: Option<Ciphertext<S>>, expected: &Vec<S::Value>| {
        let what = format!("{} n = {} level {level}: {what}", S::ID, f.params.degree());
        found.into_iter().for_each(|found| f.check(&what, &found, expected));
    };
    check("itself", Some(a.clone()), x);
    check("add", allowed(e.add(a, b)), &m.add(x, y).unwrap());
    check("add to itself", allowed(e.add(a, a)), &m.add(x, x).unwrap());
    check("subtract", allowed(e.subtract(a, b)), &m.subtract(x, y).unwrap());
    check("subtract from itself", allowed(e.subtract(a, a)), &m.subtract(x, x).unwrap());
    check("negate", allowed(e.negate(a)), &m.negate(x).unwrap());
    let plain = f.encode(y, level);
    let addend = Addend::new(&f.params, &plain, level, S::addend_scaling(a.shape().scaling));
    check("add plain", allowed(e.add_plain(a, &addend)), &m.add(x, y).unwrap());
    let multiplier = Multiplier::new(&f.params, &plain, level);
    let product = allowed(e.multiply_plain(a, &multiplier)).and_then(|c| rest(f, c));
    check("multiply plain", product, &m.multiply(x, y).unwrap());
    let sum = allowed(e.multiply_plain(a, &multiplier)).and_then(|mut sum| {
        allowed(e.add_multiplied_plain_assign(&mut sum, b, &multiplier, &mut Scratch::new()))?;
        rest(f, sum)
    });
    let meaning = m.sum_of_products(&[(x, y), (y, y)]).unwrap();
    check("multiply plain and add", sum, &meaning);
    let tripled = m.multiply_constant(x, S::small(-3)).unwrap();
    check("multiply by −3", allowed(e.multiply_scalar(a, -3)), &tripled);
    for lower in 0..level {
        check("lower", allowed(e.lower(a, lower)), x);
    }
    if !S::RESCALES {
        check("drop a prime", allowed(e.drop_modulus(a)), x);
    }
}

/// Operations that switch keys.
fn keyed<S: Testable>(
    f: &Fixture<S>,
    (x, y): (&Vec<S::Value>, &Vec<S::Value>),
    a: &Ciphertext<S>,
    b: &Ciphertext<S>,
) {
    let (e, m, level) = (&f.evaluator, &mut f.clear(), a.level());
    let scratch = &mut Scratch::new();
    let check = |what: &str, found: Option<Ciphertext<S>>, expected: &Vec<S::Value>| {
        let what = format!("{} n = {} level {level}: {what}", S::ID, f.params.degree());
        found.into_iter().for_each(|found| f.check(&what, &found, expected));
    };
    let hoisted = e.hoist(a, scratch).unwrap();
    for step in [1, -1, 2] {
        let expected = m.rotate(x, step).unwrap();
        check("rotate", allowed(e.rotate(a, step, &f.keys)), &expected);
        check("rotate, hoisted", allowed(e.rotate_hoisted(&hoisted, step, &f.keys, scratch)), &expected);
    }
    let swapped = m.swap_rows(x).unwrap();
    check("swap rows", allowed(e.swap_rows(a, &f.keys)), &swapped);
    check("swap rows, hoisted", allowed(e.rotate_hoisted(&hoisted, 0, &f.keys, scratch)), &swapped);
    let square = allowed(e.square(a)).and_then(|c| rest(f, c));
    check("square, three components", square, &m.square(x).unwrap());
    let Some(tensor) = allowed(e.multiply(a, b)) else { return };
    let product = m.multiply(x, y).unwrap();
    check("three components", rest(f, tensor.clone()), &product);
    if !S::RESCALES && a.shape().scaling == tensor.shape().scaling {
        let sum = m.add(&product, x).unwrap();
        check("three components and two", allowed(e.add(&tensor, a)), &sum);
        check("two components and three", allowed(e.add(a, &tensor)), &sum);
        let difference = m.subtract(x, &product).unwrap();
        check("two components less three", allowed(e.subtract(a, &tensor)), &difference);
    }
    let both = allowed(e.add(&tensor, &tensor)).and_then(|c| rest(f, c));
    check("sum of products", both, &m.add(&product, &product).unwrap());
    let relinearised = allowed(e.relinearise(&tensor, &f.keys)).and_then(|c| rest(f, c));
    check("relinearise", relinearised, &product);
}

/// Switches to another secret key, and continues with the keys of that one.
fn transferred<S: Testable>(f: &mut Fixture<S>, x: &[S::Value], a: &Ciphertext<S>) {
    let device = DeviceSecret::from_bytes(&[9; 32]);
    let other = SecretKey::derive(&device, &f.params);
    let mut keys = EvaluationKeys::empty(&f.params, other.id());
    let missing = f.evaluator.switch_key(a, &keys).unwrap_err();
    assert!(matches!(missing, EvalError::MissingKey(_)));
    keys.transfers.insert(f.secret.id(), other.transfer_key(&f.secret, &mut f.rng).unwrap());
    let Some(moved) = allowed(f.evaluator.switch_key(a, &keys)) else { return };
    assert_eq!(moved.key(), other.id());
    assert!(matches!(f.evaluator.add(a, &moved), Err(EvalError::KeyMismatch { .. })));
    let ours = core::mem::replace(&mut f.secret, other);
    f.check("switch key", &moved, x);
    f.secret = ours;
}

fn every_level<S: Testable>(degree: usize) {
    let mut f = Fixture::<S>::default_chain(degree, 1);
    let (x, y) = (f.values(), f.values());
    let (a, b) = (f.encrypt(&x, false), f.encrypt(&y, true));
    for level in (0..=f.params.top_level()).rev() {
        let lowered = (allowed(f.evaluator.lower(&a, level)), allowed(f.evaluator.lower(&b, level)));
        let (Some(c), Some(d)) = lowered else { continue };
        assert_eq!(c.level(), level);
        linear(&f, (&x, &y), &c, &d);
        if f.params.can_switch_keys() {
            keyed(&f, (&x, &y), &c, &d);
            transferred(&mut f, &x, &c);
        } else {
            assert_eq!(f.evaluator.rotate(&c, 1, &f.keys).unwrap_err(), EvalError::NoSpecialPrime);
        }
    }
}

#[test]
fn bfv_operations() {
    [2048, 4096, 8192, 16384].into_iter().for_each(every_level::<Bfv>);
}

#[test]
fn bgv_operations() {
    [2048, 4096, 8192, 16384].into_iter().for_each(every_level::<Bgv>);
}

#[test]
fn ckks_operations() {
    [4096, 8192, 16384].into_iter().for_each(every_level::<Ckks>);
}

fn refusals<S: Testable>() {
    let mut f = Fixture::<S>::default_chain(8192, 1);
    let x = f.values();
    let a = f.encrypt(&x, false);
    let e = &f.evaluator;
    let low = e.lower(&a, 1).unwrap();
    assert!(matches!(e.add(&a, &low), Err(EvalError::LevelMismatch { .. })));
    assert!(matches!(e.lower(&low, 2), Err(EvalError::LevelMismatch { .. })));
    let Err(EvalError::MissingKey(what)) = e.rotate(&a, 3, &f.keys) else { panic!("no key for 3") };
    assert!(what.contains("by 3"));
    assert!(matches!(e.rotate(&a, 4096, &f.keys), Err(EvalError::Step { .. })));
    assert!(matches!(e.rotate(&a, 0, &f.keys), Err(EvalError::Step { .. })));
    let tensor = e.multiply(&a, &a).unwrap();
    assert!(matches!(e.multiply(&tensor, &a), Err(EvalError::Components { .. })));
    assert!(matches!(e.rotate(&tensor, 1, &f.keys), Err(EvalError::Components { .. })));
    assert!(matches!(e.hoist(&tensor, &mut Scratch::new()), Err(EvalError::Components { .. })));
    assert!(matches!(e.relinearise(&a, &f.keys), Err(EvalError::Components { .. })));
    assert!(matches!(e.drop_modulus(&e.lower(&a, 0).unwrap()), Err(EvalError::NoLevel { .. })));
}

#[test]
fn what_does_not_fit_is_refused() {
    refusals::<Bfv>();
    refusals::<Bgv>();
    refusals::<Ckks>();
}

fn depth<S: Testable>(degree: usize) {
    // Squares until the noise bound refuses; every earlier result is correct.
    let mut f = Fixture::<S>::default_chain(degree, 2);
    let mut clear = f.values();
    let mut c = f.encrypt(&clear, true);
    let mut products = 0;
    loop {
        let square = f.evaluator.multiply(&c, &c).and_then(|s| f.evaluator.relinearise(&s, &f.keys));
        let Some(square) = allowed(square) else { break };
        let square = if square.level() > 0 { allowed(f.evaluator.drop_modulus(&square)) } else { None };
        let Some(square) = square else { break };
        clear = f.clear().square(&clear).unwrap();
        c = square;
        products += 1;
        f.check("square", &c, &clear);
    }
    println!("{} n = {degree}: {products} squarings", S::ID);
    assert!(products >= 1, "{} at n = {degree} takes at least one product", S::ID);
}

#[test]
fn depth_is_what_the_noise_bound_allows() {
    [8192, 16384].into_iter().for_each(depth::<Bfv>);
    [8192, 16384].into_iter().for_each(depth::<Bgv>);
    [4096, 8192, 16384].into_iter().for_each(depth::<Ckks>);
}

#[test]
fn keys_are_derived_the_same_every_time_and_differ_between_parameters() {
    let device = DeviceSecret::from_bytes(&[5; 32]);
    let small = Params::<Bfv>::default_chain(1024, 257).unwrap();
    let other = Params::<Bfv>::default_chain(1024, 65537).unwrap();
    let key = |p| SecretKey::derive(&device, p);
    assert!(key(&small).expose_secret_eval() == key(&small).expose_secret_eval());
    assert_eq!(key(&small).id(), key(&small).id());
    assert_ne!(key(&small).id(), key(&other).id());
}

#[test]
fn match_scale_goes_down_several_levels_at_once() {
    let mut f = Fixture::<Ckks>::default_chain(8192, 3);
    let a = f.values();
    let c = f.encrypt(&a, true);
    for level in 0..3 {
        let lowered = f.evaluator.match_scale(&c, level).unwrap();
        assert_eq!(lowered.level(), level);
        f.check("match scale", &lowered, &a);
    }
    assert!(f.evaluator.match_scale(&c, 3).is_err());
}

#[test]
fn match_factor_leaves_the_message() {
    let mut f = Fixture::<Bgv>::default_chain(8192, 3);
    let x = f.values();
    let a = f.encrypt(&x, true);
    for scalar in [1, -1, 2, 786_432, -12_345] {
        let matched = f.evaluator.match_factor(&a, scalar).unwrap();
        assert_eq!(
            Clear::like(&f.params).canonical(scalar),
            f.clear().canonical(matched.shape().scaling as i64)
        );
        f.check("match factor", &matched, &x);
    }
    assert_eq!(f.evaluator.match_factor(&a, 0).unwrap_err(), EvalError::Factor { scalar: 0 });
    assert_eq!(f.params.scheme(), SchemeId::Bgv);
}
