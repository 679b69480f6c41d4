//! Counts of readings, by stream and channel.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sotto_pack::{LeftOut, WindowDescription};

/// Number of windows of a stream, and counts of their readings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Number of windows.
    pub windows: u64,
    /// Channels by name.
    pub channels: BTreeMap<String, ChannelTotals>,
}

/// Counts of a channel's readings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChannelTotals {
    /// Readings in windows.
    pub readings: u64,
    /// Readings left out, by reason.
    #[serde(default, skip_serializing_if = "LeftOut::is_empty")]
    pub left_out: LeftOut,
}

impl Totals {
    /// Returns the counts of one window.
    #[must_use]
    pub fn of(description: &WindowDescription) -> Self {
        let left_out = |channel: usize| description.left_out.get(channel).cloned().unwrap_or_default();
        let channels = description.layout.channels().iter().zip(&description.present).enumerate();
        let channels = channels.map(|(index, (channel, present))| {
            let totals = ChannelTotals { readings: (*present).into(), left_out: left_out(index) };
            (channel.name.clone(), totals)
        });
        Self { windows: 1, channels: channels.collect() }
    }

    /// Adds other counts.
    pub fn add(&mut self, other: &Self) {
        self.windows = self.windows.saturating_add(other.windows);
        for (name, other) in &other.channels {
            let channel = self.channels.entry(name.clone()).or_default();
            channel.readings = channel.readings.saturating_add(other.readings);
            channel.left_out.merge(&other.left_out);
        }
    }

    /// Returns the number of readings of all channels.
    #[must_use]
    pub fn readings(&self) -> u64 {
        self.channels.values().fold(0, |sum, channel| sum.saturating_add(channel.readings))
    }

    /// Returns the counts of readings left out, over all channels.
    #[must_use]
    pub fn left_out(&self) -> LeftOut {
        let mut all = LeftOut::default();
        self.channels.values().for_each(|channel| all.merge(&channel.left_out));
        all
    }
}
