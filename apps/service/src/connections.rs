//! Accepts and serves connections. Closes those whose request head does not arrive in time, and those that have lasted
//! too long.

use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::Service;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{sleep, timeout};

use crate::peers::{PeerPlace, Peers};
use crate::tls::Tls;

/// Pause after a failed accept, for example if no file handles are left.
const PATIENCE: Duration = Duration::from_millis(100);
/// Maximum bytes of a request's head, and of buffered body. A longer head is refused with 431. An unauthenticated
/// request holds no more memory than this.
const LARGEST_HEAD: usize = 16 << 10;

/// Limits on connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Time for the head of a request to arrive.
    pub header_time: Duration,
    /// Time for a request's body to arrive.
    pub body_time: Duration,
    /// Time after which a connection accepts no further request.
    pub connection_time: Duration,
    /// Maximum number of open connections.
    pub connections: usize,
    /// Maximum number of open connections of one peer: an IPv4 address or an IPv6 /64 network. A loopback address may
    /// hold [`LOOPBACK_FACTOR`](crate::peers::LOOPBACK_FACTOR) times as many.
    pub connections_per_peer: usize,
}

/// The address that a connection comes from. Each request of it carries this extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer(pub IpAddr);

/// A connection's permits: one of all connections, one of its peer.
struct Place {
    peer: IpAddr,
    _among_all: Option<OwnedSemaphorePermit>,
    _of_peer: PeerPlace,
}

/// Serves until asked to stop; returns when every current request has its answer. With `tls`, every connection begins
/// with a handshake.
pub async fn serve(
    listener: TcpListener,
    router: &Router,
    limits: Limits,
    tls: Option<Tls>,
    stop: impl Future<Output = ()>,
) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(limits.header_time).max_buf_size(LARGEST_HEAD);
    let peers = Peers::new(limits.connections_per_peer);
    let places = Arc::new(Semaphore::new(limits.connections));
    let tls = tls.map(Arc::new);
    // Every connection holds a receiver; once all are dropped, all connections have ended.
    let (end, ending) = watch::channel(());
    let mut stop = pin!(stop);
    loop {
        let (stream, place) = tokio::select! {
            () = &mut stop => break,
            accepted = accept(&listener, &places, &peers) => accepted,
        };
        let conversation = Conversation {
            http: http.clone(),
            router: router.clone(),
            peer: Peer(place.peer),
            limits,
            ending: ending.clone(),
        };
        let tls = tls.clone();
        tokio::spawn(async move {
            // The place is dropped after the connection.
            let _place = place;
            match tls {
                Some(tls) => conversation.after_handshake(&tls, stream).await,
                None => conversation.hold(stream).await,
            }
        });
    }
    drop((listener, ending));
    let _ = end.send(());
    end.closed().await;
}

/// Server, router, peer, limits and the stop signal of one connection.
struct Conversation {
    http: http1::Builder,
    router: Router,
    peer: Peer,
    limits: Limits,
    ending: watch::Receiver<()>,
}

impl Conversation {
    /// Accepts TLS, then serves. A handshake may take as long as a request's head.
    async fn after_handshake(mut self, tls: &Tls, stream: TcpStream) {
        let accepted = tokio::select! {
            accepted = timeout(self.limits.header_time, tls.accept(stream)) => accepted.ok().flatten(),
            _ = self.ending.changed() => None,
        };
        if let Some(stream) = accepted {
            self.hold(stream).await;
        }
    }

    async fn hold(mut self, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
        // Time to finish the current request: once for its body to arrive, once for its answer to be read.
        let (life, grace) = (self.limits.connection_time, 2 * self.limits.body_time);
        let service = FromPeer { routes: TowerToHyperService::new(self.router), peer: self.peer };
        let mut connection = pin!(self.http.serve_connection(TokioIo::new(stream), service));
        tokio::select! {
            // Errors at the end concern only the other end.
            _ = &mut connection => return,
            () = sleep(life) => {}
            _ = self.ending.changed() => {}
        }
        connection.as_mut().graceful_shutdown();
        // Needed for a peer that does not read its answers: the shutdown would never end.
        let _ = timeout(grace, connection).await;
    }
}

/// The routes, with the peer in each request.
struct FromPeer {
    routes: TowerToHyperService<Router>,
    peer: Peer,
}

impl Service<Request<Incoming>> for FromPeer {
    type Response = <TowerToHyperService<Router> as Service<Request<Incoming>>>::Response;
    type Error = <TowerToHyperService<Router> as Service<Request<Incoming>>>::Error;
    type Future = <TowerToHyperService<Router> as Service<Request<Incoming>>>::Future;

    fn call(&self, mut request: Request<Incoming>) -> Self::Future {
        request.extensions_mut().insert(self.peer);
        self.routes.call(request)
    }
}

/// Accepts the next connection once a place is free. Closes connections of a peer that holds all of its places.
async fn accept(listener: &TcpListener, places: &Arc<Semaphore>, peers: &Peers) -> (TcpStream, Place) {
    let place = Arc::clone(places).acquire_owned().await.ok();
    loop {
        match listener.accept().await {
            Ok((stream, from)) => match peers.admit(from.ip()) {
                Some(of_peer) => {
                    return (stream, Place { peer: from.ip(), _among_all: place, _of_peer: of_peer });
                }
                None => tracing::debug!(peer = %from.ip(), "closed: this peer has connections_per_peer open"),
            },
            Err(error) if is_its_own(&error) => tracing::debug!(%error, "a connection ended early"),
            Err(error) => {
                tracing::warn!(%error, "no connection can be accepted");
                sleep(PATIENCE).await;
            }
        }
    }
}

/// Returns true if an error of `accept` concerns one connection only, so that the next can be accepted immediately. All
/// other errors, such as a lack of file handles or memory, last for a while: an immediate retry would only keep a core
/// busy.
fn is_its_own(error: &io::Error) -> bool {
    use io::ErrorKind::{
        ConnectionAborted, ConnectionRefused, ConnectionReset, HostUnreachable, Interrupted, NetworkDown,
        NetworkUnreachable, TimedOut,
    };
    matches!(
        error.kind(),
        ConnectionAborted
            | ConnectionRefused
            | ConnectionReset
            | HostUnreachable
            | Interrupted
            | NetworkDown
            | NetworkUnreachable
            | TimedOut
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_concerns_all_connections_is_waited_for() {
        for own in [io::ErrorKind::ConnectionAborted, io::ErrorKind::ConnectionReset] {
            assert!(is_its_own(&own.into()), "{own}");
        }
        assert!(!is_its_own(&io::ErrorKind::OutOfMemory.into()));
        // ENFILE and EMFILE, which have no ErrorKind.
        #[cfg(unix)]
        for number in [23, 24] {
            assert!(!is_its_own(&io::Error::from_raw_os_error(number)), "{number}");
        }
    }
}
