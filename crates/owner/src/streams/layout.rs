//! The layout of a stream's windows.

use sotto_pack::{Layout, PackError, StreamProfile};
use sotto_rlwe::ParameterSpec;

use super::kind::Kind;

/// Returns the layout of a stream's windows. `spec` has the parameters of ciphertexts; None for sums.
///
/// # Errors
/// [`PackError`] if the channels do not fit.
pub(crate) fn layout_of(profile: &StreamProfile, spec: Option<&ParameterSpec>) -> Result<Layout, PackError> {
    let StreamProfile { channels, ticks, encoding, slots, .. } = profile;
    let Some(spec) = spec.filter(|_| profile.compact.is_none()) else {
        return Layout::of_sums(channels.clone(), *ticks);
    };
    if let (Some(Kind::Steps), Some(slots)) = (Kind::of_profile(profile), slots) {
        return Layout::of_steps(channels, *ticks, *slots);
    }
    let columns = slots.unwrap_or(u32::try_from(spec.degree / 2).unwrap_or(u32::MAX));
    let rows = if spec.scheme.is_exact() { 2 } else { 1 };
    Layout::smallest(channels.clone(), *ticks, columns, rows, *encoding)
}
