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
use tokio::time::{MissedTickBehavior, interval};

use crate::api;
use crate::config::Config;
use crate::recryptor::Recryptor;

/// Time for current requests to end after a stop.
const GRACE: Duration = Duration::from_secs(5);
/// Interval at which refusals are written: bounds the disk writes that unauthenticated requests can cause.
const REFUSALS: Duration = Duration::from_secs(1);

/// A recryptor that listens. It accepts connections, and answers them once [`Server::serve`] is called.
pub struct Server {
    recryptor: Arc<Recryptor>,
    listener: TcpListener,
    tls: Option<Tls>,
    address: SocketAddr,
}

impl Server {
    /// Reads keys and callers, opens the ledger, and listens.
    ///
    /// # Errors
    /// A file cannot be read, the folder is in use, or the address cannot be listened on.
    pub async fn open(config: &Config) -> anyhow::Result<Self> {
        let tls = config.tls.as_ref().map(Tls::open).transpose()?;
        let scheme = if tls.is_some() { "https" } else { "http" };
        let opened = config.clone();
        let recryptor = Arc::new(tokio::task::spawn_blocking(move || Recryptor::open(&opened)).await??);
        let listener = TcpListener::bind(config.listen).await;
        let listener = listener.with_context(|| format!("cannot listen on {}", config.listen))?;
        let address = listener.local_addr()?;
        let (callers, bits) = (recryptor.callers.len(), recryptor.agent.paillier_key().bits());
        tracing::info!(%address, scheme, callers, bits, "listening");
        Ok(Self { recryptor, listener, tls, address })
    }

    /// Returns the address, with the actual port if port 0 was requested.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the routes, for tests that bring their own connections.
    pub fn router(&self) -> axum::Router {
        api::router(&self.recryptor)
    }

    /// Writes the address atomically to the file that the configuration names.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn announce(&self, config: &Config) -> anyhow::Result<()> {
        config.address_file.as_ref().map_or(Ok(()), |file| address::announce(self.address, file))
    }

    /// Serves until asked to stop; current requests then have 5 s to end.
    ///
    /// # Errors
    /// The last refusals cannot be written to the ledger.
    pub async fn serve(self, stop: impl Future<Output = ()> + Send + 'static) -> anyhow::Result<()> {
        let (stopping, stopped) = oneshot::channel();
        let stop = async move {
            stop.await;
            // The receiver exists as long as the server runs.
            let _ = stopping.send(());
        };
        let router = self.router();
        let writer = tokio::spawn(write_refusals(Arc::clone(&self.recryptor)));
        let too_long = async {
            match stopped.await {
                Ok(()) => tokio::time::sleep(GRACE).await,
                Err(_) => std::future::pending().await,
            }
        };
        tokio::select! {
            () = connections::serve(self.listener, &router, self.recryptor.config.limits, self.tls, stop) => {}
            () = too_long => tracing::warn!("connections are still open: they are closed now"),
        }
        writer.abort();
        let recryptor = Arc::clone(&self.recryptor);
        tokio::task::spawn_blocking(move || recryptor.ledger.write_refusals()).await??;
        tracing::info!("stopped");
        Ok(())
    }
}

async fn write_refusals(recryptor: Arc<Recryptor>) {
    let mut ticks = interval(REFUSALS);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let recryptor = Arc::clone(&recryptor);
        let written = tokio::task::spawn_blocking(move || recryptor.ledger.write_refusals()).await;
        if let Ok(Err(error)) = written {
            tracing::error!(%error, "refusals cannot be written");
        }
    }
}
