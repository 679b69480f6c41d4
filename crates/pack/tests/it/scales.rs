//! Values to numbers and back, in particular at the ends of ranges.

use proptest::prelude::*;
use sotto_pack::{NoAnswer, Normaliser, Quantiser, RangeError};

/// Ranges of all sizes and positions; some are too narrow for their distance from 0.
fn range() -> impl Strategy<Value = (f64, f64)> {
    let end = prop_oneof![-100.0..100.0f64, -1e9..1e9f64, -1e-6..1e-6f64, Just(0.0), -1e300..1e300f64];
    let length = prop_oneof![1e-9..1e-3f64, 1e-3..1e3f64, 1e3..1e12f64];
    (end, length).prop_map(|(minimum, length)| (minimum, minimum + length))
}

/// The ends and the middle of a range, values next to them, and a value in between.
fn values((minimum, maximum): (f64, f64), between: f64) -> Vec<f64> {
    let all = [
        minimum,
        minimum.next_up(),
        maximum,
        maximum.next_down(),
        minimum / 2.0 + maximum / 2.0,
        minimum + between * (maximum - minimum),
    ];
    all.into_iter().filter(|value| (minimum..=maximum).contains(value)).collect()
}

proptest! {
    #[test]
    fn quantising_is_off_by_no_more_than_it_says(range in range(), bits in 2u32..=32, between in 0.0..=1.0f64) {
        let quantiser = match Quantiser::new(range.0, range.1, bits) {
            Err(refused) => {
                prop_assert_ne!(refused, RangeError::Bits { bits });
                return Ok(());
            }
            Ok(quantiser) => quantiser,
        };
        let half = quantiser.step() / 2.0;
        prop_assert!(half < quantiser.value_error() && quantiser.value_error() < half * 1.002);
        prop_assert_eq!(quantiser.quantise(range.0).unwrap(), -quantiser.top());
        prop_assert_eq!(quantiser.quantise(range.1).unwrap(), quantiser.top());
        prop_assert_eq!(quantiser.quantise(quantiser.centre()).unwrap(), 0);
        for value in values(range, between) {
            let q = quantiser.quantise(value).unwrap();
            prop_assert!(q.abs() <= quantiser.top());
            prop_assert!((quantiser.value(q) - value).abs() <= quantiser.value_error(), "{value}");
        }
    }

    #[test]
    fn every_number_comes_back(range in range(), bits in 2u32..=32, at in 0.0..=1.0f64) {
        if let Ok(quantiser) = Quantiser::new(range.0, range.1, bits) {
            let top = quantiser.top();
            for q in [-top, 1 - top, 0, (at * top as f64) as i64, top - 1, top] {
                let value = quantiser.value(q).clamp(range.0, range.1);
                prop_assert_eq!(quantiser.quantise(value).unwrap(), q);
            }
        }
    }

    #[test]
    fn normalising_is_off_by_no_more_than_it_says(range in range(), between in 0.0..=1.0f64, noise in -1e-4..1e-4f64) {
        if let Ok(normaliser) = Normaliser::new(range.0, range.1) {
            for value in values(range, between) {
                let x = normaliser.normalise(value).unwrap();
                prop_assert!((-1.0..=1.0).contains(&x));
                let error = (normaliser.value(x + noise) - value).abs();
                prop_assert!(error <= normaliser.value_error(noise.abs()), "{value}");
            }
        }
    }
}

#[test]
fn what_is_outside_is_refused_with_the_range() {
    let quantiser = Quantiser::new(-40.0, 85.0, 12).unwrap();
    let normaliser = Normaliser::new(-40.0, 85.0).unwrap();
    for value in
        [85.0f64.next_up(), (-40.0f64).next_down(), f64::INFINITY, f64::NEG_INFINITY, f64::NAN, f64::MAX]
    {
        let refused = quantiser.quantise(value).unwrap_err();
        assert_eq!(refused.to_string(), format!("{value} is not in the declared range -40 to 85"));
        assert_eq!(normaliser.normalise(value).unwrap_err().to_string(), refused.to_string());
    }
    assert_eq!(normaliser.normalise(85.0), Ok(1.0));
    assert_eq!(normaliser.normalise(-40.0), Ok(-1.0));
}

#[test]
fn what_is_no_range_is_refused() {
    for (minimum, maximum) in
        [(0.0, 0.0), (1.0, 0.0), (f64::NAN, 1.0), (0.0, f64::INFINITY), (f64::NEG_INFINITY, 0.0)]
    {
        assert!(matches!(Quantiser::new(minimum, maximum, 8), Err(RangeError::Ends { .. })));
        assert!(matches!(Normaliser::new(minimum, maximum), Err(RangeError::Ends { .. })));
    }
    assert!(matches!(Quantiser::new(1e9, 1e9 + 1e-6, 16), Err(RangeError::TooNarrow { .. })));
    assert!(matches!(Normaliser::new(1e9, 1e9f64.next_up()), Err(RangeError::TooNarrow { .. })));
    assert!(matches!(Quantiser::new(0.0, 1e-310, 8), Err(RangeError::TooNarrow { .. })));
    assert!(Quantiser::new(-f64::MAX, f64::MAX, 32).is_ok());
    for bits in [0, 1, 33, u32::MAX] {
        assert_eq!(Quantiser::new(0.0, 1.0, bits), Err(RangeError::Bits { bits }));
    }
}

#[test]
fn sums_that_no_readings_have_give_no_answer() {
    let quantiser = Quantiser::new(0.0, 100.0, 8).unwrap();
    assert_eq!(quantiser.mean(0, 0), Err(NoAnswer::NoReadings));
    assert_eq!(quantiser.mean(127 * 3, 3), Ok(100.0));
    assert_eq!(quantiser.mean(-127 * 3, 3), Ok(0.0));
    assert_eq!(quantiser.mean(127 * 3 + 1, 3), Err(NoAnswer::Impossible { count: 3 }));
    assert_eq!(quantiser.mean(i128::MIN, u32::MAX), Err(NoAnswer::Impossible { count: u32::MAX }));
    assert_eq!(quantiser.variance(0, -1, 3), Err(NoAnswer::Impossible { count: 3 }));
    assert_eq!(quantiser.variance(30, 299, 3), Err(NoAnswer::Impossible { count: 3 }));
    assert_eq!(quantiser.variance(30, 300, 3), Ok(0.0));
    assert_eq!(quantiser.variance(0, i128::MAX, 3), Err(NoAnswer::Impossible { count: 3 }));
    // The largest possible sums do not overflow.
    let widest = Quantiser::new(-1.0, 1.0, 32).unwrap();
    let (count, top) = (i128::from(u32::MAX), i128::from(widest.top()));
    assert_eq!(widest.variance(count * top, count * top * top, u32::MAX), Ok(0.0));
    assert_eq!(widest.variance(0, count * top * top, u32::MAX), Ok(1.0));
}
