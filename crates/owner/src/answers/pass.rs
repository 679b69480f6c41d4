//! Notes on one pass of an answer: the windows of its rows, or those of earlier groups.

use sotto_pack::Clock;

use super::column::Column;
use super::listed::Listed;
use super::{days, gap_notes, group_notes, joint, many, notes};
use crate::declared::settings::Settings;
use crate::question::Asked;

/// The windows of a question, and their results.
pub(super) struct Pass<'p> {
    pub(super) asked: &'p Asked<'p>,
    pub(super) listed: &'p Listed,
    pub(super) columns: &'p [Column],
    /// The notes on conditions that left readings undecided.
    pub(super) undecided: Vec<String>,
    /// The devices whose pads repeat, each with a note.
    pub(super) twice: &'p [(String, String)],
}

impl Pass<'_> {
    /// Returns the notes on the windows.
    pub(super) fn on_windows(&self) -> Vec<String> {
        let Self { asked, listed, .. } = self;
        let (question, devices, groups) = (asked.question, &listed.devices, &listed.segments.times);
        let mut all = notes::on_windows(devices, question.scheme, notes::Lacks::of(asked));
        all.extend(joint::on_partners_apart(asked, devices));
        all.extend(group_notes::on_cut_ticks(groups, question, devices));
        all.extend(group_notes::on_divided(asked, groups, devices));
        all.extend(self.twice.iter().map(|(_, note)| note.clone()));
        all
    }

    /// Returns the notes on the results.
    pub(super) fn on_results(&self, settings: &Settings, clock: &Clock) -> Vec<String> {
        let before = self.listed.before;
        let mut all = self.undecided.clone();
        all.extend(days::notes(self.asked, self.columns, before, clock));
        all.extend(gap_notes::notes(self.asked, self.columns, before, settings));
        all
    }

    /// Returns all of them, those that say the same of many devices as one.
    pub(super) fn merged(&self, settings: &Settings, clock: &Clock) -> Vec<String> {
        let all = [self.on_windows(), self.on_results(settings, clock)].concat();
        let shown: Vec<&str> = self.listed.devices.iter().map(|device| device.shown.as_str()).collect();
        many::merged(all, &shown)
    }
}
