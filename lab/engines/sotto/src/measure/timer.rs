//! Times operations.

use std::hint::black_box;
use std::time::Instant;

use sotto_harness::protocol::Measure;

use crate::error::EngineError;

/// Repetitions of an operation: untimed, then timed.
#[derive(Clone, Copy)]
pub(crate) struct Timer {
    warm_up: u32,
    repetitions: u32,
    checked: bool,
}

impl Timer {
    pub(crate) fn of(request: &Measure) -> Self {
        Self { warm_up: request.warm_up, repetitions: request.repetitions, checked: request.checked }
    }

    /// Returns true if the result has to be checked first.
    pub(crate) fn checks(self) -> bool {
        !self.checked
    }

    /// Makes a timer for results that are checked elsewhere.
    pub(crate) fn times(repetitions: u32) -> Self {
        Self { warm_up: 0, repetitions, checked: true }
    }

    /// Returns the microseconds of each `run`. `before` makes its operand and `after` takes its result, both untimed.
    pub(crate) fn time<C, I, O>(
        self,
        context: &mut C,
        mut before: impl FnMut(&mut C) -> I,
        mut run: impl FnMut(&mut C, I) -> Result<O, EngineError>,
        mut after: impl FnMut(&mut C, O),
    ) -> Result<Vec<f64>, EngineError> {
        let mut times = Vec::with_capacity(self.repetitions as usize);
        for repetition in 0..self.warm_up + self.repetitions {
            let input = black_box(before(context));
            let begin = Instant::now();
            let output = black_box(run(context, input)?);
            let elapsed = begin.elapsed().as_secs_f64() * 1e6;
            after(context, output);
            if repetition >= self.warm_up {
                times.push(elapsed);
            }
        }
        Ok(times)
    }
}
