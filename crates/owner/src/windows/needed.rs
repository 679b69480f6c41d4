//! The windows that are needed: by channel, and by the form of exact ones.

use std::collections::BTreeSet;

use sotto_pack::Channel;
use sotto_rlwe::SchemeId;

use super::window::StoredWindow;
use crate::question::{ExactScheme, Question};
use crate::streams::Kind;

/// The windows that are needed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Needed {
    /// The channels; None: all.
    pub(super) channels: Option<BTreeSet<String>>,
    forms: Forms,
}

/// The forms of exact windows. A device may send a reading both in a sum and in a ciphertext.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Forms {
    /// Every form, by itself.
    #[default]
    All,
    /// Each reading once, from sums rather than from ciphertexts.
    Any,
    /// Ciphertexts of this scheme.
    Stated(ExactScheme),
}

impl Needed {
    /// Returns the windows that a question needs.
    pub(crate) fn of(question: &Question) -> Self {
        let forms = question.scheme.map_or(Forms::Any, Forms::Stated);
        Self { channels: Some(question.channels()), forms }
    }

    /// Returns windows with each reading once.
    pub(crate) fn once() -> Self {
        Self { channels: None, forms: Forms::Any }
    }

    /// Iterates over the channels of a window that are needed.
    pub(super) fn channels<'w>(
        &self,
        window: &'w StoredWindow,
    ) -> impl Iterator<Item = &'w Channel> + use<'w, '_> {
        let all = window.layout().channels().iter();
        all.filter(|channel| self.channels.as_ref().is_none_or(|needed| needed.contains(&channel.name)))
    }

    /// Returns the kind of a window and, if every form is needed, its scheme. Windows that differ in it may hold the same
    /// readings.
    pub(super) fn form(&self, window: &StoredWindow) -> Option<(Kind, Option<SchemeId>)> {
        let scheme = window.scheme.filter(|_| self.forms == Forms::All);
        window.kind().map(|kind| (kind, scheme))
    }

    /// Takes out exact windows that are not of the stated scheme. Returns the number of those whose bundles, counted from 0,
    /// send no readings under it.
    pub(super) fn take_out_others(
        &self,
        windows: &mut Vec<StoredWindow>,
        sent: &BTreeSet<(usize, SchemeId)>,
    ) -> usize {
        let Forms::Stated(scheme) = self.forms else { return 0 };
        let mut missed = 0;
        windows.retain(|window| {
            let keep = window.kind() == Some(Kind::Real) || window.scheme == Some(scheme.id());
            missed += usize::from(!keep && !sent.contains(&(window.bundle, scheme.id())));
            keep
        });
        missed
    }
}
