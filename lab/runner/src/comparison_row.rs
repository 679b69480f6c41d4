//! The output of a comparison of encrypted readings with a limit: one engine, one method.

use serde::{Deserialize, Serialize};
use sotto_harness::protocol::{Compared, Values};

use crate::definition::Comparison;
use crate::statistics::Statistics;

/// Time, bytes and exactness of one engine's comparisons.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComparisonRow {
    /// The definition's name.
    pub definition: String,
    /// The comparison's name.
    pub comparison: String,
    /// True for a quick run.
    pub quick: bool,
    /// The origin of the readings.
    pub source: String,
    /// The engine's name.
    pub engine: String,
    /// The library's version.
    pub version: String,
    /// The engine's description of its build.
    pub flags: String,
    /// Number of threads.
    pub threads: u32,
    /// The method, with the scheme if the engine has it in several.
    pub method: String,
    /// The scheme's name.
    pub scheme: String,
    /// n of the ring that holds the readings.
    pub n: usize,
    /// The parameters that matter, for people.
    pub parameters: String,
    /// log2 of the whole modulus, if the security follows from it.
    pub log2_qp: Option<f64>,
    /// The bits of security: those that the library states, else by the guidelines of 2024. None below 128, or if
    /// nothing is known.
    pub security_bits: Option<u32>,
    /// Readings in one evaluation.
    pub batch: usize,
    /// Median, microseconds of one evaluation.
    pub median_us: f64,
    /// Mean, microseconds.
    pub mean_us: f64,
    /// Standard deviation of the sample, microseconds.
    pub sd_us: f64,
    /// The number of evaluations.
    pub count: usize,
    /// Median, microseconds that the engine's process was on a processor in one evaluation.
    pub processor_us: Option<f64>,
    /// Bytes of one evaluation's encrypted readings.
    pub bytes_readings: u64,
    /// Bytes of one evaluation's answer.
    pub bytes_answer: u64,
    /// Bytes of the keys for the evaluation.
    pub bytes_keys: u64,
    /// True if the engine says that the method is exact.
    pub exact: bool,
    /// The outcome of every compared reading.
    #[serde(flatten)]
    pub score: Score,
}

/// Answers beside the truth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// Compared readings.
    pub readings: usize,
    /// Of these, readings within the gap, which need no decision.
    pub in_gap: usize,
    /// Decided answers that are wrong, within the gap too.
    pub wrong: usize,
    /// Answers that decide nothing, within the gap too.
    pub undecided: usize,
    /// Of these, answers about readings outside of the gap.
    pub undecided_outside: usize,
    /// The largest distance of an answer from the truth, over readings outside of the gap.
    pub largest_error: f64,
}

impl Score {
    /// Compares answers about the first readings with the truth.
    pub(crate) fn of(comparison: &Comparison, readings: &Values, answers: &Values) -> Self {
        let mut score = Self::default();
        for (reading, answer) in readings.reals().into_iter().zip(answers.reals()) {
            let truth = f64::from(u8::from(reading > comparison.limit));
            let in_gap = (reading - comparison.limit).abs() < comparison.gap;
            let error = (answer - truth).abs();
            // A comparison with NaN is false: such an answer decides nothing.
            let decides = |value: f64| (answer - value).abs() <= comparison.tolerance;
            score.readings += 1;
            score.in_gap += usize::from(in_gap);
            score.wrong += usize::from(decides(1.0 - truth));
            if !decides(0.0) && !decides(1.0) {
                score.undecided += 1;
                score.undecided_outside += usize::from(!in_gap);
            }
            if !in_gap {
                score.largest_error = score.largest_error.max(if error.is_nan() { f64::MAX } else { error });
            }
        }
        score
    }
}

impl ComparisonRow {
    /// Returns the time of one reading if evaluations are full, in microseconds: processor time, if it is known.
    pub fn per_reading_us(&self) -> f64 {
        self.processor_us.unwrap_or(self.median_us) / self.batch.max(1) as f64
    }

    /// Returns the bytes that a device sends for one reading if ciphertexts are full.
    pub fn bytes_per_reading(&self) -> f64 {
        self.bytes_readings as f64 / self.batch.max(1) as f64
    }
}

/// Checks an engine's reply. Returns score and statistics.
///
/// # Errors
/// The reason why the reply is impossible.
pub(crate) fn checked(
    comparison: &Comparison,
    readings: &Values,
    compared: &Compared,
) -> Result<(Score, Statistics), String> {
    let (given, answered) = (readings.reals().len(), compared.answers.reals().len());
    let fits = compared.batch > 0 && answered >= compared.batch.min(given) && answered <= given;
    if !fits {
        return Err(format!(
            "{answered} answers for {given} readings and {} in an evaluation",
            compared.batch
        ));
    }
    let statistics = Statistics::of(&compared.microseconds).ok_or("gave no times")?;
    Ok((Score::of(comparison, readings, &compared.answers), statistics))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::definition::Definition;

    #[test]
    fn wrong_and_undecided_answers_are_counted_in_and_outside_of_the_gap() {
        let definition = Definition::named("comparisons").unwrap();
        let comparison =
            Comparison { limit: 0.5, gap: 0.1, tolerance: 0.25, ..definition.comparisons[2].clone() };
        let readings = Values::Reals(vec![0.9, 0.1, 0.55, 0.45, 0.9, 0.1, 0.9]);
        let answers = Values::Reals(vec![0.9, 0.2, 0.5, 1.1, 0.1, 0.6]);
        let score = Score::of(&comparison, &readings, &answers);
        let largest_error = score.largest_error;
        assert!((largest_error - 0.9).abs() < 1e-9);
        let expected =
            Score { readings: 6, in_gap: 2, wrong: 2, undecided: 2, undecided_outside: 1, largest_error };
        assert_eq!(score, expected);
        let nothing = Score::of(&comparison, &readings, &Values::Reals(vec![f64::NAN]));
        assert_eq!((nothing.undecided_outside, nothing.largest_error), (1, f64::MAX));
    }

    #[test]
    fn the_limit_itself_is_not_above_it() {
        let definition = Definition::named("comparisons").unwrap();
        let comparison = &definition.comparisons[0];
        let readings = Values::Integers(vec![143, 144, 145]);
        let compared = |answers| Compared {
            batch: 3,
            answers: Values::Integers(answers),
            microseconds: vec![1.0],
            ..Compared::default()
        };
        assert_eq!(checked(comparison, &readings, &compared(vec![0, 0, 1])).unwrap().0.wrong, 0);
        assert_eq!(checked(comparison, &readings, &compared(vec![0, 1, 1])).unwrap().0.wrong, 1);
        assert!(checked(comparison, &readings, &compared(vec![0, 1])).is_err(), "too few answers");
        assert!(
            checked(comparison, &readings, &Compared { microseconds: vec![], ..compared(vec![0, 0, 1]) })
                .is_err()
        );
    }
}
