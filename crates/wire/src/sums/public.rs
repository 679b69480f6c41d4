//! The public numbers of a window: its places that are there, and its counts.

use alloc::vec::Vec;

use sotto_pack::{Presence, Reason};

use super::head::SumsHead;
use super::header::SumsHeader;
use super::part::{Placed, SumsPart};
use super::quantity::Quantity;
use crate::error::WireError;

impl SumsHead {
    /// Returns for each place of a part of this window, in order, if the window has it. Others hold 0, without a pad.
    ///
    /// # Errors
    /// [`WireError::Value`] if the stream has no such part.
    pub fn present(&self, header: &SumsHeader, part: usize) -> Result<Vec<bool>, WireError> {
        let (once, tick) = split(header.part(part)?);
        let places = once.iter().flat_map(|placed| {
            let present = self.readings(placed.quantity.columns().0) > 0;
            core::iter::repeat_n(present, placed.quantity.places())
        });
        Ok(places.chain(self.at_ticks(tick)).collect())
    }

    /// Returns the counts of a part of this window, which its tag covers.
    ///
    /// # Errors
    /// [`WireError::Value`] if the stream has no such part.
    pub fn counts(&self, header: &SumsHeader, part: usize) -> Result<Vec<u16>, WireError> {
        let part = header.part(part)?;
        let (once, tick) = split(part);
        let once = once.iter().map(|placed| {
            let readings = self.readings(placed.quantity.columns().0);
            if matches!(placed.quantity, Quantity::Bins { .. }) { readings } else { readings.min(1) }
        });
        let reasons = Reason::ALL.iter().take(part.reasons.into());
        let left_out = (0..self.presence.len()).flat_map(|column| {
            let all = self.left_out.get(column);
            reasons.clone().map(move |reason| all.map_or(0, |all| all.count(*reason)))
        });
        // Windows with larger ones are refused.
        let left_out = left_out.map(|count| u16::try_from(count).unwrap_or(u16::MAX));
        let ticks = self.at_ticks(tick).map(u16::from);
        Ok(core::iter::once(1).chain(once).chain(left_out).chain(ticks).collect())
    }

    /// Returns the number of a column's readings. Windows have at most 65,535 ticks.
    fn readings(&self, column: u16) -> u16 {
        self.presence.get(usize::from(column)).map_or(0, |presence| presence.count() as u16)
    }

    /// Returns for each quantity, tick after tick, if the window has its readings.
    fn at_ticks<'h>(&'h self, quantities: &'h [Placed]) -> impl Iterator<Item = bool> + 'h {
        let has = |column: u16, tick| {
            self.presence.get(usize::from(column)).is_some_and(|presence: &Presence| presence.contains(tick))
        };
        (0..self.sent_ticks()).flat_map(move |tick| {
            quantities.iter().map(move |placed| {
                let (x, y) = placed.quantity.columns();
                has(x, tick) && has(y, tick)
            })
        })
    }
}

/// Returns the quantities that stand once, and those of ticks.
fn split(part: &SumsPart) -> (&[Placed], &[Placed]) {
    part.quantities.split_at(part.quantities.partition_point(|placed| placed.quantity.is_once()))
}
