//! Costs of circuits against their documentation: depth, products, relinearisations and keys.

use sotto_circuits::{
    CircuitError, Encrypted, Machine, Outline, Polynomial, Transform, exponentiate, multiply_many, row_steps,
    sum_all, sum_row,
};
use sotto_conformance::{Fixture, Testable};
use sotto_rlwe::{Bfv, Bgv, Ckks, Origin, Params, Shape};

/// Coefficients of a polynomial, some of them zero, whose values on [−1, 1] stay small.
fn coefficients(degree: usize) -> Vec<f64> {
    let coefficient = |k: usize| if k % 5 == 2 { 0.0 } else { 0.7 / (k as f64 + 1.0) - 0.03 };
    let mut all: Vec<f64> = (0..=degree).map(coefficient).collect();
    all[degree] = 0.01;
    all
}

#[test]
fn ckks_polynomials_take_least_depth() {
    let params = Params::<Ckks>::default_chain(16384, 0).unwrap();
    let fresh = Shape::fresh(&params, Origin::PublicKey, 1.0).unwrap();
    for degree in 1..=127 {
        let mut outline = Outline::new(&params);
        let polynomial = Polynomial::new(coefficients(degree));
        let value = polynomial.evaluate(&mut outline, &fresh).unwrap();
        let cost = polynomial.cost(&outline).unwrap();
        let least = ((degree + 1) as f64).log2().ceil() as usize;
        assert_eq!((cost.depth, fresh.level - value.level), (least, least), "degree {degree}");
        assert_eq!(outline.tally().products, cost.products, "degree {degree}");
        assert_eq!(outline.tally().relinearisations, cost.relinearisations, "degree {degree}");
        if [3, 7, 15, 31, 63, 127].contains(&degree) {
            println!("degree {degree}: {cost:?}, slot error at most {:.1e}", value.slot_error(&params));
        }
    }
    let deep = Polynomial::new(coefficients(128)).evaluate(&mut Outline::new(&params), &fresh);
    assert_eq!(deep.unwrap_err(), CircuitError::Levels { needed: 8, left: 7 });
}

#[test]
fn ckks_polynomials_of_degree_15_and_31() {
    let mut f = Fixture::<Ckks>::with_steps(Params::default_chain(16384, 0).unwrap(), &[], 9);
    let x = f.values();
    let a = f.encrypt(&x, true);
    for degree in [15, 31] {
        let all = coefficients(degree);
        let value =
            Polynomial::new(all.clone()).evaluate(&mut Encrypted::new(&f.evaluator, &f.keys), &a).unwrap();
        let horner = |x: &f64| all.iter().rev().fold(0.0, |sum, c| sum * x + c);
        f.check("polynomial", &value, &x.iter().map(horner).collect::<Vec<_>>());
        let bound = value.shape().slot_error(&f.params);
        assert!(bound < 1e-4, "degree {degree}: slots are off by at most {bound:e}");
    }
}

fn exact_depth<S: Testable<Value = i64>>() {
    let params = Params::<S>::default_chain(32768, 65537).unwrap();
    let fresh = Shape::fresh(&params, Origin::PublicKey, 1.0).unwrap();
    for degree in 1..=40usize {
        let polynomial = Polynomial::new((0..=degree as i64).map(|k| 3 - 7 * k).collect());
        let mut outline = Outline::new(&params);
        let cost = polynomial.cost(&outline).unwrap();
        assert_eq!(cost.depth, (degree as f64).log2().ceil() as usize, "degree {degree}");
        let done = polynomial.evaluate(&mut outline, &fresh);
        assert!(degree > 15 || done.is_ok(), "{} degree {degree}: {done:?}", S::ID);
    }
}

#[test]
fn integer_polynomials_take_least_depth() {
    exact_depth::<Bfv>();
    exact_depth::<Bgv>();
}

fn row_sums<S: Testable>() {
    let params = Params::<S>::default_chain(4096, S::plain_modulus(4096)).unwrap();
    let (rows, columns) = S::slot_shape(&params).unwrap();
    let mut f = Fixture::<S>::with_steps(params.clone(), &row_steps(columns), 10);
    let x = f.values();
    let a = f.encrypt(&x, false);
    let sum = sum_row(&mut Encrypted::new(&f.evaluator, &f.keys), &a).unwrap();
    f.check("sum of a row", &sum, &sum_row(&mut f.clear(), &x).unwrap());
    if rows == 2 {
        let missing = sum_all(&mut Encrypted::new(&f.evaluator, &f.keys), &a).unwrap_err();
        assert_eq!(missing, CircuitError::MissingKeys { steps: vec![0] });
        let (map, key) = f.secret.galois_key(0, &mut f.rng).unwrap();
        f.keys.galois.insert(map, key);
    }
    let sum = sum_all(&mut Encrypted::new(&f.evaluator, &f.keys), &a).unwrap();
    f.check("sum of all slots", &sum, &sum_all(&mut f.clear(), &x).unwrap());
    let unkeyed = Fixture::<S>::with_steps(params, &[1], 10);
    let refused = sum_row(&mut Encrypted::new(&unkeyed.evaluator, &unkeyed.keys), &a).unwrap_err();
    assert_eq!(refused, CircuitError::MissingKeys { steps: row_steps(columns)[1..].to_vec() });
}

#[test]
fn rows_are_summed_with_the_keys_that_are_named() {
    row_sums::<Bfv>();
    row_sums::<Bgv>();
    row_sums::<Ckks>();
}

/// A square matrix of the row's size with three diagonals, and a full one that is prepared once.
fn transforms<S: Testable>() {
    let params = Params::<S>::default_chain(4096, S::plain_modulus(4096)).unwrap();
    let row = S::slot_shape(&params).unwrap().1;
    let mut banded = vec![S::small(0); row * row];
    for i in 0..row {
        for (j, weight) in [(i, 2), (i + 1, -1), (i + row - 1, 3)] {
            banded[i * row + j % row] = S::small(weight);
        }
    }
    let banded = Transform::new(&banded, row, row, row).unwrap();
    assert!(banded.rotations() <= 2);
    let entries: Vec<_> = (0..256).map(|i| S::small(i % 7 - 3)).collect();
    let full = Transform::new(&entries, 16, 16, row).unwrap();
    assert_eq!(full.steps(), [1, 2, 3, 4, 8, 12]);
    let mut steps = banded.steps();
    steps.extend(full.steps());
    let mut f = Fixture::<S>::with_steps(params, &steps, 11);
    let (x, y) = (f.values(), f.values());
    let (a, b) = (f.encrypt(&x, false), f.encrypt(&y, true));
    let machine = &mut Encrypted::new(&f.evaluator, &f.keys);
    let found = banded.apply(machine, &a).unwrap();
    f.check("banded", &found, &banded.apply(&mut f.clear(), &x).unwrap());
    let prepared = full.prepare(machine, a.level()).unwrap();
    for (vector, slots) in [(&a, &x), (&b, &y)] {
        let found = prepared.apply(machine, vector).unwrap();
        f.check("full", &found, &full.apply(&mut f.clear(), slots).unwrap());
    }
    let low = f.evaluator.lower(&a, 0).unwrap();
    assert!(prepared.apply(machine, &low).is_err());
}

#[test]
fn transforms_use_the_keys_that_are_named() {
    transforms::<Bfv>();
    transforms::<Bgv>();
    transforms::<Ckks>();
}

fn counted<S: Testable>() {
    let params = Params::<S>::default_chain(16384, S::plain_modulus(16384)).unwrap();
    let fresh = Shape::fresh(&params, Origin::SecretKey, 1.0).unwrap();
    let outline = || Outline::new(&params);
    let mut sum = outline();
    sum.sum_of_products(&[(&fresh, &fresh), (&fresh, &fresh), (&fresh, &fresh)]).unwrap();
    assert_eq!((sum.tally().products, sum.tally().relinearisations), (3, 1));
    let mut power = outline();
    exponentiate(&mut power, &fresh, 7).unwrap();
    assert_eq!(power.tally().products, 4);
    let mut many = outline();
    let product = multiply_many(&mut many, &[&fresh; 5]).unwrap();
    assert_eq!(many.tally().products, 4);
    if S::RESCALES {
        assert_eq!(fresh.level - product.level, 3);
        let deep = exponentiate(&mut outline(), &fresh, 129).unwrap_err();
        assert_eq!(deep, CircuitError::Levels { needed: 8, left: 7 });
    }
}

#[test]
fn products_and_relinearisations_are_counted() {
    counted::<Bfv>();
    counted::<Bgv>();
    counted::<Ckks>();
}
