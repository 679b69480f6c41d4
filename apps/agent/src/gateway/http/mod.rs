//! The shared of a gateway: HTTP on an address or a socket of the file system, and datagrams.

mod answer;
mod body;
mod secret;
mod tls;
mod token;

use std::fs;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UdpSocket, UnixListener};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;

use super::point::Intake;
use super::udp;
use crate::arguments::{GatewayArguments, Listen};
use crate::stop::Stop;
use token::Token;

/// Maximum number of connections.
const MOST_CONNECTIONS: usize = 256;
/// Longest time until the head of a request is there, also the first after a connection, or the next one.
const HEAD: Duration = Duration::from_secs(30);
const HANDSHAKE: Duration = Duration::from_secs(10);
/// Maximum bytes of the head of a request, and headers.
const LONGEST_HEAD: usize = 16 << 10;
const MOST_HEADERS: usize = 64;
/// A connection ends after this time, between two requests: nobody holds one for ever.
const LIFE: Duration = Duration::from_secs(900);
/// Longest time until requests end after a stop, and until an answer is read.
const END: Duration = Duration::from_secs(5);
/// Interval at which a stop is looked for.
const LOOK: Duration = Duration::from_millis(50);
/// Threads that wait for the disk.
const BLOCKING: usize = 16;

/// Shared by all connections.
pub(super) struct Shared {
    intake: Arc<dyn Intake>,
    token: Option<Token>,
    budget: Arc<body::Budget>,
}

/// Sockets that are bound, and not served yet.
pub(crate) struct Server {
    runtime: tokio::runtime::Runtime,
    tcp: Vec<TcpListener>,
    unix: Vec<(UnixListener, PathBuf)>,
    udp: Vec<UdpSocket>,
    tls: Option<TlsAcceptor>,
    shared: Arc<Shared>,
    /// The places, as they are bound.
    places: Vec<String>,
}

impl Server {
    /// Opens all shared.
    ///
    /// # Errors
    /// A place cannot be listened at, or other machines reach it without TLS and a token.
    pub(crate) fn open(arguments: &GatewayArguments, intake: Arc<dyn Intake>) -> Result<Self> {
        let tls = match (&arguments.tls_cert, &arguments.tls_key) {
            (Some(certificate), Some(key)) => Some(tls::open(certificate, key)?),
            _ => None,
        };
        let token = arguments.token_file.as_deref().map(Token::read).transpose()?;
        for listen in arguments.listen.iter().filter(|listen| !listen.is_local()) {
            check_far(listen, tls.is_some(), token.is_some())?;
        }
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(BLOCKING)
            .build()
            .context("no runtime can be started")?;
        let budget = Arc::default();
        let shared = Arc::new(Shared { intake, token, budget });
        let (tcp, unix, udp, places) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut server = Self { runtime, tcp, unix, udp, tls, shared, places };
        arguments.listen.iter().try_for_each(|listen| server.listen(listen))?;
        Ok(server)
    }

    fn listen(&mut self, listen: &Listen) -> Result<()> {
        let cannot = || format!("{listen} cannot be listened at");
        let place = match listen {
            Listen::Tcp(address) => {
                let listener = self.runtime.block_on(TcpListener::bind(address)).with_context(cannot)?;
                let place = listener.local_addr()?;
                self.tcp.push(listener);
                format!("{}://{place}", if self.tls.is_some() { "https" } else { "http" })
            }
            Listen::Unix(path) => {
                remove_stale(path)?;
                let _within = self.runtime.enter();
                let listener = UnixListener::bind(path).with_context(cannot)?;
                // Its owner and group.
                fs::set_permissions(path, fs::Permissions::from_mode(0o660)).with_context(cannot)?;
                self.unix.push((listener, path.clone()));
                listen.to_string()
            }
            Listen::Udp(address) => {
                let socket = self.runtime.block_on(udp::bind(*address))?;
                let place = socket.local_addr()?;
                self.udp.push(socket);
                format!("udp://{place}")
            }
        };
        self.places.push(place);
        Ok(())
    }

    /// Returns the places, as they are bound.
    pub(crate) fn places(&self) -> &[String] {
        &self.places
    }

    /// Serves until a stop; then requests that have begun are answered.
    pub(crate) fn serve(self, stop: &Stop) {
        let Self { runtime, tcp, unix, udp, tls, shared, .. } = self;
        let connections = Arc::new(Semaphore::new(MOST_CONNECTIONS));
        runtime.block_on(async {
            let mut tasks = JoinSet::new();
            for listener in tcp {
                let serving = Serving::new(&shared, &connections, stop);
                tasks.spawn(serving.tcp(listener, tls.clone()));
            }
            let paths: Vec<PathBuf> = unix.iter().map(|(_, path)| path.clone()).collect();
            for (listener, _) in unix {
                tasks.spawn(Serving::new(&shared, &connections, stop).unix(listener));
            }
            for socket in udp {
                tasks.spawn(udp::serve(socket, Arc::clone(&shared.intake), stop.clone()));
            }
            while tasks.join_next().await.is_some() {}
            for path in paths {
                let _ = fs::remove_file(path);
            }
        });
        runtime.shutdown_timeout(END);
    }
}

/// Refuses an address that other machines reach without TLS and a token.
fn check_far(listen: &Listen, has_tls: bool, has_token: bool) -> Result<()> {
    if let Listen::Udp(_) = listen {
        bail!(
            "--listen {listen}: other machines reach it, and datagrams have neither TLS nor a token: listen on udp://127.0.0.1:8089, or over HTTP"
        );
    }
    let lacking = match (has_tls, has_token) {
        (true, true) => return Ok(()),
        (false, true) => "--tls-cert FILE and --tls-key FILE",
        (true, false) => "--token-file FILE",
        (false, false) => "--tls-cert FILE, --tls-key FILE and --token-file FILE",
    };
    bail!(
        "--listen {listen}: other machines reach it, and readings would come in the clear or from anybody: give {lacking}, or listen on 127.0.0.1 or a \
         unix: socket"
    );
}

/// Removes a socket that no process listens at any more.
fn remove_stale(path: &Path) -> Result<()> {
    let Ok(metadata) = fs::symlink_metadata(path) else { return Ok(()) };
    if !metadata.file_type().is_socket() {
        bail!("{} is no socket: give another path to --listen", path.display());
    }
    if std::os::unix::net::UnixStream::connect(path).is_ok() {
        bail!("{} is in use by another process", path.display());
    }
    fs::remove_file(path).with_context(|| format!("{} cannot be removed", path.display()))
}

/// The connections of one listener.
struct Serving {
    shared: Arc<Shared>,
    connections: Arc<Semaphore>,
    stop: Stop,
    open: JoinSet<()>,
}

impl Serving {
    fn new(shared: &Arc<Shared>, connections: &Arc<Semaphore>, stop: &Stop) -> Self {
        let (shared, connections) = (Arc::clone(shared), Arc::clone(connections));
        Self { shared, connections, stop: stop.clone(), open: JoinSet::new() }
    }

    async fn tcp(mut self, listener: TcpListener, tls: Option<TlsAcceptor>) {
        while !self.stop.is_asked() {
            let Ok(accepted) = timeout(LOOK, listener.accept()).await else {
                self.tidy();
                continue;
            };
            let (Ok((stream, peer)), Some(permit)) = (accepted, self.permit()) else {
                // Too many connections or open files: this one is dropped.
                sleep(Duration::from_millis(1)).await;
                continue;
            };
            let _ = stream.set_nodelay(true);
            let peer: Arc<str> = Arc::from(peer.ip().to_string());
            let (shared, stop) = (Arc::clone(&self.shared), self.stop.clone());
            match tls.clone() {
                None => self.open.spawn(connection(shared, stream, peer, stop, permit)),
                Some(tls) => self.open.spawn(async move {
                    if let Ok(Ok(stream)) = timeout(HANDSHAKE, tls.accept(stream)).await {
                        connection(shared, stream, peer, stop, permit).await;
                    }
                }),
            };
        }
        self.finish().await;
    }

    async fn unix(mut self, listener: UnixListener) {
        while !self.stop.is_asked() {
            let Ok(accepted) = timeout(LOOK, listener.accept()).await else {
                self.tidy();
                continue;
            };
            let (Ok((stream, _)), Some(permit)) = (accepted, self.permit()) else {
                sleep(Duration::from_millis(1)).await;
                continue;
            };
            let (shared, stop) = (Arc::clone(&self.shared), self.stop.clone());
            self.open.spawn(connection(shared, stream, Arc::from("socket"), stop, permit));
        }
        self.finish().await;
    }

    fn permit(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.connections).try_acquire_owned().ok()
    }

    /// Forgets connections that have ended.
    fn tidy(&mut self) {
        while self.open.try_join_next().is_some() {}
    }

    /// Waits until requests that have begun are answered.
    async fn finish(mut self) {
        let all = async { while self.open.join_next().await.is_some() {} };
        let _ = timeout(END, all).await;
    }
}

/// Serves a connection until it ends, its time is over, or a stop is requested.
async fn connection(
    shared: Arc<Shared>,
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    peer: Arc<str>,
    stop: Stop,
    permit: OwnedSemaphorePermit,
) {
    let service = service_fn(move |request| {
        let (shared, peer) = (Arc::clone(&shared), Arc::clone(&peer));
        async move { Ok::<_, std::convert::Infallible>(answer::answer(shared, request, peer).await) }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_buf_size(LONGEST_HEAD)
        .max_headers(MOST_HEADERS);
    let mut served = pin!(http.serve_connection(TokioIo::new(stream), service));
    let over = async {
        let mut left = LIFE;
        while !stop.is_asked() && !left.is_zero() {
            sleep(LOOK).await;
            left = left.saturating_sub(LOOK);
        }
    };
    tokio::select! {
        _ = served.as_mut() => {}
        () = over => {
            served.as_mut().graceful_shutdown();
            let _ = timeout(END, served).await;
        }
    }
    drop(permit);
}
