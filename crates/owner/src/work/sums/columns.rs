//! The places of a sum that belong to a quantity, and their way into results.

use std::collections::BTreeSet;

use sotto_pack::{Digit, Layout, Quantity as Sent, SumsPart};
use sotto_wire::StreamHeader;

use super::Task;
use crate::error::OwnerError;
use crate::open::Numbers;
use crate::work::job::Results;

/// The places of one quantity that a device sends, in a part of the stream.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source {
    /// The part.
    pub(super) part: u8,
    /// The first place, for ticks the one of the first tick.
    first: usize,
    /// Places from one tick to the next; 0 for counts by bin.
    step: usize,
    /// The factor of the digit.
    factor: i64,
    /// The channel whose slots take the values.
    channel: u16,
}

impl Source {
    /// Returns the position of the channel that the values are of.
    pub(super) fn channel(&self) -> u16 {
        self.channel
    }

    /// Returns the first place.
    pub(super) fn place(&self) -> usize {
        self.first
    }

    /// Returns the factor of the digit.
    pub(super) fn factor(&self) -> i64 {
        self.factor
    }
}

/// Returns the places of a sent quantity: one set, or one for each digit. Empty if the stream does not send it.
pub(super) fn sources(stream: &StreamHeader, wanted: &Sent) -> Vec<Source> {
    let mut found = Vec::new();
    for (number, part) in (0..).zip(stream.parts()) {
        found.extend(in_part(number, part, wanted));
    }
    found
}

fn in_part(number: u8, part: &SumsPart, wanted: &Sent) -> Vec<Source> {
    let (once, tick) = part.split();
    let (step, mut found, mut place) = (tick.len(), Vec::new(), 0);
    let source = |first, step, digit: Digit| {
        let (channel, _) = wanted.columns();
        Source { part: number, first, step, factor: digit.factor(), channel }
    };
    for placed in once {
        if placed.quantity == *wanted {
            found.push(source(place, 0, placed.digit));
        }
        place += placed.quantity.places();
    }
    for (at, placed) in tick.iter().enumerate() {
        if placed.quantity == *wanted {
            found.push(source(place + at, step, placed.digit));
        }
    }
    found
}

/// Returns the parts that have these places, ascending.
pub(super) fn parts_of<'s>(sources: impl Iterator<Item = &'s Source>) -> Vec<u8> {
    let parts: BTreeSet<u8> = sources.map(|source| source.part).collect();
    parts.into_iter().collect()
}

/// The values of a sum at the places of one part, or the values of a channel that do not add, of each window of a stretch. The
/// tags were checked.
pub(super) struct Opened {
    pub(super) part: u8,
    /// The channel of a stretch.
    pub(super) channel: Option<u16>,
    pub(super) values: Vec<i64>,
}

/// Adds the values of a task to the results of its part.
pub(super) fn put(
    stream: &StreamHeader,
    layout: &Layout,
    task: &Task,
    opened: &[Opened],
    results: &mut Results,
) -> Result<(), OwnerError> {
    let too_large = || OwnerError::wrong("a sum is too large");
    for read in &task.read {
        let Source { part, first, step, factor, channel } = read.source;
        let Some(Opened { values, .. }) = opened.iter().find(|opened| opened.part == part) else { continue };
        let Some((Numbers::Sums(numbers), _)) = results.get_mut(read.quantity) else { continue };
        let count = if step == 0 { numbers.len() } else { stream.layout().ticks() as usize };
        for at in 0..count {
            let place = first + if step == 0 { at } else { at * step };
            let slot = if step == 0 { Some(at) } else { layout.slot(channel, at as u32) };
            let weight = read.ticks.as_ref().map_or(1, |ticks| ticks.get(at).copied().unwrap_or_default());
            let (Some(value), Some(slot)) = (values.get(place), slot.filter(|slot| *slot < numbers.len()))
            else {
                continue;
            };
            let factor = task.factor.checked_mul(i128::from(factor) * i128::from(weight));
            let value = factor.and_then(|factor| factor.checked_mul((*value).into()));
            let sum = value.and_then(|value| numbers[slot].checked_add(value));
            numbers[slot] = sum.ok_or_else(too_large)?;
        }
    }
    Ok(())
}
