//! The clock.

use std::hint::black_box;
use std::time::Instant;

use serde_json::{Value, json};

use crate::{Failure, Request};

/// Microseconds from which the run that is checked is the one that is timed, where one is enough.
const LONG: f64 = 1e6;

/// How often something runs, and how often of that with a look at the clock.
pub struct Timer {
    warm_up: usize,
    repetitions: usize,
    checked: bool,
}

impl Timer {
    pub fn of(request: &Request) -> Self {
        Self { warm_up: request.warm_up, repetitions: request.repetitions, checked: request.checked }
    }

    /// Checks the first result, unless an earlier request did; then times `run` alone on what `before` makes. `size` is that of the result in bytes.
    pub fn time<I, O>(
        &self,
        mut before: impl FnMut() -> I,
        mut run: impl FnMut(I) -> Result<O, Failure>,
        right: impl FnOnce(O) -> Result<bool, Failure>,
        size: Option<usize>,
    ) -> Result<Value, Failure> {
        let mut timed = || -> Result<(f64, O), Failure> {
            let input = black_box(before());
            let begin = Instant::now();
            let output = black_box(run(input)?);
            Ok((begin.elapsed().as_secs_f64() * 1e6, output))
        };
        let mut microseconds = Vec::with_capacity(self.repetitions);
        if !self.checked {
            let (elapsed, output) = timed()?;
            if !right(output)? {
                return Err("the result is wrong".into());
            }
            if elapsed >= LONG && self.warm_up + self.repetitions == 1 {
                return Ok(json!({ "microseconds": [elapsed], "bytes": size, "verified": true }));
            }
        }
        for repetition in 0..self.warm_up + self.repetitions {
            let (elapsed, output) = timed()?;
            drop(output);
            if repetition >= self.warm_up {
                microseconds.push(elapsed);
            }
        }
        Ok(json!({ "microseconds": microseconds, "bytes": size, "verified": true }))
    }
}
