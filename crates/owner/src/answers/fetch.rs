//! Readings that come down for a question: their bytes, which are bounded before any comes, and the note.

use std::collections::BTreeMap;

use super::listed::Listed;
use super::takes::taken;
use crate::amount::bytes_in_words;
use crate::declared::settings::Settings;
use crate::error::OwnerError;
use crate::functions::Call;
use crate::question::{Asked, AskedCall, WithDevices};
use crate::work::{CameDown, Computer, DeviceWork};

/// Returns the calls of a question that `is_one` takes, each once.
fn calls(asked: &Asked<'_>, is_one: impl Fn(&Call) -> bool) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for AskedCall { call, of, .. } in asked.calls().filter(|asked| is_one(asked.call)) {
        let name = WithDevices(call, *of).to_string();
        if !all.contains(&name) {
            all.push(name);
        }
    }
    all
}

/// Refuses a question for which more readings would come down than the plant allows, to be compared too, those of all its `passes` together: the
/// windows of the answer, and those of its earlier groups.
///
/// # Errors
/// [`OwnerError::Unanswerable`] with the bytes and the ways out.
pub(super) fn within(
    settings: &Settings,
    asked: &Asked<'_>,
    passes: &[(&Asked<'_>, &Listed)],
    computer: &Computer<'_>,
) -> Result<(), OwnerError> {
    if calls(asked, |call| call.is_of_readings() || call.may_compare()).is_empty() {
        return Ok(());
    }
    let [mut needed, mut compared] = [CameDown::default(); 2];
    for (asked, Listed { devices, segments, ends, .. }) in passes {
        for device in devices {
            let takes = taken(settings, asked, &device.shown);
            let (groups, weighted) = (&segments.times, &segments.weighted);
            let work = DeviceWork { asked, groups, weighted, ends, gap: None, device, takes: &takes };
            let of_device = work.bytes_of_readings()?;
            needed.add(of_device[0]);
            compared.add(of_device[1]);
        }
    }
    let does_compare = compared.windows > 0;
    needed.add(compared);
    let most = computer.most_fetched();
    if needed.bytes <= most {
        return Ok(());
    }
    let calls = calls(asked, |call| call.is_of_readings() || does_compare && call.may_compare());
    let declare = if does_compare {
        ", declare the question with `sotto question add` for windows to come"
    } else {
        ""
    };
    let megabytes = needed.bytes.div_ceil(1_000_000);
    Err(OwnerError::Unanswerable(format!(
        "{} computed from readings, of which {} would come down from {} windows, and at most {} may: ask for a shorter time or fewer \
         devices{declare}, or allow them with --fetch {megabytes}MB",
        subject(&calls),
        bytes_in_words(needed.bytes),
        needed.windows,
        bytes_in_words(most)
    )))
}

fn subject(calls: &[String]) -> String {
    format!("{} {}", calls.join(", "), if calls.len() == 1 { "is" } else { "are" })
}

/// Returns a note on the readings that came down, if any did.
pub(super) fn note(asked: &Asked<'_>, came_down: &BTreeMap<String, CameDown>) -> Option<String> {
    let windows: u64 = came_down.values().map(|of| of.windows).sum();
    // None where earlier answers had them.
    let bytes = match came_down.values().map(|of| of.bytes).sum() {
        0 => " for earlier answers".to_owned(),
        bytes => format!(", {}", bytes_in_words(bytes)),
    };
    let windows = if windows == 1 { "1 window".to_owned() } else { format!("{windows} windows") };
    let of = match came_down.len() {
        1 => came_down.keys().next()?.clone(),
        count => format!("{count} devices"),
    };
    let calls = calls(asked, Call::is_of_readings);
    (!came_down.is_empty()).then(|| {
        format!("{} computed from readings: those of {windows} of {of} came down{bytes}", subject(&calls))
    })
}
