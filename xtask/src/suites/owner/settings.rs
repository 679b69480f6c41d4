//! The names in `sotto.toml`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The tables of channels and devices, as `sotto` writes them.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// Names of channels, by the names in streams.
    pub(super) channels: BTreeMap<String, String>,
    /// Names of devices, by the names in the cloud.
    pub(super) devices: BTreeMap<String, String>,
}

impl Names {
    /// Reads the names; none if the file is gone.
    pub(super) fn read(plant: &Path) -> Self {
        let text = fs::read_to_string(plant.join("sotto.toml")).unwrap_or_default();
        let mut names = Self::default();
        // Tables come after a line with their name; `wire` may follow within.
        let mut table: Option<(bool, String, String)> = None;
        for line in text.lines().chain(["[end]"]) {
            if let (Some(wire), Some((_, _, of))) = (line.strip_prefix("wire = "), &mut table) {
                *of = wire.trim_matches('"').to_owned();
            }
            let Some(head) = line.strip_prefix('[') else { continue };
            if let Some((is_channel, name, wire)) = table.take() {
                let all = if is_channel { &mut names.channels } else { &mut names.devices };
                all.insert(wire, name);
            }
            let head = head.trim_end_matches(']');
            let named = |kind: &str| head.strip_prefix(kind).map(|name| name.trim_matches('"').to_owned());
            let of = |is_channel, name: String| (is_channel, name.clone(), name);
            table = named("channels.")
                .map(|name| of(true, name))
                .or_else(|| named("devices.").map(|name| of(false, name)));
        }
        names
    }
}
