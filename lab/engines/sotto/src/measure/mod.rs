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
use fixture::Fixture;
pub(crate) use timer::Timer;

/// Operations and objects that need special primes.
const OF_KEY_SWITCHING: [&str; 6] =
    ["relin_keys", "galois_keys", "multiply_relin", "rotate", "rotate_hoisted", "switch_keys"];

/// A session and the inputs of its measurements.
pub(crate) struct Measuring<S: Spoken> {
    pub(crate) session: Session<S>,
    /// Made at the first measurement.
    fixture: Option<Box<Fixture<S>>>,
}

impl<S: Spoken> Measuring<S> {
    pub(crate) fn new(session: Session<S>) -> Self {
        Self { session, fixture: None }
    }

    /// Times an operation on inputs that the first call makes and later ones reuse.
    ///
    /// # Errors
    /// `Unsupported` if the engine lacks the operation, `Wrong` if its result is wrong; otherwise the error of the
    /// step that fails.
    pub(crate) fn measure(&mut self, request: &Measure) -> Result<Measured, EngineError> {
        let Self { session, fixture } = self;
        let named = [Some(request.operation.as_str()), request.object.as_deref()];
        let switching = named.into_iter().flatten().any(|name| OF_KEY_SWITCHING.contains(&name));
        let lacking = switching && !session.target.params.can_switch_keys();
        if lacking || !OPERATIONS.contains(&request.operation.as_str()) {
            return Err(EngineError::Unsupported);
        }
        let timer = Timer::of(request);
        if let Some(asked) = &request.task {
            let microseconds = task::task(session, asked, timer)?;
            return Ok(Measured { microseconds, bytes: None, verified: true });
        }
        let fixture = match fixture {
            Some(fixture) => fixture,
            None => fixture.insert(Box::new(Fixture::new(session)?)),
        };
        let microseconds = match request.operation.as_str() {
            "serialise" | "parse" => return bytes::bytes(session, fixture, request),
            operation => match evaluate::evaluate(session, fixture, operation, timer) {
                Err(EngineError::Unsupported) => make::make(session, fixture, operation, timer)?,
                done => done?,
            },
        };
        Ok(Measured { microseconds, bytes: None, verified: true })
    }
}
