//! Requests for sums.

use sotto_cloud_client::SumOf;
use sotto_wire::SumRequest;

/// Converts a sum to the form of the transcript's request.
pub(crate) fn sum_request(sum: &SumOf) -> SumRequest<'_> {
    SumRequest { envelopes: sum.envelopes, places: sum.places, weights: sum.weights.as_deref() }
}
