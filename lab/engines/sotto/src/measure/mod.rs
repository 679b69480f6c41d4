//! Checks the result of an operation, then times it.

mod bytes;
mod clear;
mod evaluate;
mod fixture;
mod make;
mod task;
mod timer;

use sotto_harness::protocol::{Measure, Measured, OPERATIONS};

use crate::error::EngineError;
use crate::session::Session;
use crate::spoken::Spoken;
pub(crate) use fixture::Fixture;
pub(crate) use timer::Timer;

/// Operations and objects that need special primes.
const OF_KEY_SWITCHING: [&str; 5] =
    ["relin_keys", "galois_keys", "multiply_relin", "rotate", "rotate_hoisted"];

impl<S: Spoken> Session<S> {
    /// Times an operation on inputs that the first call makes and the session keeps.
    ///
    /// # Errors
    /// `Unsupported` if the engine lacks the operation, `Wrong` if its result is wrong; otherwise the error of the
    /// step that fails.
    pub fn measure(&mut self, request: &Measure) -> Result<Measured, EngineError> {
        let named = [Some(request.operation.as_str()), request.object.as_deref()];
        let switching = named.into_iter().flatten().any(|name| OF_KEY_SWITCHING.contains(&name));
        let lacking = switching && !self.target.params.can_switch_keys();
        if lacking || !OPERATIONS.contains(&request.operation.as_str()) {
            return Err(EngineError::Unsupported);
        }
        if let Some(asked) = &request.task {
            let microseconds = task::task(self, asked, Timer::of(request))?;
            return Ok(Measured { microseconds, bytes: None, verified: true });
        }
        let mut fixture = match self.fixture.take() {
            Some(fixture) => fixture,
            None => Box::new(Fixture::new(self)?),
        };
        let measured = self.measure_on(&mut fixture, request);
        self.fixture = Some(fixture);
        measured
    }

    fn measure_on(&mut self, fixture: &mut Fixture<S>, request: &Measure) -> Result<Measured, EngineError> {
        let timer = Timer::of(request);
        let microseconds = match request.operation.as_str() {
            "serialise" | "parse" => return bytes::bytes(self, fixture, request),
            operation => match evaluate::evaluate(self, fixture, operation, timer) {
                Err(EngineError::Unsupported) => make::make(self, fixture, operation, timer)?,
                done => done?,
            },
        };
        Ok(Measured { microseconds, bytes: None, verified: true })
    }
}
