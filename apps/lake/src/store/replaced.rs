//! Windows in whose place another one comes (docs/adr/0020-a-window-again.md): the owner's rule, by names of channels.

use std::collections::{BTreeMap, BTreeSet};

use sotto_pack::WindowDescription;

/// The windows of a log that are replaced: by number and channel, the highest number of a window that names them.
#[derive(Debug, Default)]
pub(super) struct Replaced {
    by: BTreeMap<u64, BTreeMap<String, u64>>,
    /// What the windows that replace others name: their numbers, and the channels.
    names: BTreeMap<u64, (Vec<u64>, Vec<String>)>,
}

impl Replaced {
    /// Takes in the head of a window.
    pub(super) fn note(&mut self, sequence: u64, window: &WindowDescription) {
        let Some(replaces) = &window.replaces else { return };
        let channels = window.layout.channels();
        let name = |column: &u16| Some(channels.get(usize::from(*column))?.name.clone());
        let channels: Vec<String> = replaces.channels.iter().filter_map(name).collect();
        for replaced in &replaces.windows {
            let by = self.by.entry(*replaced).or_default();
            for channel in &channels {
                let highest = by.entry(channel.clone()).or_default();
                *highest = sequence.max(*highest);
            }
        }
        self.names.insert(sequence, (replaces.windows.clone(), channels));
    }

    /// Returns the channels of a window whose readings do not count.
    pub(super) fn channels(&self, sequence: u64) -> BTreeSet<&str> {
        let replaced = self.by.get(&sequence).into_iter().flat_map(BTreeMap::keys).map(String::as_str);
        let mut channels: BTreeSet<&str> = replaced.collect();
        // Of two windows that replace one, the higher number counts.
        if let Some((windows, mine)) = self.names.get(&sequence) {
            for by in windows.iter().filter_map(|window| self.by.get(window)) {
                let later = by.iter().filter(|(channel, by)| **by > sequence && mine.contains(channel));
                channels.extend(later.map(|(channel, _)| channel.as_str()));
            }
        }
        channels
    }

    /// Returns the numbers of windows that may have channels whose readings do not count.
    pub(super) fn numbers(&self) -> impl Iterator<Item = u64> + '_ {
        let all: BTreeSet<u64> = self.by.keys().chain(self.names.keys()).copied().collect();
        all.into_iter()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.by.is_empty()
    }
}
