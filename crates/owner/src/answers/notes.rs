//! Remarks for the reader of an answer.

use std::collections::BTreeMap;

use sotto_api::devices::Device;
use sotto_cloud_client::Cloud;
use sotto_pack::Clock;

use crate::declared::Plant;
use crate::devices;
use crate::error::{FaultyWindow, OwnerError, faulty};
use crate::gathered::{Decided, Need, NeedId, Tally};
use crate::question::{Asked, AskedCall, ExactScheme};
use crate::runs;
use crate::windows::{DeviceWindows, once};

/// Returns a number above 0 rounded up to two digits.
fn two_digits(number: f64) -> String {
    let places = (1.0 - number.log10().floor()).clamp(0.0, 15.0) as i32;
    let scale = 10f64.powi(places);
    let up = (number * scale * (1.0 - 1e-9)).ceil() / scale;
    if up < 1e-3 { format!("{up:.1e}") } else { format!("{up}") }
}

/// Returns a note for each condition that left readings undecided.
pub(super) fn on_undecided<'t>(
    asked: &Asked<'_>,
    tallies: impl Iterator<Item = &'t Vec<Tally>>,
) -> Vec<String> {
    let mut by_need: BTreeMap<NeedId, Decided> = BTreeMap::new();
    for (need, decided) in tallies.flatten().flat_map(|tally| &tally.decided) {
        by_need.entry(*need).or_default().merge(decided);
    }
    let mut all: Vec<(String, Decided)> = Vec::with_capacity(by_need.len());
    // Earlier groups have notes of their own.
    let calls: Vec<&AskedCall<'_>> = asked.calls().filter(|call| call.is_of_rows()).collect();
    for (number, need) in asked.needs_of(&calls) {
        if let (Some(condition), Some(decided)) = (need.decides(), by_need.remove(&number)) {
            all.push((condition.to_string(), decided));
        }
    }
    all.sort_by(|a, b| a.0.cmp(&b.0));
    let note = |(condition, decided): (String, Decided)| match decided.undecided() {
        0 => None,
        count => Some(format!(
            "{condition}: {count} of {} readings are undecided, nearer to the limit than {}; each counts as half of one, and ± covers them all",
            decided.count,
            two_digits(decided.within)
        )),
    };
    all.into_iter().filter_map(note).collect()
}

/// Returns a note for each device whose windows count although `sotto.toml` does not declare it any more.
pub(super) fn on_removed(plant: &Plant, clock: &Clock, took_part: &BTreeMap<String, u64>) -> Vec<String> {
    let note = |(name, count): (&String, &u64)| {
        let removed = plant.removed().get(name)?;
        let when = match removed.at {
            Some(at) => format!("was removed on {}", &clock.rfc3339(at)[..10]),
            None => "is not in sotto.toml any more".to_owned(),
        };
        let windows =
            if *count == 1 { "its window counts".to_owned() } else { format!("its {count} windows count") };
        Some(format!("{name} {when}; {windows}"))
    };
    took_part.iter().filter_map(note).collect()
}

/// Returns a note for each device of the cloud that this folder does not know, or knows from an older copy.
/// `known` are the devices as the cloud lists them.
pub(super) fn on_unknown(plant: &Plant, cloud: &Cloud, known: &[Device]) -> Result<Vec<String>, OwnerError> {
    let mut notes = Vec::new();
    for device in known {
        let (name, windows) = (&device.name, device.sent.envelopes);
        if windows == 0 {
            continue;
        }
        let shown = plant.shown_device(name);
        if let Some(record) = devices::record(plant, name)? {
            if record.generation != device.generation && devices::is_older_than_cloud(plant, cloud, &record)?
            {
                notes.push(format!(
                    "the cloud has a newer registration of {shown} than this folder: another copy of the folder wrote it, or this \
                     folder or the cloud was put back. `sotto device take {shown}` takes over what is missing here"
                ));
            }
            continue;
        }
        if plant.settings().devices.contains_key(shown) {
            notes.push(format!(
                "the cloud has {windows} windows of {shown}, whose record devices/{name}.json is missing here: \
                 `sotto device take {shown}` brings it back from the cloud, `sotto device adopt {name}.bundle` from a bundle"
            ));
        } else if devices::device_files(plant, name)[1].exists() {
            notes.push(format!(
                "the cloud has {windows} windows of {shown}, whose secret is here and whose record is not: `sotto device add {shown}` \
                 brings the device back from the cloud"
            ));
        } else {
            notes.push(format!(
                "the cloud has {windows} windows of {name}, which this folder does not know: `sotto device adopt \
                 {name}.bundle` brings the device back, `sotto forget --device {name} --before DATE` deletes them"
            ));
        }
    }
    Ok(notes)
}

/// Returns a note on windows of a device whose own tags do not fit.
pub(crate) fn on_faulty(device: &str, windows: &[FaultyWindow]) -> String {
    let (named, count) = (faulty(windows), windows.len());
    let (were, them) =
        if count == 1 { ("1 window".to_owned(), "it") } else { (format!("{count} windows"), "them") };
    format!(
        "{were} of {device} {} left out: the device has signed {them} with tags that do not fit, or with values out of range ({named}). Its \
         program or its memory is at fault, not the cloud; `sotto device renew {device}` gives it new keys",
        if count == 1 { "was" } else { "were" }
    )
}

/// The values that windows lack if their readings come down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lacks {
    /// Counts by bin.
    Counts,
    /// Values of single windows, as their extremes or their last reading.
    Values,
    Both,
}

impl Lacks {
    /// Returns those that a question may find missing.
    pub(super) fn of(asked: &Asked<'_>) -> Self {
        let bins = asked.needs().any(|(_, need)| matches!(need, Need::Distribution { .. }));
        let values = asked.needs().any(|(_, need)| matches!(need, Need::Windows { .. }));
        match (bins, values) {
            (true, true) => Self::Both,
            (false, true) => Self::Values,
            (_, false) => Self::Counts,
        }
    }
}

/// Returns a note on windows whose readings came down.
fn fetched(count: u64, device: &str, scheme: Option<ExactScheme>, lacks: Lacks) -> String {
    let (does, why) = match (scheme, lacks) {
        (Some(_), _) => (
            "the cloud compares",
            "ciphertexts carry no counts. Make the channel comparable (`comparable = true`)",
        ),
        (None, Lacks::Counts) => (
            "the cloud adds counts",
            "the device does not count them in the bins of this question. Declare it with `sotto question add`",
        ),
        (None, Lacks::Values) => (
            "each window holds these values",
            "its windows do not hold the values that this question takes. Declare it with `sotto question add`",
        ),
        (None, Lacks::Both) => (
            "windows hold them",
            "its windows lack bins or values of this question. Declare it with `sotto question add`",
        ),
    };
    let windows = if count == 1 { "1 window".to_owned() } else { format!("{count} windows") };
    let purpose = if lacks == Lacks::Values && scheme.is_none() { "" } else { " to compare them" };
    format!(
        "the readings of {windows} of {device} were fetched{purpose}: {why}, and give the device a new bundle with `sotto device \
         renew {device}`; then {does} instead"
    )
}

/// Most runs of numbers that a note names.
const MOST_NAMED: usize = 8;

/// Returns a note for each stream on windows that were deleted without an order of the owner.
fn without_order(device: &str, unordered: &BTreeMap<String, Vec<u64>>) -> Vec<String> {
    let note = |(stream, numbers): (&String, &Vec<u64>)| {
        let runs = runs::runs(numbers.iter().copied());
        let one = |(first, count): &(u64, u32)| match count {
            1 => first.to_string(),
            count => format!("{first} to {}", first.saturating_add(u64::from(count - 1))),
        };
        let named: Vec<String> = runs.iter().take(MOST_NAMED).map(one).collect();
        let more = if runs.len() > MOST_NAMED { " and others" } else { "" };
        let (count, windows, were) = match numbers.len() {
            1 => ("1 window".to_owned(), "window", "was"),
            count => (format!("{count} windows"), "windows", "were"),
        };
        format!(
            "{count} of {device} {were} deleted from the cloud without an order of yours: {windows} {}{more} of {stream}",
            named.join(", ")
        )
    };
    unordered.iter().map(note).collect()
}

/// Returns notes on windows that the answer does not use, and on made-up ones.
pub(super) fn on_windows(listed: &[DeviceWindows], scheme: Option<ExactScheme>, lacks: Lacks) -> Vec<String> {
    let other_scheme = scheme.map_or_else(String::new, |scheme| {
        format!("was not sent under {scheme}, which the question states; without `scheme` it counts")
    });
    let mut notes = Vec::new();
    for listed in listed {
        let DeviceWindows { shown: device, aside, windows, undeclared, .. } = listed;
        let no_secret = format!(
            "cannot be opened, as secrets/{0}.key is missing; `sotto device adopt {0}.bundle` brings it back from a bundle",
            listed.device
        );
        for (channel, count) in undeclared {
            notes.push(format!(
                "{count} windows of {device} hold {channel}, which sotto.toml does not declare, and lack a channel of the question. If \
                 {channel} was renamed by hand, put the name back and run `sotto channel rename {channel} NEW`"
            ));
        }
        let generated = once(windows).filter(|window| window.description.generated).count();
        if generated > 0 {
            notes.push(format!(
                "{generated} of {} windows of {device} hold readings that a generator made up",
                once(windows).count()
            ));
        }
        for (count, why) in [
            (
                aside.unreadable,
                if listed.has_secret {
                    "was not made with a bundle of this plant"
                } else {
                    no_secret.as_str()
                },
            ),
            (
                aside.earlier,
                "is one of places, which an earlier version sent, and is not read any more; `sotto device renew` makes a bundle with which the device sends its readings again",
            ),
            (aside.other_scheme, other_scheme.as_str()),
            (aside.other_unit, "has a channel whose unit was another one then"),
            (
                aside.not_carried,
                "was encrypted for other questions, and cannot carry this one; `sotto device renew` makes a bundle that can",
            ),
            (aside.lost, "stands in the cloud's log, and the cloud cannot read it any more"),
        ] {
            match count {
                0 => {}
                1 => notes.push(format!("1 window of {device} was left out: it {why}")),
                _ => notes.push(format!("{count} windows of {device} were left out, as each {why}")),
            }
        }
        notes.extend(without_order(device, &listed.unordered));
        let (holds, windows) = match aside.overlapping {
            1 => ("holds", "1 window".to_owned()),
            count => ("hold", format!("{count} windows")),
        };
        if aside.overlapping > 0 {
            notes.push(format!(
                "{windows} of {device} {holds} readings at ticks that another window has: at each of these ticks the window with the lower \
                 number counts"
            ));
        }
        match aside.shifted {
            0 => {}
            count => notes.push(format!(
                "{count} windows of {device} meet windows of another time zone: where the device does not measure at whole periods \
                 of UTC, a reading at each of their ends and gaps may count twice or not at all"
            )),
        }
        if aside.fetched > 0 {
            notes.push(fetched(aside.fetched, device, scheme, lacks));
        }
        if aside.jumps > 0 {
            let times = if aside.jumps == 1 { "once".to_owned() } else { format!("{} times", aside.jumps) };
            notes.push(format!(
                "the numbers of {device}'s windows jump {times}: the device lost its spool while the cloud was away, or the cloud holds \
                 back the windows before"
            ));
        }
        match aside.missing {
            0 => {}
            1 => notes.push(format!(
                "1 window of {device} is missing by its number: it was not sent, or the cloud holds it back"
            )),
            count => notes.push(format!(
                "{count} windows of {device} are missing by their numbers: they were not sent, or the cloud holds them back"
            )),
        }
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_deleted_without_an_order_are_named() {
        let of = |numbers: &[u64]| {
            without_order("meter", &BTreeMap::from([("load".to_owned(), numbers.to_vec())]))
        };
        assert_eq!(
            of(&[3]),
            ["1 window of meter was deleted from the cloud without an order of yours: window 3 of load"]
        );
        let some = "4 windows of meter were deleted from the cloud without an order of yours: windows 3, 5 to 7 of load";
        assert_eq!(of(&[3, 5, 6, 7]), [some]);
        let many: Vec<u64> = (0..20).map(|number| 2 * number).collect();
        assert!(of(&many)[0].ends_with("0, 2, 4, 6, 8, 10, 12, 14 and others of load"), "{:?}", of(&many));
        assert!(without_order("meter", &BTreeMap::new()).is_empty());
    }

    #[test]
    fn a_note_on_fetched_readings_names_the_values_that_windows_lack() {
        let asked = |text: &str| {
            let question = text.parse().expect(text);
            Lacks::of(&Asked::new(&question))
        };
        assert_eq!(asked("count(x > 5), median(x) by day"), Lacks::Counts);
        assert_eq!(asked("min(x), max(x) by day"), Lacks::Values);
        assert_eq!(asked("max(x), histogram(x, 4) by day"), Lacks::Both);
        let values = fetched(3, "boiler", None, Lacks::Values);
        assert!(values.contains("values that this question takes") && !values.contains("bins"), "{values}");
        assert!(fetched(3, "boiler", None, Lacks::Counts).contains("bins"));
    }
}
