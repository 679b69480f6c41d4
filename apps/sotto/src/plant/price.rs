//! The price of a declaration, in two lines a device: bytes, then windows, delay and bounds of the channels that change.

use sotto_owner::{Change, ChannelChange, ChannelPrice, OwnerError, Plant, Price};

use super::progress::waiting;
use crate::output::{grouped, say};

/// Names that a line has before it counts the others.
const MOST_NAMES: usize = 4;

/// The prices of all devices; the reason if no parameters are suitable.
pub(crate) type Prices = Result<Vec<(String, Price)>, OwnerError>;

/// Options of commands that declare something.
#[derive(clap::Args, Clone, Copy, Debug)]
pub(crate) struct Declaring {
    /// Show the price and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// As one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// Returns the prices of the devices of a plant.
pub(crate) fn prices(plant: &Plant) -> Prices {
    waiting("choosing parameters", || plant.prices())
}

/// Returns the changes of all devices, the largest first.
///
/// # Errors
/// The reason why a declared device cannot send the new declaration, if it could send the one before.
pub(crate) fn changes(plant: &Plant, before: &Prices, after: Prices) -> Result<Vec<Change>, OwnerError> {
    match (before, after) {
        (Ok(before), Ok(after)) => Ok(Change::all(before, &after)),
        (Err(_), Ok(after)) => Ok(Change::all(&[], &after)),
        (Ok(_), Err(error)) if !plant.settings().devices.is_empty() => Err(error),
        // Devices with fewer channels may be able to.
        (_, Err(error)) => {
            let device =
                if plant.settings().devices.is_empty() { "a device with all channels" } else { "a device" };
            eprintln!("note: {device} cannot send what is declared: {error}");
            Ok(Vec::new())
        }
    }
}

/// Says which bundles of devices serve a declaration. `what` is `the question` or `the alarm`.
pub(crate) fn say_bundles(what: &str, bundles: &[(String, Option<String>)], changes: &[Change]) {
    bundles_lines(what, bundles, changes).into_iter().for_each(say);
}

/// Returns a line for devices of whose bundles the same is said.
pub(crate) fn bundles_lines(
    what: &str,
    bundles: &[(String, Option<String>)],
    changes: &[Change],
) -> Vec<String> {
    // Devices of which the same is said are one line.
    let mut said: Vec<Said<'_>> = Vec::new();
    for (device, lacking) in bundles {
        let is_changed = changes.iter().any(|change| change.device == *device && change.is_any());
        let of = (is_changed, lacking.as_deref());
        match said.iter_mut().find(|(other, _)| *other == of) {
            Some((_, devices)) => devices.push(device),
            None => said.push((of, vec![device])),
        }
    }
    said.iter()
        .map(|((is_changed, lacking), devices)| bundles_line(what, devices, *lacking, *is_changed))
        .collect()
}

/// Devices whose bundles are alike: true if the declaration changes them, the reason why they do not serve it, their names.
type Said<'b> = ((bool, Option<&'b str>), Vec<&'b str>);

/// Describes the present bundles of devices.
fn bundles_line(what: &str, devices: &[&str], lacking: Option<&str>, is_changed: bool) -> String {
    let shown = names(devices);
    let (bundle, serves, does, one, device) = match devices {
        [device] => ("its present bundle", "serves", "does", "a new one", *device),
        _ => ("their present bundles", "serve", "do", "new ones", "NAME"),
    };
    match lacking {
        None if is_changed => format!(
            "  {shown}: {bundle} {serves} {what}; what changes takes {one}: sotto device renew {device}"
        ),
        None => format!("  {shown}: {bundle} {serves} {what}"),
        Some(reason) => format!(
            "  {shown}: {bundle} {does} not serve {what} ({reason}); make {one}: sotto device renew {device}"
        ),
    }
}

/// Returns the same for a JSON document.
pub(crate) fn bundles_json(bundles: &[(String, Option<String>)]) -> Vec<serde_json::Value> {
    let of =
        |(device, lacks): &(String, Option<String>)| serde_json::json!({"device": device, "lacks": lacks});
    bundles.iter().map(of).collect()
}

/// Ends the report of a dry run.
pub(crate) fn say_dry() {
    say("Nothing was written (--dry-run).");
}

/// Prints the largest change, and counts the others.
pub(crate) fn say_changes(changes: &[Change]) {
    changes_lines(changes).into_iter().for_each(say);
}

/// Describes the largest change, counts the others, and names the losses.
pub(crate) fn changes_lines(changes: &[Change]) -> Vec<String> {
    let Some(first) = changes.first() else { return Vec::new() };
    if changes.len() > 1 && !first.is_any() {
        let all = counted(changes.len(), "device");
        return vec![format!("  bytes, windows, delay and bounds of all {all} stay as they are")];
    }
    let mut all: Vec<String> = lines(first, &others(changes)).into();
    all.extend(lost(changes));
    all
}

/// Counts the devices beside the first one: those with the same change, with a smaller one, and without any.
fn others(changes: &[Change]) -> String {
    let Some(first) = changes.first() else { return String::new() };
    let is_same = |other: &&Change| other.before == first.before && other.after == first.after;
    let same = changes.iter().filter(is_same).count();
    let changed = changes.iter().filter(|change| change.is_any()).count().max(same);
    let unchanged = changes.len() - changed;
    let mut parts = Vec::new();
    if same > 1 {
        parts.push(format!("{} the same", counted_others(same - 1, "device")));
    }
    match changed - same {
        0 => {}
        _ if unchanged == 0 => parts.push("the others less".to_owned()),
        less => parts.push(format!("{} less", counted_others(less, "device"))),
    }
    if unchanged > 0 {
        parts.push(format!("{} unchanged", counted(unchanged, "device")));
    }
    parts.iter().map(|part| format!(", {part}")).collect()
}

/// Says which declared alarms no window can raise.
pub(crate) fn say_never_raised(plant: &Plant) -> Result<(), OwnerError> {
    for (name, reason) in plant.never_raised()? {
        eprintln!(
            "note: the alarm {name} is never raised: {reason}; `sotto alarm remove {name}` takes it out"
        );
    }
    Ok(())
}

/// Returns a line for each loss of quantities, with the devices that have it.
fn lost(changes: &[Change]) -> Vec<String> {
    let mut lines: Vec<(String, Vec<&str>)> = Vec::new();
    for change in changes {
        let one = |(quantity, of): &(&str, Vec<&str>)| format!("{quantity} of {}", names(of));
        let lost = change.lost().iter().map(one).collect::<Vec<_>>().join("; ");
        match lines.iter_mut().find(|(text, _)| *text == lost) {
            _ if lost.is_empty() => {}
            Some((_, devices)) => devices.push(&change.device),
            None => lines.push((lost, vec![&change.device])),
        }
    }
    let line = |(lost, devices): &(String, Vec<&str>)| {
        format!("  {}: no longer: {lost}; a declared question that asks for them keeps them", names(devices))
    };
    lines.iter().map(line).collect()
}

fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

fn counted_others(count: usize, what: &str) -> String {
    if count == 1 { format!("1 other {what}") } else { format!("{count} other {what}s") }
}

/// Returns the two lines about a device.
fn lines(change: &Change, more: &str) -> [String; 2] {
    let Change { device, before, after } = change;
    let before = before.as_ref();
    let each = |price: &Price| format!("{:.1}", price.bytes_a_reading);
    let all = |price: &Price| grouped(price.bytes_a_day);
    let each = was(&each(after), " bytes a reading", before.map(each));
    let all = was(&all(after), " bytes a day", before.map(all));
    let fresh = grouped(after.bytes_a_day_fresh_5m);
    [format!("  {device}: {each}, {all}; {fresh} with `--fresh 5m`{more}"), format!("  {}", windows(change))]
}

/// Writes a value with its unit, and the one before if that is another one.
fn was(after: &str, unit: &str, before: Option<String>) -> String {
    match before.filter(|before| before != after) {
        Some(before) => format!("{after}{unit} ({before} before)"),
        None => format!("{after}{unit}"),
    }
}

/// Describes the windows of the channels that change, and how many channels stay as they are.
fn windows(change: &Change) -> String {
    let changes = change.channels();
    let Some(first) = changes.first() else {
        return "windows, delay and bounds of its channels stay as they are".to_owned();
    };
    let text = format!("{}: {}", names(&first.names), described(first));
    let others: usize = changes[1..].iter().map(|other| other.names.len()).sum();
    let same = change.after.channels.len() - first.names.len() - others;
    let others = match (others, &change.before) {
        (0, _) => String::new(),
        (others, None) => {
            let differ = if others == 1 { "differs" } else { "differ" };
            format!("; {} {differ} (--json)", counted_others(others, "channel"))
        }
        (1, Some(_)) => "; 1 other channel changes otherwise (--json)".to_owned(),
        (others, Some(_)) => format!("; {others} other channels change otherwise (--json)"),
    };
    match same {
        0 => text + &others,
        1 => format!("{text}{others}; 1 other channel stays as it is"),
        same => format!("{text}{others}; {same} other channels stay as they are"),
    }
}

fn names(names: &[&str]) -> String {
    match names.get(..MOST_NAMES).zip(names.len().checked_sub(MOST_NAMES)) {
        Some((first, 1)) => format!("{} and 1 other", first.join(", ")),
        Some((first, others)) if others > 1 => format!("{} and {others} others", first.join(", ")),
        _ => names.join(", "),
    }
}

fn described(ChannelChange { before, after, .. }: &ChannelChange<'_>) -> String {
    let before = *before;
    let compared = |unit: &str, of: &dyn Fn(&ChannelPrice) -> String| was(&of(after), unit, before.map(of));
    let mut parts = vec![
        format!("windows of {}", compared("", &|price| time(price.window_ms))),
        match after.windows_a_day {
            few if few < 1.0 => format!("1 every {}", time(after.window_ms)),
            _ => compared(" a day", &|price| price.windows_a_day.to_string()),
        },
        format!("in an answer after {}", compared(" at most", &|price| time(price.delay_ms))),
    ];
    let unit = if after.unit.is_empty() { String::new() } else { format!(" {}", after.unit) };
    let mut bounded = |word: &str, of: &dyn Fn(&ChannelPrice) -> f64| {
        let word = match before.map(of) {
            Some(before) if of(after) > before => format!("coarser: {word}"),
            Some(before) if of(after) < before => format!("finer: {word}"),
            Some(_) => return,
            None => word.to_owned(),
        };
        let shown = |price: &ChannelPrice| ((of(price) * 1e6).round() / 1e6).to_string();
        parts.push(format!("{word} ±{}", compared(&unit, &shown)));
    };
    if before.is_none() && after.mean_within.max(after.largest_within).max(after.quantile_within) == 0.0 {
        parts.push("every answer exact".to_owned());
        return parts.join(", ");
    }
    bounded("a mean", &|price| price.mean_within);
    if before.is_none() && after.least_within == after.largest_within {
        bounded("the smallest and the largest reading", &|price| price.largest_within);
    } else {
        bounded("the smallest reading", &|price| price.least_within);
        bounded("the largest reading", &|price| price.largest_within);
    }
    bounded("a quantile", &|price| price.quantile_within);
    if before.is_some_and(|before| before.bins != after.bins) {
        parts.push(compared(" bins", &|price| price.bins.to_string()));
    }
    if after.sent > 1 || before.is_some_and(|before| before.sent > 1) {
        parts.push(format!("each reading in {}", compared(" windows", &|price| price.sent.to_string())));
    }
    parts.join(", ")
}

/// Writes a time in its two largest units: `1 d`, `1 h 5 min`.
fn time(milliseconds: u64) -> String {
    const UNITS: [(u64, &str); 5] =
        [(86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1000, "s"), (1, "ms")];
    let mut left = milliseconds;
    let mut parts = Vec::new();
    for (unit, name) in UNITS {
        if left >= unit && parts.len() < 2 {
            parts.push(format!("{} {name}", left / unit));
            left %= unit;
        }
    }
    if parts.is_empty() { "0 s".to_owned() } else { parts.join(" ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_their_two_largest_units() {
        for (milliseconds, shown) in
            [(86_400_000, "1 d"), (3_900_000, "1 h 5 min"), (90_061_001, "1 d 1 h"), (1500, "1 s 500 ms")]
        {
            assert_eq!(time(milliseconds), shown);
        }
    }

    #[test]
    fn others_are_counted() {
        assert_eq!(
            [1, 2].map(|count| counted_others(count, "device")),
            ["1 other device", "2 other devices"]
        );
    }

    #[test]
    fn many_names_are_counted() {
        assert_eq!(names(&["a", "b", "c", "d"]), "a, b, c, d");
        assert_eq!(names(&["a", "b", "c", "d", "e", "f"]), "a, b, c, d and 2 others");
    }
}
