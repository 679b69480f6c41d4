//! States: one of several words.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::{Between, Rules, Several};
use crate::NAME_BYTES;

/// Largest number of states of a channel.
pub const MOST_STATES: usize = 256;

/// One of several states, as that of a contact. A state holds until the next report.
///
/// The number of a state is its place among the words, from 0.
///
/// Example: [`crate::ChannelKind`]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    /// The words, 2 to [`MOST_STATES`], each once.
    pub states: Vec<String>,
    /// What a tick with several reports holds: by default the last.
    #[serde(default = "last")]
    pub several: Several,
    /// The milliseconds that a state holds at most without another report. None: until the next one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold: Option<u64>,
}

fn last() -> Several {
    Several::Last
}

impl State {
    /// Returns states of these words.
    pub fn of<'w>(states: impl IntoIterator<Item = &'w str>) -> Self {
        Self { states: states.into_iter().map(String::from).collect(), several: Several::Last, hold: None }
    }

    /// Returns the number of a state, in any case of letters.
    #[must_use]
    pub fn number(&self, word: &str) -> Option<usize> {
        let exact = self.states.iter().position(|state| state == word);
        exact.or_else(|| self.states.iter().position(|state| state.to_lowercase() == word.to_lowercase()))
    }
}

impl Rules for State {
    fn word(&self) -> &'static str {
        "state"
    }

    fn samples(&self) -> bool {
        false
    }

    fn several(&self) -> Several {
        self.several
    }

    fn between(&self) -> Between {
        Between::Held(self.hold)
    }

    fn check(&self, _: &str, ends: (f64, f64), resolution: Option<f64>) -> Result<(), String> {
        let states = &self.states;
        if !(2..=MOST_STATES).contains(&states.len()) {
            return Err(format!("a channel has 2 to {MOST_STATES} states"));
        }
        for (at, state) in states.iter().enumerate() {
            if state.is_empty() || state.len() > NAME_BYTES || state.chars().any(char::is_control) {
                return Err("a state is a word of 1 to 64 bytes without control characters".into());
            }
            if states[..at].iter().any(|other| other.to_lowercase() == state.to_lowercase()) {
                return Err(format!("state {state} is given twice"));
            }
        }
        let last = (states.len() - 1) as f64;
        if (ends, resolution) == ((0.0, last), Some(1.0)) {
            Ok(())
        } else {
            Err(format!(
                "{} states are the numbers 0 to {last}: leave range and resolution out",
                states.len()
            ))
        }
    }
}
