//! Counters: totals that only grow.

use alloc::string::String;

use serde::{Deserialize, Serialize};

use super::{Rules, Several};
use crate::Quantiser;
#[cfg(not(feature = "std"))]
use num_traits::Float as _;

/// A total that only grows, as that of a meter, but for falls: the counter began again at its minimum, or passed its end.
///
/// Example: [`crate::ChannelKind`]
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counter {
    /// What a tick with several readings holds: by default the last.
    #[serde(default = "last")]
    pub several: Several,
    /// The largest increase from one tick to the next, in the channel's unit, by which a fall is judged. None: every fall is
    /// a new beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<f64>,
}

fn last() -> Several {
    Several::Last
}

impl Default for Counter {
    fn default() -> Self {
        Self { several: Several::Last, at_most: None }
    }
}

impl Rules for Counter {
    fn word(&self) -> &'static str {
        "counter"
    }

    fn samples(&self) -> bool {
        true
    }

    fn several(&self) -> Several {
        self.several
    }

    /// The increase over a window follows from all its readings.
    fn is_joined(&self) -> bool {
        true
    }

    fn check(&self, _: &str, _: (f64, f64), _: Option<f64>) -> Result<(), String> {
        match self.at_most {
            Some(most) if !(most.is_finite() && most > 0.0) => {
                Err("the largest increase of a tick is a number above 0".into())
            }
            _ => Ok(()),
        }
    }
}

/// The increase of a counter from one reading to a later one, in steps of the resolution.
///
/// A rise is what it is. A fall is a new beginning at the minimum, or the end was passed: then the count went on at the
/// minimum. Of the two increases that they mean, the one counts that `at_most` allows; if it allows both or none, the
/// smaller one counts, and the difference is a doubt.
///
/// ```
/// use sotto_pack::{Counter, Increase, Quantiser};
///
/// // A meter with five digits, read as steps around the middle of its range.
/// let meter = Quantiser::with_resolution(0.0, 99_999.0, 1.0)?;
/// let q = |value: f64| meter.quantise(value).unwrap();
/// let rule = Increase::new(&Counter { at_most: Some(50.0), ..Counter::default() }, &meter);
/// assert_eq!(rule.between(q(17.0), q(42.0), 1), (25, 0));
/// assert_eq!(rule.between(q(99_990.0), q(5.0), 1), (5, 10), "began again at 0, or passed 99,999");
/// assert_eq!(rule.between(q(99_990.0), q(45.0), 1), (45, 0), "55 is too much for one tick");
/// # Ok::<(), sotto_pack::RangeError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Increase {
    /// The number of the minimum.
    lowest: i64,
    /// Steps from the minimum to the minimum again, through the end.
    turn: i64,
    /// Largest increase of a tick in steps; 0 if there is none.
    at_most: i64,
}

/// What came over some readings of a counter, in steps.
///
/// Example: [`Increase`]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Increased {
    /// The increase.
    pub increase: i64,
    /// What is in doubt: the increase may be larger by it.
    pub doubt: i64,
    /// The number of falls.
    pub falls: i64,
}

impl Increase {
    /// Returns the rule of a counter with these readings.
    #[must_use]
    pub fn new(counter: &Counter, quantiser: &Quantiser) -> Self {
        let (minimum, maximum) = quantiser.range();
        let lowest = quantiser.quantise(minimum).unwrap_or(-quantiser.top());
        let turn = ((end(maximum, quantiser.step()) - minimum) / quantiser.step()).round() as i64;
        let at_most = counter.at_most.map_or(0, |most| (most / quantiser.step()).round().max(1.0) as i64);
        Self { lowest, turn, at_most }
    }

    /// Returns the largest increase of `ticks` ticks.
    #[must_use]
    pub fn largest(&self, ticks: u32) -> i64 {
        self.turn.max(1).saturating_mul(i64::from(ticks.max(1)))
    }

    /// Returns the largest doubt of `ticks` ticks: 0 without a largest increase, as every fall is a new beginning then.
    #[must_use]
    pub fn largest_doubt(&self, ticks: u32) -> i64 {
        if self.at_most > 0 { self.largest(ticks) } else { 0 }
    }

    /// Returns what came over some readings, each with its tick, in order.
    ///
    /// ```
    /// use sotto_pack::{Counter, Increase, Increased, Quantiser};
    ///
    /// let meter = Quantiser::with_resolution(0.0, 100.0, 1.0)?;
    /// let rule = Increase::new(&Counter::default(), &meter);
    /// // 90, 95, and 3 after it began again; 50 is the middle of the range.
    /// let over = rule.over(&[(0, 40), (1, 45), (5, -47)]);
    /// assert_eq!(over, Increased { increase: 8, doubt: 0, falls: 1 });
    /// # Ok::<(), sotto_pack::RangeError>(())
    /// ```
    #[must_use]
    pub fn over(&self, readings: &[(u32, i64)]) -> Increased {
        readings.windows(2).fold(Increased::default(), |over, pair| {
            let (increase, doubt) = self.between(pair[0].1, pair[1].1, pair[1].0 - pair[0].0);
            let fallen = (pair[1].1 - pair[0].1) >> (i64::BITS - 1);
            Increased {
                increase: over.increase + increase,
                doubt: over.doubt + doubt,
                falls: over.falls - fallen,
            }
        })
    }

    /// Returns the increase from one reading to the next, `ticks` later, and the doubt: the increase may be larger by it.
    /// No branch depends on the readings.
    #[must_use]
    pub fn between(&self, before: i64, next: i64, ticks: u32) -> (i64, i64) {
        let rise = next - before;
        let fallen = rise >> (i64::BITS - 1);
        let (again, passed) = (next - self.lowest, rise + self.turn);
        let (least, most) = (min(again, passed), max(again, passed));
        let limit = self.at_most.saturating_mul(i64::from(ticks.max(1)));
        // −1 where the limit allows it.
        let allows = |increase: i64| !((limit - increase) >> (i64::BITS - 1));
        let judged = -i64::from(self.at_most > 0);
        // The smaller one is allowed, and the larger one is not.
        let decided = allows(least) & !allows(most);
        let doubt = (most - least) & !decided & judged;
        let increase = (least & judged) | (again & !judged);
        ((increase & fallen) | (rise & !fallen), doubt & fallen)
    }
}

fn min(a: i64, b: i64) -> i64 {
    let below = (a - b) >> (i64::BITS - 1);
    (a & below) | (b & !below)
}

fn max(a: i64, b: i64) -> i64 {
    a + b - min(a, b)
}

/// Returns where a counter that shows at most `maximum` begins again: at a power of ten or of two within a unit above it, as
/// 100,000 after 99,999 or 65,536 after 65,535; otherwise a step above.
fn end(maximum: f64, step: f64) -> f64 {
    let next = maximum.floor() + 1.0;
    let tens = core::iter::successors(Some(1.0), |power: &f64| Some(power * 10.0)).take(16);
    let twos = core::iter::successors(Some(2.0), |power: &f64| Some(power * 2.0)).take(52);
    if tens.chain(twos).any(|power| power == next) { next } else { maximum + step }
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rule(maximum: f64, at_most: Option<f64>) -> (Increase, Quantiser) {
        let quantiser = Quantiser::with_resolution(0.0, maximum, 1.0).expect("a range of few steps");
        (Increase::new(&Counter { at_most, ..Counter::default() }, &quantiser), quantiser)
    }

    #[test]
    fn a_fall_is_judged_by_the_largest_increase() {
        let (rule, quantiser) = rule(99_999.0, Some(50.0));
        let between = |before: f64, next: f64, ticks: u32| {
            rule.between(quantiser.quantise(before).unwrap(), quantiser.quantise(next).unwrap(), ticks)
        };
        assert_eq!(between(99_990.0, 5.0, 1), (5, 10), "5 and 15 are possible");
        assert_eq!(between(99_940.0, 20.0, 1), (20, 0), "80 is not possible in a tick");
        assert_eq!(between(99_940.0, 20.0, 2), (20, 60), "80 is possible in two");
        assert_eq!(between(50_000.0, 49_000.0, 1), (49_000, 50_000), "neither is possible");
    }

    proptest! {
        #[test]
        fn a_rise_counts_as_it_is_and_a_fall_as_what_came_since_the_minimum(
            before in 0_i32..=9999, next in 0_i32..=9999, ticks in 1_u32..100
        ) {
            let (rule, quantiser) = rule(9999.0, None);
            let q = |value: i32| quantiser.quantise(value.into()).unwrap();
            let expected = if next >= before { next - before } else { next };
            prop_assert_eq!(rule.between(q(before), q(next), ticks), (expected.into(), 0));
        }
    }

    #[test]
    fn a_counter_begins_again_behind_its_digits() {
        for (maximum, expected) in [
            (9_999_999.0, 10_000_000.0),
            (9_999_999.999, 10_000_000.0),
            (65_535.0, 65_536.0),
            (4_294_967_295.0, 4_294_967_296.0),
            (5000.0, 5000.5),
        ] {
            assert_eq!(end(maximum, 0.5), expected, "{maximum}");
        }
    }
}
