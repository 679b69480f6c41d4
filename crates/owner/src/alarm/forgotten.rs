//! Late windows for a time of which an alarm keeps nothing any more. They are put aside and counted.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The late windows that an alarm has put aside, about one device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Forgotten {
    /// The highest number of each stream so far.
    highest: BTreeMap<String, u64>,
    count: u64,
}

impl Forgotten {
    /// Takes all windows of a round: stream, number, and start. Returns the number of new ones that begin before `until`,
    /// the time from which on windows are judged. In the first round of a stream there are none.
    pub(super) fn take<'w>(
        &mut self,
        windows: impl Iterator<Item = (&'w str, u64, i64)>,
        until: Option<i64>,
    ) -> u64 {
        let (mut late, mut highest) = (0, self.highest.clone());
        for (stream, number, from) in windows {
            let is_new = self.highest.get(stream).is_some_and(|before| number > *before);
            late += u64::from(is_new && until.is_some_and(|until| from < until));
            let most = highest.entry(stream.to_owned()).or_insert(number);
            *most = (*most).max(number);
        }
        self.highest = highest;
        self.count += late;
        late
    }

    /// Returns the number of windows put aside in all rounds.
    pub(super) fn count(&self) -> u64 {
        self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_windows_for_forgotten_time_count_once() {
        let mut forgotten = Forgotten::default();
        let first = [("hours", 0, 0), ("hours", 1, 10), ("hours", 2, 20)];
        // A new alarm has not judged anything: nothing came late.
        assert_eq!(forgotten.take(first.into_iter(), Some(15)), 0);
        // One for forgotten time, and one for a time that is judged again.
        let then = [first.as_slice(), &[("hours", 3, 5), ("hours", 4, 20)]].concat();
        assert_eq!(forgotten.take(then.iter().copied(), Some(15)), 1);
        assert_eq!(forgotten.take(then.iter().copied(), Some(15)), 0);
        // Windows that were judged and are forgotten now did not come late.
        assert_eq!(forgotten.take(then.iter().copied(), Some(30)), 0);
        assert_eq!(forgotten.take([("days", 7, 0)].into_iter(), Some(30)), 0);
        assert_eq!(forgotten.take([("days", 8, 0), ("hours", 5, 1)].into_iter(), Some(30)), 2);
        assert_eq!(forgotten.count(), 3);
        let text = serde_json::to_string(&forgotten).unwrap();
        assert_eq!(serde_json::from_str::<Forgotten>(&text).unwrap(), forgotten);
    }
}
