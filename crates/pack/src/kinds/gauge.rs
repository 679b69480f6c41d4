//! Gauges: samples of a quantity.

use alloc::string::String;

use serde::{Deserialize, Serialize};

use super::{Between, Rules, Several};

/// Samples of a quantity, as a temperature. A tick has the reading nearest to it.
///
/// Example: [`crate::ChannelKind`]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gauge {
    /// What a tick with several readings holds: by default their mean.
    #[serde(default = "mean")]
    pub several: Several,
    /// For a sensor that reports changes alone: the milliseconds that a reading holds at most. None: a tick without a
    /// reading has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold: Option<u64>,
}

fn mean() -> Several {
    Several::Mean
}

impl Default for Gauge {
    fn default() -> Self {
        Self { several: Several::Mean, hold: None }
    }
}

impl Rules for Gauge {
    fn word(&self) -> &'static str {
        "gauge"
    }

    /// A reading that holds is a report: the tick in whose interval it comes has it.
    fn samples(&self) -> bool {
        self.hold.is_none()
    }

    fn several(&self) -> Several {
        self.several
    }

    fn between(&self) -> Between {
        self.hold.map_or(Between::Nothing, |hold| Between::Held(Some(hold)))
    }

    fn check(&self, _: &str, _: (f64, f64), _: Option<f64>) -> Result<(), String> {
        match self.hold {
            Some(0) => Err("a reading holds for at least a millisecond: leave hold out".into()),
            _ => Ok(()),
        }
    }
}
