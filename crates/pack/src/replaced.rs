//! Windows in whose place others come.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use core::ops::Range;

use crate::WindowDescription;

/// The windows of a stream that others replace ([`Replaces`](crate::Replaces)): by number and channel, the highest number of
/// a window that names them.
///
/// ```
/// use sotto_pack::{Channel, Layout, Period, Replaced, Replaces, WindowDescription};
///
/// let named = |name: &str| Channel { name: name.into(), maximum: 100.0, resolution: Some(1.0), ..Channel::default() };
/// let layout = Layout::of_sums(vec![named("level"), named("flow")], 4)?;
/// let window = WindowDescription::whole(&layout, 0, Period::of_seconds(60, 1)?, 4);
/// let replaces = Some(Replaces { windows: vec![3], channels: vec![0] });
/// let other = WindowDescription { replaces, ..window.clone() };
///
/// let mut replaced = Replaced::default();
/// replaced.add(7, &other);
/// replaced.add(9, &other);
/// assert!(replaced.has_any(0..4) && !replaced.has_any(4..10));
/// assert_eq!(replaced.channels(3, &window).into_iter().collect::<Vec<_>>(), ["level"]);
/// // Of two that replace one, the higher number counts.
/// assert_eq!((replaced.channels(7, &other).len(), replaced.channels(9, &other).len()), (1, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Replaced(BTreeMap<u64, BTreeMap<String, u64>>);

impl Replaced {
    /// Notes the windows that the one with a number names.
    pub fn add(&mut self, sequence: u64, window: &WindowDescription) {
        for number in named(window) {
            let by = self.0.entry(number).or_default();
            for channel in channels(window) {
                let highest = by.entry(channel.into()).or_default();
                *highest = sequence.max(*highest);
            }
        }
    }

    /// Returns true if no window names another.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns true if one of these windows is named.
    #[must_use]
    pub fn has_any(&self, numbers: Range<u64>) -> bool {
        self.0.range(numbers).next().is_some()
    }

    /// Returns the channels of the window with a number whose readings do not count.
    #[must_use]
    pub fn channels(&self, sequence: u64, window: &WindowDescription) -> BTreeSet<&str> {
        let replaced = self.0.get(&sequence).into_iter().flat_map(BTreeMap::keys).map(String::as_str);
        let mut found: BTreeSet<&str> = replaced.collect();
        let own: BTreeSet<&str> = channels(window).collect();
        for by in named(window).filter_map(|number| self.0.get(&number)) {
            let later = by.iter().filter(|(channel, by)| **by > sequence && own.contains(channel.as_str()));
            found.extend(later.map(|(channel, _)| channel.as_str()));
        }
        found
    }

    /// Returns true if no reading of the window with a number counts.
    #[must_use]
    pub fn is_whole(&self, sequence: u64, window: &WindowDescription) -> bool {
        let gone = self.channels(sequence, window);
        !gone.is_empty()
            && window.layout.channels().iter().all(|channel| gone.contains(channel.name.as_str()))
    }
}

/// Returns the numbers of the windows that a window replaces.
fn named(window: &WindowDescription) -> impl Iterator<Item = u64> {
    window.replaces.iter().flat_map(|replaces| replaces.windows.iter().copied())
}

/// Returns the channels whose readings it replaces.
fn channels(window: &WindowDescription) -> impl Iterator<Item = &str> {
    let columns = window.replaces.iter().flat_map(|replaces| &replaces.channels);
    let layout = window.layout.channels();
    columns.filter_map(|column| Some(layout.get(usize::from(*column))?.name.as_str()))
}
