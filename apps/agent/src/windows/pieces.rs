//! The readings of an open window that were sent in pieces.

use std::collections::BTreeMap;

use sotto_pack::{Packed, Presence};

use super::closed::JoinedFacts;
use crate::spool::Runs;

/// What pieces of an open window have.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    /// The end of the last piece, in ticks of the window.
    pub(super) to: u32,
    /// For each channel, the ticks with a reading.
    ticks: Vec<Presence>,
}

impl Pieces {
    /// Returns true if a piece has a reading.
    pub(super) fn has(&self, channel: u16, tick: u32) -> bool {
        self.ticks.get(usize::from(channel)).is_some_and(|ticks| ticks.contains(tick))
    }

    pub(super) fn insert(&mut self, channel: u16, tick: u32) {
        let channel = usize::from(channel);
        if self.ticks.len() <= channel {
            self.ticks.resize(channel + 1, Presence::default());
        }
        self.ticks[channel].insert(tick);
    }

    /// Returns the facts about the whole window, which comes in the place of its pieces.
    pub(super) fn facts(&self, packed: &Packed) -> JoinedFacts {
        let (mut readings, mut cleared) = (Vec::new(), BTreeMap::new());
        for (place, channel) in packed.layout.channels().iter().enumerate() {
            let (sent, whole) = (self.ticks.get(place).cloned().unwrap_or_default(), &packed.presence[place]);
            let new = whole.iter().filter(|tick| !sent.contains(*tick)).count();
            readings.push(new as u64);
            // Ticks whose merged number is outside the range by now.
            let mut gone = Runs::default();
            for tick in sent.iter().filter(|tick| !whole.contains(*tick)) {
                let at = |tick: i64| packed.period.at(packed.start, tick);
                gone.insert(at(tick.into()), at(i64::from(tick) + 1));
            }
            if !gone.is_empty() {
                cleared.insert(channel.name.clone(), gone);
            }
        }
        JoinedFacts { readings, cleared, ends_pieces: true, ..JoinedFacts::default() }
    }
}
