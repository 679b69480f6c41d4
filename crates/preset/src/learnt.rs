//! Units and kinds that messages have told about channels.

use std::collections::HashMap;

use crate::kind::Kind;

/// Maximum number of channels of which something is kept.
const MOST: usize = 20_000;

/// Facts about one channel.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    pub(crate) unit: Option<String>,
    pub(crate) kind: Option<Kind>,
}

/// Facts by device and channel.
#[derive(Debug, Default)]
pub(crate) struct Learnt(HashMap<(String, String), Facts>);

impl Learnt {
    /// Returns the facts about a channel.
    pub(crate) fn of(&self, device: &str, channel: &str) -> Facts {
        if self.0.is_empty() {
            return Facts::default();
        }
        self.0.get(&(device.to_owned(), channel.to_owned())).cloned().unwrap_or_default()
    }

    /// Returns the facts about a channel, to change them; `None` if there are too many channels.
    pub(crate) fn about(&mut self, device: String, channel: String) -> Option<&mut Facts> {
        let of = (device, channel);
        if self.0.len() >= MOST && !self.0.contains_key(&of) {
            return None;
        }
        Some(self.0.entry(of).or_default())
    }
}
