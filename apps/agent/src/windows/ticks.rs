//! How a time finds its tick.

use std::collections::VecDeque;

use sotto_pack::{Channel, Clock, Cut};

/// Rows that tell the phase of a stream.
const LEAST_ROWS: usize = 4;
/// The share of rows that have to report at nearly the same time after a tick, of 8.
const MOST_OF_8: usize = 5;

/// How the times of a stream find their ticks.
///
/// A reading of a sampled channel belongs to the tick nearest to its time, of two as near to the earlier one; any other to
/// the tick whose interval holds the time, and so does any reading where ticks begin anew with each span of the windows although
/// the period does not divide it, as in streams of earlier bundles.
/// All ticks are shifted by the *phase*: the time after the clock's ticks at which
/// the sensor reports.
#[derive(Clone, Debug)]
pub(crate) struct TickRules {
    /// Milliseconds from the clock's ticks to those of the stream: 0 to less than a period.
    pub(crate) phase: i64,
    /// For each channel, the milliseconds that are added to a time.
    ahead: Vec<i64>,
}

impl TickRules {
    pub(crate) fn new(channels: &[Channel], cut: Cut, phase: i64) -> Self {
        let period = i64::from(cut.period.ceil());
        let half = if cut.begins_anew() { 0 } else { (period - 1) / 2 };
        let ahead = |channel: &Channel| if channel.kind.rules().samples() { half } else { 0 };
        Self { phase, ahead: channels.iter().map(ahead).collect() }
    }

    /// Returns the time by which a channel's reading finds its window and tick, on the clock's ticks.
    pub(crate) fn on_clock(&self, channel: usize, at: i64) -> i64 {
        let ahead = self.ahead.get(channel).copied().unwrap_or_default();
        at.saturating_add(ahead).saturating_sub(self.phase)
    }

    /// Returns the time of a channel's reading whose time on the clock's ticks is `on_clock`.
    pub(crate) fn time(&self, channel: usize, on_clock: i64) -> i64 {
        let ahead = self.ahead.get(channel).copied().unwrap_or_default();
        on_clock.saturating_sub(ahead).saturating_add(self.phase)
    }

    /// Returns the different times by which readings of one row find their ticks, in order.
    pub(crate) fn times(&self, at: i64) -> impl Iterator<Item = i64> + use<> {
        let on_clock = |ahead: Option<&i64>| Some(at.saturating_add(*ahead?).saturating_sub(self.phase));
        let (first, last) = (on_clock(self.ahead.iter().min()), on_clock(self.ahead.iter().max()));
        first.into_iter().chain(last.filter(|last| Some(*last) != first))
    }
}

/// Returns the phase of ticks that were sent: that of one of them.
pub(crate) fn phase_of_tick(cut: Cut, clock: &Clock, tick: i64) -> i64 {
    tick.saturating_sub(cut.tick(clock, tick).0)
}

/// Returns the end of the last tick that is over at a time on the clock's ticks; `None` for a time that is none.
pub(super) fn over(cut: Cut, clock: &Clock, now: i64) -> Option<i64> {
    let (from, _) = cut.tick(clock, now);
    (from <= now).then_some(from)
}

/// Returns the phase of rows with these times: 0 where ticks begin anew with each span, and unless most of them report at nearly the same time after a tick, and this
/// is more than a sixteenth of a period away from a tick.
pub(crate) fn phase_of_rows(cut: Cut, clock: &Clock, rows: impl Iterator<Item = i64>) -> i64 {
    let period = i64::from(cut.period.ceil());
    let mut phases: Vec<i64> = rows.map(|at| phase_of_tick(cut, clock, at)).collect();
    if cut.begins_anew() || phases.len() < LEAST_ROWS {
        return 0;
    }
    phases.sort_unstable();
    // The eighth of a period with most rows, around the circle.
    let around = phases.iter().copied().chain(phases.iter().map(|phase| phase + period));
    let (mut within, mut densest) = (VecDeque::new(), Vec::new());
    for phase in around {
        within.push_back(phase);
        while within.front().is_some_and(|first| phase - first > period / 8) {
            within.pop_front();
        }
        if within.len() > densest.len() {
            densest = within.iter().copied().collect();
        }
    }
    if densest.len() * 8 < phases.len() * MOST_OF_8 {
        return 0;
    }
    let middle = densest[densest.len() / 2].rem_euclid(period);
    if middle.min(period - middle) <= period / 16 {
        return 0;
    }
    // Sensors report at whole seconds.
    let whole = if period >= 16_000 { (middle + 500) / 1000 * 1000 } else { middle };
    whole.rem_euclid(period)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sotto_pack::Period;
    use sotto_pack::{ChannelKind, Gauge, Grid, Span};

    const MINUTE: i64 = 60_000;

    fn cut(minutes: u32) -> Cut {
        Cut::new(Span::Day, Period::from_milliseconds(minutes * 60_000), 1440)
    }

    #[test]
    fn the_phase_is_where_most_rows_report() {
        let clock = Clock::new("Europe/Vienna").unwrap();
        let phase =
            |minutes: u32, at: &dyn Fn(i64) -> i64| phase_of_rows(cut(minutes), &clock, (0..200).map(at));
        assert_eq!(phase(15, &|row| row * 15 * MINUTE), 0);
        assert_eq!(phase(15, &|row| row * 15 * MINUTE + 7 * MINUTE), 7 * MINUTE);
        assert_eq!(phase(15, &|row| row * 15 * MINUTE + 7 * MINUTE + row % 3 * 900), 7 * MINUTE + 1000);
        // A clock that is a second off now and then.
        assert_eq!(phase(5, &|row| row * 5 * MINUTE + [0, -1000, 1000][row as usize % 3]), 0);
        // A few seconds late, and irregular rows.
        assert_eq!(phase(5, &|row| row * 5 * MINUTE + 11_000), 0);
        assert_eq!(phase(15, &|row| row * 7 * MINUTE + row * row * 977), 0);
        // Seven minutes do not divide a day: ticks are absolute, or begin anew with it in streams of before.
        let sevens = |row: i64| row * 7 * MINUTE + 2 * MINUTE;
        assert_eq!(phase(7, &sevens), 2 * MINUTE);
        let before = Cut { grid: Grid::OfSpan, ..cut(7) };
        assert_eq!(phase_of_rows(before, &clock, (0..200).map(sevens)), 0);
        assert_eq!(phase_of_rows(cut(15), &clock, [7 * MINUTE].into_iter()), 0);
    }

    #[test]
    fn a_sample_finds_the_nearest_tick_and_half_goes_to_the_earlier_one() {
        let channel = |kind| Channel { kind, ..Channel::default() };
        let channels = [channel(ChannelKind::Gauge(Gauge::default())), channel(ChannelKind::Interval)];
        for period in [4_u32, 5, 300_000] {
            let rules =
                TickRules::new(&channels, Cut::new(Span::Day, Period::from_milliseconds(period), 9), 0);
            let tick = |channel, at: i64| rules.on_clock(channel, at).div_euclid(period.into());
            let half = i64::from(period) / 2;
            assert_eq!([0, half, half + 1].map(|at| tick(0, at)), [0, 0, 1], "{period}");
            assert_eq!(tick(0, -1), if period == 2 { -1 } else { 0 });
            assert_eq!([0, half + 1, i64::from(period)].map(|at| tick(1, at)), [0, 0, 1]);
        }
        let times: Vec<i64> =
            TickRules::new(&channels, Cut::new(Span::Day, Period::from_milliseconds(5), 9), 3)
                .times(10)
                .collect();
        assert_eq!(times, [7, 9]);
        assert_eq!(
            TickRules::new(&channels[..1], Cut::new(Span::Day, Period::from_milliseconds(5), 9), 3)
                .times(10)
                .count(),
            1
        );
    }
}
