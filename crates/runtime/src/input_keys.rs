//! Assignment of the inputs' secret keys to the key numbers of a plan.

use sotto_program::Plan;
use sotto_rlwe::KeyId;

use crate::error::RunError;

/// Returns the secret key of each key number, the answer's first. Inputs with the same number must be under one key,
/// and inputs with different numbers under different keys, so a plan never combines ciphertexts under different keys
/// without switching.
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
            // A validated plan numbers its keys consecutively.
            None => bound.push(found),
        }
    }
    Ok(bound)
}
