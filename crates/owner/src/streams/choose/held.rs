//! Values that come down window by window.

use sotto_sums::TAG_BYTES;

use super::chosen::Chosen;
use super::sums::{SUM_HEAD_BYTES, adds, answer_bytes};

/// Values that a window holds once and that do not add, such as its extremes: the owner opens them window by window.
///
/// Example: [`super::StreamReport`]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct HeldReport {
    /// Number of values of a window.
    pub values: usize,
    /// Bytes of a window that hold them, with their tag.
    pub bytes_sent: usize,
    /// Bytes of an answer for each window.
    pub bytes_down: u64,
}

impl Chosen {
    /// Returns the values of a window that come down window by window, as they do not add. None if there are none.
    pub(crate) fn held(&self) -> Option<HeldReport> {
        let (header, ticks) = (self.sums_header()?, self.layout.ticks());
        let mut held = HeldReport::default();
        for (at, part) in self.sums.iter().enumerate().filter(|(_, part)| !adds(part)) {
            let form = header.sums_form(at).ok()?;
            held.values += part.quantities.iter().map(|placed| placed.quantity.places()).sum::<usize>();
            held.bytes_sent += form.body_bytes(ticks) + TAG_BYTES;
            // A window alone is the sum of a request.
            held.bytes_down += SUM_HEAD_BYTES as u64 + 1 + answer_bytes(&form, ticks);
        }
        (held.values > 0).then_some(held)
    }
}
