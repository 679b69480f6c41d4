//! A whole task on one number in each ciphertext.

use sotto_harness::protocol::{Task, Values};
use sotto_rlwe::Ciphertext;
use sotto_runtime::run;

use super::timer::Timer;
use crate::error::EngineError;
use crate::session::Session;
use crate::spoken::Spoken;

/// The largest error of a real answer, as part of the largest answer.
const CLOSE_PART: f64 = 1e-3;

/// Times a task as one program: plans expect fresh inputs, and outputs that an earlier program keeps are not fresh.
pub(super) fn task<S: Spoken>(
    session: &mut Session<S>,
    task: &Task,
    timer: Timer,
) -> Result<Vec<f64>, EngineError> {
    let (program, inputs) = task.whole();
    let lowered = session.plan(&program)?;
    if timer.checks() {
        let verified = session.run(&lowered, &program, &inputs)?;
        let t = session.target.params.plain_modulus();
        let expected = expected::<S>(&task.answers, t);
        let last = verified.outputs.len().saturating_sub(expected.len());
        let first = |values: &Values| values.reals().first().copied().unwrap_or(f64::NAN);
        let found: Vec<f64> = verified.outputs[last..].iter().map(first).collect();
        let largest = expected.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
        let allowed = if S::EXACT { 0.0 } else { CLOSE_PART * largest };
        let is_near = |(a, b): (&f64, &f64)| (a - b).abs() <= allowed;
        if found.len() != expected.len() || !found.iter().zip(&expected).all(is_near) {
            return Err(EngineError::Wrong);
        }
    }
    let encrypted = session.encrypt_all(&program, &inputs)?;
    let before = |_: &mut Session<S>| if task.encrypted { encrypted.clone() } else { Vec::new() };
    let compute = |session: &mut Session<S>, ready: Vec<Ciphertext<S>>| {
        let ready = if task.encrypted { ready } else { session.encrypt_all(&program, &inputs)? };
        Ok(run(&lowered.plan, &session.evaluator, ready, &session.keys)?)
    };
    timer.time(session, before, compute, |_, _| ())
}

/// Returns the answers in the form of decrypted values: integers from 0 to t − 1, exact in an f64 below 2^53.
fn expected<S: Spoken>(answers: &Values, t: u64) -> Vec<f64> {
    match answers.integers().filter(|_| S::EXACT) {
        Some(integers) => integers.iter().map(|value| value.rem_euclid(t as i64) as f64).collect(),
        None => answers.reals(),
    }
}
