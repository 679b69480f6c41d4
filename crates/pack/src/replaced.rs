//! Windows in whose place others come.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use crate::WindowDescription;

/// The windows of a stream that others replace ([`Replaces`](crate::Replaces)).
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
/// assert_eq!(replaced.channels(3).into_iter().collect::<Vec<_>>(), ["level"]);
/// assert!(!replaced.is_whole(3, &window), "its flow counts");
/// // Of two that replace one, the higher number counts.
/// assert_eq!((replaced.channels(7).len(), replaced.channels(9).len()), (1, 0));
/// assert_eq!(replaced.numbers().collect::<Vec<_>>(), [3, 7, 9]);
/// assert_eq!(replaced.numbers_in(4..9).collect::<Vec<_>>(), [7]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Replaced {
    /// By number and channel, the highest number of a window that names them.
    by: BTreeMap<u64, BTreeMap<String, u64>>,
    /// The numbers and channels that a window names, by its own number.
    names: BTreeMap<u64, (Vec<u64>, Vec<String>)>,
}

impl Replaced {
    /// Notes the windows that the one with a number names.
    pub fn add(&mut self, sequence: u64, window: &WindowDescription) {
        let Some(replaces) = &window.replaces else { return };
        let layout = window.layout.channels();
        let name = |column: &u16| Some(layout.get(usize::from(*column))?.name.clone());
        let channels: Vec<String> = replaces.channels.iter().filter_map(name).collect();
        for number in &replaces.windows {
            let by = self.by.entry(*number).or_default();
            for channel in &channels {
                let highest = by.entry(channel.clone()).or_default();
                *highest = sequence.max(*highest);
            }
        }
        self.names.insert(sequence, (replaces.windows.clone(), channels));
    }

    /// Returns true if no window names another.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by.is_empty()
    }

    /// Returns true if one of these windows is named.
    #[must_use]
    pub fn has_any(&self, numbers: Range<u64>) -> bool {
        self.by.range(numbers).next().is_some()
    }

    /// Returns the numbers of the windows that may have channels whose readings do not count, ascending.
    pub fn numbers(&self) -> impl Iterator<Item = u64> + '_ {
        let all: BTreeSet<u64> = self.by.keys().chain(self.names.keys()).copied().collect();
        all.into_iter()
    }

    /// Returns those of these numbers that [`Replaced::numbers`] returns, ascending.
    pub fn numbers_in(&self, range: Range<u64>) -> impl Iterator<Item = u64> + '_ {
        let named = self.by.range(range.clone()).map(|(number, _)| *number);
        let all: BTreeSet<u64> = named.chain(self.names.range(range).map(|(number, _)| *number)).collect();
        all.into_iter()
    }

    /// Returns the channels of the window with a number whose readings do not count.
    #[must_use]
    pub fn channels(&self, sequence: u64) -> BTreeSet<&str> {
        let replaced = self.by.get(&sequence).into_iter().flat_map(BTreeMap::keys).map(String::as_str);
        let mut found: BTreeSet<&str> = replaced.collect();
        if let Some((windows, own)) = self.names.get(&sequence) {
            for by in windows.iter().filter_map(|number| self.by.get(number)) {
                let later = by.iter().filter(|(channel, by)| **by > sequence && own.contains(channel));
                found.extend(later.map(|(channel, _)| channel.as_str()));
            }
        }
        found
    }

    /// Returns true if no reading of the window with a number counts.
    #[must_use]
    pub fn is_whole(&self, sequence: u64, window: &WindowDescription) -> bool {
        let gone = self.channels(sequence);
        !gone.is_empty()
            && window.layout.channels().iter().all(|channel| gone.contains(channel.name.as_str()))
    }
}
