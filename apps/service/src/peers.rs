//! Limits connections by peer, so that one peer cannot take the places of all others.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Factor on `connections_per_peer` for a loopback address: a proxy on this machine forwards the connections of many
/// clients.
pub const LOOPBACK_FACTOR: usize = 16;

/// Counts open connections by peer. Clones share the counts; there are at most as many entries as open connections.
#[derive(Clone, Debug)]
pub(crate) struct Peers {
    most: usize,
    open: Arc<Mutex<HashMap<IpAddr, usize>>>,
}

/// A connection's place among those of its peer; dropping it gives it back.
#[derive(Debug)]
pub(crate) struct PeerPlace {
    peer: IpAddr,
    open: Arc<Mutex<HashMap<IpAddr, usize>>>,
}

impl Peers {
    /// Allows at most `most` connections a peer.
    pub(crate) fn new(most: usize) -> Self {
        Self { most, open: Arc::default() }
    }

    /// Returns a place for a connection from this address; `None` if its peer already holds all of its places.
    pub(crate) fn admit(&self, address: IpAddr) -> Option<PeerPlace> {
        let peer = peer(address);
        let most = if peer.is_loopback() { self.most.saturating_mul(LOOPBACK_FACTOR) } else { self.most };
        let mut counts = lock(&self.open);
        let held = counts.get(&peer).copied().unwrap_or(0);
        if held >= most {
            return None;
        }
        counts.insert(peer, held + 1);
        Some(PeerPlace { peer, open: Arc::clone(&self.open) })
    }
}

impl Drop for PeerPlace {
    fn drop(&mut self) {
        let mut counts = lock(&self.open);
        match counts.get_mut(&self.peer) {
            Some(held) if *held > 1 => *held -= 1,
            _ => drop(counts.remove(&self.peer)),
        }
    }
}

/// Returns the peer of an address, the range of one household or machine: an IPv4 address itself, the /64 network of an
/// IPv6 address.
fn peer(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) if !address.is_loopback() => IpAddr::V6((address.to_bits() >> 64 << 64).into()),
        address => address,
    }
}

fn lock(counts: &Mutex<HashMap<IpAddr, usize>>) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
    counts.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn a_peer_holds_no_more_than_its_places() {
        let peers = Peers::new(2);
        let (farm, other) = (address("192.0.2.1"), address("192.0.2.2"));
        let held: Vec<_> = (0..2).map(|_| peers.admit(farm).unwrap()).collect();
        assert!(peers.admit(farm).is_none());
        // An IPv6 socket shows an IPv4 peer as a mapped address.
        assert!(peers.admit(address("::ffff:192.0.2.1")).is_none());
        let _other = peers.admit(other).expect("another peer has places of its own");
        drop(held);
        assert!(peers.admit(farm).is_some());
    }

    #[test]
    fn a_peer_of_ipv6_is_its_network() {
        let peers = Peers::new(1);
        let held = peers.admit(address("2001:db8:0:1::1")).unwrap();
        assert!(peers.admit(address("2001:db8:0:1:ffff:ffff:ffff:ffff")).is_none());
        let _next = peers.admit(address("2001:db8:0:2::1")).expect("the next network is another peer");
        drop(held);
        assert!(peers.admit(address("2001:db8:0:1::2")).is_some());
    }

    #[test]
    fn a_loopback_address_has_more_places() {
        for loopback in ["127.0.0.1", "::1", "::ffff:127.0.0.1"] {
            let peers = Peers::new(2);
            let held: Vec<_> = (0..2 * LOOPBACK_FACTOR).map(|_| peers.admit(address(loopback))).collect();
            assert!(held.iter().all(Option::is_some), "{loopback}");
            assert!(peers.admit(address(loopback)).is_none(), "{loopback}");
        }
    }

    #[test]
    fn a_count_that_falls_to_zero_leaves_no_entry() {
        let peers = Peers::new(3);
        let held: Vec<_> = (0..3).map(|_| peers.admit(address("192.0.2.1"))).collect();
        assert_eq!(lock(&peers.open).len(), 1);
        drop(held);
        assert_eq!(lock(&peers.open).len(), 0);
    }
}
