//! Kinds of channels.

use serde::Deserialize;

/// The kind of a channel, as a hint for its declaration.
///
/// Example: [`Decoder`](crate::Decoder)
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A sample of a quantity.
    Gauge,
    /// A total that grows, such as a meter's.
    Counter,
    /// One of some states, until the next report.
    State,
    /// An amount since the last report, such as rain.
    Amount,
    /// A direction.
    Angle,
}

impl Kind {
    /// Returns the kind as `sotto channel add --kind` names it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Gauge => "gauge",
            Self::Counter => "counter",
            Self::State => "state",
            Self::Amount => "amount",
            Self::Angle => "angle",
        }
    }

    /// Returns the kind of a `state_class` of Home Assistant.
    pub(crate) fn of_state_class(class: &str) -> Option<Self> {
        match class {
            "measurement" => Some(Self::Gauge),
            "measurement_angle" => Some(Self::Angle),
            "total" | "total_increasing" => Some(Self::Counter),
            _ => None,
        }
    }
}
