//! Bins of a channel, in which a device counts the readings of a window.

use alloc::vec::Vec;

use crate::Quantiser;
#[cfg(not(feature = "std"))]
use num_traits::Float as _;

/// Maximum number of bins of a channel.
pub const MOST_BINS: usize = 1024;

/// The bins of a channel. Bin k counts the quantised readings q with `edges[k − 1] ≤ q < edges[k]`; the first bin has no
/// lower end, the last one no upper end.
///
/// ```
/// use sotto_pack::{ChannelBins, Quantiser};
///
/// let boiler = Quantiser::with_resolution(-20.0, 120.0, 0.5)?;
/// // Up to 80 °C, and above.
/// let bins = ChannelBins::new(0, [ChannelBins::above(&boiler, 80.0)], &boiler);
/// assert_eq!(bins.count(), 2);
/// assert_eq!(bins.of(boiler.quantise(80.0).unwrap()), 0);
/// assert_eq!(bins.of(boiler.quantise(80.5).unwrap()), 1);
/// # Ok::<(), sotto_pack::RangeError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelBins {
    /// The channel's index in the layout.
    pub channel: u16,
    /// The first number of each bin but the first, ascending.
    pub edges: Vec<i64>,
}

/// Distance in steps within which a limit is taken for a multiple of the resolution.
const NEAR: f64 = 1e-6;

impl ChannelBins {
    /// Makes bins that begin at these numbers. Omits bins that no reading of the declared range can be in.
    #[must_use]
    pub fn new(channel: u16, edges: impl IntoIterator<Item = i64>, quantiser: &Quantiser) -> Self {
        let possible = -quantiser.top() + 1..=quantiser.top();
        let mut edges: Vec<i64> = edges.into_iter().filter(|edge| possible.contains(edge)).collect();
        edges.sort_unstable();
        edges.dedup();
        Self { channel, edges }
    }

    /// Returns the smallest number whose value is above `limit`.
    #[must_use]
    pub fn above(quantiser: &Quantiser, limit: f64) -> i64 {
        let (nearest, at) = nearest(quantiser, limit);
        if at < nearest - NEAR { nearest as i64 } else { nearest as i64 + 1 }
    }

    /// Returns the smallest number whose value is `limit` or above.
    #[must_use]
    pub fn from(quantiser: &Quantiser, limit: f64) -> i64 {
        let (nearest, at) = nearest(quantiser, limit);
        if at > nearest + NEAR { nearest as i64 + 1 } else { nearest as i64 }
    }

    /// Returns the first numbers of `count` bins of equal width over `minimum ..= maximum`, without that of the first
    /// bin.
    pub fn equal(quantiser: &Quantiser, minimum: f64, maximum: f64, count: u32) -> impl Iterator<Item = i64> {
        let width = (maximum - minimum) / f64::from(count.max(1));
        (1..count).map(move |bin| Self::from(quantiser, minimum + f64::from(bin) * width))
    }

    /// Returns the number of bins.
    #[must_use]
    pub fn count(&self) -> usize {
        self.edges.len() + 1
    }

    /// Returns the bin of a quantised reading.
    #[must_use]
    pub fn of(&self, q: i64) -> usize {
        self.edges.partition_point(|edge| *edge <= q)
    }

    /// Returns the smallest and the largest number that each bin counts.
    pub fn ends(&self, quantiser: &Quantiser) -> impl Iterator<Item = (i64, i64)> + '_ {
        let top = quantiser.top();
        let first = core::iter::once(-top).chain(self.edges.iter().copied());
        first.zip(self.edges.iter().map(|edge| edge - 1).chain([top]))
    }
}

/// Returns the whole number nearest to a limit in steps, and the limit in steps.
fn nearest(quantiser: &Quantiser, limit: f64) -> (f64, f64) {
    let at = (limit - quantiser.centre()) / quantiser.step();
    // Beyond the range all limits are alike.
    let beyond = quantiser.top() as f64 + 2.0;
    let at = at.clamp(-beyond, beyond);
    (at.round(), at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_on_the_grid_is_exact_in_spite_of_rounding() {
        let quantiser = Quantiser::with_resolution(-20.0, 120.0, 0.1).unwrap();
        for tenths in -200..=1200 {
            let limit = f64::from(tenths) / 10.0;
            let q = quantiser.quantise(limit).unwrap();
            assert_eq!(ChannelBins::from(&quantiser, limit), q, "{limit}");
            assert_eq!(ChannelBins::above(&quantiser, limit), q + 1, "{limit}");
            assert_eq!(ChannelBins::from(&quantiser, limit + 0.05), q + 1, "{limit}");
            assert_eq!(ChannelBins::above(&quantiser, limit + 0.05), q + 1, "{limit}");
        }
        assert_eq!(ChannelBins::above(&quantiser, 1e300), quantiser.top() + 3);
        assert_eq!(ChannelBins::from(&quantiser, -1e300), -quantiser.top() - 2);
    }

    #[test]
    fn every_reading_is_in_one_bin_and_the_ends_say_which() {
        let quantiser = Quantiser::with_resolution(0.0, 10.0, 1.0).unwrap();
        let edges = ChannelBins::equal(&quantiser, 0.0, 10.0, 4).chain([5, 5, -5, 100]);
        let bins = ChannelBins::new(0, edges, &quantiser);
        // 2.5, 5 and 7.5 begin bins at 3, 5 and 8; 5 above the centre is the top.
        assert_eq!(bins.edges, [-2, 0, 3, 5]);
        let ends: Vec<(i64, i64)> = bins.ends(&quantiser).collect();
        assert_eq!(ends, [(-5, -3), (-2, -1), (0, 2), (3, 4), (5, 5)]);
        for q in -5..=5 {
            let (low, high) = ends[bins.of(q)];
            assert!((low..=high).contains(&q), "{q}");
        }
    }
}
