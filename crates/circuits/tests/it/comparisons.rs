//! Compares functions of the sign, in the clear and on ciphertexts, with the formulas that define them.

#[allow(unreachable_pub)]
use crate::owner;

use owner::Owner;
use sotto_circuits::{CircuitError, Clear, Encrypted, Machine, Outline, Sign};
use sotto_ring::Seed;
use sotto_rlwe::{ChainRequest, Ckks, Evaluator, Params, Scheme, SchemeId};

/// Numbers in [−1, 1], dense about 0 and at the ends of the gap.
fn numbers(count: usize, gap: f64) -> Vec<f64> {
    let even = |i: usize| 2.0 * i as f64 / (count - 1) as f64 - 1.0;
    let value = |i: usize| match i % 3 {
        0 => even(i),
        1 => even(i).powi(3) * 2.0 * gap,
        _ => gap.copysign(even(i)) * (1.0 + 1e-9 * (i % 7) as f64),
    };
    (0..count).map(value).map(|x| x.clamp(-1.0, 1.0)).collect()
}

/// The largest error of |x| for operands within ±1, noise not counted.
fn flaw(sign: Sign) -> f64 {
    sign.error().max(sign.inside())
}

/// A function's name, its result, and its definition.
type Found<V> = (&'static str, V, fn(f64, f64) -> f64);

/// Every function of two vectors.
fn functions<M: Machine<Value = f64>>(
    machine: &mut M,
    sign: Sign,
    [x, y]: [&M::Vector; 2],
) -> Result<Vec<Found<M::Vector>>, CircuitError> {
    Ok(vec![
        ("absolute", sign.absolute(machine, x, 1.0)?, |x, _| x.abs()),
        ("relu", sign.relu(machine, x, 1.0)?, |x, _| x.max(0.0)),
        ("relu, negated", sign.relu(machine, x, -1.0)?, |x, _| x.min(0.0)),
        ("maximum", sign.maximum(machine, x, y, 0.5)?, f64::max),
    ])
}

#[test]
fn functions_in_the_clear_are_near_their_definitions() {
    for sign in Sign::all() {
        let x = numbers(3000, sign.gap());
        let y: Vec<f64> = x.iter().rev().copied().collect();
        let mut machine = Clear::reals(x.len());
        for (name, found, exact) in functions(&mut machine, sign, [&x, &y]).unwrap() {
            let most = 2.0 * flaw(sign);
            for ((x, y), found) in x.iter().zip(&y).zip(&found) {
                assert!(
                    (found - exact(*x, *y)).abs() <= most,
                    "{name} of {x}, {y}, gap {}: {found}",
                    sign.gap()
                );
            }
        }
        let (steps, bound) = sign.step(&mut machine, &x, 1.0).unwrap();
        for (x, step) in x.iter().zip(steps) {
            let exact = f64::from(*x > 0.0);
            assert!(x.abs() < sign.gap() || (step - exact).abs() <= bound.error, "{x}: {step}");
            assert_eq!(step > 0.5, *x > 0.0, "{x}: {step}");
        }
    }
}

#[test]
fn ciphertexts_are_within_their_bounds() {
    let sign = Sign::with_gap(1.0 / 16.0).unwrap();
    let request = ChainRequest {
        levels: Some(sign.depth() + 1),
        special_primes: Some(2),
        other_bits: Some(36),
        ..ChainRequest::new(SchemeId::Ckks, 16384, 0)
    };
    let params = Params::<Ckks>::new(request.build().unwrap()).unwrap();
    let owner = Owner::new(&params, 1);
    let values = numbers(8192, sign.gap());
    let turned: Vec<f64> = values.iter().rev().copied().collect();
    let encrypt = |values: &[f64], seed: u8| {
        let plaintext = Ckks::encode_slots(&params, values, params.top_level()).unwrap();
        owner.encrypt(&plaintext, Seed([seed; 24])).unwrap().expand()
    };
    let (x, y) = (encrypt(&values, 1), encrypt(&turned, 2));
    let (evaluator, keys) = (Evaluator::new(&params), owner.evaluation_keys(&[]));
    let mut machine = Encrypted::new(&evaluator, &keys);
    let results = functions(&mut machine, sign, [&x, &y]).unwrap();
    let mut outline = Outline::new(&params);
    let shapes = functions(&mut outline, sign, [x.shape(), y.shape()]).unwrap();
    for ((name, result, exact), (_, shape, _)) in results.iter().zip(&shapes) {
        assert_eq!(result.shape(), shape, "{name}");
        let bound = shape.slot_error(&params);
        assert!(bound < 2.5 * flaw(sign), "{name}: {bound}");
        let slots = Ckks::decode_slots(&params, &owner.decrypt(result)).unwrap();
        for ((x, y), found) in values.iter().zip(&turned).zip(&slots) {
            assert!((found - exact(*x, *y)).abs() <= bound, "{name} of {x}, {y}: {found} ± {bound}");
        }
    }
    // The noise is that of the composition, and not below its size.
    let (signs, bound) = sign.evaluate(&mut machine, &x, 1.0).unwrap();
    let slots = Ckks::decode_slots(&params, &owner.decrypt(&signs)).unwrap();
    let off = values.iter().zip(&slots).map(|(x, slot)| (slot - sign.at(*x)).abs()).fold(0.0, f64::max);
    println!("largest distance from the composition {off:.1e}, bound {:.1e}", bound.noise);
    assert!(off <= bound.noise && bound.noise < 4096.0 * off, "{off:e} {bound:?}");
}

#[test]
fn refusals() {
    let params = Params::<Ckks>::default_chain(16384, 0).unwrap();
    let owner = Owner::new(&params, 1);
    let plaintext = Ckks::encode_slots(&params, &[0.5], params.top_level()).unwrap();
    let x = *owner.encrypt(&plaintext, Seed([1; 24])).unwrap().expand().shape();
    let mut outline = Outline::new(&params);
    let fine = Sign::with_gap(1.0 / 256.0).unwrap();
    assert_eq!(fine.evaluate(&mut outline, &x, 1.0), Err(CircuitError::Levels { needed: 12, left: 7 }));
    let coarse = Sign::with_gap(0.1).unwrap();
    assert!(coarse.evaluate(&mut outline, &x, 1.0).is_ok());
    assert_eq!(coarse.absolute(&mut outline, &x, 1.0), Err(CircuitError::Levels { needed: 8, left: 7 }));
    // An operand that is off by a hundredth.
    let off = x.with_slot_bounds(&params, 1.0, 0.01);
    assert!(
        matches!(coarse.evaluate(&mut outline, &off, 1.0), Err(CircuitError::Coarse { bits, .. }) if bits > 1.0)
    );
    for gap in [0.0, -1.0, 1e-4, f64::NAN] {
        assert!(matches!(Sign::with_gap(gap), Err(CircuitError::Gap { .. })), "{gap}");
    }
    assert!(Sign::with_error(1.0 / 4096.0, 1e-9).is_err());
    assert_eq!(Sign::with_error(1.0 / 256.0, 1e-4).unwrap().depth(), 14);
    let depths = [(0.0625, 7), (1.0 / 64.0, 9), (1.0 / 256.0, 12), (1.0 / 4096.0, 15)];
    for (gap, depth) in depths {
        assert_eq!(Sign::with_gap(gap).unwrap().depth(), depth);
    }
}
