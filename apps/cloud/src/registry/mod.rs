//! The only module that knows the schemes. Parameters are known only at run time, so all scheme-dependent work goes
//! through [`AnyParams`].

mod keys;

use sotto_api::reason;
use sotto_evaluate::{Evaluated, Input, JobError};
use sotto_program::Plan;
use sotto_rlwe::{
    Bfv, Bgv, Ckks, EvaluationKeys, KeyId, ParameterError, ParameterSpec, Params, SchemeId, Shape,
};
use sotto_runtime::{Managed, Threads};
use sotto_wire::{Body, WireError, frame_digest};

pub(crate) use keys::LoadedKeys;
pub(crate) use sotto_evaluate::MOST_KEYS;

use crate::problem::{Problem, cannot_expand, cannot_run};
use crate::store::StoreError;
use keys::AnyKeys;

/// Ciphertexts of stored envelopes, read one at a time.
pub(crate) type Inputs<'a> = &'a mut dyn Iterator<Item = Result<Body, StoreError>>;

/// Parameters with their scheme, and the operations with them.
pub(crate) enum AnyParams {
    Bfv(Params<Bfv>),
    Bgv(Params<Bgv>),
    Ckks(Params<Ckks>),
}

/// Does some work with the parameters, whatever their scheme.
macro_rules! with_params {
    ($any:expr, $params:ident => $work:expr) => {
        match $any {
            AnyParams::Bfv($params) => $work,
            AnyParams::Bgv($params) => $work,
            AnyParams::Ckks($params) => $work,
        }
    };
}

/// Does some work with parameters and keys of one scheme; refuses keys of another.
macro_rules! with_keys {
    ($any:expr, $loaded:expr, ($params:ident, $keys:ident) => $work:expr) => {
        match ($any, &$loaded.keys) {
            (AnyParams::Bfv($params), AnyKeys::Bfv($keys)) => $work,
            (AnyParams::Bgv($params), AnyKeys::Bgv($keys)) => $work,
            (AnyParams::Ckks($params), AnyKeys::Ckks($keys)) => $work,
            (AnyParams::Bfv(_) | AnyParams::Bgv(_) | AnyParams::Ckks(_), _) => {
                Err(Problem::unprocessable(reason::WRONG_PARAMETERS, "the keys are for another scheme"))
            }
        }
    };
}

impl AnyParams {
    /// Checks parameters (at least 128-bit security) and makes them ready for use.
    pub(crate) fn new(spec: ParameterSpec) -> Result<Self, ParameterError> {
        Ok(match spec.scheme {
            SchemeId::Bfv => Self::Bfv(Params::new(spec)?),
            SchemeId::Bgv => Self::Bgv(Params::new(spec)?),
            SchemeId::Ckks => Self::Ckks(Params::new(spec)?),
        })
    }

    /// Validates a ciphertext, whole or compact: its length, its shape and every residue.
    pub(crate) fn check_ciphertext(&self, body: &Body) -> Result<(), WireError> {
        with_params!(self, params => Input::of(params, body).map(drop))
    }

    pub(crate) fn read_keys(&self, frame: &[u8]) -> Result<LoadedKeys, WireError> {
        with_params!(self, params => {
            let keys = sotto_wire::read_evaluation_keys(frame, params, MOST_KEYS)?;
            Ok(LoadedKeys::new(keys, Some(frame_digest(frame)?)))
        })
    }

    /// Returns the keys without the transfer key from `from`, and their frame; `None` if there is no such key.
    pub(crate) fn without_transfer(
        &self,
        loaded: &LoadedKeys,
        from: KeyId,
    ) -> Result<Option<(LoadedKeys, Vec<u8>)>, Problem> {
        with_keys!(self, loaded, (_params, keys) => {
            let mut keys = EvaluationKeys::clone(keys);
            if keys.transfers.remove(&from).is_none() {
                return Ok(None);
            }
            let frame = sotto_wire::write_evaluation_keys(&keys);
            let digest = frame_digest(&frame)?;
            Ok(Some((LoadedKeys::new(keys, Some(digest)), frame)))
        })
    }

    /// Returns an empty set of keys: enough for plans that neither relinearise nor rotate nor switch keys.
    pub(crate) fn no_keys(&self, key: KeyId) -> LoadedKeys {
        with_params!(self, params => LoadedKeys::new(EvaluationKeys::empty(params, key), None))
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
        with_keys!(self, loaded, (params, keys) => check(params, plan, inputs, keys, most_bytes))
    }

    pub(crate) fn run(
        &self,
        plan: &Plan,
        inputs: Inputs<'_>,
        loaded: &LoadedKeys,
        threads: &Threads,
        most_bytes: u64,
    ) -> Result<Evaluated, Problem> {
        with_keys!(self, loaded, (params, keys) => {
            sotto_evaluate::job(params, plan, inputs, keys, threads, most_bytes).map_err(failed)
        })
    }
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
