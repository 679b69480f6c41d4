//! Keys and ciphertexts of Paillier's scheme.

use alloc::vec::Vec;

use sotto_partial::number::{from_bytes, to_bytes, words};
use sotto_partial::paillier::{Ciphertext, PublicKey, Randomness, security_bits};

use super::{Batch, NAME, expect_key};
use crate::error::WireError;
use crate::frame::{self, FRAME_OVERHEAD};
use crate::kind::Kind;

/// Largest length of n in bits.
const LARGEST_BITS: usize = 4096;
const LARGEST: usize = FRAME_OVERHEAD + NAME + 3 + 2 * (LARGEST_BITS / 8);

/// Returns the frame of a key of 2048, 3072 or 4096 bits: `key id ‖ bits of n u16 ‖ masks u8 ‖ n`, then h if masks are
/// powers of h.
///
/// # Errors
/// [`WireError::Partial`] if the key has another length.
pub fn write_paillier_public_key(key: &PublicKey) -> Result<Vec<u8>, WireError> {
    let bits = offered(key.bits())?;
    let (masks, h) = match key.randomness() {
        Randomness::Textbook => (0, None),
        Randomness::HalfLength { h } => (1, Some(h)),
        Randomness::Subgroup { h } => (2, Some(h)),
    };
    let number = bits as usize / 8;
    Ok(frame::write(Kind::PaillierPublicKey, NAME + 3 + 2 * number, |out| {
        out.extend_from_slice(&key.id().0);
        out.extend_from_slice(&(bits as u16).to_le_bytes());
        out.push(masks);
        out.extend_from_slice(&to_bytes(&words(key.modulus()), number));
        if let Some(h) = h {
            out.extend_from_slice(&to_bytes(&words(h), number));
        }
    }))
}

/// Reads a key and computes its tables of some hundreds of kilobytes, after checking that its id matches n.
///
/// The caller must know who sent h: without the primes nobody can verify that powers of h hide a message.
///
/// # Errors
/// [`WireError`] if the frame is invalid; [`WireError::Partial`] if its numbers are not a key.
pub fn read_paillier_public_key(bytes: &[u8]) -> Result<PublicKey, WireError> {
    let mut reader = frame::open(bytes, Kind::PaillierPublicKey, LARGEST as u64)?;
    let id = sotto_partial::KeyId(reader.array()?);
    let bits = offered(u32::from(reader.u16()?))?;
    let masks = reader.u8()?;
    let number = bits as usize / 8;
    reader.expect_left(if masks == 0 { number } else { 2 * number })?;
    let n = reader.take(number)?;
    expect_key(PublicKey::id_of(n), id)?;
    let n = from_bytes(n);
    if n.bits() != bits {
        return Err(WireError::Value("the modulus is shorter than the key says"));
    }
    let randomness = match masks {
        0 => Randomness::Textbook,
        1 => Randomness::HalfLength { h: from_bytes(reader.take(number)?) },
        2 => Randomness::Subgroup { h: from_bytes(reader.take(number)?) },
        _ => return Err(WireError::Value("masks of this sort are not known")),
    };
    Ok(PublicKey::new(&n, randomness)?)
}

fn offered(bits: u32) -> Result<u32, WireError> {
    security_bits(bits).ok_or(sotto_partial::PartialError::KeyLength { bits })?;
    Ok(bits)
}

/// Returns the frame of ciphertexts under one key: `key id ‖ bytes of a ciphertext u16 ‖ count u32 ‖ ciphertexts`.
///
/// # Errors
/// [`WireError::Key`] if a ciphertext is under another key, [`WireError::TooLarge`] if there are more than
/// [`MOST_CIPHERTEXTS`](super::MOST_CIPHERTEXTS).
pub fn write_paillier_ciphertexts(key: &PublicKey, ciphertexts: &[Ciphertext]) -> Result<Vec<u8>, WireError> {
    batch(key).write(ciphertexts, Ciphertext::key, |one| key.write(one))
}

/// Reads ciphertexts of this key from a frame of at most `limit` bytes. Refuses zero, numbers from n² on, and numbers
/// that share a factor with n.
///
/// # Errors
/// [`WireError`] if the frame is invalid, names another key, or has a number that is refused.
pub fn read_paillier_ciphertexts(
    bytes: &[u8],
    limit: u64,
    key: &PublicKey,
) -> Result<Vec<Ciphertext>, WireError> {
    batch(key).read(bytes, limit, |one| key.read(one))
}

fn batch(key: &PublicKey) -> Batch {
    Batch { kind: Kind::PaillierCiphertexts, key: key.id(), one: key.ciphertext_bytes() }
}
