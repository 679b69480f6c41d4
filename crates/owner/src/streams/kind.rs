//! The kinds of streams.

use sotto_pack::{Encoding, StreamProfile};

use crate::gathered::Need;

/// The kinds of streams. A device encrypts a window once for each kind that its questions need.
///
/// Example: [`StreamNeeds`](crate::StreamNeeds)
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Whole numbers at the channel's resolution: sums with tags, or ciphertexts of BFV or BGV. The resolution is the only
    /// error.
    Exact,
    /// Reals in CKKS, for polynomials and models at each reading.
    Real,
    /// Whole steps of comparable channels in BFV or BGV, which the cloud compares with limits chosen later.
    Steps,
}

impl Kind {
    /// Returns the word that starts a stream's name.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Real => "real",
            Self::Steps => "steps",
        }
    }

    /// Returns the kind of the stream that answers a call with these needs.
    pub(crate) fn of(needs: &[Need]) -> Self {
        if needs.iter().any(Need::is_real) { Self::Real } else { Self::Exact }
    }

    /// Returns the kind of a stream with this profile. Returns None for streams that were not made for questions.
    pub(crate) fn of_profile(profile: &StreamProfile) -> Option<Self> {
        match profile.encoding {
            Encoding::Resolution if profile.slots.is_some() => Some(Self::Steps),
            Encoding::Resolution => Some(Self::Exact),
            Encoding::Real => Some(Self::Real),
            Encoding::Integer { .. } => None,
        }
    }
}
