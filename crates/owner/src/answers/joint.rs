//! Ticks at which two channels have readings, each in a window of its own: joint results leave them out.

use crate::gathered::Need;
use crate::question::Asked;
use crate::windows::{DeviceWindows, StoredWindow};

/// Returns a note for each device and pair of channels with such ticks.
pub(super) fn on_partners_apart(asked: &Asked<'_>, listed: &[DeviceWindows]) -> Vec<String> {
    let pairs =
        || asked.needs().filter_map(|(_, need)| if let Need::Pair(pair) = need { Some(pair) } else { None });
    let mut notes = Vec::new();
    for device in listed {
        for pair in pairs() {
            let of = |window| (instants(window, &pair.first), instants(window, &pair.second));
            let count = apart(device.windows.iter().map(of));
            if count > 0 {
                let ticks = if count == 1 { "1 tick".to_owned() } else { format!("{count} ticks") };
                notes.push(format!(
                    "results of {1} and {2} together lack {ticks} of {0}: the readings came in different windows, \
                     later than the device keeps readings for (`--late`)",
                    device.shown, pair.first, pair.second
                ));
            }
        }
    }
    notes
}

/// Returns the instants of the readings of a channel that an answer uses, in order.
fn instants(window: &StoredWindow, channel: &str) -> Vec<i64> {
    let Some(presence) = window.channel(channel).and_then(|at| window.description.presence(at)) else {
        return Vec::new();
    };
    presence.iter().filter(|tick| window.ticks().contains(tick)).map(|tick| window.instant(tick)).collect()
}

/// Counts the instants that are in the first list of one window and in the second list of another, and in both of none.
fn apart(windows: impl Iterator<Item = (Vec<i64>, Vec<i64>)>) -> u64 {
    let (mut firsts, mut seconds) = (Vec::new(), Vec::new());
    for (first, second) in windows {
        firsts.extend(first.iter().copied().filter(|at| second.binary_search(at).is_err()));
        seconds.extend(second.iter().copied().filter(|at| first.binary_search(at).is_err()));
    }
    firsts.sort_unstable();
    seconds.sort_unstable();
    seconds.dedup();
    firsts.dedup();
    firsts.iter().filter(|at| seconds.binary_search(at).is_ok()).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partners_in_different_windows_are_counted() {
        let windows = [
            (vec![1, 2, 3, 5], vec![1, 3, 4]),
            // The late partners of 2 and 4, and one of its own.
            (vec![4, 9], vec![2]),
            (vec![7], vec![7]),
        ];
        assert_eq!(apart(windows.into_iter()), 2);
        assert_eq!(apart([(vec![1, 2], vec![1, 2]), (vec![3], vec![])].into_iter()), 0);
    }
}
