//! The body of a request, bounded in bytes and in time.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Incoming};
use tokio::time::timeout;
use zeroize::Zeroizing;

/// Maximum bytes of a body before it is inflated.
const LONGEST: usize = 8 << 20;
/// Maximum bytes of all bodies that are read at a time.
const MOST: usize = 24 << 20;
/// Longest time until a body is there.
const PATIENCE: Duration = Duration::from_secs(30);

/// Bytes of the bodies that are in memory.
#[derive(Default)]
pub(super) struct Budget(AtomicUsize);

/// Reason why a body is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unread {
    #[error("the request has more than 8388608 bytes: send fewer lines at a time, or gzip")]
    TooLong,
    #[error("the request did not come within 30 s")]
    TooSlow,
    #[error("the request ended before its time")]
    Broken,
    #[error("too many requests come at a time: send again in a second")]
    Busy,
}

/// A body, which is wiped when dropped: it has readings.
pub(super) struct Read {
    bytes: Zeroizing<Vec<u8>>,
    held: Held,
}

impl std::ops::Deref for Read {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        debug_assert!(self.held.bytes >= self.bytes.len());
        &self.bytes
    }
}

/// A part of the budget.
struct Held {
    budget: std::sync::Arc<Budget>,
    bytes: usize,
}

impl Held {
    /// Takes further bytes of the budget. Returns false if there are none.
    fn grow(&mut self, bytes: usize) -> bool {
        self.bytes += bytes;
        self.budget.0.fetch_add(bytes, Ordering::Relaxed) + bytes <= MOST
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.budget.0.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// Reads a body.
pub(super) async fn read(body: Incoming, budget: &std::sync::Arc<Budget>) -> Result<Read, Unread> {
    match timeout(PATIENCE, read_all(body, std::sync::Arc::clone(budget))).await {
        Ok(read) => read,
        Err(_) => Err(Unread::TooSlow),
    }
}

async fn read_all(mut body: Incoming, budget: std::sync::Arc<Budget>) -> Result<Read, Unread> {
    let announced = body.size_hint().exact().unwrap_or_default();
    if announced > LONGEST as u64 {
        return Err(Unread::TooLong);
    }
    let (mut bytes, mut held) = (Zeroizing::new(Vec::new()), Held { budget, bytes: 0 });
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame.map_err(|_| Unread::Broken)?.into_data() else { continue };
        if bytes.len() + frame.len() > LONGEST {
            return Err(Unread::TooLong);
        }
        if !held.grow(frame.len()) {
            return Err(Unread::Busy);
        }
        bytes.extend_from_slice(&frame);
    }
    Ok(Read { bytes, held })
}
