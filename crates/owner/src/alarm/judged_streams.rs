//! The streams of a device whose windows an alarm judges.

use std::collections::BTreeSet;

use crate::declared::{OnLimit, Plant};
use crate::devices::{self, DeviceRecord};
use crate::streams::Kind;
use crate::windows::StoredWindow;

/// In each bundle, the streams of the shortest span with all channels of an alarm. Others hold the same readings in windows that
/// end later.
pub(super) struct JudgedStreams {
    /// The names of streams, by bundle.
    bundles: Vec<BTreeSet<String>>,
}

impl JudgedStreams {
    pub(super) fn of(plant: &Plant, on: &OnLimit, record: &DeviceRecord) -> Self {
        let channels = on.question.channels();
        let kind = on.question.calls().next().map(|call| Kind::of(&call.needs()));
        let of_bundle = |bundle: &devices::BundleRecord| {
            let with_all = || {
                let of_kind = bundle.streams.iter().filter(|profile| Kind::of_profile(profile) == kind);
                of_kind.filter(|profile| {
                    let shown = |name| plant.settings().shown_channel(name);
                    let names: BTreeSet<&str> =
                        profile.channels.iter().map(|channel| shown(&channel.name)).collect();
                    channels.iter().all(|name| names.contains(name.as_str()))
                })
            };
            let shortest = with_all().filter_map(|profile| profile.span).min();
            with_all()
                .filter(|profile| profile.span == shortest)
                .map(|profile| profile.stream.clone())
                .collect()
        };
        Self { bundles: record.bundles.iter().map(of_bundle).collect() }
    }

    /// Returns true if the alarm judges a window of this stream.
    pub(super) fn has(&self, window: &StoredWindow) -> bool {
        self.bundles.get(window.bundle).is_some_and(|streams| streams.contains(&*window.stream))
    }

    /// Returns true if no stream of the latest bundle has all channels.
    pub(super) fn latest_has_none(&self) -> bool {
        self.bundles.last().is_some_and(BTreeSet::is_empty)
    }
}
