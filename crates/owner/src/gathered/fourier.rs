//! The power of a series by frequency: the discrete Fourier transform of any length.

use std::f64::consts::{PI, TAU};

/// A complex number: its real and its imaginary part.
type Complex = (f64, f64);

fn times(a: Complex, b: Complex) -> Complex {
    (a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0)
}

/// Returns the power of a series at the frequencies k = 1 … n/2 over its length, in this order. They add up to its variance, up
/// to rounding. O(n log n).
pub(crate) fn power(series: &[f64]) -> Vec<f64> {
    let length = series.len();
    let mean = series.iter().sum::<f64>() / length.max(1) as f64;
    let centred: Vec<f64> = series.iter().map(|value| value - mean).collect();
    let transformed = transform(&centred);
    let square = (length as f64) * (length as f64);
    let of = |k: usize| {
        let (re, im) = transformed[k];
        // The frequency and its negative, but for the highest one of an even length.
        let sides = if 2 * k == length { 1.0 } else { 2.0 };
        sides * (re * re + im * im) / square
    };
    (1..=length / 2).map(of).collect()
}

/// Returns Σ x_j exp(−2πi jk / n) for k = 0 … n − 1, by Bluestein's algorithm: L. Bluestein, "A linear filtering approach to
/// the computation of discrete Fourier transform", 1970.
fn transform(series: &[f64]) -> Vec<Complex> {
    let length = series.len();
    if length < 2 {
        return series.iter().map(|value| (*value, 0.0)).collect();
    }
    // The chirp exp(−πi j² / n). j² is reduced first, so that large angles lose no digits.
    let chirp: Vec<Complex> = (0..length as u64)
        .map(|j| {
            let angle = PI * ((j * j) % (2 * length as u64)) as f64 / length as f64;
            (angle.cos(), -angle.sin())
        })
        .collect();
    let size = (2 * length - 1).next_power_of_two();
    let mut a = vec![(0.0, 0.0); size];
    let mut b = vec![(0.0, 0.0); size];
    for j in 0..length {
        a[j] = (series[j] * chirp[j].0, series[j] * chirp[j].1);
        let conjugate = (chirp[j].0, -chirp[j].1);
        b[j] = conjugate;
        b[(size - j) % size] = conjugate;
    }
    of_power_of_two(&mut a, -1.0);
    of_power_of_two(&mut b, -1.0);
    a.iter_mut().zip(&b).for_each(|(a, b)| *a = times(*a, *b));
    of_power_of_two(&mut a, 1.0);
    (0..length).map(|k| times((a[k].0 / size as f64, a[k].1 / size as f64), chirp[k])).collect()
}

/// Transforms in place, without a factor. `sign` is that of the exponent; the length is a power of two.
fn of_power_of_two(values: &mut [Complex], sign: f64) {
    let size = values.len();
    let shift = usize::BITS - size.trailing_zeros();
    for at in 0..size {
        let reversed = if size > 1 { at.reverse_bits() >> shift } else { 0 };
        if at < reversed {
            values.swap(at, reversed);
        }
    }
    let mut half = 1;
    while half < size {
        let turns: Vec<Complex> = (0..half)
            .map(|k| {
                let angle = sign * TAU * k as f64 / (2 * half) as f64;
                (angle.cos(), angle.sin())
            })
            .collect();
        for block in values.chunks_exact_mut(2 * half) {
            let (low, high) = block.split_at_mut(half);
            for ((low, high), turn) in low.iter_mut().zip(high).zip(&turns) {
                let turned = times(*high, *turn);
                (*low, *high) = ((low.0 + turned.0, low.1 + turned.1), (low.0 - turned.0, low.1 - turned.1));
            }
        }
        half *= 2;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The transform by its definition.
    fn plain(series: &[f64], k: usize) -> Complex {
        let angle = |j: usize| -TAU * (j * k) as f64 / series.len() as f64;
        let terms = series.iter().enumerate();
        terms.fold((0.0, 0.0), |(re, im), (j, x)| (re + x * angle(j).cos(), im + x * angle(j).sin()))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn a_transform_is_that_of_the_definition(series in prop::collection::vec(-100.0..100.0f64, 1..70)) {
            for (k, found) in transform(&series).into_iter().enumerate() {
                let right = plain(&series, k);
                prop_assert!((found.0 - right.0).hypot(found.1 - right.1) < 1e-8, "{k}: {found:?} {right:?}");
            }
            let mean = series.iter().sum::<f64>() / series.len() as f64;
            let variance = series.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / series.len() as f64;
            let total: f64 = power(&series).iter().sum();
            prop_assert!((total - variance).abs() < 1e-8, "{total} {variance}");
        }
    }

    #[test]
    fn a_wave_has_its_power_at_its_frequency() {
        let wave: Vec<f64> =
            (0..1440).map(|j| 20.0 + 3.0 * (TAU * 5.0 * f64::from(j) / 1440.0).sin()).collect();
        let found = power(&wave);
        assert!((found[4] - 4.5).abs() < 1e-9, "half of the square of the amplitude: {}", found[4]);
        assert!(found.iter().enumerate().all(|(at, power)| at == 4 || *power < 1e-18));
        assert!(power(&[]).is_empty() && power(&[1.0]).is_empty());
    }
}
