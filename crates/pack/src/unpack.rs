//! Unpacks slots to values.

use alloc::vec::Vec;

use crate::layout::Scale;
use crate::{Layout, PackError, Slots};

fn length(layout: &Layout, found: usize) -> Result<(), PackError> {
    let expected = layout.slots();
    if found == expected { Ok(()) } else { Err(PackError::Length { expected, found }) }
}

/// Returns the values of each channel, tick by tick. A missing reading becomes the middle of its range; only
/// the counts and presences of [`crate::Packed`] reveal that it is missing.
///
/// # Errors
/// [`PackError::Length`] or [`PackError::Encoding`] if the slots are not of this layout,
/// [`PackError::NotAReading`] for a number that no reading has: beyond ±top, or not finite.
///
/// ```
/// use sotto_pack::{Channel, Encoding, Layout, Slots, unpack};
///
/// let load = Channel { name: "load".into(), unit: "%".into(), maximum: 100.0, ..Channel::default() };
/// let layout = Layout::smallest(vec![load], 2, 4, 1, Encoding::Real)?;
/// let decrypted = Slots::Reals(vec![0.5, -1.0, 0.0, 0.0]);
/// assert_eq!(unpack(&layout, &decrypted)?, [[75.0, 0.0]]);
/// # Ok::<(), sotto_pack::PackError>(())
/// ```
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

/// Returns the head of each channel's block: the first slot, where a sum over the channel stands.
///
/// # Errors
/// [`PackError::Length`] if the number of slots is not the layout's.
pub fn block_heads<N: Copy>(layout: &Layout, slots: &[N]) -> Result<Vec<N>, PackError> {
    length(layout, slots.len())?;
    Ok((0..layout.channels().len()).map(|channel| slots[layout.slots_of(channel).start]).collect())
}
