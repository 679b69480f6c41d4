//! Sums of windows that a store keeps in place of the windows.

use std::ops::Range;

use sotto_wire::{MaskName, PartSum};

use crate::tagged::{SumError, TOO_MANY, TaggedSumming, added};

const APART: SumError = SumError::Request(
    "windows that were rolled up into one sum are asked for together, with one weight, and for parts that it has",
);

impl TaggedSumming<'_, '_> {
    /// Adds windows that were [named](TaggedSumming::name) by their sum, as [`TaggedSumming::add`] adds one after the other: those at
    /// these runs of places in the request. They must be of this stream. Parts whose values do not add are left to
    /// [`TaggedSumming::add_values`].
    ///
    /// ```
    /// use sotto_evaluate::{TaggedRows, TaggedSum, TaggedSumming};
    /// use sotto_wire::{MaskName, SumsAnswer};
    /// # use sotto_pack::{Channel, Digit, Placed, Period, Quantity, SumsPart};
    /// # use sotto_rlwe::KeyId;
    /// # use sotto_wire::{StreamHeader, SumsStream};
    /// # let level = Channel { name: "level".into(), maximum: 15.0, resolution: Some(1.0), ..Channel::default() };
    /// # let readings = Placed { quantity: Quantity::Reading(0), digit: Digit::Whole, width: 16 };
    /// # let stream = SumsStream {
    /// #     device: "cellar".into(),
    /// #     stream: "tank".into(),
    /// #     period: Period::of_seconds(60, 1)?,
    /// #     ticks: 16,
    /// #     channels: vec![level],
    /// #     rounded: false,
    /// #     parts: vec![SumsPart { quantities: vec![readings], reasons: 0 }],
    /// # };
    /// # let header = StreamHeader::of_sums(stream, |_| KeyId([2; 16]))?;
    /// // Two windows of one tick: the numbers 7 and 4, the tags 5 and 1.
    /// let names = [0, 1].map(|sequence| MaskName { salt: [3; 12], sequence });
    /// let rows = [7, 0, 5, 0, 0, 0, 0, 0, 0, 0, 4, 0, 1, 0, 0, 0, 0, 0, 0, 0];
    /// let all = || TaggedSum { windows: (0, 2), parts: &[0], weights: None };
    /// let mut summing = TaggedSumming::new(&header, 2, vec![all()])?;
    /// summing.add_rows(&TaggedRows { names: &names, ticks: 1, parts: &[(&[1, 1], &rows)] })?;
    /// let frame = summing.frame()?;
    /// let kept = SumsAnswer::read(&frame, &header, 1 << 10, 2)?;
    /// // The sum gives the answer that the windows gave.
    /// let mut summing = TaggedSumming::new(&header, 2, vec![all()])?;
    /// summing.name(&names)?;
    /// summing.add_rolled(&[0..2], &kept.sums[0])?;
    /// assert_eq!(summing.frame()?, frame);
    /// // It does not give one of them.
    /// let one = TaggedSum { windows: (0, 1), parts: &[0], weights: None };
    /// let mut summing = TaggedSumming::new(&header, 2, vec![one])?;
    /// summing.name(&names)?;
    /// assert!(summing.add_rolled(&[0..2], &kept.sums[0]).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`SumError::Request`] if a wanted sum has some of them alone, or with different weights, or a part that their sum lacks. A sum
    /// is not complete after an error.
    pub fn add_rolled(&mut self, windows: &[Range<usize>], rolled: &PartSum<'_>) -> Result<(), SumError> {
        let all: usize = windows.iter().map(Range::len).sum();
        for (wanted, sums) in self.wanted.iter().zip(&mut self.sums) {
            let first = wanted.windows.0 as usize;
            let end = first + wanted.windows.1 as usize;
            let inside = || windows.iter().map(|run| run.start.clamp(first, end)..run.end.clamp(first, end));
            let count: usize = inside().map(|run| run.len()).sum();
            let adds = |part: &u8| self.header.adds(*part);
            if count == 0 || !wanted.parts.iter().any(adds) {
                continue;
            }
            let weight = |at: usize| wanted.weights.map_or(1, |weights| weights[at - first]);
            let mut weights = inside().flatten().map(weight);
            let weight = weights.next().unwrap_or(1);
            if count != all || weights.any(|other| other != weight) {
                return Err(APART);
            }
            for (part, sum) in wanted.parts.iter().zip(sums).filter(|(part, _)| adds(part)) {
                sum.add_sum(rolled.part(*part).ok_or(APART)?, weight).map_err(added)?;
            }
        }
        Ok(())
    }

    /// Returns true if a sum wants parts whose values add of windows at these runs of places in the request.
    #[must_use]
    pub fn wants_sums_of(&self, windows: &[Range<usize>]) -> bool {
        self.wanted.iter().any(|wanted| {
            let first = wanted.windows.0 as usize;
            let end = first + wanted.windows.1 as usize;
            windows.iter().any(|run| run.start < end && first < run.end)
                && wanted.parts.iter().any(|part| self.header.adds(*part))
        })
    }

    /// Returns the number of windows that were added or named so far.
    #[must_use]
    pub fn named(&self) -> usize {
        self.names.len()
    }

    /// Names the next windows, which [`TaggedSumming::add_rolled`] adds.
    ///
    /// # Errors
    /// [`SumError::Request`] if there are more windows than the request names.
    pub fn name(&mut self, names: &[MaskName]) -> Result<(), SumError> {
        if names.len() > self.windows - self.names.len() {
            return Err(TOO_MANY);
        }
        names.iter().try_for_each(|name| Ok(self.names.push(*name)?))
    }
}
