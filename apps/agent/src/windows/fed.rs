//! The streams that a source feeds.

use std::sync::Arc;

use sotto_pack::{Clock, Cut, Grid, Layout};

use super::Rules;
use super::filling::Filling;
use super::joined::{JoinedWindows, Known};
use super::options::Options;
use super::sent::SentTicks;
use super::stream::{ABSENT, StreamWindows};
use super::ticks::{self, TickRules};
use crate::spool::Sent;
use crate::spool::kept::Kept;
use crate::streams::Stream;

/// Facts about a stream that the source feeds.
pub(super) struct StreamFacts {
    pub(super) position: usize,
    pub(super) name: String,
    pub(super) layout: Layout,
    pub(super) is_joined: bool,
    pub(super) cut: Cut,
    /// For each channel, its position in a row. None if the source lacks it.
    pub(super) columns: Vec<Option<usize>>,
    pub(super) rules: Rules,
    pub(super) ticks: TickRules,
    pub(super) sent: Sent,
}

impl StreamFacts {
    /// Returns its windows, of which none is filled yet.
    pub(super) fn filling(&self, clock: &Clock, kept: Option<&Arc<Kept>>, corrects: bool) -> Filling {
        let Self { position, name, layout, is_joined, cut, columns, rules, ticks, sent } = self;
        let (position, cut, rules) = (*position, *cut, rules.clone());
        if !is_joined && !corrects {
            let sent = SentTicks::new(sent.clone(), layout, cut, clock, ticks.phase);
            let columns = columns.iter().map(|column| column.unwrap_or(ABSENT)).collect();
            let windows =
                StreamWindows::new(position, layout.clone(), cut, columns, rules, (ticks.clone(), sent));
            return Filling::Plain(Box::new(windows));
        }
        let known = Known {
            stream: position,
            name,
            layout: layout.clone(),
            cut,
            clock,
            ticks: ticks.clone(),
            sent: sent.clone(),
            kept: kept.filter(|_| *is_joined).cloned(),
            columns: columns.clone(),
            corrects,
        };
        Filling::Joined(Box::new(JoinedWindows::new(known, rules)))
    }
}

/// Returns the cut of a stream with this phase, and by how much the ticks of its windows are later than those of the cut.
pub(super) fn later(cut: Cut, phase: i64) -> (Cut, i64) {
    match (cut.grid, u32::try_from(phase)) {
        (Grid::Absolute { .. }, Ok(phase)) => (Cut { grid: Grid::Absolute { phase }, ..cut }, 0),
        _ => (cut, phase),
    }
}

/// Returns the phase of a stream: that of its ticks that are sent, else the one that is stated, else that of the first rows.
pub(super) fn phase(stream: &Stream, cut: Cut, clock: &Clock, sent: &Sent, options: &Options) -> i64 {
    if stream.layout.channels().iter().all(|channel| !channel.kind.rules().samples()) {
        return 0;
    }
    let tick = sent.channels.values().find_map(|runs| runs.iter().next());
    let kept = options.kept.as_ref().and_then(|kept| kept.phase(&stream.name));
    match (tick, options.phase) {
        (Some((tick, _)), _) => ticks::phase_of_tick(cut, clock, tick),
        (None, _) if kept.is_some() => kept.unwrap_or_default(),
        (None, Some(phase)) => i64::from(phase) % cut.period.cycle(),
        (None, None) => ticks::phase_of_rows(cut, clock, options.first_times.iter().copied()),
    }
}
