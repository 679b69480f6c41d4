//! Remarks on an answer, in words.

use sotto_pack::LeftOut;

use super::answer::{Answer, Complete};
use super::assurance::Assurance;

impl Answer {
    /// Returns notes, readings left out and undetermined results, one line each.
    ///
    /// ```
    /// use sotto_owner::Answer;
    ///
    /// let json = r#"{
    ///     "version": 1, "question": "mean(temperature)", "time_zone": "UTC", "notes": [], "rows": [],
    ///     "bytes_up": 0, "bytes_down": 0, "seconds": 0.2, "windows": 0, "jobs": 0, "evaluate_us": 0,
    ///     "steps": {}, "left_out": {"temperature": {"out-of-range": 2}}
    /// }"#;
    /// let answer: Answer = serde_json::from_str(json)?;
    /// assert_eq!(answer.remarks()[0], "left out of temperature: 2 out of range");
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[must_use]
    pub fn remarks(&self) -> Vec<String> {
        let mut remarks: Vec<String> = self.notes.iter().map(|note| format!("note: {note}")).collect();
        for (channel, counts) in &self.left_out {
            if !counts.is_empty() {
                remarks.push(format!("left out of {channel}: {}", left_out_in_words(counts)));
            }
        }
        let unchecked = self.rows.iter().filter(|row| row.assurance == Assurance::Unchecked);
        match unchecked.filter(|row| row.value.is_some() || row.held_back).count() {
            0 => {}
            count => remarks.push(self.on_unchecked(count)),
        }
        let reasons = self.rows.iter().filter(|row| !row.held_back);
        let mut whys: Vec<&String> = reasons.filter_map(|row| row.why.as_ref()).collect();
        whys.sort_unstable();
        whys.dedup();
        remarks.extend(whys.into_iter().map(|why| format!("undetermined: {why}")));
        if let Some(flooded) = &self.flooded {
            remarks.push(format!(
                "flooded: {} of at most {} results of a key, {} left; `sotto publish` prints the answer for others",
                flooded.results, flooded.allowed, flooded.left
            ));
        }
        match &self.empty {
            Some(empty) => remarks.push(format!("no answer: {}", empty.reason)),
            // Answers kept by an earlier version.
            None if self.rows.is_empty() => {
                remarks.push("no window has arrived for this question".to_owned());
            }
            None => {}
        }
        remarks.extend(self.on_complete());
        remarks
    }

    /// Returns a remark on what the answer is complete up to.
    fn on_complete(&self) -> Option<String> {
        let least = self.complete.iter().min_by_key(|of| time(&of.until))?;
        let (Complete { device, number, until, gaps, .. }, others) = (least, self.complete.len() - 1);
        let when = until.get(..16).unwrap_or(until).replace('T', " ");
        let begin = if *gaps { "incomplete, and ends with" } else { "complete up to" };
        let streams = match others {
            0 => String::new(),
            1 => "; another stream reaches further".to_owned(),
            _ => format!("; {others} other streams reach further"),
        };
        Some(format!("{begin} window {number} of {device}, {when}{streams}"))
    }

    /// Returns a remark on unchecked values.
    fn on_unchecked(&self, count: usize) -> String {
        let values = if count == 1 { "1 value is".to_owned() } else { format!("{count} values are") };
        if self.repeat_bytes == 0 {
            return format!("unchecked (?): {values} not proved by tags: see the notes");
        }
        format!(
            "unchecked (?): {values} the cloud's word alone; --verify has its work repeated here, which fetches {} bytes",
            self.repeat_bytes
        )
    }
}

fn time(text: &str) -> Option<jiff::Timestamp> {
    text.parse().ok()
}

/// Lists the counts by reason in words: `2 out of range, 1 not a number`.
///
/// ```
/// use sotto_pack::{LeftOut, Reason};
///
/// let mut counts = LeftOut::default();
/// counts.add(Reason::OutOfRange, 2);
/// assert_eq!(sotto_owner::left_out_in_words(&counts), "2 out of range");
/// ```
#[must_use]
pub fn left_out_in_words(counts: &LeftOut) -> String {
    counts.iter().map(|(reason, count)| format!("{count} {}", reason.words())).collect::<Vec<_>>().join(", ")
}
