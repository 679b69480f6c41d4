//! Slots back to values.

use crate::layout::Scale;
use crate::{Layout, PackError, Slots};

fn length(layout: &Layout, found: usize) -> Result<(), PackError> {
    let expected = layout.slots();
    if found == expected { Ok(()) } else { Err(PackError::Length { what: "slots", expected, found }) }
}

/// The values of each channel, tick by tick. A missing reading comes out as the middle of its range: only the counts
/// of [`crate::Packed`] tell that it is missing.
///
/// # Errors
/// [`PackError::Length`] or [`PackError::Encoding`] when the slots are not of this layout, [`PackError::NotAReading`]
/// when a number is one that no reading gives: beyond ±top, or not finite.
pub fn unpack(layout: &Layout, slots: &Slots) -> Result<Vec<Vec<f64>>, PackError> {
    length(layout, slots.len())?;
    let channel = |(channel, scale): (usize, &Scale)| {
        let of = layout.slots_of(channel);
        let value = |slot: usize| match (scale, slots) {
            (Scale::Integer(quantiser), Slots::Integers(numbers)) => {
                let possible = numbers[slot].unsigned_abs() <= quantiser.top().unsigned_abs();
                possible.then(|| quantiser.value(numbers[slot])).ok_or(PackError::NotAReading { slot })
            }
            (Scale::Real(normaliser), Slots::Reals(numbers)) => {
                let value = normaliser.value(numbers[slot]);
                if value.is_finite() { Ok(value) } else { Err(PackError::NotAReading { slot }) }
            }
            (Scale::Integer(_), Slots::Reals(_)) => {
                Err(PackError::Encoding { expected: "integers", found: "reals" })
            }
            (Scale::Real(_), Slots::Integers(_)) => {
                Err(PackError::Encoding { expected: "reals", found: "integers" })
            }
        };
        of.map(value).collect()
    };
    layout.scales().iter().enumerate().map(channel).collect()
}

/// The first slot of each channel's block: where a sum over a channel stands.
///
/// # Errors
/// [`PackError::Length`] when there are not as many slots as the layout has.
pub fn block_heads<N: Copy>(layout: &Layout, slots: &[N]) -> Result<Vec<N>, PackError> {
    length(layout, slots.len())?;
    Ok((0..layout.channels().len()).map(|channel| slots[layout.slots_of(channel).start]).collect())
}
