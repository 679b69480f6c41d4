//! The counts of a run: readings taken, and lost.

use std::collections::BTreeMap;

use sotto_pack::{Channel, ChannelKind, Reason};

use super::filling::Filling;
use super::lost::{FirstLost, is_lost};
use super::{Lost, ReadRow, Taken, Windows};

impl Windows {
    /// Returns the counts of this run for each stream that the source feeds.
    #[must_use]
    pub fn taken(&self) -> Vec<Taken> {
        self.streams.iter().map(Filling::taken).collect()
    }

    /// Returns the readings of this run that are lost. A reading counts once, whatever streams have its channel.
    #[must_use]
    pub fn lost(&self) -> Lost {
        let mut lost = Lost { first: self.lost.clone(), ..Lost::default() };
        let mut most: BTreeMap<(String, Reason), u64> = BTreeMap::new();
        for stream in &self.streams {
            let Taken { totals, other_values, .. } = stream.taken();
            let mut add = |channel: &str, reason, count: u64| {
                let all = most.entry((channel.to_owned(), reason)).or_default();
                *all = count.max(*all);
            };
            for (channel, totals) in &totals.channels {
                let has_states = self.channels.iter().any(|own| own.name == *channel && has_states(own));
                let is_lost = |reason| is_lost(reason) || has_states && reason == Reason::Text;
                let lost = totals.left_out.iter().filter(|(reason, _)| is_lost(*reason));
                lost.for_each(|(reason, count)| add(channel, reason, count));
            }
            for (channel, count) in stream.channels().zip(&other_values) {
                add(channel, Reason::AlreadySent, *count);
            }
            let first = stream.first_lost().into_iter().flat_map(FirstLost::iter);
            first.for_each(|reading| lost.first.note(reading.row, &reading.channel, reading.reason));
        }
        most.into_iter().for_each(|((_, reason), count)| lost.by_reason.add(reason, count));
        lost
    }

    /// Notes values of a row that no stream takes.
    pub(super) fn note_lost(&mut self, ReadRow { row, place, is_ahead, .. }: ReadRow<'_>) {
        for (at, channel) in self.channels.iter().enumerate() {
            let Some(value) = row.values.get(at).copied().flatten() else {
                // A word that is none of the states.
                if row.missing.get(at) == Some(&Some(Reason::Text)) && has_states(channel) {
                    self.lost.note(place, &channel.name, Reason::Text);
                }
                continue;
            };
            if !(channel.minimum..=channel.maximum).contains(&value) {
                self.lost.note(place, &channel.name, Reason::OutOfRange);
            } else if is_ahead {
                self.lost.note(place, &channel.name, Reason::Future);
            }
        }
    }
}

fn has_states(channel: &Channel) -> bool {
    matches!(channel.kind, ChannelKind::State(_))
}
