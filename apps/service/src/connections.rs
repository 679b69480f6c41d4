//! Connections: accepted, served, and cut off: when the head of a request does not come, and when they have lasted long.

use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{sleep, timeout};

use crate::peers::{PeerPlace, Peers};
use crate::tls::Tls;

/// How long to wait when no connection can be accepted: there are no more file handles, say.
const PATIENCE: Duration = Duration::from_millis(100);
/// Most bytes of a request's head, and of a body that waits to be read: a longer head is refused with 431. Before a request has
/// authenticated itself it holds no more memory.
const LARGEST_HEAD: usize = 16 << 10;

/// What connections are given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// For the head of a request to come.
    pub header_time: Duration,
    /// For its body to come.
    pub body_time: Duration,
    /// After which a connection takes no further request.
    pub connection_time: Duration,
    /// Open at the same time.
    pub connections: usize,
    /// Of them, by one peer: an address of IPv4, a /64 network of IPv6. A loopback address may hold
    /// [`LOOPBACK_FACTOR`](crate::peers::LOOPBACK_FACTOR) times as many.
    pub connections_per_peer: usize,
}

/// A connection's place, among all and among those of its peer.
struct Place {
    _among_all: Option<OwnedSemaphorePermit>,
    _of_peer: PeerPlace,
}

/// Serves until asked to stop; ends when every request under way has its answer. With `tls` every connection begins with a handshake.
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
    // Every connection listens for the end; when none does any more, all have ended.
    let (end, ending) = watch::channel(());
    let mut stop = pin!(stop);
    loop {
        let (stream, place) = tokio::select! {
            () = &mut stop => break,
            accepted = accept(&listener, &places, &peers) => accepted,
        };
        let conversation =
            Conversation { http: http.clone(), router: router.clone(), limits, ending: ending.clone() };
        let tls = tls.clone();
        tokio::spawn(async move {
            // Given back when the connection is gone, which is dropped before it.
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

/// Server, router, limits and the signal to end, for one connection.
struct Conversation {
    http: http1::Builder,
    router: Router,
    limits: Limits,
    ending: watch::Receiver<()>,
}

impl Conversation {
    /// A handshake may take as long as a head.
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
        // What is under way when a connection's time is over: once for a body to come, once for an answer to be read.
        let (life, grace) = (self.limits.connection_time, 2 * self.limits.body_time);
        let service = TowerToHyperService::new(self.router);
        let mut connection = pin!(self.http.serve_connection(TokioIo::new(stream), service));
        tokio::select! {
            // How it ends matters to nobody but the other end.
            _ = &mut connection => return,
            () = sleep(life) => {}
            _ = self.ending.changed() => {}
        }
        connection.as_mut().graceful_shutdown();
        // One whose other end does not read its answers has no end of its own.
        let _ = timeout(grace, connection).await;
    }
}

/// The next connection, once there is a place for it. One whose peer holds its places is closed at once.
async fn accept(listener: &TcpListener, places: &Arc<Semaphore>, peers: &Peers) -> (TcpStream, Place) {
    let place = Arc::clone(places).acquire_owned().await.ok();
    loop {
        match listener.accept().await {
            Ok((stream, from)) => match peers.admit(from.ip()) {
                Some(of_peer) => return (stream, Place { _among_all: place, _of_peer: of_peer }),
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

/// Whether an error of accepting is that of one connection, and the next can be accepted at once. All others, the want of
/// file handles or memory above all, stay for a while: asking again at once would only keep a core busy.
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
        // ENFILE and EMFILE, which have no kind.
        #[cfg(unix)]
        for number in [23, 24] {
            assert!(!is_its_own(&io::Error::from_raw_os_error(number)), "{number}");
        }
    }
}
