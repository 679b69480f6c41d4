//! No error exceeds its bound, and the bounds are not far above actual errors.

use proptest::prelude::*;
use sotto_pack::{Quantiser, bounds};

const MINIMUM: f64 = -20.0;
const MAXIMUM: f64 = 60.0;
/// Allowance for f64 rounding in the true answer, for values up to 60.
const ROUNDING: f64 = 1e-11;

fn mean(x: &[f64]) -> f64 {
    x.iter().sum::<f64>() / x.len() as f64
}

fn variance(x: &[f64]) -> f64 {
    let mean = mean(x);
    x.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / x.len() as f64
}

fn readings() -> impl Strategy<Value = Vec<f64>> {
    let value = prop_oneof![3 => MINIMUM..=MAXIMUM, 1 => Just(MINIMUM), 1 => Just(MAXIMUM)];
    prop::collection::vec(value, 1..100)
}

/// Makes readings just below a rounding limit, so that every error is nearly half a step and of the same
/// sign.
fn worst(quantiser: &Quantiser, shifts: &[i64]) -> Vec<f64> {
    let at = |shift: i64| quantiser.value(shift) + 0.4999 * quantiser.step();
    shifts.iter().map(|shift| at(shift % quantiser.top())).collect()
}

fn check(quantiser: &Quantiser, x: &[f64]) -> Result<(), TestCaseError> {
    let h = quantiser.value_error();
    let q: Vec<i128> = x.iter().map(|x| i128::from(quantiser.quantise(*x).unwrap())).collect();
    let count = u32::try_from(x.len()).unwrap();
    let (sum, squares) = (q.iter().sum(), q.iter().map(|q| q * q).sum());

    let answer = quantiser.mean(sum, count).unwrap();
    prop_assert!((answer - mean(x)).abs() <= bounds::mean(h) + ROUNDING);

    let answer = quantiser.variance(sum, squares, count).unwrap();
    let error = (answer - variance(x)).abs();
    prop_assert!(error <= bounds::variance(variance(x).sqrt(), h) + ROUNDING);
    prop_assert!((answer.sqrt() - variance(x).sqrt()).abs() <= bounds::deviation(h) + 1e-5 * h + ROUNDING);
    Ok(())
}

proptest! {
    #[test]
    fn means_and_variances_are_within_bounds(x in readings(), bits in 2u32..=20) {
        check(&Quantiser::new(MINIMUM, MAXIMUM, bits).unwrap(), &x)?;
    }

    #[test]
    fn the_worst_readings_are_within_bounds(shifts in prop::collection::vec(any::<i64>(), 1..100), bits in 3u32..=20) {
        let quantiser = Quantiser::new(MINIMUM, MAXIMUM, bits).unwrap();
        let x = worst(&quantiser, &shifts);
        check(&quantiser, &x)?;
        let q: i128 = x.iter().map(|x| i128::from(quantiser.quantise(*x).unwrap())).sum();
        let error = quantiser.mean(q, u32::try_from(x.len()).unwrap()).unwrap() - mean(&x);
        prop_assert!(error.abs() > 0.99 * bounds::mean(quantiser.value_error()));
    }

    #[test]
    fn weighted_sums_and_polynomials_are_within_bounds(
        x in readings(),
        weights in prop::collection::vec(-3.0..3.0f64, 100),
        coefficients in prop::collection::vec(-2.0..2.0f64, 0..5),
        bits in 2u32..=20,
    ) {
        let quantiser = Quantiser::new(MINIMUM, MAXIMUM, bits).unwrap();
        let h = quantiser.value_error();
        let near: Vec<f64> = x.iter().map(|x| quantiser.value(quantiser.quantise(*x).unwrap())).collect();

        let weighted = |x: &[f64]| x.iter().zip(&weights).map(|(x, weight)| x * weight).sum::<f64>();
        let bound = bounds::weighted_sum(weights.iter().take(x.len()).map(|weight| (*weight, h)));
        prop_assert!((weighted(&near) - weighted(&x)).abs() <= bound + ROUNDING);

        let polynomial = |x: f64| coefficients.iter().rev().fold(0.0, |sum, c| sum * x + c);
        let bound = bounds::polynomial(&coefficients, MINIMUM, MAXIMUM, h);
        for (near, x) in near.iter().zip(&x) {
            let error = (polynomial(*near) - polynomial(*x)).abs();
            prop_assert!(error <= bound * (1.0 + 1e-12) + 1e-6 * ROUNDING + 1e-7 * h, "{error} {bound}");
        }
    }
}

#[test]
fn derivatives_are_bounded() {
    assert_eq!(bounds::derivative(&[], -1.0, 1.0), 0.0);
    assert_eq!(bounds::derivative(&[7.0], -1.0, 1.0), 0.0);
    assert_eq!(bounds::derivative(&[7.0, -2.0], -1.0, 1.0), 2.0);
    // 1 + 2·(-3)x + 3·2x² at |x| = 2
    assert_eq!(bounds::derivative(&[0.0, 1.0, -3.0, 2.0], -2.0, 1.0), 1.0 + 12.0 + 24.0);
}
