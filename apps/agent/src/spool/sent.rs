//! The ticks that a stream has sent.

use std::collections::BTreeMap;

use super::contents::Contents;
use super::numbers::SentWindows;
use super::runs::Runs;

/// The ticks that a stream has sent, by channel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// Every tick before this time counts as sent: milliseconds since 1970. Spools and clouds of earlier versions name no
    /// ticks, and the owner may have deleted windows.
    pub before: Option<i64>,
    /// The end of the stream's last window: milliseconds since 1970; `None` before the first one.
    pub until: Option<i64>,
    /// The ticks by the name of their channel.
    pub channels: BTreeMap<String, Runs>,
    /// The windows; journals of earlier versions name none.
    pub windows: SentWindows,
}

/// How many of some ticks others hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Held {
    All,
    Some,
    None,
}

impl Sent {
    /// Returns how many of these ticks, by channel, are sent. Looks at the ticks of windows only.
    pub(super) fn held(&self, ticks: &BTreeMap<String, Runs>) -> Held {
        let is = |held: fn(&Runs, &Runs) -> bool| {
            move |(channel, runs): (&String, &Runs)| {
                self.channels.get(channel).is_some_and(|sent| held(sent, runs))
            }
        };
        if !ticks.is_empty() && ticks.iter().all(is(Runs::covers)) {
            return Held::All;
        }
        if ticks.iter().any(is(Runs::meets)) { Held::Some } else { Held::None }
    }

    /// Adds the ticks and the end of a window.
    pub fn add(&mut self, contents: &Contents) {
        self.until = self.until.max(contents.until);
        for (channel, runs) in &contents.sent {
            self.channels.entry(channel.clone()).or_default().add(runs);
        }
    }
}
