//! Sums of powers of a channel's readings, from which skewness and kurtosis follow.

use super::Circumstances;
use crate::gathered::{Need, WindowQuantity};

/// Maximum steps on either side of the middle of a range, so that sums of fourth powers are below 2^100.
const MOST_STEPS: i64 = 1 << 21;

/// Returns the sums of a channel's readings, of their squares, cubes and fourth powers, window by window.
pub(super) fn need(channel: &str) -> Need {
    Need::windows(channel, &[1, 2, 3, 4].map(WindowQuantity::Power))
}

/// Returns why there are no sums of powers of a channel; None if there are.
pub(super) fn cannot_work(channel: &str, of: &Circumstances<'_>) -> Option<String> {
    let steps = of.quantiser(channel)?.top();
    (steps > MOST_STEPS).then(|| {
        format!(
            "{channel} has {} steps from end to end of its range, and sums of fourth powers take at most {}: declare a coarser \
             resolution or a narrower range",
            2 * steps,
            2 * MOST_STEPS
        )
    })
}
