//! Rows that are ahead of this machine's clock.

use super::Options;
use super::present::Present;

/// A row may be this far ahead of the clock: one day, in milliseconds.
const AHEAD: i64 = 86_400_000;

/// Tells rows that are too far ahead of the clock.
pub(super) struct Ahead {
    /// True if they are accepted.
    allowed: bool,
    now: Present,
    /// An earlier present time.
    seen: i64,
}

impl Ahead {
    pub(super) fn new(options: &Options) -> Self {
        Self { allowed: options.future, now: options.now.clone(), seen: i64::MIN }
    }

    /// Returns true if a row of this time is left out. Asks the clock only where it may be.
    pub(super) fn leaves_out(&mut self, at: i64) -> bool {
        if self.allowed {
            return false;
        }
        if at > self.seen.saturating_add(AHEAD) {
            self.seen = self.now.get();
        }
        at > self.seen.saturating_add(AHEAD)
    }
}
