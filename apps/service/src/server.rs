//! Runs a service: opens it, listens, serves, and stops.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use axum::Router;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use crate::connections::Limits;
use crate::settings::Listening;
use crate::tls::Tls;
use crate::{address, connections, handles, logs, stop};

/// Time for current requests and work to end after a stop.
pub const GRACE: Duration = Duration::from_secs(5);

/// A service: the state that its requests share, and all that it does beside them.
pub trait Service: Sized + Send + Sync + 'static {
    /// Its configuration.
    type Config: Clone + Send + Sync + 'static;
    /// Work that runs beside requests until the end, such as threads.
    type Work: Send + 'static;

    /// Returns where and how it listens.
    fn listening(config: &Self::Config) -> &Listening;

    /// Opens the state. May block.
    ///
    /// # Errors
    /// A file cannot be read, or a folder is in use.
    fn open(config: &Self::Config) -> anyhow::Result<Self>;

    /// Returns its routes.
    fn router(self: &Arc<Self>) -> Router;

    /// Starts its work, and logs that it listens at this address.
    ///
    /// # Errors
    /// The work cannot be started.
    fn start(self: &Arc<Self>, address: SocketAddr, scheme: &str) -> anyhow::Result<Self::Work>;

    /// Does what is to be done again and again beside requests. It is aborted at the end.
    fn repeat(self: Arc<Self>) -> impl Future<Output = ()> + Send;

    /// Is called when a stop is asked for; current requests go on.
    fn stopping(&self) {}

    /// Is called when all requests have ended. May block.
    ///
    /// # Errors
    /// Something cannot be written.
    fn end(&self, work: Self::Work) -> anyhow::Result<()>;
}

/// A service that listens. It accepts connections, and answers them once [`Server::serve`] is called.
pub struct Server<S: Service> {
    service: Arc<S>,
    config: S::Config,
    work: S::Work,
    limits: Limits,
    listener: TcpListener,
    tls: Option<Tls>,
    address: SocketAddr,
}

impl<S: Service> Server<S> {
    /// Opens the service, listens, and starts its work.
    ///
    /// # Errors
    /// The service or a file cannot be opened, or the address cannot be listened on.
    pub async fn open(config: &S::Config) -> anyhow::Result<Self> {
        let Listening { listen, tls, limits, .. } = S::listening(config);
        let limits = handles::fit(*limits);
        let tls = tls.as_ref().map(Tls::open).transpose()?;
        let scheme = if tls.is_some() { "https" } else { "http" };
        let opened = config.clone();
        let service = Arc::new(tokio::task::spawn_blocking(move || S::open(&opened)).await??);
        let listener = TcpListener::bind(listen).await;
        let listener = listener.with_context(|| format!("cannot listen on {listen}"))?;
        let address = listener.local_addr()?;
        let work = service.start(address, scheme)?;
        Ok(Self { service, config: config.clone(), work, limits, listener, tls, address })
    }

    /// Returns the address, with the actual port if port 0 was requested.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the routes, for tests that bring their own connections.
    pub fn router(&self) -> Router {
        self.service.router()
    }

    /// Writes the address atomically to the file that the configuration names.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn announce(&self) -> anyhow::Result<()> {
        let file = S::listening(&self.config).address_file.as_ref();
        file.map_or(Ok(()), |file| address::announce(self.address, file))
    }

    /// Serves until asked to stop; current requests and work then have 5 s to end.
    ///
    /// # Errors
    /// Those of [`Service::end`].
    pub async fn serve(self, stop: impl Future<Output = ()> + Send + 'static) -> anyhow::Result<()> {
        let (stopping, stopped) = oneshot::channel();
        let service = Arc::clone(&self.service);
        let stop = async move {
            stop.await;
            service.stopping();
            // The receiver exists as long as the server runs.
            let _ = stopping.send(());
        };
        let repeated = tokio::spawn(Arc::clone(&self.service).repeat());
        let router = self.router();
        let too_long = async {
            match stopped.await {
                Ok(()) => tokio::time::sleep(GRACE).await,
                Err(_) => std::future::pending().await,
            }
        };
        tokio::select! {
            () = connections::serve(self.listener, &router, self.limits, self.tls, stop) => {}
            () = too_long => tracing::warn!("connections are still open: they are closed now"),
        }
        repeated.abort();
        tokio::task::spawn_blocking(move || self.service.end(self.work)).await??;
        tracing::info!("stopped");
        Ok(())
    }
}

/// Runs a service until a signal comes, or standard input ends if that is configured. Logs go to standard error.
///
/// # Errors
/// The service cannot be opened, or cannot write at its end.
pub fn run<S: Service>(config: &S::Config) -> anyhow::Result<()> {
    logs::to_stderr();
    let runtime = tokio::runtime::Runtime::new()?;
    let served = runtime.block_on(async {
        let stop = stop::asked(S::listening(config).exit_with_stdin)?;
        let server = Server::<S>::open(config).await?;
        server.announce()?;
        server.serve(stop).await
    });
    runtime.shutdown_timeout(Duration::from_secs(1));
    served
}
