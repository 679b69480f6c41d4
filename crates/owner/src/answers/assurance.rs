//! How far values are checked.

use std::fmt::{self, Display, Formatter};

use serde::{Deserialize, Serialize};

/// How far a value is checked.
///
/// ```
/// use sotto_owner::Assurance;
///
/// assert!(Assurance::Authenticated < Assurance::Unchecked);
/// assert_eq!(Assurance::Recomputed.to_string(), "recomputed");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Assurance {
    /// Tags have shown that each sum is that of the windows which the owner named.
    Authenticated,
    /// The cloud's work was repeated here on the windows as their devices signed them, and gave the same.
    Recomputed,
    /// The cloud may have made the value up.
    Unchecked,
}

impl Display for Assurance {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Authenticated => "authenticated",
            Self::Recomputed => "recomputed",
            Self::Unchecked => "unchecked",
        })
    }
}

/// Answers of earlier versions do not say how far they were checked.
pub(super) fn unchecked() -> Assurance {
    Assurance::Unchecked
}
