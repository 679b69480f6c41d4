//! Times operations.

use std::hint::black_box;
use std::time::Instant;

use serde_json::{Value, json};

use crate::{Failure, Request};

/// Repetitions of an operation: untimed, then timed.
pub struct Timer {
    warm_up: usize,
    repetitions: usize,
    checked: bool,
}

impl Timer {
    pub fn of(request: &Request) -> Self {
        Self { warm_up: request.warm_up, repetitions: request.repetitions, checked: request.checked }
    }

    /// Checks the first result, unless an earlier request did; then times `run` alone on the output of `before`. `size`
    /// is the result's size in bytes.
    pub fn time<I, O>(
        &self,
        mut before: impl FnMut() -> I,
        mut run: impl FnMut(I) -> Result<O, Failure>,
        right: impl FnOnce(O) -> Result<bool, Failure>,
        size: Option<usize>,
    ) -> Result<Value, Failure> {
        if !self.checked && !right(run(before())?)? {
            return Err("the result is wrong".into());
        }
        let mut microseconds = Vec::with_capacity(self.repetitions);
        for repetition in 0..self.warm_up + self.repetitions {
            let input = black_box(before());
            let begin = Instant::now();
            let output = black_box(run(input)?);
            let elapsed = begin.elapsed().as_secs_f64() * 1e6;
            drop(output);
            if repetition >= self.warm_up {
                microseconds.push(elapsed);
            }
        }
        Ok(json!({ "microseconds": microseconds, "bytes": size, "verified": true }))
    }
}
