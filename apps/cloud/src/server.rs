//! Listening, announcing, serving, stopping.

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

/// What requests and jobs under way are given to end.
const GRACE: Duration = Duration::from_secs(5);

/// A cloud that listens; connections are accepted, and answered once [`Server::serve`] is called.
pub struct Server {
    cloud: Arc<Cloud>,
    workers: Workers,
    listener: TcpListener,
    tls: Option<Tls>,
    address: SocketAddr,
}

impl Server {
    /// Opens the store, starts the workers, listens.
    pub async fn open(config: &Config) -> anyhow::Result<Self> {
        let tls = config.tls.as_ref().map(Tls::open).transpose()?;
        let scheme = if tls.is_some() { "https" } else { "http" };
        let opened = config.clone();
        let cloud = Arc::new(tokio::task::spawn_blocking(move || Cloud::open(&opened)).await??);
        let listener = TcpListener::bind(config.listen).await;
        let listener = listener.with_context(|| format!("cannot listen on {}", config.listen))?;
        let address = listener.local_addr()?;
        let workers = Workers::start(&cloud)?;
        tracing::info!(%address, scheme, workers = config.workers, "listening");
        Ok(Self { cloud, workers, listener, tls, address })
    }

    /// The address, with the port that was found if port 0 was asked for.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What is served, for whoever brings connections of their own, as tests do.
    pub fn router(&self) -> axum::Router {
        api::router(&self.cloud)
    }

    /// Writes the address to the file that the configuration names, all of it at once.
    pub fn announce(&self, config: &Config) -> anyhow::Result<()> {
        config.address_file.as_ref().map_or(Ok(()), |file| address::announce(self.address, file))
    }

    /// Serves until asked to stop; requests and jobs under way then have some seconds to end.
    pub async fn serve(self, stop: impl Future<Output = ()> + Send + 'static) -> anyhow::Result<()> {
        let (stopping, stopped) = oneshot::channel();
        let cloud = Arc::clone(&self.cloud);
        let stop = async move {
            stop.await;
            cloud.queue.close();
            // The other end waits as long as anything is served.
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
