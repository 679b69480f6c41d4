//! Results that are sizes: never below zero.

use std::collections::BTreeSet;

use super::answer::Answer;
use crate::functions::{Call, Yields};
use crate::question::{AlongGroups, Expression, Question};

impl Answer {
    /// Returns the names of results that are never below zero, such as deviations: their charts begin there.
    ///
    /// ```
    /// # let json = r#"{
    /// #     "version": 1, "question": "stddev(inlet), mean(inlet), range(inlet) as swing", "time_zone": "UTC", "notes": [],
    /// #     "rows": [], "bytes_up": 0, "bytes_down": 0, "seconds": 0.2, "windows": 0, "jobs": 0, "evaluate_us": 0, "steps": {},
    /// #     "left_out": {}
    /// # }"#;
    /// let answer: sotto_owner::Answer = serde_json::from_str(json)?;
    /// assert_eq!(answer.sizes().into_iter().collect::<Vec<_>>(), ["stddev(inlet)", "swing"]);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[must_use]
    pub fn sizes(&self) -> BTreeSet<String> {
        let Ok(question) = Question::parse(&self.question) else { return BTreeSet::new() };
        let of_call = |call: &Call| match call.of().yields() {
            Yields::One(of) => of.begins_at_zero(),
            Yields::Several(_) => false,
        };
        let is_size = |expression: &Expression| match expression {
            Expression::Offset(offset) => of_call(&offset.of),
            Expression::Along(along) => along.function != AlongGroups::Difference && of_call(&along.of),
            other => other.only_call().is_some_and(of_call),
        };
        let sizes = question.select.iter().filter(|selected| is_size(&selected.expression));
        sizes.map(crate::question::Selected::name).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Answer;

    #[test]
    fn sizes_of_devices_that_a_call_names_are_sizes() {
        let json = r#"{
            "version": 1, "question": "stddev(x of boiler), mean(x of boiler), stddev(x of boiler) offset 1w as then by day",
            "time_zone": "UTC", "notes": [], "rows": [], "bytes_up": 0, "bytes_down": 0, "seconds": 0, "windows": 0,
            "jobs": 0, "evaluate_us": 0, "steps": {}, "left_out": {}
        }"#;
        let answer: Answer = serde_json::from_str(json).expect("an answer");
        assert_eq!(answer.sizes().into_iter().collect::<Vec<_>>(), ["stddev(x of boiler)", "then"]);
    }
}
