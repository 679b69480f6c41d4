//! The only module that knows the schemes.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use sotto_evaluate::{Input, JobError, MOST_KEYS, SwitchedSum, job};
use sotto_program::Plan;
use sotto_ring::Scratch;
use sotto_rlwe::{EvaluationKeys, Evaluator, KeyId, ParameterId, Params};
use sotto_runtime::{Managed, Threads};
use sotto_wire::{evaluation_keys_bytes, read_evaluation_keys};

use super::reader::Reader;
use crate::LakeError;
use crate::ciphertexts::Stored;
use crate::store::{Object, Setting};

/// Sets of evaluation keys of one parameter set that stay in memory.
const KEYS_IN_MEMORY: usize = 8;

/// Evaluates ciphertexts of one parameter set.
pub(super) trait Evaluates: Send + Sync {
    fn parameters(&self) -> ParameterId;

    /// Runs a plan on its inputs, with at most `most_bytes` bytes of ciphertexts in memory. Returns the frames of its outputs, one
    /// behind the other. `answer` is the key of the answer, and the setting with its evaluation keys.
    fn run(
        &self,
        plan: &Plan,
        inputs: &[Stored],
        answer: (&Setting, KeyId),
        reader: &Reader<'_>,
        threads: &Threads,
        most_bytes: u64,
    ) -> Result<Vec<u8>, LakeError>;

    /// Returns the sum of no ciphertexts, to be under a key.
    fn sum(
        self: Arc<Self>,
        setting: &Setting,
        key: KeyId,
        reader: &Reader<'_>,
    ) -> Result<Box<dyn Summing>, LakeError>;

    /// Reads the state of a sum of `count` ciphertexts.
    fn sum_again(self: Arc<Self>, state: &[u8], count: u64) -> Result<Box<dyn Summing>, LakeError>;
}

/// A sum of ciphertexts that are switched to one key.
pub(super) trait Summing: Send + Sync {
    fn parameters(&self) -> ParameterId;
    /// Switches a ciphertext to the key and adds it.
    fn add(&mut self, stored: &Stored, setting: &Setting, reader: &Reader<'_>) -> Result<(), LakeError>;
    /// Adds the state of a sum of `count` ciphertexts.
    fn add_state(&mut self, state: &[u8], count: u64) -> Result<(), LakeError>;
    /// Returns the state, and the number of ciphertexts; None without any.
    fn state(&self) -> Option<(Vec<u8>, u64)>;
    /// Returns the frame of the sum; None without a ciphertext.
    fn frame(&self) -> Result<Option<Vec<u8>>, LakeError>;
    fn bytes(&self) -> usize;
}

/// Keys by the name of their file.
type Loaded<S> = VecDeque<([u8; 16], Arc<EvaluationKeys<S>>)>;

/// Parameters of a scheme, and keys that were read.
pub(super) struct Of<S: Managed> {
    params: Params<S>,
    evaluator: Evaluator<S>,
    keys: Mutex<Loaded<S>>,
    scratches: Mutex<Vec<Scratch>>,
}

impl<S: Managed> Of<S> {
    pub(super) fn new(params: Params<S>) -> Self {
        let evaluator = Evaluator::new(&params);
        Self { params, evaluator, keys: Mutex::default(), scratches: Mutex::default() }
    }

    /// Returns the evaluation keys of a secret key; an empty set if the store has none.
    fn keys(
        &self,
        setting: &Setting,
        key: KeyId,
        reader: &Reader<'_>,
    ) -> Result<Arc<EvaluationKeys<S>>, LakeError> {
        let Some(file) = setting.file_of(key) else {
            return Ok(Arc::new(EvaluationKeys::empty(&self.params, key)));
        };
        // Locked while they are read: groups that run at one time read them once.
        let mut loaded = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, keys)) = loaded.iter().find(|(name, _)| *name == file) {
            return Ok(Arc::clone(keys));
        }
        // Keys of other libraries have masks where others have seeds.
        let most = 2 * evaluation_keys_bytes(&self.params, MOST_KEYS) as u64;
        let keys = reader.made(Object::Keys(file), most, |bytes| {
            let keys = read_evaluation_keys(bytes, &self.params, MOST_KEYS);
            let keys =
                keys.map_err(|error| format!("the evaluation keys of {key} cannot be read: {error}"))?;
            if keys.key == key {
                Ok(keys)
            } else {
                Err(format!("it has the keys of {}, not of {key}", keys.key))
            }
        })?;
        let keys = Arc::new(keys);
        loaded.push_front((file, Arc::clone(&keys)));
        loaded.truncate(KEYS_IN_MEMORY);
        Ok(keys)
    }

    /// Runs work with buffers that stay for later work.
    fn with_scratch<T>(&self, work: impl FnOnce(&mut Scratch) -> T) -> T {
        let locked = || self.scratches.lock().unwrap_or_else(PoisonError::into_inner);
        let mut scratch = locked().pop().unwrap_or_default();
        let done = work(&mut scratch);
        locked().push(scratch);
        done
    }
}

impl<S: Managed> Evaluates for Of<S> {
    fn parameters(&self) -> ParameterId {
        self.params.id()
    }

    fn run(
        &self,
        plan: &Plan,
        inputs: &[Stored],
        (setting, key): (&Setting, KeyId),
        reader: &Reader<'_>,
        threads: &Threads,
        most_bytes: u64,
    ) -> Result<Vec<u8>, LakeError> {
        let keys = self.keys(setting, key, reader)?;
        let mut bodies = inputs.iter().map(|stored| reader.body(stored));
        let done = job(&self.params, plan, &mut bodies, &keys, threads, most_bytes);
        let done = done.map_err(|error| match error {
            JobError::Source(error) => error,
            error => LakeError::Evaluation(error.to_string()),
        })?;
        Ok(done.outputs.concat())
    }

    fn sum(
        self: Arc<Self>,
        setting: &Setting,
        key: KeyId,
        reader: &Reader<'_>,
    ) -> Result<Box<dyn Summing>, LakeError> {
        let keys = Some(self.keys(setting, key, reader)?);
        Ok(Box::new(SumOf { of: self, keys, sum: SwitchedSum::new(key) }))
    }

    fn sum_again(self: Arc<Self>, state: &[u8], count: u64) -> Result<Box<dyn Summing>, LakeError> {
        let sum = SwitchedSum::read(state, count, &self.params)?;
        Ok(Box::new(SumOf { of: self, keys: None, sum }))
    }
}

struct SumOf<S: Managed> {
    of: Arc<Of<S>>,
    /// None for a sum that was read again, until a ciphertext is added.
    keys: Option<Arc<EvaluationKeys<S>>>,
    sum: SwitchedSum<S>,
}

impl<S: Managed> Summing for SumOf<S> {
    fn parameters(&self) -> ParameterId {
        self.of.params.id()
    }

    fn add(&mut self, stored: &Stored, setting: &Setting, reader: &Reader<'_>) -> Result<(), LakeError> {
        let keys = match &self.keys {
            Some(keys) => Arc::clone(keys),
            None => self.of.keys(setting, self.sum.key(), reader)?,
        };
        self.keys = Some(Arc::clone(&keys));
        let body = reader.body(stored)?;
        let input = Input::of(&self.of.params, &body).map_err(|error| stored.refused(&error))?;
        let (of, sum) = (&self.of, &mut self.sum);
        let added = of.with_scratch(|scratch| sum.add(input, &of.evaluator, &keys, scratch));
        added.map_err(|error| stored.refused(&error))
    }

    fn add_state(&mut self, state: &[u8], count: u64) -> Result<(), LakeError> {
        let other = SwitchedSum::read(state, count, &self.of.params)?;
        let (of, sum) = (&self.of, &mut self.sum);
        let added = of.with_scratch(|scratch| sum.add_sum(other, &of.evaluator, scratch));
        added.map_err(|error| LakeError::Evaluation(error.to_string()))
    }

    fn state(&self) -> Option<(Vec<u8>, u64)> {
        Some((self.sum.state()?, self.sum.count()))
    }

    fn frame(&self) -> Result<Option<Vec<u8>>, LakeError> {
        let reason =
            |error| LakeError::Evaluation(format!("a sum of {} ciphertexts: {error}", self.sum.count()));
        self.sum.frame(&self.of.params).map_err(reason)
    }

    fn bytes(&self) -> usize {
        self.sum.bytes(&self.of.params) as usize
    }
}
