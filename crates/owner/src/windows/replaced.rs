//! Windows in whose place others come.
//!
//! A window may name others of its stream whose readings of some channels its own replace (docs/adr/0020). Of two that
//! replace one, the higher number counts.

use std::collections::{BTreeMap, BTreeSet};

use super::mirror::Entry;

/// The windows of a stream that are replaced: by number and channel, the highest number of a window that names them.
#[derive(Debug, Default)]
pub(super) struct Replaced(BTreeMap<u64, BTreeMap<String, u64>>);

/// What a window names.
struct Names {
    windows: Vec<u64>,
    channels: Vec<String>,
}

impl Names {
    fn of(entry: &Entry<'_>) -> Option<Self> {
        if !entry.replaces() {
            return None;
        }
        let description = entry.description()?;
        let replaces = description.replaces?;
        let name = |column: &u16| Some(description.layout.channels().get(usize::from(*column))?.name.clone());
        Some(Self {
            windows: replaces.windows,
            channels: replaces.channels.iter().filter_map(name).collect(),
        })
    }
}

impl Replaced {
    /// Reads what the windows of a stream's log name.
    pub(super) fn of<'e>(entries: impl IntoIterator<Item = Entry<'e>>) -> Self {
        let mut all = Self::default();
        for entry in entries {
            let Some(Names { windows, channels }) = Names::of(&entry) else { continue };
            for window in windows {
                let by = all.0.entry(window).or_default();
                for channel in &channels {
                    let highest = by.entry(channel.clone()).or_default();
                    *highest = entry.sequence().max(*highest);
                }
            }
        }
        all
    }

    /// Returns true if one of these windows is named.
    pub(super) fn has_any(&self, numbers: std::ops::Range<u64>) -> bool {
        self.0.range(numbers).next().is_some()
    }

    /// Returns the channels of a window whose readings do not count.
    pub(super) fn channels(&self, entry: &Entry<'_>) -> BTreeSet<&str> {
        if self.0.is_empty() {
            return BTreeSet::new();
        }
        let sequence = entry.sequence();
        let replaced = self.0.get(&sequence).into_iter().flat_map(BTreeMap::keys).map(String::as_str);
        let mut channels: BTreeSet<&str> = replaced.collect();
        if let Some(names) = Names::of(entry) {
            for by in names.windows.iter().filter_map(|window| self.0.get(window)) {
                let later =
                    by.iter().filter(|(channel, by)| **by > sequence && names.channels.contains(channel));
                channels.extend(later.map(|(channel, _)| channel.as_str()));
            }
        }
        channels
    }
}
