//! The owner's deletions that the cloud has shown in this run: it is asked once for them, not with every message.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Shortest time between two questions about a stream.
const AGAIN: Duration = Duration::from_secs(60);

/// An answer of the cloud.
#[derive(Clone, Copy, Debug)]
struct Told {
    /// Windows that ended before this time are deleted, by the owner's order: milliseconds since 1970.
    until: Option<i64>,
    at: Instant,
}

/// The time before which the windows of each stream are deleted.
#[derive(Debug, Default)]
pub struct Deletions(Mutex<BTreeMap<String, Told>>);

impl Deletions {
    /// Returns true if the owner has deleted the windows of a stream that ended at a time. Asks the cloud only if its last
    /// answer does not cover the time, and is a minute old.
    pub(super) fn cover<E>(
        &self,
        stream: &str,
        end: i64,
        ask: impl FnOnce() -> Result<Option<i64>, E>,
    ) -> Result<bool, E> {
        let covers = |until: Option<i64>| until.is_some_and(|until| end < until);
        let last = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(stream).copied();
        if let Some(Told { until, at }) = last
            && (covers(until) || at.elapsed() < AGAIN)
        {
            return Ok(covers(until));
        }
        let told = Told { until: ask()?, at: Instant::now() };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(stream.to_owned(), told);
        Ok(covers(told.until))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn the_cloud_is_asked_once_for_each_stream() {
        let (deletions, asked) = (Deletions::default(), Cell::new(0));
        let cover = |stream: &str, end: i64, until: Result<Option<i64>, ()>| {
            deletions.cover(stream, end, || {
                asked.set(asked.get() + 1);
                until
            })
        };
        assert_eq!(cover("load", 5, Err(())), Err(()), "no answer is none");
        assert_eq!(cover("load", 5, Ok(Some(9))), Ok(true));
        for (end, covered) in [(0, true), (8, true), (9, false), (20, false)] {
            assert_eq!(cover("load", end, Ok(Some(99))), Ok(covered), "{end}");
        }
        assert_eq!(asked.get(), 2);
        assert_eq!(cover("heat", 5, Ok(None)), Ok(false));
        assert_eq!(cover("heat", 6, Ok(Some(9))), Ok(false));
        assert_eq!(asked.get(), 3);
    }
}
