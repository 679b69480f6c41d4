//! Amounts: what came since the reading before.

use alloc::string::String;

use serde::{Deserialize, Serialize};

use super::{Between, Rules, Several};

/// What came since the reading before, as tips of a rain gauge or pulses. A tick has what came in its interval, 0 if nothing
/// was reported.
///
/// Example: [`crate::ChannelKind`]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Amount {
    /// What a tick with several readings holds: by default their sum.
    #[serde(default = "sum")]
    pub several: Several,
}

fn sum() -> Several {
    Several::Sum
}

impl Default for Amount {
    fn default() -> Self {
        Self { several: Several::Sum }
    }
}

impl Rules for Amount {
    fn word(&self) -> &'static str {
        "amount"
    }

    fn samples(&self) -> bool {
        false
    }

    fn several(&self) -> Several {
        self.several
    }

    fn between(&self) -> Between {
        Between::Zero
    }

    fn check(&self, _: &str, ends: (f64, f64), _: Option<f64>) -> Result<(), String> {
        if (ends.0..=ends.1).contains(&0.0) {
            Ok(())
        } else {
            Err("the range of an amount includes 0, what a tick has in which nothing came".into())
        }
    }
}
