//! What every request and every worker shares.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::thread;

use anyhow::Context as _;
use sotto_rlwe::{KeyId, ParameterId};
use sotto_runtime::Threads;
use sotto_service::body;
use sotto_service::token::Token;
use sotto_service::work;
use tokio::sync::Semaphore;

use crate::config::Config;
use crate::enrolments::{self, Enrolments};
use crate::evaluate::Queue;
use crate::id::Id;
use crate::identity::Identity;
use crate::problem::Problem;
use crate::quotas::Quotas;
use crate::registry::{self, AnyParams, LoadedKeys};
use crate::store::{KeyStatus, Opening, Recovered, Store, StoreError};

/// The store, what is cached of it, the queue, and the limits.
pub(crate) struct Cloud {
    pub(crate) config: Config,
    pub(crate) owner: Token,
    pub(crate) identity: Identity,
    pub(crate) store: Store,
    pub(crate) queue: Queue,
    pub(crate) enrolments: Enrolments,
    pub(crate) quotas: Quotas,
    /// What all jobs share within themselves.
    pub(crate) threads: Threads,
    /// Memory for uploads, which hold their whole body: one permit a piece of [`body::PIECE`].
    pub(crate) uploads: Arc<Semaphore>,
    /// One permit a core for what computes.
    cores: Arc<Semaphore>,
    known: RwLock<HashMap<ParameterId, Arc<dyn AnyParams>>>,
    /// Loaded keys by the file that they came from, the latest used at the end. Also held while a file is replaced.
    keys: Mutex<LoadedFiles>,
}

type LoadedFiles = VecDeque<(Id, LoadedKeys)>;

impl Cloud {
    /// Opens the store to serve it.
    pub(crate) fn open(config: &Config) -> anyhow::Result<Self> {
        let cloud = Self::with(config, Opening::Serve)?;
        cloud.store.recover()?;
        Ok(cloud)
    }

    /// Makes the rows of envelopes again, also of those that were put aside.
    pub(crate) fn rebuild(config: &Config) -> anyhow::Result<Recovered> {
        let cloud = Self::with(config, Opening::Rebuild)?;
        cloud.store.take_orphans_back()?;
        Ok(cloud.store.recover()?)
    }

    fn with(config: &Config, opening: Opening) -> anyhow::Result<Self> {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let owner = Token::read(&config.owner_token_file)?;
        let store = Store::open(&config.data, opening)
            .with_context(|| format!("cannot open {}", config.data.display()))?;
        let cloud = Self {
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
            quotas: Quotas::default(),
            config: config.clone(),
        };
        enrolments::read_folder(&cloud);
        Ok(cloud)
    }

    /// Work that waits for the disk, away from the threads that serve connections.
    pub(crate) async fn blocking<T: Send + 'static>(
        self: Arc<Self>,
        work: impl FnOnce(&Self) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        work::blocking(move || work(&self)).await
    }

    /// Work that computes: no more at a time than there are cores. A permit is held until the work is done, even when
    /// the request is gone by then.
    pub(crate) async fn computing<T: Send + 'static>(
        self: Arc<Self>,
        work: impl FnOnce(&Self) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        work::computing(Arc::clone(&self.cores), move || {
            let done = work(&self);
            // The next work runs on some other thread: this one keeps no memory for it.
            sotto_ring::release();
            done
        })
        .await
    }

    /// The params of stored parameters.
    pub(crate) fn params(&self, parameters: ParameterId) -> Result<Arc<dyn AnyParams>, Problem> {
        if let Some(params) = self.known.read().unwrap_or_else(PoisonError::into_inner).get(&parameters) {
            return Ok(Arc::clone(params));
        }
        let unknown = || {
            let detail = format!("parameters {parameters} are not known here: the owner has to upload them");
            Problem::unprocessable("unknown-parameters", detail)
        };
        let frame = self.store.parameters(parameters)?.ok_or_else(unknown)?;
        let damaged = |error: String| StoreError::Damaged(error);
        let spec = sotto_wire::read_parameters(&frame).map_err(|error| damaged(error.to_string()))?;
        let params = registry::params(spec).map_err(|error| damaged(error.to_string()))?;
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        Ok(Arc::clone(known.entry(parameters).or_insert(params)))
    }

    /// The evaluation keys of a secret key: none at all if the owner uploaded none.
    pub(crate) fn keys(&self, parameters: ParameterId, key: KeyId) -> Result<LoadedKeys, Problem> {
        let params = self.params(parameters)?;
        let mut loaded = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        self.load_keys(params.as_ref(), &mut loaded, parameters, key)
    }

    fn load_keys(
        &self,
        params: &dyn AnyParams,
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

    /// The evaluation keys that are stored for a secret key. Keys that an older program stored are loaded once, to list their contents.
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
        // While it is locked, nobody replaces the keys.
        let mut loaded = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        let keys = self.load_keys(params.as_ref(), &mut loaded, parameters, key)?;
        self.store.keep_key_contents(parameters, key, &keys.contents)?;
        Ok(self.store.key_status(parameters, key)?)
    }

    /// Stores evaluation keys in the place of those that were there. Their transfer keys lead from keys of registered devices.
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
                return Err(Problem::unprocessable("unknown-key", detail));
            }
        }
        let mut loaded = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        self.replace_keys(&mut loaded, parameters, keys, frame)
    }

    /// Deletes the transfer key from one secret key to another; false if there is none. Jobs that wait for it fail.
    pub(crate) fn delete_transfer(
        &self,
        parameters: ParameterId,
        key: KeyId,
        from: KeyId,
    ) -> Result<bool, Problem> {
        let params = self.params(parameters)?;
        let mut loaded = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        let keys = self.load_keys(params.as_ref(), &mut loaded, parameters, key)?;
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
