//! What a correction would take out of the answers, or cannot reach.

use std::collections::BTreeMap;

use sotto_pack::Clock;

use super::values::Part;
use crate::nouns::counted;
use crate::spool::Runs;

/// Maximum number of windows that a window of a correction names: more might not fit its description.
pub(super) const MOST_NAMED: usize = 256;
/// Number of ticks that are listed for a channel.
const LISTED: usize = 5;

/// Ticks that were sent and are in no window of a correction. Times are those of windows, in milliseconds since 1970.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lacks {
    /// By channel, the number of ticks with a reading that the file lacks, and the first of them.
    pub ticks: BTreeMap<String, (u64, Vec<i64>)>,
    /// By channel, the first tick whose window has no known number.
    pub unknown: BTreeMap<String, i64>,
    /// The start of the first window in whose time more were sent than one can name.
    pub too_many: Option<i64>,
}

impl Lacks {
    pub(super) fn add(&mut self, channel: &str, (lacks, unknown): (&Runs, &Runs), window: Part, phase: i64) {
        let ticks = |runs: &Runs| -> Vec<i64> {
            let of = |(from, to): (i64, i64)| {
                let tick = |at: i64| window.period.tick_at(at - window.start);
                (tick(from)..=tick(to - 1)).map(|tick| window.period.at(window.start, tick))
            };
            runs.iter().flat_map(of).map(|at| at.saturating_add(phase)).collect()
        };
        let lacking = ticks(lacks);
        if !lacking.is_empty() {
            let (count, first) = self.ticks.entry(channel.to_owned()).or_default();
            *count += lacking.len() as u64;
            first.extend(lacking);
            first.sort_unstable();
            first.truncate(LISTED);
        }
        if let Some((at, _)) = unknown.iter().next() {
            let at = at.saturating_add(phase);
            let first = self.unknown.entry(channel.to_owned()).or_insert(at);
            *first = at.min(*first);
        }
    }

    /// Returns true if nothing can be sent.
    pub(crate) fn is_refused(&self, allow_missing: bool) -> bool {
        self.too_many.is_some() || !self.unknown.is_empty() || !(allow_missing || self.ticks.is_empty())
    }

    /// Returns the ticks in words, with the way out.
    pub(crate) fn words(&self, clock: &Clock) -> String {
        if let Some((channel, at)) = self.unknown.iter().next() {
            return format!(
                "channel {channel}: windows from {} on were sent by an earlier version of the agent, or before the spool was lost: \
                 their numbers are not known, so they cannot be corrected; nothing was sent",
                clock.rfc3339(*at)
            );
        }
        if let Some(at) = self.too_many {
            return format!(
                "more than {MOST_NAMED} windows were sent of the time from {} on, and a window can come in the place of no more; \
                 nothing was sent: correct the days before and after it",
                clock.rfc3339(at)
            );
        }
        let of = |(channel, (count, first)): (&String, &(u64, Vec<i64>))| {
            let times: Vec<String> = first.iter().map(|at| clock.rfc3339(*at)).collect();
            let more = if *count > times.len() as u64 { " …" } else { "" };
            format!("{channel}: {}, {}{more}", counted(*count, "tick"), times.join(", "))
        };
        let all: Vec<String> = self.ticks.iter().map(of).collect();
        format!(
            "the correction lacks readings that the windows in its time have ({}); nothing was sent: add them to the file, or \
             pass --allow-missing to take them out",
            all.join("; ")
        )
    }

    /// Adds those of another stream.
    pub(crate) fn merge(&mut self, other: &Self) {
        for (channel, (count, first)) in &other.ticks {
            let all = self.ticks.entry(channel.clone()).or_default();
            all.0 += count;
            all.1.extend(first);
            all.1.sort_unstable();
            all.1.truncate(LISTED);
        }
        self.too_many = self.too_many.into_iter().chain(other.too_many).min();
        for (channel, at) in &other.unknown {
            let first = self.unknown.entry(channel.clone()).or_insert(*at);
            *first = (*at).min(*first);
        }
    }
}
