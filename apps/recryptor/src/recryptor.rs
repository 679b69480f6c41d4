//! State shared by all requests.

use std::sync::Arc;
use std::thread;

use anyhow::{Context as _, ensure};
use sotto_api::reason;
use sotto_decrypt::partial::recryptor::LocalRecryptor;
use sotto_keys::partial::RecryptorSecret;
use sotto_service::body;
use sotto_service::problem::Problem;
use sotto_service::work;
use sotto_wire::{
    ExchangeKeys, longest_exchange_request, write_elgamal_public_key, write_paillier_public_key,
};
use tokio::sync::Semaphore;
use zeroize::Zeroizing;

use crate::callers::Callers;
use crate::config::Config;
use crate::ledger::{Ledger, LedgerError};

/// Environment variable with the passphrase of the key file.
const PASSPHRASE: &str = "SOTTO_PASSPHRASE";

/// The keys, the callers, the ledger, and the limits.
pub struct Recryptor {
    pub(crate) config: Config,
    pub(crate) agent: LocalRecryptor,
    pub(crate) callers: Callers,
    pub(crate) ledger: Ledger,
    /// Frames of the public keys.
    pub(crate) paillier_frame: Vec<u8>,
    pub(crate) elgamal_frame: Option<Vec<u8>>,
    /// Memory for batches, each of which is held whole: one permit per piece of [`body::PIECE`] bytes.
    pub(crate) batches: Arc<Semaphore>,
    /// CPU work: one permit per core.
    cores: Arc<Semaphore>,
}

/// Reads the keys, and checks that a batch is as long as they need.
pub(crate) fn agent(config: &Config) -> anyhow::Result<LocalRecryptor> {
    let passphrase = std::env::var(PASSPHRASE).ok().map(Zeroizing::new);
    let secret = RecryptorSecret::read(&config.key_file, passphrase.as_ref().map(|words| words.as_str()))?;
    let unusable = || format!("the keys in {} cannot be used", config.key_file.display());
    let agent = LocalRecryptor::new(&secret.paillier, secret.elgamal).with_context(unusable)?;
    let elgamal = agent.elgamal_key().map(Arc::as_ref);
    let longest = longest_exchange_request(ExchangeKeys { paillier: agent.paillier_key(), elgamal });
    ensure!(
        config.largest_batch >= longest,
        "largest_batch is {}, and a batch has up to {longest} bytes with these keys: callers would be refused for ever",
        config.largest_batch
    );
    Ok(agent)
}

impl Recryptor {
    pub(crate) fn open(config: &Config) -> anyhow::Result<Self> {
        let agent = agent(config)?;
        let cores = thread::available_parallelism().map_or(1, usize::from);
        Ok(Self {
            callers: Callers::read(&config.callers_file)?,
            ledger: Ledger::open(&config.data)
                .with_context(|| format!("cannot open {}", config.data.display()))?,
            paillier_frame: write_paillier_public_key(agent.paillier_key())?,
            elgamal_frame: agent.elgamal_key().map(|key| write_elgamal_public_key(key)),
            batches: Arc::new(Semaphore::new(config.batches_at_once * body::pieces(config.largest_batch))),
            cores: Arc::new(Semaphore::new(cores)),
            config: config.clone(),
            agent,
        })
    }

    /// Returns the public keys.
    pub(crate) fn keys(&self) -> ExchangeKeys<'_> {
        let elgamal = self.agent.elgamal_key().map(Arc::as_ref);
        ExchangeKeys { paillier: self.agent.paillier_key(), elgamal }
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
        work::computing(Arc::clone(&self.cores), move || work(&self)).await
    }
}

impl From<LedgerError> for Problem {
    fn from(error: LedgerError) -> Self {
        tracing::error!(%error, "the ledger failed");
        let full = matches!(&error, LedgerError::Database(error)
            if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DiskFull));
        if full {
            let detail = "no space is left for the ledger: nothing was decrypted";
            return Self::new(axum::http::StatusCode::INSUFFICIENT_STORAGE, reason::STORAGE_FULL, detail);
        }
        Self::internal()
    }
}
