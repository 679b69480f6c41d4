//! Weighted sums: the question's weights and whole numbers in their place.

use sotto_pack::{Layout, Period};

use crate::error::OwnerError;
use crate::gathered::{OfSign, Weighted};
use crate::language::Weights;
use crate::quantities::{Input, LARGEST_WEIGHT, Quantity, TickWeights};
use crate::windows::{self, Group};

/// The ticks of a group, which weights follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct GroupSpan {
    /// Number of ticks.
    pub(super) ticks: u32,
    /// Number of ticks until the last reading of any device.
    pub(super) until: u32,
    /// Milliseconds between ticks.
    pub(super) period: Period,
}

impl GroupSpan {
    /// Returns the span of a group of which `last` is the end of the last reading. Ticks are `grid` milliseconds after whole
    /// periods since 1970; None: one is at the beginning of the group.
    pub(super) fn new(group: Group, last: i64, period: Period, grid: Option<i64>) -> Self {
        let grid = grid.unwrap_or(group.from);
        let ticks =
            |to: i64| u32::try_from(windows::ticks_on(grid, period, group.from, to)).unwrap_or(u32::MAX);
        Self { ticks: ticks(group.to), until: ticks(last.min(group.to)), period }
    }
}

/// The weights of a group's ticks that have one sign: those of the question, and their approximation by whole numbers.
#[derive(Clone, Debug)]
pub(super) struct GroupWeights {
    /// The question's weights, one per tick, over the largest of them.
    asked: Vec<f64>,
    pub(super) whole: TickWeights,
    /// The total of the question's weights. Not 0.
    total: f64,
}

impl GroupWeights {
    /// Computes the weights for a group: those above 0 and those below, if there are any.
    ///
    /// A list of weights divides the group into equal parts and spreads each weight evenly over its part, so the
    /// weights of all ticks add up to those of the list. A half-life counts back from the end of the readings; its weights
    /// add up to 1.
    ///
    /// # Errors
    /// [`OwnerError::Unanswerable`] if there are more than [`MOST_TICKS`] ticks.
    pub(super) fn by_sign(channel: u16, weights: &Weights, span: GroupSpan) -> Result<Vec<Self>, OwnerError> {
        let (ticks, until) = (span.ticks.max(1) as usize, span.until.max(1) as usize);
        if ticks > MOST_TICKS {
            return Err(OwnerError::Unanswerable(format!(
                "a weighted sum over {ticks} readings is too long ({MOST_TICKS} at most): ask by day, week or month, or for a shorter time"
            )));
        }
        let asked = match weights {
            Weights::Each(list) => {
                let of_sign = |side: fn(f64, f64) -> f64| -> Vec<f64> {
                    list.iter().map(|weight| side(*weight, 0.0)).collect()
                };
                let both = [of_sign(f64::max), of_sign(f64::min)].into_iter();
                let some = both.filter(|list| list.iter().any(|weight| *weight != 0.0));
                some.map(|list| spread(&list, ticks)).collect()
            }
            Weights::HalfLife(time) => {
                let half_life = 1000.0 * time.seconds() as f64;
                let raw = |tick: usize| {
                    let before_end = span.period.milliseconds_of((until - 1 - tick) as u64);
                    (-before_end / half_life * std::f64::consts::LN_2).exp()
                };
                let total: f64 = (0..until).map(raw).sum();
                vec![(0..until).map(|tick| raw(tick) / total).collect()]
            }
        };
        Ok(asked.into_iter().map(|asked| Self::new(channel, asked)).collect())
    }

    fn new(channel: u16, mut asked: Vec<f64>) -> Self {
        let total = asked.iter().sum();
        let largest = asked.iter().fold(0.0, |most: f64, weight| most.max(weight.abs()));
        asked.iter_mut().filter(|_| largest > 0.0).for_each(|weight| *weight /= largest);
        let whole = asked.iter().map(|weight| (weight * LARGEST_WEIGHT as f64).round() as i64).collect();
        Self { asked, whole: TickWeights { channel, weights: whole }, total }
    }

    pub(super) fn quantity(&self) -> Quantity {
        Quantity::Weighted(self.whole.clone())
    }

    /// Converts a part's decrypted Σ w·q to a weighted sum.
    pub(super) fn tally(&self, inputs: &[Input], layout: &Layout, sum: i128) -> Option<Weighted> {
        let scale = LARGEST_WEIGHT as f64;
        let quantiser = layout.quantiser(self.whole.channel)?;
        let channel = &layout.channels()[usize::from(self.whole.channel)];
        let mut weighted =
            OfSign { range: (channel.minimum, channel.maximum), total: self.total, ..OfSign::default() };
        for input in inputs {
            let (mut used, mut largest, before) = (0, 0.0_f64, weighted.weight);
            for tick in input.window.presence(self.whole.channel)?.iter() {
                let Some(at) = input.weighted_at(tick) else { continue };
                let whole = self.whole.weights.get(at).copied().unwrap_or_default() as f64 / scale;
                let asked = self.asked.get(at).copied().unwrap_or_default();
                weighted.count += 1;
                used += u64::from(whole != 0.0);
                largest = largest.max(whole.abs());
                weighted.weight += whole;
                weighted.rounded += (whole - asked).abs();
            }
            // Weights of one sign: of all readings, or the largest of those that were rounded.
            let rounded = input.window.rounded_of(self.whole.channel, used) as f64;
            let most = (weighted.weight - before).abs().min(rounded * largest);
            weighted.off += most * quantiser.value_error();
        }
        weighted.sum = quantiser.centre() * weighted.weight + quantiser.step() * sum as f64 / scale;
        Some(if self.total > 0.0 {
            Weighted { above: Some(weighted), below: None }
        } else {
            Weighted { above: None, below: Some(weighted) }
        })
    }
}

/// Largest number of ticks in a group with weights.
const MOST_TICKS: usize = 1 << 22;

/// Spreads each weight of a list evenly over its share of the ticks. A tick at the boundary of two shares gets a part
/// of both.
fn spread(list: &[f64], ticks: usize) -> Vec<f64> {
    let (shares, mut asked) = (list.len(), vec![0.0; ticks]);
    for (share, weight) in list.iter().enumerate() {
        // In units of 1/(ticks · shares): the share covers share · ticks to (share + 1) · ticks, the tick covers tick ·
        // shares to (tick + 1) · shares.
        let (from, to) = (share * ticks, (share + 1) * ticks);
        for (tick, asked) in asked.iter_mut().enumerate().take(to.div_ceil(shares)).skip(from / shares) {
            let overlap = to.min((tick + 1) * shares) - from.max(tick * shares);
            *asked += weight * overlap as f64 / ticks as f64;
        }
    }
    asked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_weight_of_a_list_is_spread_whatever_the_ticks() {
        for (list, ticks) in
            [(vec![1.0, 2.0], 4), (vec![1.0; 24], 23), (vec![1.0, 5.0, -2.0], 2), (vec![3.0], 7)]
        {
            let spread = spread(&list, ticks);
            assert_eq!(spread.len(), ticks);
            assert!(
                (spread.iter().sum::<f64>() - list.iter().sum::<f64>()).abs() < 1e-12,
                "{list:?} {ticks}"
            );
        }
        assert_eq!(spread(&[1.0, 3.0], 4), [0.5, 0.5, 1.5, 1.5]);
        let uneven = spread(&[2.0, 4.0], 3);
        assert!((uneven[1] - 2.0).abs() < 1e-12, "half of a third of each: {uneven:?}");
    }
}
