//! Which secret key each key number of a plan stands for, once the inputs are there.

use sotto_program::Plan;
use sotto_rlwe::KeyId;

use crate::error::RunError;

/// The key of each number, the answer's first. Inputs of one number are under one key, inputs of different numbers under
/// different keys: a plan never computes on ciphertexts under different keys together, unless it switches one first.
pub(crate) fn bind(
    plan: &Plan,
    answer: KeyId,
    inputs: impl Iterator<Item = KeyId>,
) -> Result<Vec<KeyId>, RunError> {
    let mut bound = vec![answer];
    for (input, found) in plan.inputs.iter().zip(inputs) {
        let name = || input.name.clone();
        match bound.get(input.key.index()) {
            Some(expected) if *expected != found => {
                return Err(RunError::MixedKeys { input: name(), expected: *expected, found });
            }
            Some(_) => {}
            None if bound.contains(&found) => return Err(RunError::SameKey { input: name(), found }),
            // Numbers go up by one: the plan was validated.
            None => bound.push(found),
        }
    }
    Ok(bound)
}
