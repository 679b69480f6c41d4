//! What becomes of the readings of a run.

use sotto_pack::Reason;

use super::reports::Report;
use crate::windows::lost::is_lost;

/// What becomes of a reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It is in a window.
    Taken,
    /// It was put there by a run that was killed before its window was sent.
    There,
    /// It is left out.
    Left(Reason),
    /// Its tick, or its time, has another value that was sent.
    OtherValue,
}

/// The outcomes of the readings of a part, with the readings.
pub(super) type Outcomes = Vec<(Report, Outcome)>;

impl Outcome {
    /// Returns the reason why the reading is left out.
    pub(super) fn reason(self) -> Option<Reason> {
        match self {
            Self::Taken | Self::There => None,
            Self::Left(reason) => Some(reason),
            Self::OtherValue => Some(Reason::AlreadySent),
        }
    }

    /// Returns true if the reading ends in no window although it is a new one.
    pub(super) fn is_lost(self) -> bool {
        match self {
            Self::OtherValue => true,
            Self::Left(reason) => is_lost(reason),
            Self::Taken | Self::There => false,
        }
    }
}
