//! Where the ticks of a stream are, and which of them its windows have.

use crate::{Clock, Period, Span};

/// Milliseconds of an hour.
const HOUR: i64 = 3_600_000;
/// Milliseconds of a day.
const DAY: i64 = 24 * HOUR;

/// Where the ticks of a stream are.
///
/// Example: [`Cut`]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Grid {
    /// Ticks begin anew with each span of the windows; the end of the span may cut the last one short.
    #[default]
    OfSpan,
    /// Ticks do not depend on windows. Of a period whose cycle divides 24 hours they begin anew at each midnight of the clock, of
    /// any other they are whole periods after 1970-01-01T00:00:00Z.
    Absolute {
        /// Milliseconds by which ticks are later: less than a cycle.
        phase: u32,
    },
}

/// How a stream's readings are divided into windows. A window has the ticks that begin in its span, or a part of them: those
/// from a multiple of `ticks` periods after the first one on. Of a period of no whole milliseconds it has the ticks of whole cycles
/// ([`Period`]) that begin in its span.
///
/// ```
/// use sotto_pack::{Clock, Cut, Grid, Period, Span};
///
/// // A reading a minute, at most 16 in a window, none of which crosses an hour.
/// let cut = Cut::new(Span::Hour, Period::from_milliseconds(60_000), 16);
/// let (start, end) = cut.window(&Clock::utc(), 50 * 60_000); // 00:50
/// assert_eq!((start, end), (48 * 60_000, 60 * 60_000));
/// assert_eq!(cut.ticks_between(start, end), 12);
/// // Every 7 minutes: the ticks go on through midnight.
/// let cut = Cut::new(Span::Day, Period::from_milliseconds(420_000), 206);
/// assert_eq!(cut.grid, Grid::Absolute { phase: 0 });
/// assert_eq!(cut.window(&Clock::utc(), 0), (0, 206 * 420_000));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The span in which all ticks of a window begin.
    pub span: Span,
    /// The time between ticks.
    pub period: Period,
    /// Maximum ticks of a window: whole cycles, at least one.
    pub ticks: u32,
    /// Where the ticks are.
    pub grid: Grid,
}

impl Cut {
    /// Makes the cut of a new stream: with absolute ticks, if those that begin anew with the span would be others.
    #[must_use]
    pub fn new(span: Span, period: Period, ticks: u32) -> Self {
        let cut = Self { span, period, ticks, grid: Grid::OfSpan };
        if cut.begins_anew() { Self { grid: Grid::Absolute { phase: 0 }, ..cut } } else { cut }
    }

    /// Returns true if ticks begin anew with each span although no whole number of cycles fills it.
    #[must_use]
    pub fn begins_anew(&self) -> bool {
        let span = if self.span == Span::Hour { HOUR } else { DAY };
        self.grid == Grid::OfSpan && span % self.period.cycle() != 0
    }

    /// Returns true if ticks do not depend on windows.
    #[must_use]
    pub fn is_absolute(&self) -> bool {
        self.grid != Grid::OfSpan
    }

    /// Returns the milliseconds by which absolute ticks are later; 0 for others.
    #[must_use]
    pub fn phase(&self) -> i64 {
        match self.grid {
            Grid::OfSpan => 0,
            Grid::Absolute { phase } => i64::from(phase) % self.period.cycle(),
        }
    }

    /// Returns beginning and end of the tick whose time contains `at`, in milliseconds since 1970. Midnight, or the end of the
    /// span, may cut it short.
    #[must_use]
    pub fn tick(&self, clock: &Clock, at: i64) -> (i64, i64) {
        let (cycle, end) = self.cycle(clock, at);
        let tick = self.period.tick_at(at.saturating_sub(cycle));
        (self.period.at(cycle, tick), self.period.at(cycle, tick.saturating_add(1)).min(end))
    }

    /// Returns beginning and end of the cycle of ticks whose time contains `at`, like [`Cut::tick`]. Windows begin with cycles.
    #[must_use]
    pub fn cycle(&self, clock: &Clock, at: i64) -> (i64, i64) {
        let (cycle, phase) = (self.period.cycle(), self.phase());
        let at = at.saturating_sub(phase);
        let (anchor, end) = match self.grid {
            Grid::OfSpan => self.window(clock, at),
            Grid::Absolute { .. } if DAY % cycle == 0 => {
                (clock.start_of(Span::Day, at), clock.end_of(Span::Day, at))
            }
            Grid::Absolute { .. } => (0, i64::MAX),
        };
        let whole = at.saturating_sub(anchor).div_euclid(cycle).saturating_mul(cycle);
        let from = anchor.saturating_add(whole);
        let later = |time: i64| time.saturating_add(phase);
        (later(from), later(from.saturating_add(cycle).min(end)))
    }

    /// Returns the beginning of the first tick that begins at `at` or later.
    #[must_use]
    pub fn first_tick(&self, clock: &Clock, at: i64) -> i64 {
        let (from, to) = self.tick(clock, at);
        if from == at { from } else { to }
    }

    /// Returns start and end of the window that contains `at`, in milliseconds since 1970. A window that
    /// continues a stopped one begins later than this, on the same grid.
    #[must_use]
    pub fn window(&self, clock: &Clock, at: i64) -> (i64, i64) {
        let (first, end) = match self.grid {
            Grid::OfSpan => (clock.start_of(self.span, at), clock.end_of(self.span, at)),
            Grid::Absolute { .. } => {
                let (cycle, _) = self.cycle(clock, at);
                let ends = (clock.start_of(self.span, cycle), clock.end_of(self.span, cycle));
                let first = |(from, to): (i64, i64), at| if from == at { from } else { to };
                (first(self.cycle(clock, ends.0), ends.0), first(self.cycle(clock, ends.1), ends.1))
            }
        };
        let cycles = i64::from((self.ticks / self.period.cycle_ticks()).max(1));
        let length = self.period.cycle().saturating_mul(cycles);
        let begins = first + (at - first).div_euclid(length) * length;
        (begins, begins.saturating_add(length).min(end))
    }

    /// Returns the end of a window of `ticks` ticks that starts at `start`: midnight, or the end of the span, may cut its last
    /// tick short. Ticks that begin anew with the span may be later by a phase.
    #[must_use]
    pub fn end(&self, clock: &Clock, start: i64, ticks: u32) -> i64 {
        let ticks = ticks.max(1);
        if self.is_absolute() {
            return self.tick(clock, self.period.at(start, ticks - 1)).1;
        }
        let phase = start.saturating_sub(self.tick(clock, start).0);
        let start = start.saturating_sub(phase);
        self.period.at(start, ticks).min(clock.end_of(self.span, start)).saturating_add(phase)
    }

    /// Returns the number of ticks from `start` to `end`. The end of the span may cut the last one short.
    #[must_use]
    pub fn ticks_between(&self, start: i64, end: i64) -> u32 {
        u32::try_from(self.period.ticks_in(end.saturating_sub(start))).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::Timestamp;

    const MINUTE: u32 = 60_000;

    fn ms(period: u32) -> Period {
        Period::from_milliseconds(period)
    }

    fn at(text: &str) -> i64 {
        text.parse::<Timestamp>().unwrap().as_millisecond()
    }

    fn vienna() -> Clock {
        Clock::new("Europe/Vienna").unwrap()
    }

    fn next(state: &mut u64) -> u64 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        *state >> 33
    }

    #[test]
    fn windows_never_cross_a_span() {
        let clock = vienna();
        let cut = Cut::new(Span::Day, ms(300_000), 100);
        let mut start = clock.start_of(Span::Day, at("2014-10-25T00:00:00Z"));
        let mut lengths = Vec::new();
        for _ in 0..8 {
            let (begin, end) = cut.window(&clock, start);
            assert_eq!(begin, start);
            assert_eq!(cut.window(&clock, end - 1), (begin, end));
            lengths.push(cut.ticks_between(begin, end));
            start = end;
        }
        // Days of 24, 25 and 24 hours have 288, 300 and 288 ticks.
        assert_eq!(lengths, [100, 100, 88, 100, 100, 100, 100, 100]);
    }

    #[test]
    fn the_tick_of_a_time_does_not_depend_on_where_windows_are_cut() {
        let mut state = 41;
        for zone in ["UTC", "Europe/Vienna", "America/St_Johns", "Australia/Lord_Howe", "Asia/Kathmandu"] {
            let clock = Clock::new(zone).unwrap();
            for minutes in [7, 11, 16, 45, 50, 420, 2000] {
                let period = minutes * MINUTE;
                let phase = (next(&mut state) % u64::from(period)) as u32;
                let grid = Grid::Absolute { phase };
                let cuts = [(Span::Day, 1 << 16), (Span::Day, 5), (Span::Hour, 1 << 16), (Span::Hour, 1)]
                    .map(|(span, ticks)| Cut { span, period: ms(period), ticks, grid });
                for _ in 0..200 {
                    // 2013 to 2015.
                    let time =
                        at("2013-01-01T00:00:00Z") + (next(&mut state) % (3 * 365 * DAY as u64)) as i64;
                    let (from, to) = cuts[0].tick(&clock, time);
                    assert!((from..to).contains(&time), "{zone} {minutes} {time}");
                    assert!(to - from == i64::from(period) || minutes == 16 || minutes == 45);
                    for cut in cuts {
                        assert_eq!(cut.tick(&clock, time), (from, to), "{zone} {cut:?} {time}");
                        let (start, end) = cut.window(&clock, time);
                        assert!((start..end).contains(&from) && to <= end, "{zone} {cut:?} {time}");
                        // Within the window, ticks are a period apart from its start on.
                        assert_eq!((from - start) % i64::from(period), 0, "{zone} {cut:?} {time}");
                        assert!(cut.ticks_between(start, end) <= cut.ticks);
                        assert_eq!(cut.end(&clock, start, cut.ticks_between(start, end)), end);
                        // Windows follow each other, and all their ticks begin in one span.
                        assert_eq!(cut.window(&clock, end).0, end);
                        assert_eq!(cut.window(&clock, start - 1).1, start);
                        let last = cut.tick(&clock, end - 1).0;
                        assert_eq!(clock.start_of(cut.span, start), clock.start_of(cut.span, last));
                    }
                }
            }
        }
    }

    #[test]
    fn the_first_tick_of_a_day_is_the_first_at_or_after_midnight() {
        let clock = vienna();
        for (period, phase) in
            [(7 * MINUTE, 0), (7 * MINUTE, 120_000), (11 * MINUTE, 5), (15 * MINUTE, 420_000)]
        {
            let cut =
                Cut { span: Span::Day, period: ms(period), ticks: 1 << 16, grid: Grid::Absolute { phase } };
            let mut start = clock.start_of(Span::Day, at("2014-10-20T10:00:00Z"));
            let mut last: Option<i64> = None;
            for _ in 0..20 {
                let end = clock.end_of(Span::Day, start);
                let first = cut.window(&clock, start + HOUR).0;
                assert!((start..start + i64::from(period)).contains(&first), "{period} {phase}");
                assert_eq!(first, cut.first_tick(&clock, start));
                // Ticks go on: the day before ends where this one begins.
                last.into_iter().for_each(|last| assert_eq!(last, first));
                last = Some(cut.window(&clock, start + HOUR).1);
                start = end;
            }
        }
    }

    #[test]
    fn ticks_of_streams_of_before_begin_anew() {
        let clock = vienna();
        let cut = Cut { span: Span::Day, period: ms(7 * MINUTE), ticks: 1 << 16, grid: Grid::OfSpan };
        let midnight = clock.start_of(Span::Day, at("2014-02-14T12:00:00Z"));
        let next = clock.end_of(Span::Day, midnight);
        assert_eq!(cut.window(&clock, next - 1), (midnight, next));
        assert_eq!(cut.tick(&clock, next - 1), (midnight + 205 * 420_000, next));
        assert_eq!(cut.end(&clock, midnight, 206), next);
        // Later by a phase.
        let cut = Cut { period: ms(15 * MINUTE), ..cut };
        assert_eq!(cut.end(&clock, midnight + 420_000, 96), next + 420_000);
        // A period that divides its span needs nothing new.
        assert_eq!(Cut::new(Span::Hour, ms(15 * MINUTE), 4).grid, Grid::OfSpan);
        assert_eq!(Cut::new(Span::Day, ms(16 * MINUTE), 90).grid, Grid::OfSpan);
        assert_ne!(Cut::new(Span::Hour, ms(16 * MINUTE), 4).grid, Grid::OfSpan);
    }

    #[test]
    fn windows_of_fractions_are_whole_cycles() {
        let mut state = 43;
        // 60 Hz, 120 Hz, 44.1 Hz, 59.94 Hz, and 7/3 s, whose cycles of 1.001 s and 7 s divide no hour.
        for (cycle, ticks) in [(50_u32, 3_u32), (25, 3), (10_000, 441), (1001, 60), (7000, 3)] {
            let period = Period::new(cycle.into(), ticks.into()).unwrap();
            let phase = (next(&mut state) % u64::from(cycle)) as u32;
            for zone in ["UTC", "Europe/Vienna", "America/St_Johns"] {
                let clock = Clock::new(zone).unwrap();
                let of = |(span, cycles)| Cut::new(span, period, cycles * ticks);
                let cuts = [(Span::Day, 20), (Span::Hour, 20), (Span::Hour, 1)].map(of);
                assert_eq!(cuts[0].is_absolute(), DAY % i64::from(cycle) != 0);
                let absolute = cuts.map(|cut| Cut { grid: Grid::Absolute { phase }, ..cut });
                for _ in 0..200 {
                    let time =
                        at("2013-01-01T00:00:00Z") + (next(&mut state) % (3 * 365 * DAY as u64)) as i64;
                    for cuts in [cuts, absolute] {
                        let (from, to) = cuts[0].tick(&clock, time);
                        assert!((from..to).contains(&time) && to - from <= i64::from(period.ceil()));
                        for cut in cuts {
                            assert_eq!(cut.tick(&clock, time), (from, to), "{zone} {cut:?} {time}");
                            let (start, end) = cut.window(&clock, time);
                            // Ticks follow from the start of their window, and windows from each other.
                            let tick = period.tick_at(time - start);
                            assert_eq!((period.at(start, tick), period.at(start, tick + 1)), (from, to));
                            assert_eq!((end - start) % period.cycle(), 0);
                            let length = cut.ticks_between(start, end);
                            assert!(length <= cut.ticks && length % period.cycle_ticks() == 0);
                            assert_eq!(cut.end(&clock, start, length), end, "{zone} {cut:?} {time}");
                            assert_eq!(cut.window(&clock, end).0, end);
                            assert_eq!(cut.window(&clock, start - 1).1, start);
                            assert_eq!(cut.cycle(&clock, start), (start, start + period.cycle()));
                        }
                    }
                }
            }
        }
    }
}
