//! Bytes that a device sends in a day.

use sotto_pack::{Period, Span};
use sotto_wire::SUMS_WINDOW_OVERHEAD;

use super::chosen::Chosen;

/// Milliseconds of a day.
const DAY: u64 = 86_400_000;

/// Bytes with which a window names its channels, and that it comes in the place of pieces.
const REPLACES_BYTES: u64 = 4;

/// Returns the number of windows of so many ticks in a day.
pub(super) fn windows_a_day(period: Period, ticks: u32) -> u64 {
    DAY.div_ceil(period.after(ticks.max(1).into()).unsigned_abs())
}

impl Chosen {
    /// Returns the number of windows in a day, for windows without gaps; 1 for those that are longer.
    #[must_use]
    pub fn windows_a_day(&self) -> u64 {
        windows_a_day(self.cut.period, self.cut.ticks)
    }

    /// Returns the bytes that a device sends in a day, for windows without gaps that travel alone. Of a window that is longer
    /// than a day: its part.
    #[must_use]
    pub fn bytes_a_day(&self) -> u64 {
        let bytes = self.windows_a_day() * self.window_bytes as u64;
        let period = u64::from(self.cut.period.ceil());
        if period > DAY { (bytes * DAY).div_ceil(period) } else { bytes }
    }

    /// Returns the same with pieces of open windows every so many milliseconds (`sotto-agent run --fresh`): the pieces, and
    /// the whole windows, which name them.
    #[must_use]
    pub fn fresh_bytes_a_day(&self, every: u32) -> u64 {
        // A piece has a tick at least.
        let every = every.max(self.cut.period.ceil());
        let pieces = DAY.div_ceil(every.into());
        let ticks =
            u32::try_from(self.cut.period.ticks_in(every.into())).unwrap_or(u32::MAX).min(self.cut.ticks);
        let piece = self.piece_bytes(ticks) as u64;
        let names = pieces + self.windows_a_day() * REPLACES_BYTES;
        self.bytes_a_day() + pieces * piece + names
    }

    /// Returns the milliseconds of a whole window.
    #[must_use]
    pub fn window_ms(&self) -> u64 {
        let period = u64::from(self.cut.period.ceil());
        let span = match self.cut.span {
            Span::Hour => DAY / 24,
            // Longer spans have windows of a day at most.
            Span::Day | Span::Week | Span::Month => DAY,
        };
        self.cut.period.after(self.cut.ticks.into()).unsigned_abs().min(span.max(period))
    }

    /// Returns the milliseconds after which an answer can have a reading, at most: a window and one period. `fresh` is the time
    /// between pieces of open windows (`sotto-agent run --fresh`), which come before the window.
    #[must_use]
    pub fn delay_ms(&self, fresh: Option<u32>) -> u64 {
        let period = u64::from(self.cut.period.ceil());
        let piece = fresh.map_or(u64::MAX, |every| u64::from(every).max(period));
        self.window_ms().min(piece) + period
    }

    /// Returns the bytes of a piece of so many ticks: a ciphertext has the size of a whole window.
    fn piece_bytes(&self, ticks: u32) -> usize {
        let header = self.spec.is_none().then(|| self.sums_header()).flatten();
        let parts = header.and_then(|header| header.parts_bytes(ticks).ok());
        parts.map_or(self.window_bytes, |parts| SUMS_WINDOW_OVERHEAD + parts)
    }
}

#[cfg(test)]
mod tests {
    use sotto_pack::{Channel, Span};

    use super::*;
    use crate::streams::{Kind, Needs, StreamNeeds, choose};

    #[test]
    fn a_piece_has_the_bytes_of_its_ticks() {
        let channel =
            Channel { name: "x".into(), maximum: 100.0, resolution: Some(0.1), ..Channel::default() };
        let needs = StreamNeeds {
            kind: Kind::Exact,
            period: Period::from_milliseconds(60_000),
            span: Span::Hour,
            channels: vec!["x".into()],
            needs: Needs { squares: true, ..Needs::default() },
            questions: vec!["q".into()],
            public: false,
            scheme: None,
            joined: false,
            part: 0,
        };
        let chosen = choose(&needs, &[channel]).unwrap();
        assert_eq!((chosen.windows_a_day(), chosen.bytes_a_day()), (24, 24 * chosen.window_bytes as u64));
        let (header, day) = (chosen.sums_header().unwrap(), chosen.bytes_a_day());
        let piece = |ticks| (SUMS_WINDOW_OVERHEAD + header.parts_bytes(ticks).unwrap()) as u64;
        assert_eq!(chosen.fresh_bytes_a_day(300_000), day + 288 * (piece(5) + 1) + 96);
        let (hour, minute) = (3_600_000, 60_000);
        assert_eq!((chosen.window_ms(), chosen.delay_ms(None)), (hour, hour + minute));
        assert_eq!(
            [300_000, 1, 7_200_000].map(|fresh| chosen.delay_ms(Some(fresh))),
            [6 * minute, 2 * minute, hour + minute]
        );
        // No tick is over more often than the period.
        assert_eq!(chosen.fresh_bytes_a_day(1000), chosen.fresh_bytes_a_day(60_000));
    }
}
