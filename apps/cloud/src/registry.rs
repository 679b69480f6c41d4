//! The only module that knows the schemes. Parameters are known only at run time, so all scheme-dependent work goes
//! through [`AnyParams`], which is implemented once for every scheme.

use std::any::Any;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sotto_compact::{Form, Profile};
use sotto_evaluate::{Evaluated, Input, JobError};
use sotto_program::Plan;
use sotto_rlwe::{
    Bfv, Bgv, Ckks, EvaluationKeys, KeyId, ParameterError, ParameterSpec, Params, SchemeId, Shape,
};
use sotto_runtime::{Managed, Threads};
use sotto_wire::{
    CompactCiphertext, CompactForm, Digest, EvaluationKeyCounts, Kind, WireError, frame_digest,
};
use utoipa::ToSchema;

use crate::problem::{Problem, cannot_expand, cannot_run};
use crate::store::StoreError;

/// Maximum numbers of keys in one set of evaluation keys.
pub(crate) const MOST_KEYS: EvaluationKeyCounts =
    EvaluationKeyCounts { relinearisation: true, galois: 64, transfers: 64 };

/// Frames of ciphertexts, read one at a time.
pub(crate) type Frames<'a> = &'a mut dyn Iterator<Item = Result<Vec<u8>, StoreError>>;

/// Parameters of any scheme, and the operations with them.
pub(crate) trait AnyParams: Send + Sync {
    /// Validates a ciphertext, whole or compact: its length, its shape and every residue.
    fn check_ciphertext(&self, frame: &[u8]) -> Result<(), WireError>;
    /// Returns the form of compact ciphertexts, if these parameters have it.
    fn compact(&self, form: &CompactForm) -> Result<Form, WireError>;
    fn read_keys(&self, frame: &[u8]) -> Result<LoadedKeys, WireError>;
    /// Returns the keys without the transfer key from `from`, and their frame; `None` if there is no such key.
    fn without_transfer(
        &self,
        keys: &LoadedKeys,
        from: KeyId,
    ) -> Result<Option<(LoadedKeys, Vec<u8>)>, Problem>;
    /// Returns an empty set of keys: enough for plans that neither relinearise nor rotate nor switch keys.
    fn no_keys(&self, key: KeyId) -> LoadedKeys;
    /// Refuses a plan that these inputs and keys do not allow, or that holds too many bytes of ciphertexts at any time.
    /// Computes nothing.
    fn check(
        &self,
        plan: &Plan,
        inputs: Frames<'_>,
        keys: &LoadedKeys,
        most_bytes: u64,
    ) -> Result<(), Problem>;
    fn run(
        &self,
        plan: &Plan,
        inputs: Frames<'_>,
        keys: &LoadedKeys,
        threads: &Threads,
        most_bytes: u64,
    ) -> Result<Evaluated, Problem>;
}

/// Evaluation keys of any scheme, expanded.
#[derive(Clone)]
pub(crate) struct LoadedKeys {
    pub(crate) key: KeyId,
    pub(crate) relinearisation: bool,
    pub(crate) galois: usize,
    /// The secret keys from which ciphertexts can be switched, ascending.
    pub(crate) transfers: Vec<KeyId>,
    pub(crate) contents: KeyContents,
    /// The digest of the keys' frame; `None` for an empty set.
    pub(crate) digest: Option<Digest>,
    keys: Arc<dyn Any + Send + Sync>,
}

/// Rotations, row swap and transfers of a set of evaluation keys.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub(crate) struct KeyContents {
    /// Number of slots in a row: rotations by `s` and by `s - row` are the same.
    row: u32,
    /// Steps from `-row / 2 + 1` to `row / 2`, ascending.
    rotations: Vec<i32>,
    /// True if the rows can be swapped.
    swap_rows: bool,
    /// Ids of the secret keys from which ciphertexts can be switched, ascending.
    transfers: Vec<String>,
}

impl KeyContents {
    fn of<S: Managed>(keys: &EvaluationKeys<S>) -> Self {
        let params = &keys.params;
        let row = (params.degree() / 2) as i32;
        let mut contents = Self {
            row: row.unsigned_abs(),
            rotations: Vec::new(),
            swap_rows: keys.can_rotate(0),
            transfers: keys.transfers.keys().map(KeyId::to_string).collect(),
        };
        // Rotations by s are the powers of the rotation by one.
        let group = 2 * params.degree() as u64;
        let Some(one) = params.galois_element(1).filter(|_| !keys.galois.is_empty()) else { return contents };
        let mut element = 1;
        for step in 1..row {
            element = element * one as u64 % group;
            if keys.galois.key(element as usize).is_some() {
                contents.rotations.push(if step > row / 2 { step - row } else { step });
            }
        }
        contents.rotations.sort_unstable();
        contents
    }
}

/// Checks parameters (at least 128-bit security) and makes them ready for use.
pub(crate) fn params(spec: ParameterSpec) -> Result<Arc<dyn AnyParams>, ParameterError> {
    Ok(match spec.scheme {
        SchemeId::Bfv => Arc::new(Params::<Bfv>::new(spec)?),
        SchemeId::Bgv => Arc::new(Params::<Bgv>::new(spec)?),
        SchemeId::Ckks => Arc::new(Params::<Ckks>::new(spec)?),
    })
}

impl LoadedKeys {
    fn new<S: Managed>(keys: EvaluationKeys<S>, digest: Option<Digest>) -> Self {
        let (key, relinearisation, galois) = (keys.key, keys.relinearisation.is_some(), keys.galois.len());
        let transfers = keys.transfers.keys().copied().collect();
        let contents = KeyContents::of(&keys);
        Self { key, relinearisation, galois, transfers, contents, digest, keys: Arc::new(keys) }
    }

    fn of<S: Managed>(&self) -> Result<&EvaluationKeys<S>, Problem> {
        let other = || Problem::unprocessable("wrong-parameters", "the keys are for another scheme");
        self.keys.downcast_ref().ok_or_else(other)
    }
}

impl<S: Managed> AnyParams for Params<S> {
    fn check_ciphertext(&self, frame: &[u8]) -> Result<(), WireError> {
        match sotto_wire::frame_kind(frame)? {
            Kind::CompactCiphertext => self.compact(&CompactCiphertext::read(frame)?.form).map(drop),
            _ => Input::read(self, frame).map(drop),
        }
    }

    fn compact(&self, form: &CompactForm) -> Result<Form, WireError> {
        let params = (self as &dyn Any).downcast_ref::<Params<Bfv>>();
        let params = params.ok_or(WireError::Value("compact ciphertexts are BFV's"))?;
        let profile = Profile::new(params, form.places.into(), form.width.into());
        let profile =
            profile.map_err(|_| WireError::Value("its parameters do not allow this compact form"))?;
        Ok(*profile.form())
    }

    fn read_keys(&self, frame: &[u8]) -> Result<LoadedKeys, WireError> {
        let keys = sotto_wire::read_evaluation_keys::<S>(frame, self, MOST_KEYS)?;
        Ok(LoadedKeys::new(keys, Some(frame_digest(frame)?)))
    }

    fn without_transfer(
        &self,
        keys: &LoadedKeys,
        from: KeyId,
    ) -> Result<Option<(LoadedKeys, Vec<u8>)>, Problem> {
        let mut keys = keys.of::<S>()?.clone();
        if keys.transfers.remove(&from).is_none() {
            return Ok(None);
        }
        let frame = sotto_wire::write_evaluation_keys(&keys);
        let digest = frame_digest(&frame)?;
        Ok(Some((LoadedKeys::new(keys, Some(digest)), frame)))
    }

    fn no_keys(&self, key: KeyId) -> LoadedKeys {
        LoadedKeys::new(EvaluationKeys::<S>::empty(self, key), None)
    }

    fn check(
        &self,
        plan: &Plan,
        inputs: Frames<'_>,
        keys: &LoadedKeys,
        most_bytes: u64,
    ) -> Result<(), Problem> {
        let keys = keys.of()?;
        let given = |frame: Result<Vec<u8>, StoreError>| {
            let input = Input::read(self, &frame?);
            let input = input.map_err(|error| StoreError::Damaged(error.to_string()))?;
            input.checked(keys).map_err(|error| cannot_expand(&error))
        };
        let given: Vec<(KeyId, Shape<S>)> = inputs.map(given).collect::<Result<_, Problem>>()?;
        let checked = sotto_runtime::check(plan, self, &given, keys, most_bytes);
        checked.map(drop).map_err(|error| cannot_run(&error))
    }

    fn run(
        &self,
        plan: &Plan,
        frames: Frames<'_>,
        keys: &LoadedKeys,
        threads: &Threads,
        most_bytes: u64,
    ) -> Result<Evaluated, Problem> {
        sotto_evaluate::job(self, plan, frames, keys.of()?, threads, most_bytes).map_err(failed)
    }
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
