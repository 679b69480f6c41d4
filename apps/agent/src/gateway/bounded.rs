//! Maps whose names strangers choose.

use std::collections::BTreeMap;

/// Returns the entry of a name. `None` for a new one if there are `most` names.
pub(super) fn entry<V: Default>(
    names: &mut BTreeMap<String, V>,
    name: String,
    most: usize,
) -> Option<&mut V> {
    (names.len() < most || names.contains_key(&name)).then(|| names.entry(name).or_default())
}
