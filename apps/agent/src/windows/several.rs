//! Ticks with several readings.
//!
//! Readings are whole numbers of a small part of a step, so that a mean or a sum does not depend on their order, and is
//! rounded once. One that is a whole number of steps is a multiple of the resolution: others have a part, however small it is.

use sotto_pack::{Layout, Several};
use zeroize::Zeroize;

/// Bits behind the point of a whole number of steps.
const STEP_BITS: u32 = 15;
const HALF_STEP: i64 = 1 << (STEP_BITS - 1);
/// Bits behind the point of a number from −1 to 1.
const REAL_BITS: u32 = 40;
/// Readings of one tick that are kept apart. Of further ones, one of the same time and value as another counts again,
/// unless it follows it.
const MOST_APART: usize = 1024;

/// A number of a slot in fixed point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Fixed(pub(crate) i64);

/// How numbers of a channel's slots are fixed points.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FixedPoint(u32);

impl FixedPoint {
    /// Returns the fixed points of a layout's slots.
    pub(crate) fn of(layout: &Layout) -> Self {
        Self(if layout.quantiser(0).is_some() { STEP_BITS } else { REAL_BITS })
    }

    /// Returns the fixed point of a number of steps, or of a real number. The part of a step is neither 0 nor a half unless
    /// that of the number is.
    pub(crate) fn fixed(self, number: f64) -> Fixed {
        if self.0 != STEP_BITS {
            return Fixed((number * self.unit()).round() as i64);
        }
        let whole = number.round();
        let part = number - whole;
        let size = (part.abs() * self.unit()).round() as i64;
        Fixed(
            ((whole as i64) << STEP_BITS) + with_sign_of(part, of_part(size, part == 0.0, part.abs() == 0.5)),
        )
    }

    /// Returns the number as it was before rounding: of steps, or a real number.
    pub(crate) fn unrounded(self, Fixed(fixed): Fixed) -> f64 {
        fixed as f64 / self.unit()
    }

    /// Returns a whole number of steps, ties away from 0, or a real number.
    pub(crate) fn number(self, fixed: Fixed) -> f64 {
        let number = self.unrounded(fixed);
        if self.0 == STEP_BITS { number.round() } else { number }
    }

    /// Returns what rounding takes from a number of steps; 0 for real numbers, which are not rounded.
    pub(crate) fn fraction(self, Fixed(fixed): Fixed) -> i16 {
        if self.0 != STEP_BITS {
            return 0;
        }
        let rounded = self.number(Fixed(fixed)) as i64;
        // Half a step at most: 2^14.
        (fixed - (rounded << STEP_BITS)) as i16
    }

    /// Returns the fixed point of a number of a slot and what rounding took from it.
    pub(crate) fn joined(self, number: f64, fraction: i16) -> Fixed {
        let Fixed(fixed) = self.fixed(number);
        Fixed(fixed + i64::from(fraction))
    }

    fn unit(self) -> f64 {
        (1_u64 << self.0) as f64
    }
}

/// Returns the size of a part of a step in fixed point: 0 if it is nothing, a half if it is that, and otherwise in between.
fn of_part(size: i64, is_nothing: bool, is_half: bool) -> i64 {
    match (is_nothing, is_half) {
        (true, _) => 0,
        (_, true) => HALF_STEP,
        _ => size.clamp(1, HALF_STEP - 1),
    }
}

fn with_sign_of(part: f64, size: i64) -> i64 {
    if part < 0.0 { -size } else { size }
}

impl Fixed {
    /// Returns true for a whole number of steps.
    fn is_whole(self) -> bool {
        self.0 % (2 * HALF_STEP) == 0
    }
}

/// The readings of one tick: their times in milliseconds after the beginning of the tick, and numbers.
#[derive(Debug)]
pub(crate) struct Readings {
    /// In order, each once.
    apart: Vec<(u32, Fixed)>,
    /// What came beyond [`MOST_APART`]: few ticks have it.
    further: Option<Box<Further>>,
}

#[derive(Debug)]
struct Further {
    newest: (u32, Fixed),
    first: (u32, Fixed),
    last: (u32, Fixed),
    least: Fixed,
    most: Fixed,
    sum: i128,
    count: i128,
    /// True if all are whole numbers of steps.
    are_whole: bool,
}

impl Readings {
    pub(crate) fn of(first: (u32, Fixed)) -> Self {
        Self { apart: vec![first], further: None }
    }

    /// Returns the number of readings that take memory.
    pub(crate) fn kept(&self) -> usize {
        self.apart.len()
    }

    /// Adds a reading. Returns false if it is there.
    pub(crate) fn add(&mut self, reading: (u32, Fixed)) -> bool {
        let (_, number) = reading;
        match self.apart.binary_search(&reading) {
            Ok(_) => return false,
            Err(at) if self.apart.len() < MOST_APART => {
                if self.apart.len() == self.apart.capacity() {
                    self.grow();
                }
                self.apart.insert(at, reading);
            }
            Err(_) => match &mut self.further {
                Some(further) if further.newest == reading => return false,
                Some(further) => {
                    further.newest = reading;
                    further.first = further.first.min(reading);
                    further.last = further.last.max(reading);
                    further.least = further.least.min(number);
                    further.most = further.most.max(number);
                    further.sum += i128::from(number.0);
                    further.count += 1;
                    further.are_whole &= number.is_whole();
                }
                none => {
                    let (sum, count) = (i128::from(number.0), 1);
                    let (newest, first, last, least, most) = (reading, reading, reading, number, number);
                    let are_whole = number.is_whole();
                    let further = Further { newest, first, last, least, most, sum, count, are_whole };
                    *none = Some(Box::new(further));
                }
            },
        }
        true
    }

    /// Makes room for half as many again: most ticks have few readings. The memory that they leave is wiped.
    fn grow(&mut self) {
        let mut larger = Vec::with_capacity(self.apart.len() + self.apart.len() / 2 + 2);
        larger.extend_from_slice(&self.apart);
        wipe(&mut std::mem::replace(&mut self.apart, larger));
    }

    /// Returns the number of readings.
    pub(crate) fn count(&self) -> u64 {
        let further = self.further.as_ref().map_or(0, |further| further.count);
        self.apart.len() as u64 + u64::try_from(further).unwrap_or(u64::MAX)
    }

    /// Returns what the tick holds. `zero` is the number of the value 0.
    pub(crate) fn merged(&self, several: Several, zero: Fixed) -> Fixed {
        let further = self.further.as_deref();
        let numbers = || self.apart.iter().map(|(_, number)| *number);
        let (sum, count) = further.map_or((0, 0), |further| (further.sum, further.count));
        let sum = || numbers().map(|number| i128::from(number.0)).sum::<i128>() + sum;
        let of = |number: Option<Fixed>| number.unwrap_or(Fixed(0));
        let are_whole = || further.is_none_or(|further| further.are_whole) && numbers().all(Fixed::is_whole);
        match several {
            Several::First | Several::Refuse => {
                let first = self.apart.first().copied().into_iter().chain(further.map(|of| of.first)).min();
                of(first.map(|(_, number)| number))
            }
            Several::Last => {
                let last = self.apart.last().copied().into_iter().chain(further.map(|of| of.last)).max();
                of(last.map(|(_, number)| number))
            }
            Several::Min => of(numbers().chain(further.map(|of| of.least)).min()),
            Several::Max => of(numbers().chain(further.map(|of| of.most)).max()),
            Several::Sum => {
                let further = i128::from(self.count()) - 1;
                quotient(sum() - further * i128::from(zero.0), 1, are_whole())
            }
            Several::Mean => {
                let count = (self.apart.len() as i128 + count).max(1);
                quotient(sum(), count, are_whole())
            }
        }
    }
}

/// Returns a sum over a count. It is a whole number of steps only if it is that exactly and all summands `are_whole`, and half
/// a step off one only if it is that exactly.
fn quotient(sum: i128, count: i128, are_whole: bool) -> Fixed {
    let step = 2 * i128::from(HALF_STEP) * count;
    // To the nearest step, ties away from 0.
    let whole = sum.signum() * ((2 * sum.abs() + step) / (2 * step));
    let part = sum - whole * step;
    // At most half a step.
    let size = ((2 * part.abs() + count) / (2 * count)) as i64;
    let size = of_part(size, part == 0 && are_whole, 2 * part.abs() == step);
    let fixed = whole * 2 * i128::from(HALF_STEP) + i128::from(if part < 0 { -size } else { size });
    Fixed(i64::try_from(fixed).unwrap_or(i64::MAX))
}

impl Drop for Readings {
    fn drop(&mut self) {
        wipe(&mut self.apart);
    }
}

fn wipe(readings: &mut [(u32, Fixed)]) {
    for (offset, Fixed(number)) in readings {
        offset.zeroize();
        number.zeroize();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_tick_does_not_depend_on_the_order_of_its_readings(
            readings in prop::collection::vec((0_u32..5, -9_i64..9), 1..40),
            shuffled in any::<u64>(),
        ) {
            let merged = |readings: &[(u32, i64)]| {
                let mut all = Readings::of((readings[0].0, Fixed(readings[0].1)));
                readings[1..].iter().for_each(|(at, number)| {
                    all.add((*at, Fixed(*number)));
                });
                Several::ALL.map(|several| all.merged(several, Fixed(0)))
            };
            let mut other = readings.clone();
            let mut state = shuffled;
            for at in (1..other.len()).rev() {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                other.swap(at, (state >> 33) as usize % (at + 1));
            }
            prop_assert_eq!(merged(&readings), merged(&other));
            // Repetitions change nothing.
            prop_assert_eq!(merged(&[readings.clone(), readings.clone()].concat()), merged(&readings));
            let mut distinct = readings;
            distinct.sort_unstable();
            distinct.dedup();
            let (sum, count) = (distinct.iter().map(|(_, n)| n).sum::<i64>(), distinct.len() as f64);
            let [first, last, mean, least, most, all, _] = merged(&distinct);
            prop_assert_eq!((first.0, last.0), (distinct[0].1, distinct[distinct.len() - 1].1));
            prop_assert_eq!(least.0, distinct.iter().map(|(_, n)| *n).min().unwrap());
            prop_assert_eq!(most.0, distinct.iter().map(|(_, n)| *n).max().unwrap());
            // A sum or a mean of parts of steps is no whole number of steps.
            prop_assert!((all.0 - sum).abs() <= 1 && (mean.0 as f64 - sum as f64 / count).abs() <= 1.0);
            let are_whole = distinct.iter().all(|(_, n)| *n == 0);
            prop_assert_eq!((all.0 == 0, mean.0 == 0), (are_whole, are_whole));
        }
    }

    #[test]
    fn a_sum_is_one_of_values_and_not_of_steps_from_the_middle() {
        // 1, 2 and 3 of a range whose middle is 10.
        let mut all = Readings::of((0, Fixed(-9)));
        assert!(all.add((1, Fixed(-8))) && all.add((2, Fixed(-7))));
        assert_eq!(all.merged(Several::Sum, Fixed(-10)), Fixed(-4));
        assert_eq!(all.count(), 3);
    }

    #[test]
    fn what_is_rounded_shows_however_little_it_is() {
        let steps = FixedPoint(STEP_BITS);
        for (number, rounded) in [
            (3.0, 3.0),
            (3.000_000_001, 3.0),
            (2.999_999_999, 3.0),
            (2.499_999_999, 2.0),
            (2.500_000_001, 3.0),
            (-2.499_999_999, -2.0),
            (-2.5, -3.0),
            (0.000_000_001, 0.0),
        ] {
            let fixed = steps.fixed(number);
            assert_eq!((steps.number(fixed), fixed.is_whole()), (rounded, number == rounded), "{number}");
        }
        let merged = |several, numbers: &[f64]| {
            let mut numbers = numbers.iter().map(|number| steps.fixed(*number)).zip(0..);
            let (first, at) = numbers.next().unwrap();
            let mut all = Readings::of((at, first));
            numbers.for_each(|(number, at)| assert!(all.add((at, number))));
            let merged = all.merged(several, Fixed(0));
            (steps.number(merged), merged.is_whole())
        };
        assert_eq!(merged(Several::Mean, &[3.0, 5.0]), (4.0, true));
        assert_eq!(merged(Several::Mean, &[3.0, 4.0]), (4.0, false));
        assert_eq!(merged(Several::Mean, &[3.25, 4.75]), (4.0, false), "each may be off by less than a part");
        assert_eq!(merged(Several::Sum, &[3.0, -5.0]), (-2.0, true));
        assert_eq!(merged(Several::Sum, &[0.5, 0.5]), (1.0, false));
        assert_eq!(
            (merged(Several::Max, &[3.2, 5.0]), merged(Several::Min, &[3.2, 5.0])),
            ((5.0, true), (3.0, false))
        );
        let thirds: Vec<f64> = std::iter::once(1.0).chain(std::iter::repeat_n(0.0, 99_999)).collect();
        assert_eq!(merged(Several::Mean, &thirds), (0.0, false));
    }

    #[test]
    fn a_slot_and_its_fraction_are_the_reading() {
        let steps = FixedPoint(STEP_BITS);
        for tenths in -1000..1000 {
            let fixed = steps.fixed(f64::from(tenths) / 16.0);
            assert_eq!(steps.joined(steps.number(fixed), steps.fraction(fixed)), fixed, "{tenths}");
        }
    }

    #[test]
    fn beyond_the_readings_that_are_kept_apart_a_tick_is_as_exact() {
        let mut all = Readings::of((0, Fixed(0)));
        for at in 1..=10_000_u32 {
            assert!(all.add((at, Fixed(at.into()))));
            assert!(!all.add((at, Fixed(at.into()))), "the same row again");
        }
        assert_eq!(all.kept(), MOST_APART);
        let found =
            [Several::First, Several::Last, Several::Mean, Several::Sum].map(|of| all.merged(of, Fixed(0)).0);
        assert_eq!(found, [0, 10_000, 5000, 50_005_000]);
    }
}
