//! Times at which something is due though no row comes, for sources whose rows arrive over time.

use super::Options;
use super::present::Present;

/// A source whose latest row is this much behind the clock gives an old series, not the present: one hour, in
/// milliseconds.
const OLD: i64 = 3_600_000;
/// Shortest and longest interval at which windows are looked at, in milliseconds.
const LOOKS: (i64, i64) = (1000, 60_000);
/// Shortest time without a reading after which a window may close by the clock, in milliseconds.
const SHORTEST_IDLE: i64 = 60_000;

/// The times at which windows are looked at, and at which pieces of open ones are sent.
pub(super) struct Timer {
    present: Present,
    /// Milliseconds between looks.
    step: i64,
    look: i64,
    /// Milliseconds between pieces.
    fresh: Option<i64>,
    piece: i64,
    /// The latest row, and when it came by the clock.
    latest: Option<(i64, i64)>,
}

/// A time at which windows are looked at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    /// This machine's clock, in milliseconds since 1970.
    pub(super) now: i64,
    /// The time that the source has come to: earlier if it gives an old series.
    pub(super) source: i64,
    /// True if a row came, and its time was near the clock's.
    pub(super) is_live: bool,
    /// True if pieces of open windows are due.
    pub(super) is_piece: bool,
}

impl Timer {
    /// `period` is the shortest one of the streams.
    pub(super) fn new(options: &Options, period: i64) -> Self {
        let (present, step) = (options.now.clone(), period.clamp(LOOKS.0, LOOKS.1));
        let (now, fresh) = (present.get(), options.fresh.map(|fresh| i64::from(fresh.max(1))));
        let mut timer = Self { present, step, look: now.saturating_add(step), fresh, piece: 0, latest: None };
        timer.piece = timer.next_piece(now);
        timer
    }

    /// Pieces are sent at multiples of their interval by the clock, whatever is read.
    fn next_piece(&self, now: i64) -> i64 {
        self.fresh.map_or(i64::MAX, |fresh| (now.div_euclid(fresh) + 1).saturating_mul(fresh))
    }

    /// Returns the next time at which something may be due.
    pub(super) fn due(&self) -> i64 {
        self.look.min(self.piece)
    }

    /// Notes the time of a row that came now.
    pub(super) fn note(&mut self, at: i64) {
        if self.latest.is_none_or(|(latest, _)| latest < at) {
            self.latest = Some((at, self.present.get()));
        }
    }

    /// Returns the present moment, if something is due.
    pub(super) fn moment(&mut self) -> Option<Moment> {
        let now = self.present.get();
        if now < self.due() {
            return None;
        }
        let is_piece = now >= self.piece;
        (self.look, self.piece) = (now.saturating_add(self.step), self.next_piece(now));
        let reached = self.latest.map_or(now, |(at, came)| at.saturating_add(now - came));
        let is_near = now.saturating_sub(reached) < OLD;
        let source = if is_near { now } else { reached };
        Some(Moment { now, source, is_live: is_near && self.latest.is_some(), is_piece })
    }
}

/// The time since which a stream has taken no reading.
#[derive(Debug)]
pub(super) struct Idle {
    took: bool,
    since: i64,
}

impl Idle {
    pub(super) fn new(present: &Present) -> Self {
        Self { took: false, since: present.get() }
    }

    /// Notes a reading.
    pub(super) fn take(&mut self) {
        self.took = true;
    }

    /// Returns true if no reading came for a period, and a minute at least.
    pub(super) fn is_over(&mut self, now: i64, period: i64) -> bool {
        if std::mem::take(&mut self.took) {
            self.since = now;
        }
        now.saturating_sub(self.since) >= period.max(SHORTEST_IDLE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: i64 = 60_000;

    #[test]
    fn pieces_are_due_at_multiples_of_their_interval() {
        let present = Present::at(7 * MINUTE);
        let options = Options { now: present.clone(), fresh: Some(300_000), ..Options::default() };
        let mut timer = Timer::new(&options, 3_600_000);
        assert_eq!(timer.due(), 8 * MINUTE);
        assert!(timer.moment().is_none());
        present.set(10 * MINUTE);
        assert!(timer.moment().is_some_and(|moment| moment.is_piece));
        assert!(timer.moment().is_none());
        // A machine that slept sends one.
        present.set(27 * MINUTE);
        assert!(timer.moment().is_some_and(|moment| moment.is_piece));
        present.set(28 * MINUTE);
        assert!(timer.moment().is_some_and(|moment| !moment.is_piece));
        present.set(30 * MINUTE);
        assert!(timer.moment().is_some_and(|moment| moment.is_piece));
    }

    #[test]
    fn an_old_series_is_at_the_time_of_its_latest_row() {
        let present = Present::at(1000 * MINUTE);
        let options = Options { now: present.clone(), ..Options::default() };
        let mut timer = Timer::new(&options, MINUTE);
        let source = |timer: &mut Timer, after: i64| {
            present.set(present.get() + after);
            timer.moment().map(|moment| moment.source / MINUTE)
        };
        assert_eq!(source(&mut timer, MINUTE), Some(1001), "no row came");
        timer.note(5 * MINUTE);
        timer.note(3 * MINUTE);
        assert_eq!(source(&mut timer, 10 * MINUTE), Some(15));
        timer.note(1005 * MINUTE);
        assert_eq!(source(&mut timer, MINUTE), Some(1012), "a few minutes late");
    }
}
