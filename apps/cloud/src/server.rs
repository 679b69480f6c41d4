//! Starts the service, writes its address, serves, and stops.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use sotto_service::tls::Tls;
use sotto_service::{address, connections};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use crate::api;
use crate::cloud::Cloud;
use crate::config::Config;
use crate::evaluate::Workers;
use crate::maintain;
use crate::startup;

/// Time for current requests and jobs to end after a stop.
const GRACE: Duration = Duration::from_secs(5);

/// A cloud that listens. It accepts connections, and answers them once [`Server::serve`] is called.
pub struct Server {
    cloud: Arc<Cloud>,
    workers: Workers,
    listener: TcpListener,
    tls: Option<Tls>,
    address: SocketAddr,
}

impl Server {
    /// Opens the store, starts the workers, and listens.
    ///
    /// # Errors
    /// The store or a file cannot be opened, or the address cannot be listened on.
    pub async fn open(config: &Config) -> anyhow::Result<Self> {
        let tls = config.tls.as_ref().map(Tls::open).transpose()?;
        let scheme = if tls.is_some() { "https" } else { "http" };
        let opened = config.clone();
        let cloud = Arc::new(tokio::task::spawn_blocking(move || startup::open(&opened)).await??);
        let listener = TcpListener::bind(config.listen).await;
        let listener = listener.with_context(|| format!("cannot listen on {}", config.listen))?;
        let address = listener.local_addr()?;
        let workers = Workers::start(&cloud)?;
        tracing::info!(%address, scheme, workers = config.workers, "listening");
        Ok(Self { cloud, workers, listener, tls, address })
    }

    /// Returns the address, with the actual port if port 0 was requested.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the routes, for tests that bring their own connections.
    pub fn router(&self) -> axum::Router {
        api::router(&self.cloud)
    }

    /// Writes the address atomically to the file that the configuration names.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn announce(&self, config: &Config) -> anyhow::Result<()> {
        config.address_file.as_ref().map_or(Ok(()), |file| address::announce(self.address, file))
    }

    /// Serves until asked to stop; current requests and jobs then have 5 s to end.
    ///
    /// # Errors
    /// The wait for the workers failed.
    pub async fn serve(self, stop: impl Future<Output = ()> + Send + 'static) -> anyhow::Result<()> {
        let (stopping, stopped) = oneshot::channel();
        let cloud = Arc::clone(&self.cloud);
        let stop = async move {
            stop.await;
            cloud.queue.close();
            // The receiver exists as long as the server runs.
            let _ = stopping.send(());
        };
        let aging = tokio::spawn(maintain::age(Arc::clone(&self.cloud)));
        let router = self.router();
        let serving = connections::serve(self.listener, &router, self.cloud.config.limits(), self.tls, stop);
        let too_long = async {
            match stopped.await {
                Ok(()) => tokio::time::sleep(GRACE).await,
                Err(_) => std::future::pending().await,
            }
        };
        tokio::select! {
            () = serving => {}
            () = too_long => tracing::warn!("connections are still open: they are closed now"),
        }
        aging.abort();
        self.cloud.queue.close();
        tokio::task::spawn_blocking(move || self.workers.wait(GRACE)).await?;
        tracing::info!("stopped");
        Ok(())
    }
}
