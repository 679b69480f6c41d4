//! Whole steps in slots, in one digit or two: the form in which a cloud compares readings with limits chosen later.
//!
//! A comparison is a polynomial of one digit, of the degree of its largest value. Readings of up to 256 steps are one
//! digit, others of up to 4,096 steps two digits of 6 bits, as two polynomials of degree 63 cost less than one of degree
//! 4,095.

use alloc::vec::Vec;

use crate::{Channel, Encoding, Layout, PackError};

/// Maximum steps of readings in one digit.
pub const STEPS_OF_ONE: i64 = 256;
/// Bits of each of two digits.
pub const DIGIT_BITS: u32 = 6;

/// The digits of the readings of a layout's channels.
///
/// ```
/// use sotto_pack::{Channel, Encoding, Layout, StepDigits};
///
/// let boiler = Channel {
///     name: "boiler".into(), unit: "°C".into(), minimum: -20.0, maximum: 120.0, resolution: Some(0.1),
///     ..Channel::default()
/// };
/// let layout = Layout::smallest(vec![boiler], 24, 32, 1, Encoding::Resolution)?;
/// let digits = StepDigits::of(&layout).expect("1,401 steps");
/// assert_eq!((digits.count(), digits.slots(&layout)), (2, 64));
/// // 50 °C is 700 steps above the smallest reading: 10 · 64 + 60.
/// let step = layout.quantiser(0).unwrap().quantise(50.0).unwrap() - StepDigits::lowest(&layout, 0).unwrap();
/// assert_eq!(digits.split(step), [10, 60]);
/// # Ok::<(), sotto_pack::PackError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepDigits(u32);

impl StepDigits {
    /// Returns the fewest digits that hold the readings of every channel. Returns None for reals, or if a channel has
    /// more than 4,096 steps.
    #[must_use]
    pub fn of(layout: &Layout) -> Option<Self> {
        let channels = 0..layout.channels().len() as u16;
        let steps =
            |channel| Some(Self::ends(layout, channel)?).map(|(lowest, highest)| highest - lowest + 1);
        let most = channels.map(steps).collect::<Option<Vec<i64>>>()?.into_iter().max()?;
        match most {
            ..=STEPS_OF_ONE => Some(Self(1)),
            most if most <= 1 << (2 * DIGIT_BITS) => Some(Self(2)),
            _ => None,
        }
    }

    /// Returns the digits of one channel's readings. Returns None as [`StepDigits::of`].
    #[must_use]
    pub fn of_one(channel: &Channel) -> Option<Self> {
        Layout::smallest(vec![channel.clone()], 1, 1, 1, Encoding::Resolution)
            .ok()
            .and_then(|layout| Self::of(&layout))
    }

    /// Returns the number of digits: 1 or 2.
    #[must_use]
    pub fn count(self) -> u32 {
        self.0
    }

    /// Returns the largest value of a digit.
    #[must_use]
    pub fn largest(self) -> i64 {
        if self.0 == 1 { STEPS_OF_ONE - 1 } else { (1 << DIGIT_BITS) - 1 }
    }

    /// Returns the number of slots of a window: one row of the layout for each digit.
    #[must_use]
    pub fn slots(self, layout: &Layout) -> u32 {
        self.0 * layout.columns()
    }

    /// Returns the smallest quantised reading of a channel, which is step 0. Returns None if the channel does not exist
    /// or has reals.
    #[must_use]
    pub fn lowest(layout: &Layout, channel: u16) -> Option<i64> {
        Self::ends(layout, channel).map(|(lowest, _)| lowest)
    }

    /// Returns the smallest and the largest quantised reading of a channel's declared range.
    fn ends(layout: &Layout, channel: u16) -> Option<(i64, i64)> {
        let (quantiser, declared) =
            (layout.quantiser(channel)?, layout.channels().get(usize::from(channel))?);
        let of = |value: f64| quantiser.quantise(value).ok();
        Some((of(declared.minimum)?, of(declared.maximum)?))
    }

    /// Returns the digits of a step, the higher one first. Range: 0 to 255 for one digit, 0 to 4,095 for two.
    #[must_use]
    pub fn split(self, step: i64) -> Vec<i64> {
        match self.0 {
            1 => vec![step],
            _ => vec![step >> DIGIT_BITS, step & self.largest()],
        }
    }

    /// Returns the slots of a window from its packed numbers: the higher digits, then the lower ones. A slot without a
    /// reading has the digits of 0.
    ///
    /// # Errors
    /// [`PackError::Dimension`] if there are not as many numbers as the layout has slots.
    pub fn expand(self, layout: &Layout, numbers: &[i64]) -> Result<Vec<i64>, PackError> {
        if numbers.len() != layout.slots() {
            let possible = "it is the number of slots of the layout";
            return Err(PackError::Dimension {
                what: "number of slots",
                value: numbers.len() as u32,
                possible,
            });
        }
        let block = layout.block() as usize;
        let split = |(slot, q): (usize, &i64)| {
            // Slots beyond the last channel are never read.
            let lowest = Self::lowest(layout, (slot / block) as u16).or(Self::lowest(layout, 0));
            self.split(q - lowest.unwrap_or_default())
        };
        let digits: Vec<Vec<i64>> = numbers.iter().enumerate().map(split).collect();
        let of = |digit: usize| digits.iter().filter_map(move |digits| digits.get(digit)).copied();
        Ok((0..self.0 as usize).flat_map(of).collect())
    }
}

impl Layout {
    /// Makes the layout of windows of whole steps in `slots` slots: a row for each digit.
    ///
    /// # Errors
    /// [`PackError`], as [`Layout::smallest`]. Each channel needs a resolution.
    pub fn of_steps(channels: &[Channel], ticks: u32, slots: u32) -> Result<Self, PackError> {
        let of = |columns| Self::smallest(channels.to_vec(), ticks, columns, 1, Encoding::Resolution);
        let whole = of(slots)?;
        match StepDigits::of(&whole) {
            Some(digits) if digits.count() > 1 => of(slots / digits.count()),
            _ => Ok(whole),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(resolution: f64, channels: usize) -> Layout {
        let channel = |at: usize| Channel {
            name: format!("c{at}"),
            minimum: 0.0,
            maximum: 100.0,
            resolution: Some(resolution),
            ..Channel::default()
        };
        Layout::smallest((0..channels).map(channel).collect(), 3, 8, 1, Encoding::Resolution).unwrap()
    }

    #[test]
    fn the_digits_of_every_reading_are_small_and_different() {
        for (resolution, count) in [(1.0, 1), (0.5, 1), (0.25, 2), (0.025, 2)] {
            let layout = layout(resolution, 1);
            let (digits, quantiser) = (StepDigits::of(&layout).unwrap(), layout.quantiser(0).unwrap());
            assert_eq!(digits.count(), count, "{resolution}");
            let mut last = Vec::new();
            let lowest = StepDigits::lowest(&layout, 0).unwrap();
            for q in lowest..=quantiser.quantise(100.0).unwrap() {
                let split = digits.split(q - lowest);
                assert!(split.iter().all(|digit| (0..=digits.largest()).contains(digit)), "{q}: {split:?}");
                assert!(split > last, "digits are in the order of readings");
                last = split;
            }
        }
        assert_eq!(StepDigits::of(&layout(0.01, 1)), None, "10,001 steps");
        // As many steps as the digits hold.
        assert_eq!(StepDigits::of(&layout(100.0 / 255.0, 1)).map(StepDigits::count), Some(1));
        assert_eq!(StepDigits::of(&layout(100.0 / 256.0, 1)).map(StepDigits::count), Some(2));
        assert_eq!(StepDigits::of(&layout(100.0 / 4095.0, 1)).map(StepDigits::count), Some(2));
        assert_eq!(StepDigits::of(&layout(100.0 / 4096.0, 1)), None);
    }

    #[test]
    fn higher_digits_stand_before_lower_ones() {
        let layout = layout(0.1, 2);
        let digits = StepDigits::of(&layout).unwrap();
        let mut numbers = vec![0; layout.slots()];
        numbers[layout.slot(1, 2).unwrap()] = -437; // 63 steps above the smallest reading
        let slots = digits.expand(&layout, &numbers).unwrap();
        assert_eq!(slots.len(), 16);
        let at = layout.slot(1, 2).unwrap();
        assert_eq!((slots[at], slots[8 + at]), (0, 63));
        assert_eq!((slots[0], slots[8]), (500 >> 6, 500 & 63));
        assert!(digits.expand(&layout, &[0; 3]).is_err());
    }
}
