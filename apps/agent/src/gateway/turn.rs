//! The place of a device in a scheduler.

use std::sync::Mutex;
use std::sync::atomic::AtomicU8;
use std::time::Instant;

/// The kinds of work, each with its own scheduler.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// Take rows, close windows.
    Drive,
    /// Open bundle and spool.
    Open,
    /// Send messages.
    Send,
}

/// The place of a device in a scheduler.
#[derive(Default)]
pub(super) struct Turn {
    pub(super) state: AtomicU8,
    pub(super) due: Mutex<Option<Instant>>,
}

pub(super) const IDLE: u8 = 0;
pub(super) const READY: u8 = 1;
pub(super) const TAKEN: u8 = 2;
/// Taken, and asked for again meanwhile.
pub(super) const AGAIN: u8 = 3;
