//! The bins that distributions need.

use sotto_pack::{ChannelBins, Quantiser};

use super::distribution;
use crate::language::Comparison;

/// Number of bins that a question for an extreme or a quantile takes, unless it declares a precision.
pub const USUAL_BINS: u32 = 16;

/// Bins in which a device counts a channel's readings for a question.
///
/// ```
/// use sotto_owner::BinsNeeded;
/// use sotto_pack::Quantiser;
/// use sotto_owner::question::Comparison;
///
/// let boiler = Quantiser::with_resolution(-20.0, 120.0, 0.5)?;
/// let limit = BinsNeeded::Limit(Comparison::Greater, 80.0);
/// assert_eq!(limit.edges(&boiler, (-20.0, 120.0)), [61], "61 steps above the middle of the range, 50 °C");
/// # Ok::<(), sotto_pack::RangeError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum BinsNeeded {
    /// The readings on both sides of a limit.
    Limit(Comparison, f64),
    /// The readings between two limits, and on both sides of them.
    Between([(Comparison, f64); 2]),
    /// This many bins of equal width over the declared range.
    Equal(u32),
    /// Bins with these edges.
    Edges(Vec<f64>),
}

impl BinsNeeded {
    /// Returns the first numbers of the bins, for a channel with this declared range.
    #[must_use]
    pub fn edges(&self, quantiser: &Quantiser, range: (f64, f64)) -> Vec<i64> {
        match self {
            Self::Limit(comparison, limit) => distribution::edges(quantiser, *comparison, *limit),
            Self::Between(sides) => {
                let edges = |&(comparison, limit): &_| distribution::edges(quantiser, comparison, limit);
                sides.iter().flat_map(edges).collect()
            }
            Self::Equal(count) => ChannelBins::equal(quantiser, range.0, range.1, *count).collect(),
            // The last bin includes its upper edge.
            Self::Edges(edges) => {
                let (last, first) =
                    edges.split_last().map_or((None, &[][..]), |(last, first)| (Some(last), first));
                let below = first.iter().map(|limit| ChannelBins::from(quantiser, *limit));
                below.chain(last.map(|limit| ChannelBins::above(quantiser, *limit))).collect()
            }
        }
    }

    /// Returns the bins of an extreme or a quantile without a declared precision.
    pub(crate) fn usual() -> Self {
        Self::Equal(USUAL_BINS)
    }
}
