//! The scheme that a question may state for its exact results.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sotto_rlwe::SchemeId;

use super::Question;
use crate::functions::Call;
use crate::gathered::Need;

/// The scheme under which a question's readings are encrypted and evaluated by the cloud, in place of sums with tags.
///
/// ```
/// use sotto_owner::question::ExactScheme;
///
/// let scheme: ExactScheme = "bfv".parse()?;
/// assert_eq!((scheme.word(), scheme.to_string()), ("bfv", "BFV".to_owned()));
/// assert!("ckks".parse::<ExactScheme>().unwrap_err().to_string().contains("leave scheme out"));
/// # Ok::<(), sotto_owner::question::NotExact>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum ExactScheme {
    /// Brakerski, Fan, Vercauteren.
    Bfv,
    /// Brakerski, Gentry, Vaikuntanathan.
    Bgv,
}

/// The reason why a word names no scheme for exact results.
///
/// Example: [`ExactScheme`]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotExact {
    /// The word is `ckks`.
    #[error(
        "ckks rounds, and exact results have no error beside the resolution: write bfv or bgv, or leave scheme out. Polynomials and \
         models are evaluated under CKKS without it"
    )]
    Ckks,
    /// The word is another one.
    #[error("{0:?} is no scheme: write bfv or bgv, or leave scheme out for sums with tags")]
    Unknown(String),
}

impl ExactScheme {
    /// All schemes.
    pub const ALL: [Self; 2] = [Self::Bfv, Self::Bgv];

    /// Returns the word in `sotto.toml` and in names of streams.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Bfv => "bfv",
            Self::Bgv => "bgv",
        }
    }

    /// Returns the scheme of ciphertexts.
    #[must_use]
    pub fn id(self) -> SchemeId {
        match self {
            Self::Bfv => SchemeId::Bfv,
            Self::Bgv => SchemeId::Bgv,
        }
    }
}

impl Display for ExactScheme {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Bfv => "BFV",
            Self::Bgv => "BGV",
        })
    }
}

impl FromStr for ExactScheme {
    type Err = NotExact;

    fn from_str(word: &str) -> Result<Self, NotExact> {
        match word {
            "ckks" => Err(NotExact::Ckks),
            word => Self::ALL
                .into_iter()
                .find(|scheme| scheme.word() == word)
                .ok_or_else(|| NotExact::Unknown(word.chars().take(20).collect())),
        }
    }
}

impl TryFrom<String> for ExactScheme {
    type Error = NotExact;

    fn try_from(word: String) -> Result<Self, NotExact> {
        word.parse()
    }
}

impl From<ExactScheme> for String {
    fn from(scheme: ExactScheme) -> Self {
        scheme.word().to_owned()
    }
}

impl Question {
    /// Returns true if a result is exact, so that the question may state a scheme.
    pub(super) fn has_exact_results(&self) -> bool {
        self.calls().any(|call: &Call| !call.needs().iter().any(Need::is_real))
    }
}
