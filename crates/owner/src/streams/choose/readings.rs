//! Readings that come down for results that are computed from them.

use sotto_pack::Quantity;

use super::chosen::Chosen;
use super::sums::{SUM_HEAD_BYTES, answer_bytes};

impl Chosen {
    /// Returns the bytes in which the readings of a full window come down, for results such as `last(x)`. Of a stream of sums
    /// all channels of a part come together.
    #[must_use]
    pub fn readings_down(&self) -> u64 {
        let Some(header) = self.sums_header() else { return self.answer_bytes };
        let ticks = self.layout.ticks();
        let has_readings = |at: &usize| {
            self.sums[*at].quantities.iter().any(|placed| matches!(placed.quantity, Quantity::Reading(_)))
        };
        let parts = (0..self.sums.len()).filter(has_readings);
        let bytes = parts.filter_map(|at| Some(answer_bytes(&header.sums_form(at).ok()?, ticks) + 1));
        SUM_HEAD_BYTES as u64 + bytes.sum::<u64>()
    }
}
