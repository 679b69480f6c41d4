//! BLAKE3 of bytes that are in memory.

use crate::counts::{Counted, count};

/// A digest of 32 bytes.
///
/// Example: [`Frontier`](crate::Frontier)
pub type Digest = [u8; 32];

/// Returns the digest of some bytes.
pub(crate) fn digest(bytes: &[u8]) -> Digest {
    count(Counted::Digest);
    blake3::hash(bytes).into()
}

/// Returns the digest of the concatenation of these pieces.
pub(crate) fn digest_of<'p>(pieces: impl IntoIterator<Item = &'p [u8]>) -> Digest {
    finish(blake3::Hasher::new(), pieces)
}

/// Returns the digest of the concatenation of these pieces in key derivation mode.
pub(crate) fn derived<'p>(context: &str, pieces: impl IntoIterator<Item = &'p [u8]>) -> Digest {
    finish(blake3::Hasher::new_derive_key(context), pieces)
}

fn finish<'p>(mut hasher: blake3::Hasher, pieces: impl IntoIterator<Item = &'p [u8]>) -> Digest {
    count(Counted::Digest);
    pieces.into_iter().for_each(|piece| {
        hasher.update(piece);
    });
    hasher.finalize().into()
}
