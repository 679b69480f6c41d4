//! The division of a stream's channels into several streams.

use std::collections::BTreeSet;

/// Most streams that channels are divided into.
const MOST_PARTS: usize = 16;

/// Divides channels into the parts whose windows are fewest in a day, and into as few parts as possible. Channels of one set
/// of `together` stay together. `windows` returns the windows a day of a stream with some channels; None if they fit none.
pub(super) fn parts(
    channels: &[String],
    together: &[&BTreeSet<&str>],
    windows: impl Fn(&[String]) -> Option<u64>,
    least: u64,
) -> Vec<Vec<String>> {
    let whole = || vec![channels.to_vec()];
    let mut best: Option<(u64, Vec<Vec<String>>)> = windows(channels).map(|count| (count, whole()));
    let joined = components(channels, together);
    for count in 2..=MOST_PARTS.min(joined.len()) {
        // Each part has a window in each span at least.
        if best.as_ref().is_some_and(|(windows, _)| *windows <= least * count as u64) {
            break;
        }
        let parts = filled(&joined, channels.len().div_ceil(count));
        let all: Option<u64> = parts.iter().map(|part| windows(part)).sum();
        if let Some(all) = all
            && best.as_ref().is_none_or(|(windows, _)| all < *windows)
        {
            best = Some((all, parts));
        }
    }
    best.map_or_else(whole, |(_, parts)| parts)
}

/// Returns the channels that stay together, in the order of their first ones.
fn components(channels: &[String], together: &[&BTreeSet<&str>]) -> Vec<Vec<String>> {
    let mut sets: Vec<BTreeSet<&str>> = Vec::new();
    for set in together.iter().filter(|set| set.len() > 1) {
        let (meeting, mut others): (Vec<_>, Vec<_>) =
            sets.into_iter().partition(|other| !other.is_disjoint(set));
        others.push(meeting.into_iter().flatten().chain(set.iter().copied()).collect());
        sets = others;
    }
    let mut components: Vec<Vec<String>> = Vec::new();
    let mut done: BTreeSet<&str> = BTreeSet::new();
    for channel in channels {
        if !done.insert(channel) {
            continue;
        }
        let set = sets.iter().find(|set| set.contains(channel.as_str()));
        let with = |other: &&String| *other == channel || set.is_some_and(|set| set.contains(other.as_str()));
        let component: Vec<String> = channels.iter().filter(with).cloned().collect();
        done.extend(channels.iter().filter(with).map(String::as_str));
        components.push(component);
    }
    components
}

/// Fills parts with components until they have `size` channels.
fn filled(components: &[Vec<String>], size: usize) -> Vec<Vec<String>> {
    let mut parts: Vec<Vec<String>> = vec![Vec::new()];
    for component in components {
        if let Some(last) =
            parts.last_mut().filter(|last| last.is_empty() || last.len() + component.len() <= size)
        {
            last.extend(component.iter().cloned());
        } else {
            parts.push(component.clone());
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(count: usize) -> Vec<String> {
        (0..count).map(|at| format!("c{at:03}")).collect()
    }

    #[test]
    fn channels_are_divided_where_that_saves_windows() {
        let channels = names(200);
        // A window describes 60 channels over a day, or 120 over half of one.
        let windows = |part: &[String]| match part.len() {
            0..=60 => Some(1),
            61..=120 => Some(3),
            _ => None,
        };
        let divided = parts(&channels, &[], windows, 1);
        assert_eq!(divided.iter().map(Vec::len).collect::<Vec<_>>(), [50; 4]);
        assert_eq!(divided.concat(), channels);
        assert_eq!(parts(&channels[..60], &[], windows, 1).len(), 1);
        // As many windows in one part as in two.
        assert_eq!(parts(&channels[..100], &[], |part| Some(part.len() as u64 / 50), 1).len(), 1);
        // None fits: the whole is refused later.
        assert_eq!(parts(&channels, &[], |_| None, 1).len(), 1);
    }

    #[test]
    fn channels_of_one_call_stay_together() {
        let channels = names(100);
        let pairs = [BTreeSet::from(["c000", "c099"]), BTreeSet::from(["c099", "c050"])];
        let together: Vec<&BTreeSet<&str>> = pairs.iter().collect();
        let divided = parts(&channels, &together, |part| (part.len() <= 60).then_some(1), 1);
        assert_eq!(divided.len(), 2);
        let mut all = divided.concat();
        all.sort_unstable();
        assert_eq!(all, channels, "each once");
        let of = |name: &str| divided.iter().position(|part| part.iter().any(|own| own == name)).unwrap();
        assert_eq!((of("c000"), of("c000")), (of("c099"), of("c050")));
    }
}
