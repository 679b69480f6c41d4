//! Pieces of a longer window among shorter windows of the same channels.

use std::collections::{BTreeMap, BTreeSet};

use super::row_time::Group;
use super::window::StoredWindow;

/// Spans of one length, by their start: their end, and the channels with shorter windows within.
type Spans = BTreeMap<i64, (i64, BTreeSet<String>)>;

/// Takes pieces of a window for windows of their own where shorter ones of one of their channels lie in its span: these would
/// else be windows within a window.
pub(super) fn take_apart(windows: &mut [StoredWindow]) {
    let mut spans: BTreeMap<i64, Spans> = BTreeMap::new();
    for Group { from, to } in windows.iter().filter_map(|window| window.span) {
        spans.entry(to - from).or_default().insert(from, (to, BTreeSet::new()));
    }
    for window in windows.iter() {
        let group = window.group();
        let length = group.to.saturating_sub(group.from);
        for spans in spans.range_mut(length.saturating_add(1)..).map(|(_, spans)| spans) {
            if let Some((_, (to, channels))) = spans.range_mut(..=group.from).next_back()
                && group.from < *to
            {
                let names = window.layout().channels().iter().map(|channel| &channel.name);
                channels.extend(names.filter(|name| window.uses(name)).cloned());
            }
        }
    }
    for window in windows {
        let Some(Group { from, to }) = window.span else { continue };
        let shorter = spans.get(&(to - from)).and_then(|spans| spans.get(&from));
        if shorter.is_some_and(|(_, channels)| channels.iter().any(|name| window.channel(name).is_some())) {
            window.span = None;
        }
    }
}
