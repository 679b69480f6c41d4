//! The present time.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use crate::source::now;

/// The present time: that of this machine's clock, or a given one.
#[derive(Clone, Debug, Default)]
pub struct Present(Option<Arc<AtomicI64>>);

impl Present {
    /// Returns a given time, in milliseconds since 1970. Clones share it.
    #[must_use]
    pub fn at(time: i64) -> Self {
        Self(Some(Arc::new(AtomicI64::new(time))))
    }

    /// Changes a given time.
    #[cfg(test)]
    pub(super) fn set(&self, time: i64) {
        self.0.as_ref().expect("a given time").store(time, Ordering::Relaxed);
    }

    /// Returns the time in milliseconds since 1970.
    pub(crate) fn get(&self) -> i64 {
        self.0.as_ref().map_or_else(now, |time| time.load(Ordering::Relaxed))
    }
}
