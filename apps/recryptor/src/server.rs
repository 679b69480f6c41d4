//! The recryptor as a service.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use sotto_service::Service;
use sotto_service::settings::Listening;
use tokio::time::{MissedTickBehavior, interval};

use crate::api;
use crate::config::Config;
use crate::recryptor::Recryptor;

/// Interval at which refusals are written: bounds the disk writes that unauthenticated requests can cause.
const REFUSALS: Duration = Duration::from_secs(1);

/// A recryptor that listens. It accepts connections, and answers them once it serves.
pub type Server = sotto_service::Server<Recryptor>;

/// Answers batches until a signal comes.
///
/// # Errors
/// A file cannot be read, the folder is in use, or the address cannot be listened on.
pub fn run(config: &Config) -> anyhow::Result<()> {
    sotto_service::run::<Recryptor>(config)
}

impl Service for Recryptor {
    type Config = Config;
    type Work = ();

    fn listening(config: &Config) -> &Listening {
        &config.listening
    }

    fn open(config: &Config) -> anyhow::Result<Self> {
        Self::open(config)
    }

    fn router(self: &Arc<Self>) -> Router {
        api::router(self)
    }

    fn start(self: &Arc<Self>, address: SocketAddr, scheme: &str) -> anyhow::Result<()> {
        let (callers, bits) = (self.callers.len(), self.agent.paillier_key().bits());
        tracing::info!(%address, scheme, callers, bits, "listening");
        Ok(())
    }

    /// Writes refusals.
    async fn repeat(self: Arc<Self>) {
        let mut ticks = interval(REFUSALS);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            let recryptor = Arc::clone(&self);
            let written = tokio::task::spawn_blocking(move || recryptor.ledger.write_refusals()).await;
            if let Ok(Err(error)) = written {
                tracing::error!(%error, "refusals cannot be written");
            }
        }
    }

    fn end(&self, (): ()) -> anyhow::Result<()> {
        Ok(self.ledger.write_refusals()?)
    }
}
