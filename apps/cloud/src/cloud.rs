//! State shared by all requests and workers.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::thread;

use anyhow::Context as _;
use sotto_api::keys::KeyStatus;
use sotto_api::reason;
use sotto_rlwe::{KeyId, ParameterId};
use sotto_runtime::Threads;
use sotto_service::body;
use sotto_service::token::Token;
use sotto_service::work;
use tokio::sync::Semaphore;

use crate::config::Config;
use crate::enrolments::Enrolments;
use crate::evaluate::Queue;
use crate::id::Id;
use crate::identity::Identity;
use crate::problem::Problem;
use crate::quotas::Quotas;
use crate::registry::{AnyParams, LoadedKeys};
use crate::store::{Opening, Store, StoreError};

/// The store, its caches, the queue, and the limits.
pub struct Cloud {
    pub(crate) config: Config,
    pub(crate) owner: Token,
    pub(crate) identity: Identity,
    pub(crate) store: Store,
    pub(crate) queue: Queue,
    pub(crate) enrolments: Enrolments,
    pub(crate) quotas: Quotas,
    /// Threads shared by the steps of all jobs.
    pub(crate) threads: Threads,
    /// Memory for uploads, each of which is held whole: one permit per piece of [`body::PIECE`] bytes.
    pub(crate) uploads: Arc<Semaphore>,
    /// CPU work: one permit per core.
    cores: Arc<Semaphore>,
    known: RwLock<HashMap<ParameterId, Arc<AnyParams>>>,
    /// Loaded keys with the id of their file, the most recently used last. Also locked while a file is replaced.
    keys: Mutex<LoadedFiles>,
}

type LoadedFiles = VecDeque<(Id, LoadedKeys)>;

impl Cloud {
    /// Opens the store. Nobody is registered from the enrolment folder yet, and the store is not repaired.
    pub(crate) fn open(config: &Config, opening: Opening) -> anyhow::Result<Self> {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let owner = Token::read(&config.owner_token_file)?;
        let store = Store::open(&config.data, opening)
            .with_context(|| format!("cannot open {}", config.data.display()))?
            .with_tier(config.tier()?);
        if opening == Opening::Serve {
            store.refuse_without_rows().context("cannot open the object store")?;
        }
        Ok(Self {
            owner,
            identity: Identity::open(config)?,
            store,
            queue: Queue::new(config.queue),
            threads: Threads::new(config.threads)?,
            uploads: Arc::new(Semaphore::new(config.uploads_at_once * body::pieces(config.largest_upload))),
            cores: Arc::new(Semaphore::new(cores)),
            known: RwLock::default(),
            keys: Mutex::default(),
            enrolments: Enrolments::default(),
            quotas: Quotas::new(config.device_bytes, config.device_rate),
            config: config.clone(),
        })
    }

    /// Runs work that reads windows. Those that are in the object store alone are fetched while the store is not locked;
    /// then it runs again.
    pub(crate) fn with_windows<T>(
        &self,
        mut work: impl FnMut(&Self) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        loop {
            match work(self) {
                Err(problem) if problem.reason == reason::WINDOWS_AWAY => self.store.bring()?,
                done => return done,
            }
        }
    }

    /// Like [`Cloud::computing`], for work that reads windows. No core is held while they are fetched from an object store.
    pub(crate) async fn reading<T: Send + 'static>(
        self: Arc<Self>,
        work: impl Fn(&Self) -> Result<T, Problem> + Send + Sync + 'static,
    ) -> Result<T, Problem> {
        let work = Arc::new(work);
        loop {
            let again = Arc::clone(&work);
            match Arc::clone(&self).computing(move |cloud| again(cloud)).await {
                Err(problem) if problem.reason == reason::WINDOWS_AWAY => {
                    Arc::clone(&self).blocking(|cloud| Ok(cloud.store.bring()?)).await?;
                }
                done => return done,
            }
        }
    }

    /// Runs disk-bound work outside the threads that serve connections.
    pub(crate) async fn blocking<T: Send + 'static>(
        self: Arc<Self>,
        work: impl FnOnce(&Self) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        work::blocking(move || work(&self)).await
    }

    /// Runs CPU-bound work, at most as many at the same time as there are cores. The permit is held until the work
    /// ends, even if the request is cancelled.
    pub(crate) async fn computing<T: Send + 'static>(
        self: Arc<Self>,
        work: impl FnOnce(&Self) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        work::computing(Arc::clone(&self.cores), move || {
            let done = work(&self);
            // The next work may run on another thread: release this thread's pooled buffers.
            sotto_ring::release();
            done
        })
        .await
    }

    /// Returns the stored parameters with this id, ready for use.
    pub(crate) fn params(&self, parameters: ParameterId) -> Result<Arc<AnyParams>, Problem> {
        if let Some(params) = self.known.read().unwrap_or_else(PoisonError::into_inner).get(&parameters) {
            return Ok(Arc::clone(params));
        }
        let unknown = || {
            let detail = format!("parameters {parameters} are not known here: the owner has to upload them");
            Problem::unprocessable(reason::UNKNOWN_PARAMETERS, detail)
        };
        let frame = self.store.parameters(parameters)?.ok_or_else(unknown)?;
        let damaged = |error: String| StoreError::Damaged(error);
        let spec = sotto_wire::read_parameters(&frame).map_err(|error| damaged(error.to_string()))?;
        let params = AnyParams::new(spec).map_err(|error| damaged(error.to_string()))?;
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        Ok(Arc::clone(known.entry(parameters).or_insert(Arc::new(params))))
    }

    /// Returns the evaluation keys of a secret key; an empty set if the owner uploaded none.
    pub(crate) fn keys(&self, parameters: ParameterId, key: KeyId) -> Result<LoadedKeys, Problem> {
        let params = self.params(parameters)?;
        let mut loaded = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        self.load_keys(&params, &mut loaded, parameters, key)
    }

    fn load_keys(
        &self,
        params: &AnyParams,
        loaded: &mut LoadedFiles,
        parameters: ParameterId,
        key: KeyId,
    ) -> Result<LoadedKeys, Problem> {
        let Some(file) = self.store.keys_file(parameters, key)? else { return Ok(params.no_keys(key)) };
        let keys = match loaded.iter().position(|(name, _)| *name == file).and_then(|at| loaded.remove(at)) {
            Some((_, keys)) => keys,
            None => {
                let frame = self.store.keys_frame(file)?;
                params.read_keys(&frame).map_err(|error| StoreError::Damaged(error.to_string()))?
            }
        };
        self.remember(loaded, file, keys.clone());
        Ok(keys)
    }

    /// Returns the contents of the stored evaluation keys of a secret key. Keys that an older version stored are loaded
    /// once, to record their contents.
    pub(crate) fn key_status(
        &self,
        parameters: ParameterId,
        key: KeyId,
    ) -> Result<Option<KeyStatus>, Problem> {
        match self.store.key_status(parameters, key)? {
            Some(status) if status.contents.is_none() => {}
            complete => return Ok(complete),
        }
        let params = self.params(parameters)?;
        // The lock prevents that the keys are replaced meanwhile.
        let mut loaded = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        let keys = self.load_keys(&params, &mut loaded, parameters, key)?;
        self.store.keep_key_contents(parameters, key, &keys.contents)?;
        Ok(self.store.key_status(parameters, key)?)
    }

    /// Stores evaluation keys; replaces earlier ones. Refuses transfer keys from a secret key that no registered device
    /// has.
    pub(crate) fn keep_keys(
        &self,
        parameters: ParameterId,
        keys: LoadedKeys,
        frame: &[u8],
    ) -> Result<(), Problem> {
        for from in &keys.transfers {
            if !self.store.is_registered_key(parameters, *from)? {
                let detail =
                    format!("a transfer key leads from key {from}, which no device registered here has");
                return Err(Problem::unprocessable(reason::UNKNOWN_KEY, detail));
            }
        }
        let mut loaded = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        self.replace_keys(&mut loaded, parameters, keys, frame)
    }

    /// Deletes the transfer key from one secret key to another. Returns false if there is none. Queued jobs that need
    /// it fail.
    pub(crate) fn delete_transfer(
        &self,
        parameters: ParameterId,
        key: KeyId,
        from: KeyId,
    ) -> Result<bool, Problem> {
        let params = self.params(parameters)?;
        let mut loaded = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        let keys = self.load_keys(&params, &mut loaded, parameters, key)?;
        let Some((left, frame)) = params.without_transfer(&keys, from)? else { return Ok(false) };
        self.replace_keys(&mut loaded, parameters, left, &frame)?;
        Ok(true)
    }

    fn replace_keys(
        &self,
        loaded: &mut LoadedFiles,
        parameters: ParameterId,
        keys: LoadedKeys,
        frame: &[u8],
    ) -> Result<(), Problem> {
        let (file, replaced) = self.store.keep_keys(parameters, &keys, frame)?;
        loaded.retain(|(name, _)| Some(*name) != replaced);
        self.remember(loaded, file, keys);
        Ok(())
    }

    fn remember(&self, loaded: &mut LoadedFiles, file: Id, keys: LoadedKeys) {
        loaded.push_back((file, keys));
        while loaded.len() > self.config.keys_in_memory {
            loaded.pop_front();
        }
    }
}
