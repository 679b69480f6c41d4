//! Weights of a weighted sum.

use serde::{Deserialize, Serialize};

use super::Duration;

/// Weights of [`Call::weighted_sum`](crate::question::Call::weighted_sum).
///
/// ```
/// use sotto_owner::question::{Call, Question, Weights};
///
/// let recent = Weights::HalfLife("6h".parse()?);
/// let question = Question::select(Call::weighted_sum("rain", recent)).build()?;
/// assert_eq!(question.to_string(), "weighted_sum(rain, half_life 6h)");
/// # Ok::<(), sotto_owner::question::QuestionError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Weights {
    /// One weight for each of as many equal parts of the group, the first part first: 1 to
    /// [`WEIGHTS`](super::limits::WEIGHTS) finite weights, not all 0.
    Each(Vec<f64>),
    /// A weight that halves for every such duration before the group's last reading.
    HalfLife(Duration),
}

impl From<Vec<f64>> for Weights {
    fn from(weights: Vec<f64>) -> Self {
        Self::Each(weights)
    }
}

impl From<Duration> for Weights {
    fn from(half_life: Duration) -> Self {
        Self::HalfLife(half_life)
    }
}
