//! The distribution of the flooding Gaussian. Each test also rejects a distribution that is slightly wrong.

use crate::statistics;

use chacha20::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use sotto_decrypt::WideGaussian;
use statistics::{Moments, Score, normal_below, of_uniform, verdict};

const COUNT: usize = 1 << 19;

fn draw(gaussian: &WideGaussian, seed: u8) -> Vec<i64> {
    let mut rng = ChaCha20Rng::from_seed([seed; 32]);
    (0..COUNT).map(|_| gaussian.draw(&mut rng)).collect()
}

/// Computes the test scores of the draws, scaled by the deviation.
fn scores(deviation: f64, drawn: &[i64]) -> Vec<Score> {
    let numbers: Vec<f64> = drawn.iter().map(|x| *x as f64 / deviation).collect();
    let mut scores = Moments::NORMAL.scores(&numbers);
    // Bins of equal probability test the shape, not only the moments.
    scores.extend(of_uniform(512, &numbers.iter().map(|z| normal_below(*z)).collect::<Vec<f64>>()));
    // A wide Gaussian over the integers is uniform modulo small numbers.
    for (modulus, bins) in [(256, 256), (3, 3), (23_000, 500)] {
        let low: Vec<f64> =
            drawn.iter().map(|x| (x.rem_euclid(modulus) as f64 + 0.5) / modulus as f64).collect();
        let (_, square) = of_uniform(bins, &low).pop().unwrap();
        scores.push(("low bits", square));
    }
    scores
}

#[test]
#[cfg_attr(miri, ignore = "half a million samples")]
fn the_wide_gaussian_is_normal() {
    for (seed, least) in [(1, 0.0), (2, 1e12), (3, 3e16)] {
        let gaussian = WideGaussian::at_least(least).unwrap();
        assert!(gaussian.deviation() >= least && gaussian.deviation() < least.max(1e9) * 2.0);
        verdict(&scores(gaussian.deviation(), &draw(&gaussian, seed))).unwrap();
    }
}

#[test]
#[cfg_attr(miri, ignore = "half a million samples")]
fn a_gaussian_that_is_slightly_wrong_is_rejected() {
    let gaussian = WideGaussian::at_least(0.0).unwrap();
    let (sigma, drawn) = (gaussian.deviation(), draw(&gaussian, 1));
    let refused = |wrong: Vec<i64>| verdict(&scores(sigma, &wrong)).unwrap_err();
    // Variance 10 instead of 10.5.
    let narrow = (10.0f64 / 10.5).sqrt();
    assert!(refused(drawn.iter().map(|x| (*x as f64 * narrow) as i64).collect()).contains("variance"));
    // The mean is off by 1 % of a deviation.
    assert!(refused(drawn.iter().map(|x| x + (sigma / 100.0) as i64).collect()).contains("mean"));
    // One value in a hundred is even instead of odd.
    let mut coins = ChaCha20Rng::from_seed([9; 32]);
    let even = drawn.iter().map(|x| if coins.next_u64().is_multiple_of(50) { x & !1 } else { *x }).collect();
    assert!(refused(even).contains("low bits"));
    // One value in a hundred repeats the one before.
    let mut sticky = drawn;
    for i in 1..sticky.len() {
        if coins.next_u64().is_multiple_of(100) {
            sticky[i] = sticky[i - 1];
        }
    }
    assert!(refused(sticky).contains("lag 1"));
    // The right moments in another shape: the sum of twelve uniform values.
    let uniform = |coins: &mut ChaCha20Rng| coins.next_u64() as f64 / 2f64.powi(64) - 0.5;
    let twelve = |coins: &mut ChaCha20Rng| (0..12).map(|_| uniform(coins)).sum::<f64>() * sigma;
    let shape = (0..COUNT).map(|_| twelve(&mut coins) as i64).collect();
    assert!(refused(shape).contains("chi-square"));
}

#[test]
fn deviations_have_their_limits() {
    assert!(WideGaussian::at_least(7e16).is_some());
    for least in [8e16, f64::INFINITY, f64::NAN] {
        assert!(WideGaussian::at_least(least).is_none());
    }
}
