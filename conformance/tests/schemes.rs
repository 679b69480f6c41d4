//! One suite for every scheme.
#![allow(clippy::unwrap_used)]

use sotto_conformance::{Fixture, Testable};
use sotto_rlwe::{Addend, Bfv, Bgv, Ckks, EvalError, Multiplier, Params};

fn rotated<V: Copy>(rows: usize, values: &[V], step: i32) -> Vec<V> {
    let columns = values.len() / rows;
    let source = |i: usize| {
        let column = (i % columns) as i64 + i64::from(step);
        i / columns * columns + column.rem_euclid(columns as i64) as usize
    };
    (0..values.len()).map(|i| values[source(i)]).collect()
}

fn zip<S: Testable>(
    a: &[S::Value],
    b: &[S::Value],
    f: impl Fn(S::Value, S::Value) -> S::Value,
) -> Vec<S::Value> {
    a.iter().zip(b).map(|(a, b)| f(*a, *b)).collect()
}

fn every_operation<S: Testable>(degree: usize) {
    let mut f = Fixture::<S>::default_chain(degree, 1);
    let p = f.params.clone();
    let (a, b) = (f.values(), f.values());
    let (ca, cb) = (f.encrypt(&a, false), f.encrypt(&b, true));
    f.check("secret-key encryption", &ca, &a);
    f.check("public-key encryption", &cb, &b);
    let e = &f.evaluator;
    f.check("add", &e.add(&ca, &cb).unwrap(), &zip::<S>(&a, &b, |x, y| S::plus(&p, x, y)));
    f.check("subtract", &e.subtract(&ca, &cb).unwrap(), &zip::<S>(&a, &b, |x, y| S::minus(&p, x, y)));
    let zero = S::small(0);
    let negated: Vec<_> = a.iter().map(|x| S::minus(&p, zero, *x)).collect();
    f.check("negate", &e.negate(&ca).unwrap(), &negated);
    let plain = S::encode_slots(&p, &b, p.top_level()).unwrap();
    let addend = Addend::new(&p, &plain, p.top_level(), ca.shape().scaling);
    f.check("add plain", &e.add_plain(&ca, &addend).unwrap(), &zip::<S>(&a, &b, |x, y| S::plus(&p, x, y)));
    let tripled: Vec<_> = a.iter().map(|x| S::times(&p, *x, S::small(3))).collect();
    f.check("multiply by 3", &e.multiply_scalar(&ca, 3).unwrap(), &tripled);

    if !p.can_switch_keys() {
        assert_eq!(e.rotate(&ca, 1, &f.keys).unwrap_err(), EvalError::NoSpecialPrime);
        return;
    }
    let product = zip::<S>(&a, &b, |x, y| S::times(&p, x, y));
    let multiplier = Multiplier::new(&p, &plain, p.top_level());
    let times_plain = S::after_product(e, e.multiply_plain(&ca, &multiplier).unwrap());
    f.check("multiply plain", &times_plain, &product);
    let (rows, columns) = S::slot_shape(&p).unwrap();
    for step in [1, -1, 2] {
        f.check("rotate", &e.rotate(&ca, step, &f.keys).unwrap(), &rotated(rows, &a, step));
    }
    let swapped: Vec<_> = (0..a.len()).map(|i| a[(i + (rows - 1) * columns) % a.len()]).collect();
    f.check("swap rows", &e.swap_rows(&ca, &f.keys).unwrap(), &swapped);
    let (ca, cb) = (f.encrypt(&a, false), f.encrypt(&b, false));
    let e = &f.evaluator;
    let tensor = e.multiply(&ca, &cb).unwrap();
    f.check("three components", &S::after_product(e, tensor.clone()), &product);
    let relinearised = e.relinearise(&tensor, &f.keys).unwrap();
    f.check("relinearise", &S::after_product(e, relinearised.clone()), &product);
    let dropped = e.drop_modulus(&relinearised).unwrap();
    f.check("drop a prime", &dropped, &product);
    f.check("rotate below the top", &e.rotate(&dropped, 1, &f.keys).unwrap(), &rotated(rows, &product, 1));
    let doubled: Vec<_> = product.iter().map(|x| S::plus(&p, *x, *x)).collect();
    f.check("add to itself", &e.add(&dropped, &dropped).unwrap(), &doubled);
    assert!(matches!(
        e.add(&ca, &dropped),
        Err(EvalError::LevelMismatch { .. } | EvalError::ScalingMismatch { .. })
    ));
    assert!(matches!(e.rotate(&ca, 3, &f.keys), Err(EvalError::MissingKey(_))));
}

fn depth<S: Testable>(degree: usize) {
    // Squares until the noise bound refuses; every result before that is right.
    let mut f = Fixture::<S>::default_chain(degree, 2);
    let p = f.params.clone();
    let mut clear = f.values();
    let mut c = f.encrypt(&clear, true);
    let mut products = 0;
    loop {
        let square = f.evaluator.multiply(&c, &c).and_then(|s| f.evaluator.relinearise(&s, &f.keys));
        let square =
            match square.and_then(|s| if s.level() > 0 { f.evaluator.drop_modulus(&s) } else { Ok(s) }) {
                Ok(square) => square,
                Err(EvalError::Noise { .. } | EvalError::ScalePower { .. }) => break,
                Err(other) => panic!("{other}"),
            };
        if square.level() == c.level() {
            break;
        }
        clear = zip::<S>(&clear, &clear, |x, y| S::times(&p, x, y));
        c = square;
        products += 1;
        f.check("square", &c, &clear);
    }
    println!("{} n = {degree}: {products} squarings", S::ID);
    assert!(products >= 1, "{} at n = {degree} takes at least one product", S::ID);
}

#[test]
fn bfv_operations() {
    [2048, 4096, 8192, 16384].into_iter().for_each(every_operation::<Bfv>);
}

#[test]
fn bgv_operations() {
    [2048, 4096, 8192, 16384].into_iter().for_each(every_operation::<Bgv>);
}

#[test]
fn ckks_operations() {
    [4096, 8192, 16384].into_iter().for_each(every_operation::<Ckks>);
}

#[test]
fn depth_is_what_the_noise_bound_allows() {
    [8192, 16384].into_iter().for_each(depth::<Bfv>);
    [8192, 16384].into_iter().for_each(depth::<Bgv>);
    [4096, 8192, 16384].into_iter().for_each(depth::<Ckks>);
}

#[test]
fn keys_are_derived_the_same_every_time_and_differ_between_parameters() {
    let device = sotto_keys::DeviceSecret::from_bytes(&[5; 32]);
    let small = Params::<Bfv>::default_chain(1024, 257).unwrap();
    let other = Params::<Bfv>::default_chain(1024, 65537).unwrap();
    let key = |p| sotto_keys::SecretKey::derive(&device, p);
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
    let product = f.evaluator.multiply(&c, &c).unwrap();
    let product = f.evaluator.drop_modulus(&f.evaluator.relinearise(&product, &f.keys).unwrap()).unwrap();
    let lowered = f.evaluator.match_scale(&c, product.level()).unwrap();
    let sum = f.evaluator.add(&product, &lowered).unwrap();
    f.check("a² + a", &sum, &a.iter().map(|x| x * x + x).collect::<Vec<_>>());
}
