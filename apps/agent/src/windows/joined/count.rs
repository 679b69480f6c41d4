//! Counts of the readings of a run: in windows, and left out by reason.

use std::sync::Arc;

use sotto_pack::{LeftOut, Reason};

use super::JoinedWindows;
use super::outcome::Outcome;
use super::pending::merge;
use super::reports::Report;
use super::timeline::Timeline;
use crate::windows::closed::ClosedWindow;
use crate::windows::lost::RowPlace;

/// Maximum number of missing readings after the last reading that are not yet assigned to a window.
const LONGEST_TAIL: usize = 1 << 16;

impl JoinedWindows {
    pub(in crate::windows) fn count_sent(&mut self, sent: &ClosedWindow) {
        let Some(facts) = &sent.joined else { return };
        self.totals.windows += u64::from(!facts.provisional);
        for (channel, readings) in self.maker.timeline.rules.iter().zip(&facts.readings) {
            if let Some(totals) = self.totals.channels.get_mut(&channel.name) {
                totals.readings += readings;
            }
        }
    }

    /// Counts rows without a usable time, as one reading of each channel that the source has.
    pub(in crate::windows) fn leave_out_rows(&mut self, rows: &LeftOut) {
        let columns = Arc::clone(&self.columns);
        for (reason, count) in rows.iter() {
            for (channel, _) in columns.iter().enumerate().filter(|(_, column)| column.is_some()) {
                self.count_left_out(channel, reason, count);
                self.leave_out_later(channel, reason, count);
            }
        }
    }

    /// Counts what became of a reading.
    pub(super) fn note(&mut self, report: &Report, outcome: Outcome) {
        let channel = usize::from(report.channel);
        match outcome.reason() {
            None => {
                let at = self.ticks.time(channel, report.at);
                let (first, last) = self.span.unwrap_or((at, at));
                self.span = Some((first.min(at), last.max(at)));
            }
            Some(reason) => {
                self.count_left_out(channel, reason, 1);
                self.other_values[channel] += u64::from(outcome == Outcome::OtherValue);
                if outcome.is_lost() {
                    self.first_lost.note(report.row(), &self.maker.timeline.rules[channel].name, reason);
                }
            }
        }
    }

    /// Counts a cell without a reading. Without a reason the row is not about the channel.
    pub(super) fn miss(&mut self, channel: usize, at: i64, reason: Option<Reason>) {
        // An earlier run has counted those before its end.
        let is_earlier = self.maker.timeline.continues.is_some_and(|until| at < until);
        let Some(reason) = reason.filter(|_| self.pass.is_first && !is_earlier) else { return };
        self.count_left_out(channel, reason, 1);
        // Those behind the last reading are counted again by the next run.
        if at > self.latest && !self.rules.paced {
            self.tail.push((at, channel, reason));
        } else {
            self.leave_out(at, channel, reason);
        }
        if self.tail.len() > LONGEST_TAIL {
            self.count_tail();
        }
    }

    pub(super) fn lose(&mut self, channel: usize, at: i64, reason: Reason, row: RowPlace) {
        if !self.pass.is_first {
            return;
        }
        self.count_left_out(channel, reason, 1);
        self.first_lost.note(row, &self.maker.timeline.rules[channel].name, reason);
        if reason == Reason::Future || self.maker.timeline.continues.is_some_and(|until| at < until) {
            // It belongs to no window, or an earlier run has counted it there.
            self.leave_out_later(channel, reason, u64::from(reason == Reason::Future));
        } else {
            self.leave_out(at, channel, reason);
        }
    }

    pub(super) fn count_tail(&mut self) {
        for (at, channel, reason) in std::mem::take(&mut self.tail) {
            self.leave_out(at, channel, reason);
        }
    }

    /// Counts a reading that is left out in the window of its time.
    fn leave_out(&mut self, at: i64, channel: usize, reason: Reason) {
        let Timeline { cut, clock, .. } = &self.maker.timeline;
        self.pending.leave_out(at, channel, reason, *cut, clock);
    }

    /// Counts readings left out in the next window.
    fn leave_out_later(&mut self, channel: usize, reason: Reason, count: u64) {
        let mut left_out = vec![LeftOut::default(); channel + 1];
        left_out[channel].add(reason, count);
        merge(&mut self.maker.left_out, &left_out);
    }

    fn count_left_out(&mut self, channel: usize, reason: Reason, count: u64) {
        let name = &self.maker.timeline.rules[channel].name;
        if let Some(totals) = self.totals.channels.get_mut(name) {
            totals.left_out.add(reason, count);
        }
    }
}
