//! Windows that are computed together.

use crate::streams::Kind;
use crate::windows::StoredWindow;

/// Windows of one kind, layout, period and parameter set, of which an answer uses the same channels.
pub(super) struct Batch<'w> {
    pub(super) kind: Kind,
    pub(super) windows: Vec<&'w StoredWindow>,
}

impl<'w> Batch<'w> {
    /// Divides windows into batches, in the order of their first windows.
    pub(super) fn all(windows: impl Iterator<Item = &'w StoredWindow>) -> Vec<Self> {
        let mut batches: Vec<Self> = Vec::new();
        for window in windows {
            let Some(kind) = window.kind() else { continue };
            let same = |batch: &&mut Self| {
                let first = batch.windows[0];
                first.parameter_id == window.parameter_id
                    && first.stream_of_sums() == window.stream_of_sums()
                    && first.origin == window.origin
                    && first.description.period == window.description.period
                    && first.layout() == window.layout()
                    && first.has_channels_of(window)
            };
            match batches.iter_mut().find(same) {
                Some(batch) => batch.windows.push(window),
                None => batches.push(Self { kind, windows: vec![window] }),
            }
        }
        batches
    }
}
