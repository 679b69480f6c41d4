//! Everything that evaluations of one process share: the store's files, threads, parameters and keys.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use sotto_rlwe::{ParameterSpec, Params, with_scheme};
use sotto_runtime::Threads;
use tokio::runtime::{Handle, RuntimeFlavor};

use super::reader::Reader;
use super::scheme::{Evaluates, Of};
use crate::LakeError;
use crate::store::{Files, Setting};

/// Maximum bytes of ciphertexts that a group's plan holds at any time, unless said: as the cloud's `largest_job`.
pub const LARGEST_JOB: u64 = 2 << 30;

/// Evaluates ciphertexts of one store.
pub struct Evaluations {
    files: Arc<Files>,
    /// Threads to start; 0 for one of each core.
    wanted: usize,
    threads: OnceLock<Threads>,
    /// Held while a process of one thread evaluates, so that its memory is that of one group.
    turn: Mutex<()>,
    pub(super) largest_job: u64,
    /// By the frame of the parameters.
    schemes: Mutex<HashMap<Vec<u8>, Arc<dyn Evaluates>>>,
}

impl std::fmt::Debug for Evaluations {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Evaluations")
    }
}

impl Evaluations {
    /// Evaluates ciphertexts of these files on some threads, or on all of the machine. A plan of a group holds at most
    /// `largest_job` bytes of ciphertexts.
    #[must_use]
    pub fn new(files: Arc<Files>, threads: Option<usize>, largest_job: Option<u64>) -> Self {
        Self {
            files,
            wanted: threads.map_or(0, |threads| threads.max(1)),
            threads: OnceLock::new(),
            turn: Mutex::default(),
            largest_job: largest_job.unwrap_or(LARGEST_JOB),
            schemes: Mutex::default(),
        }
    }

    pub(crate) fn files(&self) -> &Arc<Files> {
        &self.files
    }

    /// Returns the reader of a thread that may wait.
    pub(super) fn reader(&self) -> Reader<'_> {
        Reader { files: &self.files, bucket: runtime() }
    }

    /// Runs work that computes for long, on threads that all queries of this process share.
    pub(super) fn computing<T>(&self, work: impl FnOnce(&Threads, &Reader<'_>) -> T) -> Result<T, LakeError> {
        let threads = match self.threads.get() {
            Some(threads) => threads,
            None => {
                let started = Threads::new(self.wanted);
                let started = started.map_err(|error| LakeError::Evaluation(error.to_string()))?;
                self.threads.get_or_init(|| started)
            }
        };
        Ok(blocking(|| {
            let alone = threads.count() == 1;
            let _turn = alone.then(|| self.turn.lock().unwrap_or_else(PoisonError::into_inner));
            work(threads, &self.reader())
        }))
    }

    /// Returns the scheme of a setting, with its parameters ready for use.
    pub(super) fn scheme(&self, setting: &Setting) -> Result<Arc<dyn Evaluates>, LakeError> {
        let mut schemes = self.schemes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = schemes.get(&setting.parameters) {
            return Ok(Arc::clone(known));
        }
        let damaged = |error: String| LakeError::Damaged(format!("parameters: {error}"));
        let spec = sotto_wire::read_parameters(&setting.parameters);
        let made = made(spec.map_err(|error| damaged(error.to_string()))?);
        let made = made.map_err(|error| damaged(error.to_string()))?;
        schemes.insert(setting.parameters.clone(), Arc::clone(&made));
        Ok(made)
    }
}

/// Checks parameters (at least 128-bit security) and makes them ready for use.
fn made(spec: ParameterSpec) -> Result<Arc<dyn Evaluates>, sotto_rlwe::ParameterError> {
    with_scheme!(spec.scheme, S => Ok(Arc::new(Of::<S>::new(Params::new(spec)?))))
}

/// Returns the runtime of this thread, if it may wait there.
fn runtime() -> Option<Handle> {
    Handle::try_current().ok().filter(|handle| handle.runtime_flavor() == RuntimeFlavor::MultiThread)
}

/// Runs work that computes or waits for long. Other tasks of the runtime go on meanwhile: a worker has to answer that it is alive.
pub(super) fn blocking<T>(work: impl FnOnce() -> T) -> T {
    match runtime() {
        Some(_) => tokio::task::block_in_place(work),
        None => work(),
    }
}
