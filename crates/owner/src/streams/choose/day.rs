//! Bytes that a device sends in a day.

use sotto_wire::SUMS_WINDOW_OVERHEAD;

use super::chosen::Chosen;

/// Milliseconds of a day.
const DAY: u64 = 86_400_000;

/// Bytes with which a window names its channels, and that it comes in the place of pieces.
const REPLACES_BYTES: u64 = 4;

impl Chosen {
    /// Returns the number of windows in a day, for windows without gaps.
    #[must_use]
    pub fn windows_a_day(&self) -> u64 {
        DAY.div_ceil(u64::from(self.cut.period.max(1)) * u64::from(self.cut.ticks.max(1)))
    }

    /// Returns the bytes that a device sends in a day, for windows without gaps that travel alone.
    #[must_use]
    pub fn bytes_a_day(&self) -> u64 {
        self.windows_a_day() * self.window_bytes as u64
    }

    /// Returns the same with pieces of open windows every so many milliseconds (`sotto-agent run --fresh`): the pieces, and
    /// the whole windows, which name them.
    #[must_use]
    pub fn fresh_bytes_a_day(&self, every: u32) -> u64 {
        let period = u64::from(self.cut.period.max(1));
        // A piece has a tick at least.
        let every = u64::from(every).max(period);
        let pieces = DAY.div_ceil(every);
        let ticks = u32::try_from(every.div_ceil(period)).unwrap_or(u32::MAX).min(self.cut.ticks);
        let piece = self.piece_bytes(ticks) as u64;
        let names = pieces + self.windows_a_day() * REPLACES_BYTES;
        self.bytes_a_day() + pieces * piece + names
    }

    /// Returns the bytes of a piece of so many ticks: a ciphertext has the size of a whole window.
    fn piece_bytes(&self, ticks: u32) -> usize {
        let header = self.spec.is_none().then(|| self.sums_header()).flatten();
        let parts = header.and_then(|header| header.parts_bytes(ticks).ok());
        parts.map_or(self.window_bytes, |parts| SUMS_WINDOW_OVERHEAD + parts)
    }
}
