//! The channels that an answer needs.

use std::collections::BTreeSet;

use sotto_pack::Channel;

use super::window::StoredWindow;

/// The channels that an answer needs; None: all.
pub(super) struct Needed<'n>(pub(super) Option<&'n BTreeSet<String>>);

impl Needed<'_> {
    /// Iterates over the channels of a window that are needed.
    pub(super) fn channels<'w>(
        &self,
        window: &'w StoredWindow,
    ) -> impl Iterator<Item = &'w Channel> + use<'w, '_> {
        let all = window.layout().channels().iter();
        all.filter(|channel| self.0.is_none_or(|needed| needed.contains(&channel.name)))
    }
}
