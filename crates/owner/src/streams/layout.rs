//! The layout of a stream's windows.

use sotto_pack::{FleetId, Layout, PackError, Places, StreamProfile};
use sotto_rlwe::{ParameterSpec, SchemeId};

use super::kind::Kind;

/// Returns the layout of a stream's windows.
///
/// # Errors
/// [`PackError`] if the channels do not fit.
pub(crate) fn layout_of(profile: &StreamProfile, spec: &ParameterSpec) -> Result<Layout, PackError> {
    let StreamProfile { channels, ticks, encoding, compact, slots, .. } = profile;
    if compact.is_some() {
        return Places::layout(channels.clone(), *ticks);
    }
    if let (Some(Kind::Steps), Some(slots)) = (Kind::of_profile(profile), slots) {
        return Layout::of_steps(channels, *ticks, *slots);
    }
    let columns = slots.unwrap_or(u32::try_from(spec.degree / 2).unwrap_or(u32::MAX));
    let rows = if spec.scheme == SchemeId::Ckks { 1 } else { 2 };
    Layout::smallest(channels.clone(), *ticks, columns, rows, *encoding)
}

/// A stream of compact windows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CompactStream {
    pub(crate) stream: String,
    pub(crate) places: Places,
    /// The fleet whose masks its windows may share.
    pub(crate) fleet: Option<FleetId>,
}
