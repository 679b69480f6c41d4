//! Welch's t-test on two classes of timings (Reparaz, Balasch and Verbauwhede, "Dude, is my code constant
//! time?", ePrint 2016/1123).

use std::hint::black_box;
use std::time::Instant;

use rand_core::Rng;

/// dudect's limit: |t| above it means that time depends on the class; below it, no dependence is shown.
/// Without a leak t is near 1, but on a busy machine the samples are not quite independent, and t has heavier
/// tails than the normal distribution.
pub(crate) const LIMIT: f64 = 10.0;
/// Timings above a percentile are dropped: interrupts and page faults are slow, dependence on data shows
/// below. Each cut is tested.
const PERCENTILES: [f64; 7] = [1.0, 0.99, 0.95, 0.9, 0.8, 0.6, 0.4];

/// Timings in nanoseconds: of the fixed class, then of the random class.
pub(crate) struct Timings([Vec<f64>; 2]);

/// The result of one comparison.
pub(crate) struct Comparison {
    /// The t of the cut with the largest |t|: positive if the fixed class is slower.
    pub(crate) t: f64,
    /// Median time of both classes in nanoseconds.
    pub(crate) median: f64,
}

impl Timings {
    /// Times `run` on inputs that `prepare` makes, with the classes in random order. `prepare(class, i)` must
    /// do the same work for both classes, so that only the content differs.
    pub(crate) fn measure<I, O>(
        count: usize,
        coins: &mut impl Rng,
        mut prepare: impl FnMut(usize, usize) -> I,
        mut run: impl FnMut(&I) -> O,
    ) -> Self {
        let mut times = [Vec::with_capacity(count), Vec::with_capacity(count)];
        let warm_up = count / 50;
        for i in 0..count + warm_up {
            let class = (coins.next_u64() & 1) as usize;
            let input = black_box(prepare(class, i));
            let start = Instant::now();
            let output = black_box(run(&input));
            let time = start.elapsed().as_nanos() as f64;
            drop(output);
            if i >= warm_up {
                times[class].push(time);
            }
        }
        Self(times)
    }

    pub(crate) fn compare(&self) -> Comparison {
        let mut all = self.0.concat();
        all.sort_unstable_by(f64::total_cmp);
        let at = |fraction: f64| all[((all.len() - 1) as f64 * fraction) as usize];
        let cut = |fraction: f64| {
            let limit = at(fraction);
            let [fixed, random] = [0, 1].map(|class: usize| Moments::of(&self.0[class], limit));
            fixed.welch(&random)
        };
        let largest = |a: f64, b: f64| if a.abs() >= b.abs() { a } else { b };
        Comparison { t: PERCENTILES.map(cut).into_iter().fold(0.0, largest), median: at(0.5) }
    }
}

struct Moments {
    count: f64,
    mean: f64,
    variance: f64,
}

impl Moments {
    /// Computes the moments of the times up to the limit.
    fn of(times: &[f64], limit: f64) -> Self {
        let kept = || times.iter().filter(|time| **time <= limit);
        let count = kept().count() as f64;
        let mean = kept().sum::<f64>() / count;
        let variance = kept().map(|time| (time - mean).powi(2)).sum::<f64>() / (count - 1.0);
        Self { count, mean, variance }
    }

    fn welch(&self, other: &Self) -> f64 {
        let spread = (self.variance / self.count + other.variance / other.count).sqrt();
        if spread > 0.0 { (self.mean - other.mean) / spread } else { 0.0 }
    }
}
