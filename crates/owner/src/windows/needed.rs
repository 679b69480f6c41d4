//! The windows that are needed: by channel, and by the form of exact ones.

use std::collections::{BTreeMap, BTreeSet};

use sotto_pack::Channel;
use sotto_rlwe::SchemeId;
use sotto_wire::{Digest, StreamHeader};

use super::leaves::Leaves;
use super::mirror::StreamLog;
use super::past::LogThen;
use super::window::{StoredWindow, position};
use crate::error::OwnerError;
use crate::question::{ExactScheme, Question};
use crate::streams::{Kind, Needs, sums_fit};

/// The windows that are needed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Needed {
    /// The channels; None: all.
    pub(super) channels: Option<BTreeSet<String>>,
    /// The quantities, without those that a window has once: readings take their place.
    quantities: Needs,
    forms: Forms,
    /// The log of each stream, as far as it is looked at; None: all.
    logs: Option<BTreeMap<String, LogThen>>,
    /// True if shorter windows count before those with more channels.
    pub(super) shorter_first: bool,
    /// True if windows with another unit than that of `sotto.toml` are listed, too.
    pub(super) any_unit: bool,
    /// True if windows that follow each other may be one entry of the list.
    pub(super) runs: bool,
}

/// The forms of exact windows. A device may send a reading both in a sum and in a ciphertext.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Forms {
    /// Every form, by itself.
    #[default]
    All,
    /// Each reading once, from sums that carry the quantities rather than from ciphertexts.
    Any,
    /// Ciphertexts of this scheme.
    Stated(ExactScheme),
}

/// The rank of ciphertexts among windows with the same readings.
pub(super) const CIPHERTEXT: u8 = 1;

impl Needed {
    /// Returns the windows that a question needs.
    pub(crate) fn of(question: &Question) -> Self {
        let forms = question.scheme.map_or(Forms::Any, Forms::Stated);
        let mut quantities = Needs::default();
        question.calls().for_each(|call| quantities.merge(&Needs::of(&call.needs())));
        quantities.bins.clear();
        quantities.windows.clear();
        Self { channels: Some(question.channels()), quantities, forms, ..Self::default() }
    }

    /// Limits the logs of a device's streams to those of then, and to none of other streams.
    pub(crate) fn as_of(&self, logs: BTreeMap<String, LogThen>) -> Self {
        Self { logs: Some(logs), ..self.clone() }
    }

    /// Lists windows of sums that follow each other as one entry, if `runs`.
    pub(crate) fn in_runs(self, runs: bool) -> Self {
        Self { runs, ..self }
    }

    /// Cuts the log of a stream to the windows that are looked at, and returns their root. `device` is shown.
    pub(super) fn cut(
        &self,
        device: &str,
        leaves: Leaves<'_>,
        log: &mut StreamLog,
    ) -> Result<Digest, OwnerError> {
        match &self.logs {
            None => Ok(log.tree().root()),
            Some(logs) => logs.get(leaves.name.stream).cloned().unwrap_or_default().cut(device, leaves, log),
        }
    }

    /// Returns windows with each reading once.
    pub(crate) fn once() -> Self {
        Self { forms: Forms::Any, ..Self::default() }
    }

    /// Iterates over the channels of a window that are needed, and whose readings count.
    pub(super) fn channels<'w>(
        &self,
        window: &'w StoredWindow,
    ) -> impl Iterator<Item = &'w Channel> + use<'w, '_> {
        let all = window.layout().channels().iter().filter(|channel| window.uses(&channel.name));
        all.filter(|channel| self.channels.as_ref().is_none_or(|needed| needed.contains(&channel.name)))
    }

    /// Returns windows with each reading once, from the shortest ones, whatever their units: alarms judge these, whichever
    /// channels they name.
    pub(crate) fn for_alarms() -> Self {
        Self { shorter_first: true, any_unit: true, ..Self::once() }
    }

    /// Returns windows of every form, whatever their units: a status counts these.
    pub(crate) fn for_status() -> Self {
        Self { any_unit: true, ..Self::default() }
    }

    /// Returns the rank of a window of sums among those with the same readings, of which the one with the highest rank
    /// counts: above that of [`CIPHERTEXT`] if its sums carry the quantities, else below.
    pub(super) fn rank(&self, window: &StoredWindow, stream: &StreamHeader) -> u8 {
        // A product with a channel that the window lacks is one of other windows.
        let mut quantities = self.quantities.clone();
        let has = |name: &String| position(window.layout(), name).is_some();
        quantities.products.retain(|(x, y)| has(x) && has(y));
        let carried = sums_fit(&quantities, window.layout().channels(), stream.parts());
        if carried.is_ok() { CIPHERTEXT + 1 } else { CIPHERTEXT - 1 }
    }

    /// Returns how many of the needed products a window of sums holds, or a ciphertext can give. Its channels count from such a
    /// window, whichever others have them.
    pub(super) fn products(&self, window: &StoredWindow, stream: Option<&StreamHeader>) -> usize {
        let has = |name: &String| position(window.layout(), name).is_some();
        let holds = |pair: &(String, String)| {
            let only = Needs { products: [pair.clone()].into(), ..Needs::default() };
            let carried =
                |stream: &StreamHeader| sums_fit(&only, window.layout().channels(), stream.parts()).is_ok();
            has(&pair.0) && has(&pair.1) && stream.is_none_or(carried)
        };
        self.quantities.products.iter().filter(|pair| holds(pair)).count()
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
            missed += if !keep && !sent.contains(&(window.bundle, scheme.id())) {
                window.count as usize
            } else {
                0
            };
            keep
        });
        missed
    }
}
