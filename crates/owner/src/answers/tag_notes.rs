//! Notes on tags: devices in several rows, and in none.

use crate::declared::settings::Settings;
use crate::language::Devices;
use crate::question::Question;
use crate::windows::DeviceWindows;

/// Number of devices or channels that a note names.
const NAMED: usize = 5;

/// Returns notes on rows of tags that overlap, and on devices that are in no row.
pub(super) fn on_tags(settings: &Settings, question: &Question, listed: &[DeviceWindows]) -> Vec<String> {
    if question.grouping != Devices::Tag {
        return Vec::new();
    }
    let names = || listed.iter().map(|device| device.shown.as_str());
    let rows = settings.tags_of(question, names());
    let in_rows =
        |tags: &[String]| tags.iter().filter(|tag| rows.contains(tag.as_str())).cloned().collect::<Vec<_>>();
    let channels = question.channels();
    let own =
        |name: &String| settings.channels.get(name).map_or_else(Vec::new, |channel| in_rows(&channel.tags));
    let of_channels: Vec<(&str, Vec<String>)> =
        channels.iter().map(|name| (name.as_str(), own(name))).collect();
    let of_devices: Vec<(&str, Vec<String>)> =
        names().map(|name| (name, in_rows(settings.member(name).tags))).collect();
    let mut notes = Vec::new();
    let several: Vec<String> = of_devices
        .iter()
        .chain(&of_channels)
        .filter(|(_, tags)| tags.len() > 1)
        .map(|(name, tags)| format!("{name} ({})", tags.join(", ")))
        .collect();
    let is_mixed = of_channels.iter().any(|(_, tags)| !tags.is_empty())
        && of_devices.iter().any(|(_, tags)| !tags.is_empty());
    if !several.is_empty() {
        notes.push(format!(
            "rows of tags overlap, so that their sums are more than that of all: {} counts in the row of each of its tags",
            named(&several)
        ));
    } else if is_mixed {
        notes.push(
            "rows of tags overlap, so that their sums are more than that of all: a reading counts in the rows of its device's tags and of its channel's"
                .to_owned(),
        );
    }
    let untagged: Vec<String> =
        of_devices.iter().filter(|(_, tags)| tags.is_empty()).map(|(name, _)| (*name).to_owned()).collect();
    if !untagged.is_empty() && of_channels.iter().any(|(_, tags)| tags.is_empty()) {
        let (has, is) = if untagged.len() == 1 { ("has", "is") } else { ("have", "are") };
        notes.push(format!(
            "{} {has} none of these tags, and {is} in no row but those of channels: `sotto device tag NAME TAG`",
            named(&untagged)
        ));
    }
    notes
}

fn named(names: &[String]) -> String {
    match names.len().saturating_sub(NAMED) {
        0 => names.join(", "),
        more => format!("{} and {more} more", names[..NAMED].join(", ")),
    }
}
