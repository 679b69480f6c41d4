//! Kinds of channels: how a time finds its tick, what several readings of a tick are, what ticks between readings hold.
//!
//! A kind is one file. Other code asks the kind ([`ChannelKind::rules`]).

mod amount;
mod angle;
mod counter;
mod gauge;
mod several;
mod state;

use alloc::string::String;

use serde::{Deserialize, Serialize};

pub use amount::Amount;
pub use angle::{ANGLE_STEPS, Angle};
pub use counter::{Counter, Increase, Increased};
pub use gauge::Gauge;
pub use several::Several;
pub use state::{MOST_STATES, State};

/// What the readings of a channel are.
///
/// ```
/// use sotto_pack::{Between, ChannelKind, Gauge, Several};
///
/// let gauge = ChannelKind::Gauge(Gauge::default());
/// assert!(gauge.rules().samples() && gauge.rules().several() == Several::Mean);
/// assert_eq!(gauge.rules().between(), Between::Nothing);
/// // Channels of earlier bundles.
/// assert!(!ChannelKind::default().rules().samples());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum ChannelKind {
    /// A channel of a stream that has no kinds: a tick takes the first reading in its interval.
    #[default]
    Interval,
    /// A quantity that is sampled, as a temperature.
    Gauge(Gauge),
    /// A total that only grows, as that of a meter.
    Counter(Counter),
    /// One of several states, as that of a contact.
    State(State),
    /// What came since the reading before, as rain.
    Amount(Amount),
    /// A direction, as that of wind.
    Angle(Angle),
}

/// The rules of a kind.
///
/// Example: [`ChannelKind`]
pub trait Rules {
    /// The word for the kind.
    fn word(&self) -> &'static str;

    /// Returns true if a reading belongs to the tick nearest to its time (of two as near, to the earlier one). Otherwise
    /// it belongs to the tick whose interval, from its instant to that of the next, holds the time.
    fn samples(&self) -> bool;

    /// Returns what a tick with several readings holds.
    fn several(&self) -> Several;

    /// Returns what ticks between readings hold.
    fn between(&self) -> Between {
        Between::Nothing
    }

    /// Returns true if a reading changes what is sent about other ticks. A window that lacks such a reading is sent
    /// again, whole.
    fn is_joined(&self) -> bool {
        self.between() != Between::Nothing
    }

    /// Checks the rules for a channel with this unit, range and resolution.
    ///
    /// # Errors
    /// The reason why the channel cannot have this kind, with what to do.
    fn check(&self, _: &str, _: (f64, f64), _: Option<f64>) -> Result<(), String> {
        Ok(())
    }
}

/// What ticks between two readings hold.
///
/// Example: [`ChannelKind`]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Between {
    /// No reading.
    Nothing,
    /// The reading before, at most so many milliseconds after it; None: until the next one.
    Held(Option<u64>),
    /// Zero.
    Zero,
}

/// The rules of streams without kinds.
struct Interval;

impl Rules for Interval {
    fn word(&self) -> &'static str {
        "interval"
    }

    fn samples(&self) -> bool {
        false
    }

    fn several(&self) -> Several {
        Several::Refuse
    }
}

impl ChannelKind {
    /// Returns the rules of this kind.
    #[must_use]
    pub fn rules(&self) -> &dyn Rules {
        match self {
            Self::Interval => &Interval,
            Self::Gauge(gauge) => gauge,
            Self::Counter(counter) => counter,
            Self::State(state) => state,
            Self::Amount(amount) => amount,
            Self::Angle(angle) => angle,
        }
    }

    /// Returns true for a channel of a stream without kinds.
    #[must_use]
    pub fn is_interval(&self) -> bool {
        *self == Self::Interval
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_says_its_word_and_nothing_else_by_default() {
        let kinds = [
            ChannelKind::Gauge(Gauge::default()),
            ChannelKind::Counter(Counter::default()),
            ChannelKind::State(State::of(["closed", "open"])),
            ChannelKind::Amount(Amount::default()),
            ChannelKind::Angle(Angle::default()),
        ];
        for kind in kinds {
            let json = serde_json::to_string(&kind).unwrap();
            assert!(json.contains(kind.rules().word()), "{json}");
            assert_eq!(serde_json::from_str::<ChannelKind>(&json).unwrap(), kind);
        }
    }
}
