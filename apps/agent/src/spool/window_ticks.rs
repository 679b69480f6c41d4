//! The ticks of a stream by window: the readings of a window that another one replaces do not count.

use std::collections::BTreeMap;

use super::contents::Contents;
use super::runs::Runs;

/// The position of a channel in [`WindowTicks::channels`].
type Channel = u32;

/// The ticks of one window: about 50 bytes for each channel, and 16 for each run.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Window {
    ticks: Vec<(Channel, Runs)>,
    /// The numbers that it names, and for which channels.
    names: Vec<u64>,
    of_channels: Vec<Channel>,
}

/// The ticks of a stream by the number of their window.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WindowTicks {
    channels: Vec<String>,
    windows: BTreeMap<u64, Window>,
    /// By number and channel, the highest number of a window that names it.
    replaced: BTreeMap<(u64, Channel), u64>,
}

impl WindowTicks {
    /// Adds a window. A number that is there is not added again.
    pub fn add(&mut self, number: u64, contents: &Contents) {
        if self.windows.contains_key(&number) {
            return;
        }
        let ticks = contents.sent.iter().map(|(name, runs)| (self.channel(name), runs.clone())).collect();
        let of_channels: Vec<Channel> =
            contents.names.channels.iter().map(|name| self.channel(name)).collect();
        for window in &contents.names.windows {
            for channel in &of_channels {
                let highest = self.replaced.entry((*window, *channel)).or_insert(number);
                *highest = number.max(*highest);
            }
        }
        let names = contents.names.windows.clone();
        self.windows.insert(number, Window { ticks, names, of_channels });
    }

    /// Returns the ticks that count, by channel.
    #[must_use]
    pub fn counted(&self) -> BTreeMap<String, Runs> {
        let mut all: Vec<Runs> = vec![Runs::default(); self.channels.len()];
        for (number, window) in &self.windows {
            let counted = window.ticks.iter().filter(|(channel, _)| self.counts(*number, window, *channel));
            counted.for_each(|(channel, runs)| all[*channel as usize].add(runs));
        }
        let all = self.channels.iter().cloned().zip(all);
        all.filter(|(_, runs)| !runs.is_empty()).collect()
    }

    /// Returns true if no window replaces this one, and none with a higher number replaces the same windows.
    fn counts(&self, number: u64, window: &Window, channel: Channel) -> bool {
        let later = |named: &u64| self.replaced.get(&(*named, channel)).is_some_and(|by| *by > number);
        let is_outdone = window.of_channels.contains(&channel) && window.names.iter().any(later);
        !self.replaced.contains_key(&(number, channel)) && !is_outdone
    }

    fn channel(&mut self, name: &str) -> Channel {
        let known = self.channels.iter().position(|known| known == name);
        known.unwrap_or_else(|| {
            self.channels.push(name.to_owned());
            self.channels.len() - 1
        }) as Channel
    }
}
