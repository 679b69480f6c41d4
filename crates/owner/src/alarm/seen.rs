//! Windows as alarms see them, and verdicts on them.

use serde::{Deserialize, Serialize};

use crate::language::Comparison;
use crate::question::Probe;

/// A condition in a window: an interval may lie on both sides of a limit.
///
/// Example: [`AlarmState`](super::AlarmState)
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The condition is true.
    Holds,
    /// It does not hold.
    Fails,
    /// Value ± bound lies on both sides of the limit, or there is no certain value.
    Undecided,
}

impl Verdict {
    /// Returns the verdict on an interval.
    #[must_use]
    pub fn of(probe: &Probe, value: f64, bound: f64) -> Self {
        let Probe { comparison, limit, .. } = probe;
        let holds = |value: f64| Comparison::holds(*comparison, value, *limit);
        match (holds(value - bound), holds(value + bound)) {
            (true, true) => Self::Holds,
            (false, false) => Self::Fails,
            _ => Self::Undecided,
        }
    }

    /// Returns the verdict on the opposite condition.
    pub(super) fn opposite(self) -> Self {
        match self {
            Self::Holds => Self::Fails,
            Self::Fails => Self::Holds,
            Self::Undecided => Self::Undecided,
        }
    }
}

/// How much a window says about an alarm, the least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Certainty {
    /// Nothing.
    Open,
    /// Pieces of the window decide something; the others may change it.
    Partial,
    Decided,
}

/// A window as an alarm sees it.
///
/// Example: [`AlarmState`](super::AlarmState)
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Seen {
    /// Start, in milliseconds since 1970.
    pub from: i64,
    /// End, in milliseconds since 1970.
    pub to: i64,
    /// Number of readings.
    pub readings: u64,
    /// The alarm's condition.
    pub over: Verdict,
    /// The condition with the limit at which the alarm ends: if it fails, the window is quiet.
    pub near: Verdict,
    /// The value compared, if it is known.
    pub value: Option<f64>,
    /// The largest possible distance of the true value.
    pub bound: Option<f64>,
    /// True if only pieces of the window have come.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
}

impl Seen {
    pub(super) fn certainty(&self) -> Certainty {
        match (self.over, self.near) {
            (Verdict::Undecided, Verdict::Undecided) => Certainty::Open,
            _ if self.partial => Certainty::Partial,
            _ => Certainty::Decided,
        }
    }

    /// Returns a window of which some pieces have come: a condition that does not hold may still do so.
    pub(super) fn so_far(self) -> Self {
        let open = |verdict| if verdict == Verdict::Fails { Verdict::Undecided } else { verdict };
        Self { over: open(self.over), near: open(self.near), partial: true, ..self }
    }
}
