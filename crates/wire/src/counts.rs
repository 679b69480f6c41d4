//! Counts of the work on bytes, for tests (feature `counts`).

/// Work of a thread on bytes since the thread started.
///
/// ```
/// use sotto_wire::{Frontier, counts};
///
/// let before = counts();
/// let root = Frontier::default().root();
/// assert_eq!(counts().digests - before.digests, 1);
/// # let _ = root;
/// ```
#[cfg(feature = "counts")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Frames and windows of version 2 that were parsed.
    pub parses: u64,
    /// BLAKE3 digests that were computed.
    pub digests: u64,
    /// Ed25519 signatures that were checked.
    pub signatures: u64,
}

#[cfg(feature = "counts")]
std::thread_local! {
    static COUNTS: core::cell::Cell<Counts> = const {
        core::cell::Cell::new(Counts { parses: 0, digests: 0, signatures: 0 })
    };
}

/// Returns the work of the calling thread on bytes since the thread started.
#[cfg(feature = "counts")]
#[must_use]
pub fn counts() -> Counts {
    COUNTS.get()
}

/// Some work on bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counted {
    Parse,
    Digest,
    Signature,
}

/// Counts some work of the calling thread; does nothing without the feature `counts`.
#[inline]
pub(crate) fn count(work: Counted) {
    #[cfg(feature = "counts")]
    {
        let mut counts = COUNTS.get();
        match work {
            Counted::Parse => counts.parses += 1,
            Counted::Digest => counts.digests += 1,
            Counted::Signature => counts.signatures += 1,
        }
        COUNTS.set(counts);
    }
    #[cfg(not(feature = "counts"))]
    let _ = work;
}
