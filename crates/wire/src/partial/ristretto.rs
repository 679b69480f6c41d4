//! Keys and ciphertexts of ElGamal's scheme on Ristretto.

use alloc::vec::Vec;

use sotto_partial::ristretto::{Ciphertext, PublicKey};

use super::{Batch, NAME, expect_key};
use crate::error::WireError;
use crate::frame::{self, FRAME_OVERHEAD};
use crate::kind::Kind;

/// Bytes of a point.
const POINT: usize = 32;

/// Returns the frame of a key: `key id ‖ its point, 32 bytes`.
pub fn write_ristretto_public_key(key: &PublicKey) -> Vec<u8> {
    frame::write(Kind::RistrettoPublicKey, NAME + POINT, |out| {
        out.extend_from_slice(&key.id().0);
        out.extend_from_slice(&key.write());
    })
}

/// Reads a key and computes its tables.
///
/// # Errors
/// [`WireError`] if the frame is invalid; [`WireError::Partial`] if the bytes are the neutral point or no point.
pub fn read_ristretto_public_key(bytes: &[u8]) -> Result<PublicKey, WireError> {
    let largest = FRAME_OVERHEAD + NAME + POINT;
    let mut reader = frame::open(bytes, Kind::RistrettoPublicKey, largest as u64)?;
    let id = sotto_partial::KeyId(reader.array()?);
    let point = reader.array()?;
    reader.finish()?;
    expect_key(PublicKey::id_of_bytes(&point), id)?;
    Ok(PublicKey::read(&point)?)
}

/// Returns the frame of ciphertexts under one key: `key id ‖ 64 u16 ‖ count u32 ‖ ciphertexts`.
///
/// # Errors
/// [`WireError::Key`] if a ciphertext is under another key, [`WireError::TooLarge`] if there are more than
/// [`MOST_CIPHERTEXTS`](super::MOST_CIPHERTEXTS).
pub fn write_ristretto_ciphertexts(
    key: &PublicKey,
    ciphertexts: &[Ciphertext],
) -> Result<Vec<u8>, WireError> {
    batch(key).write(ciphertexts, Ciphertext::key, |one| key.write_ciphertext(one))
}

/// Reads ciphertexts of this key from a frame of at most `limit` bytes. Points must be in canonical form.
///
/// # Errors
/// [`WireError`] if the frame is invalid, names another key, or has bytes that are not a canonical point.
pub fn read_ristretto_ciphertexts(
    bytes: &[u8],
    limit: u64,
    key: &PublicKey,
) -> Result<Vec<Ciphertext>, WireError> {
    batch(key).read(bytes, limit, |one| key.read_ciphertext(one))
}

fn batch(key: &PublicKey) -> Batch {
    Batch { kind: Kind::RistrettoCiphertexts, key: key.id(), one: 2 * POINT }
}
