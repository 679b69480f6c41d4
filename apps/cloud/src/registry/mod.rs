//! Parameters are known only at run time, so all work that depends on the scheme goes through [`AnyParams`].

mod keys;

use std::sync::Arc;

use sotto_api::reason;
use sotto_evaluate::{Evaluated, Input, JobError};
use sotto_program::Plan;
use sotto_rlwe::{
    EvaluationKeys, KeyId, ParameterError, ParameterSpec, Params, Shape, in_any_scheme, map_any,
    of_any_scheme, with_any, with_same,
};
use sotto_runtime::{Managed, Threads};
use sotto_wire::{Body, WireError, frame_digest};

pub(crate) use keys::LoadedKeys;
pub(crate) use sotto_evaluate::MOST_KEYS;

use crate::problem::{Problem, cannot_expand, cannot_run};
use crate::store::StoreError;

/// Ciphertexts of stored envelopes, read one at a time.
pub(crate) type Inputs<'a> = &'a mut dyn Iterator<Item = Result<Body, StoreError>>;

/// Parameters with their scheme, and the operations with them.
pub(crate) struct AnyParams(of_any_scheme!(Params));

impl AnyParams {
    /// Checks parameters (at least 128-bit security) and makes them ready for use.
    pub(crate) fn new(spec: ParameterSpec) -> Result<Self, ParameterError> {
        Ok(Self(in_any_scheme!(spec.scheme, S => Params::<S>::new(spec)?)))
    }

    /// Validates a ciphertext, whole or compact: its length, its shape and every residue.
    pub(crate) fn check_ciphertext(&self, body: &Body) -> Result<(), WireError> {
        with_any!(&self.0, params => Input::of(params, body).map(drop))
    }

    pub(crate) fn read_keys(&self, frame: &[u8]) -> Result<LoadedKeys, WireError> {
        let keys = map_any!(&self.0, params => {
            Arc::new(sotto_wire::read_evaluation_keys(frame, params, MOST_KEYS)?)
        });
        Ok(LoadedKeys::new(keys, Some(frame_digest(frame)?)))
    }

    /// Returns the keys without the transfer key from `from`, and their frame; `None` if there is no such key.
    pub(crate) fn without_transfer(
        &self,
        loaded: &LoadedKeys,
        from: KeyId,
    ) -> Result<Option<(LoadedKeys, Vec<u8>)>, Problem> {
        let left = map_any!(&loaded.keys, keys => {
            let mut keys = EvaluationKeys::clone(keys);
            if keys.transfers.remove(&from).is_none() {
                return Ok(None);
            }
            Arc::new(keys)
        });
        let frame = with_any!(&left, keys => sotto_wire::write_evaluation_keys(keys));
        let digest = frame_digest(&frame)?;
        Ok(Some((LoadedKeys::new(left, Some(digest)), frame)))
    }

    /// Returns an empty set of keys: enough for plans that neither relinearise nor rotate nor switch keys.
    pub(crate) fn no_keys(&self, key: KeyId) -> LoadedKeys {
        let keys = map_any!(&self.0, params => Arc::new(EvaluationKeys::empty(params, key)));
        LoadedKeys::new(keys, None)
    }

    /// Refuses a plan that these inputs and keys do not allow, or that holds too many bytes of ciphertexts at any time.
    /// Computes nothing.
    pub(crate) fn check(
        &self,
        plan: &Plan,
        inputs: Inputs<'_>,
        loaded: &LoadedKeys,
        most_bytes: u64,
    ) -> Result<(), Problem> {
        with_same!((&self.0, &loaded.keys), (params, keys) => check(params, plan, inputs, keys, most_bytes))
            .unwrap_or_else(|| Err(of_other_scheme()))
    }

    pub(crate) fn run(
        &self,
        plan: &Plan,
        inputs: Inputs<'_>,
        loaded: &LoadedKeys,
        threads: &Threads,
        most_bytes: u64,
    ) -> Result<Evaluated, Problem> {
        with_same!((&self.0, &loaded.keys), (params, keys) => {
            sotto_evaluate::job(params, plan, inputs, keys, threads, most_bytes).map_err(failed)
        })
        .unwrap_or_else(|| Err(of_other_scheme()))
    }
}

fn of_other_scheme() -> Problem {
    Problem::unprocessable(reason::WRONG_PARAMETERS, "the keys are for another scheme")
}

/// [`AnyParams::check`] for one scheme.
fn check<S: Managed>(
    params: &Params<S>,
    plan: &Plan,
    inputs: Inputs<'_>,
    keys: &EvaluationKeys<S>,
    most_bytes: u64,
) -> Result<(), Problem> {
    let given = |body: Result<Body, StoreError>| {
        let shape = Input::shape(params, &body?, keys);
        let shape = shape.map_err(|error| StoreError::Damaged(error.to_string()))?;
        shape.map_err(|error| cannot_expand(&error))
    };
    let given: Vec<(KeyId, Shape<S>)> = inputs.map(given).collect::<Result<_, Problem>>()?;
    let checked = sotto_runtime::check(plan, params, &given, keys, most_bytes);
    checked.map(drop).map_err(|error| cannot_run(&error))
}

/// Converts the error of a job. A ciphertext that cannot be read now was valid when it was stored, so the store is
/// damaged.
fn failed(error: JobError<StoreError>) -> Problem {
    match error {
        JobError::Source(error) => error.into(),
        JobError::Input(error) => StoreError::Damaged(error.to_string()).into(),
        JobError::Expand(error) => cannot_expand(&error),
        JobError::Run(error) => cannot_run(&error),
    }
}
