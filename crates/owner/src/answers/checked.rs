//! Answers without their unchecked values, and after their work was repeated.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::answer::Answer;
use super::assurance::Assurance;

/// The reason for a value that is held back.
const HELD_BACK: &str =
    "unchecked: ask with --verify to have the cloud's work repeated here, or with --unchecked";

impl Answer {
    /// Returns how far the values are checked: the least of all.
    #[must_use]
    pub fn assurance(&self) -> Assurance {
        self.rows.iter().map(|row| row.assurance).max().unwrap_or(Assurance::Authenticated)
    }

    /// Returns the answer without its unchecked values, for documents, files and other programs. It is whole if nothing is unchecked, or [`Self::with_unchecked`] was called.
    ///
    /// ```
    /// use sotto_owner::{Answer, Assurance};
    ///
    /// let json = r#"{
    ///     "version": 1, "question": "mean(polynomial(level, [0, 1]))", "time_zone": "UTC", "notes": [],
    ///     "rows": [{
    ///         "from": "2014-01-31T00:00:00Z", "to": "2014-02-01T00:00:00Z", "device": "boiler", "name": "mean", "value": 71.25,
    ///         "bound": 0.05, "unit": "m", "count": 287, "missing": 1, "assurance": "unchecked"
    ///     }],
    ///     "bytes_up": 2048, "bytes_down": 512, "seconds": 0.2, "windows": 1, "jobs": 1, "evaluate_us": 150,
    ///     "steps": {}, "left_out": {}
    /// }"#;
    /// let answer: Answer = serde_json::from_str(json)?;
    /// assert_eq!(answer.assurance(), Assurance::Unchecked);
    /// assert_eq!(answer.checked().rows[0].value, None);
    /// assert_eq!(answer.clone().with_unchecked().checked().rows[0].value, Some(71.25));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[must_use]
    pub fn checked(&self) -> Cow<'_, Self> {
        if self.holds_unchecked || self.assurance() < Assurance::Unchecked {
            return Cow::Borrowed(self);
        }
        let mut answer = self.clone();
        for row in answer.rows.iter_mut().filter(|row| row.assurance == Assurance::Unchecked) {
            if row.value.is_some() {
                (row.value, row.bound, row.at, row.at_ms) = (None, None, None, None);
                (row.held_back, row.why) = (true, Some(HELD_BACK.to_owned()));
            }
        }
        Cow::Owned(answer)
    }

    /// Returns the answer, which then keeps its unchecked values wherever it goes.
    #[must_use]
    pub fn with_unchecked(self) -> Self {
        Self { holds_unchecked: true, ..self }
    }

    /// Returns the answer after all work of the cloud was repeated. Sums of a device that used pads twice stay unchecked, and
    /// so do values that were held back and are not here.
    pub(super) fn recomputed(self) -> Self {
        self.raised(Assurance::Recomputed)
    }

    /// Returns the answer of sums alone, whose tags were checked when it was opened.
    pub(super) fn authenticated(self) -> Self {
        self.raised(Assurance::Authenticated)
    }

    fn raised(mut self, assurance: Assurance) -> Self {
        let is_twice = |device: Option<&String>, twice: &BTreeSet<String>| match device {
            Some(device) => twice.contains(device),
            None => !twice.is_empty(),
        };
        for row in &mut self.rows {
            let stays = row.held_back || is_twice(row.device.as_ref(), &self.unchecked);
            if row.assurance == Assurance::Unchecked && !stays {
                row.assurance = assurance;
            }
        }
        self
    }

    /// Returns true if a value was held back.
    pub(super) fn holds_back(&self) -> bool {
        self.rows.iter().any(|row| row.held_back)
    }
}
