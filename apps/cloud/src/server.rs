//! The cloud as a service.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use sotto_service::settings::Listening;
use sotto_service::{GRACE, Service};

use crate::cloud::Cloud;
use crate::config::Config;
use crate::evaluate::Workers;
use crate::store::Sealing;
use crate::{api, maintain, startup};

/// A cloud that listens. It accepts connections, and answers them once it serves.
pub type Server = sotto_service::Server<Cloud>;

/// Accepts uploads, stores, evaluates and serves until a signal comes.
///
/// # Errors
/// The store or a file cannot be opened, or the address cannot be listened on.
pub fn run(config: &Config) -> anyhow::Result<()> {
    sotto_service::run::<Cloud>(config)
}

impl Service for Cloud {
    type Config = Config;
    type Work = Workers;

    fn listening(config: &Config) -> &Listening {
        &config.listening
    }

    fn open(config: &Config) -> anyhow::Result<Self> {
        startup::open(config)
    }

    fn router(self: &Arc<Self>) -> Router {
        api::router(self)
    }

    fn start(self: &Arc<Self>, address: SocketAddr, scheme: &str) -> anyhow::Result<Workers> {
        let workers = Workers::start(self)?;
        tracing::info!(%address, scheme, workers = self.config.workers, "listening");
        Ok(workers)
    }

    async fn repeat(self: Arc<Self>) {
        let (age, seal) = (maintain::age(Arc::clone(&self)), maintain::seal(Arc::clone(&self)));
        tokio::join!(age, seal, maintain::tend(self));
    }

    fn stopping(&self) {
        self.queue.close();
    }

    fn end(&self, workers: Workers) -> anyhow::Result<()> {
        self.queue.close();
        workers.wait(GRACE);
        // The next start, or a backup, finds them in segments.
        Ok(self.store.seal(Sealing::Everything).map(drop)?)
    }
}
