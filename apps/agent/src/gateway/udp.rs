//! Datagrams of line protocol. One that the machine drops before it is read is lost, and so is one that is not durable yet
//! when the process is killed: nobody is told of either.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use tokio::net::UdpSocket;
use tokio::time::timeout;

use super::lines::{Precision, take_lines};
use super::point::Intake;
use crate::stop::Stop;

/// Maximum bytes of a datagram.
const LONGEST: usize = 64 << 10;
/// Bytes of datagrams that are taken together, and the longest wait for them.
const TOGETHER: usize = 128 << 10;
const WAIT: Duration = Duration::from_millis(100);

/// Binds a socket.
pub(super) async fn bind(address: SocketAddr) -> Result<UdpSocket> {
    UdpSocket::bind(address).await.with_context(|| format!("{address} cannot be listened at"))
}

/// Takes datagrams until a stop.
pub(super) async fn serve(socket: UdpSocket, intake: Arc<dyn Intake>, stop: Stop) {
    let (mut lines, mut datagram) = (Vec::new(), vec![0; LONGEST]);
    let mut said = false;
    while !stop.is_asked() {
        let received = timeout(WAIT, socket.recv_from(&mut datagram)).await;
        let is_quiet = received.is_err();
        if let Ok(Ok((length, _))) = received {
            lines.extend_from_slice(&datagram[..length]);
            lines.push(b'\n');
        }
        if lines.is_empty() || (!is_quiet && lines.len() < TOGETHER) {
            continue;
        }
        let (together, intake) = (std::mem::take(&mut lines), Arc::clone(&intake));
        let take = move || take_lines(&*intake, &together[..], Precision::default(), "udp");
        // A panic costs these datagrams, and no others.
        let Ok(taken) = tokio::task::spawn_blocking(take).await else { continue };
        match taken {
            Err(error) if !said => {
                tracing::warn!(%error, "datagrams are lost: nobody is told to keep them");
                said = true;
            }
            Err(_) => {}
            Ok(_) => said = false,
        }
    }
}
