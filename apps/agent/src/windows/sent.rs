//! The ticks of a stream that no window takes again.

use sotto_pack::{Clock, Cut, Layout, Packed};

use crate::spool::{Runs, Sent};

/// The ticks that a stream has sent, in this run and in earlier ones. Times are on the clock's ticks, those of windows later
/// by the phase.
pub(super) struct SentTicks {
    /// Every tick before this time counts as sent.
    before: i64,
    /// For each channel of the layout, its ticks.
    channels: Vec<Runs>,
    /// The first tick after the last window of earlier runs, on the clock's ticks, or an earlier one: windows begin with a cycle.
    pub(super) continues: Option<i64>,
    phase: i64,
}

impl SentTicks {
    pub(super) fn new(sent: Sent, layout: &Layout, cut: Cut, clock: &Clock, phase: i64) -> Self {
        let Sent { before, until, mut channels, .. } = sent;
        let of = |channel: &sotto_pack::Channel| channels.remove(&channel.name).unwrap_or_default();
        let channels = layout.channels().iter().map(of).collect();
        let at_tick = |time: i64| next_tick(cut, clock, time.saturating_sub(phase));
        let before = before.map_or(i64::MIN, at_tick);
        Self { before, channels, continues: until.map(at_tick).map(|tick| cut.cycle(clock, tick).0), phase }
    }

    /// Returns true if the tick of this time is sent.
    pub(super) fn has(&self, channel: usize, at: i64) -> bool {
        let tick = at.saturating_add(self.phase);
        at < self.before || self.channels.get(channel).is_some_and(|runs| runs.contains(tick))
    }

    /// Adds the ticks of a window that ends at `until`.
    pub(super) fn add(&mut self, window: &Packed, until: i64) {
        for (sent, presence) in self.channels.iter_mut().zip(&window.presence) {
            sent.add(&Runs::of_ticks(presence, window.start, window.period, until));
        }
    }
}

/// Returns the start of the first tick at or after a time.
pub(super) fn next_tick(cut: Cut, clock: &Clock, time: i64) -> i64 {
    let first = cut.first_tick(clock, time);
    if first < time { time } else { first }
}

/// Returns the ticks of closed windows, as the spool keeps them.
#[cfg(test)]
pub(super) fn of_windows<'c>(windows: impl IntoIterator<Item = &'c super::Closed>) -> Sent {
    let mut sent = Sent::default();
    for super::Closed { window, .. } in windows {
        sent.until = sent.until.max(Some(window.until));
        let description = sotto_pack::WindowDescription::from(&window.packed);
        for (channel, runs) in crate::spool::Contents::of(&description, window.until).sent {
            sent.channels.entry(channel).or_default().add(&runs);
        }
    }
    sent
}
