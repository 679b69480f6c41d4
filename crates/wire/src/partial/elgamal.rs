//! Keys and ciphertexts of ElGamal's scheme, in the squares modulo a prime of RFC 7919.

use alloc::sync::Arc;
use alloc::vec::Vec;

use sotto_partial::elgamal::{Ciphertext, Group, GroupName, PublicKey};

use super::{Batch, NAME, expect_key};
use crate::error::WireError;
use crate::frame::{self, FRAME_OVERHEAD};
use crate::kind::Kind;
use crate::reader::Reader;

const LARGEST: usize = FRAME_OVERHEAD + NAME + 2 + 3072 / 8;

/// Returns the frame of a key: `key id ‖ bits of the prime u16 ‖ h`.
pub fn write_elgamal_public_key(key: &PublicKey) -> Vec<u8> {
    frame::write(Kind::ElGamalPublicKey, NAME + 2 + key.group().bytes(), |out| {
        out.extend_from_slice(&key.id().0);
        out.extend_from_slice(&(key.group().name().bits() as u16).to_le_bytes());
        out.extend_from_slice(&key.write());
    })
}

/// Returns the name of the group of the key in a frame. The caller builds the group, with its tables, once.
///
/// # Errors
/// [`WireError`] if the frame is invalid or the group is not known.
pub fn elgamal_group(bytes: &[u8]) -> Result<GroupName, WireError> {
    open(bytes).map(|(_, name, _)| name)
}

/// Reads a key of this group and computes its table.
///
/// # Errors
/// [`WireError`] if the frame is invalid or of another group; [`WireError::Partial`] if `h` is one or outside the
/// group.
pub fn read_elgamal_public_key(bytes: &[u8], group: &Arc<Group>) -> Result<PublicKey, WireError> {
    let (id, name, mut reader) = open(bytes)?;
    if name != group.name() {
        return Err(WireError::Value("the key is of another group"));
    }
    reader.expect_left(group.bytes())?;
    let h = reader.take(group.bytes())?;
    expect_key(PublicKey::id_of_bytes(name, h), id)?;
    Ok(PublicKey::read(group, h)?)
}

fn open(bytes: &[u8]) -> Result<(sotto_partial::KeyId, GroupName, Reader<'_>), WireError> {
    let mut reader = frame::open(bytes, Kind::ElGamalPublicKey, LARGEST as u64)?;
    let id = sotto_partial::KeyId(reader.array()?);
    let unknown = WireError::Value("the group is not known");
    let name = GroupName::from_bits(u32::from(reader.u16()?)).ok_or(unknown)?;
    Ok((id, name, reader))
}

/// Returns the frame of ciphertexts under one key: `key id ‖ bytes of a ciphertext u16 ‖ count u32 ‖ ciphertexts`.
///
/// # Errors
/// [`WireError::Key`] if a ciphertext is under another key, [`WireError::TooLarge`] if there are more than
/// [`MOST_CIPHERTEXTS`](super::MOST_CIPHERTEXTS).
pub fn write_elgamal_ciphertexts(key: &PublicKey, ciphertexts: &[Ciphertext]) -> Result<Vec<u8>, WireError> {
    batch(key).write(ciphertexts, Ciphertext::key, |one| key.write_ciphertext(one))
}

/// Reads ciphertexts of this key from a frame of at most `limit` bytes.
///
/// # Errors
/// [`WireError`] if the frame is invalid, names another key, or has a number that is not in the group.
pub fn read_elgamal_ciphertexts(
    bytes: &[u8],
    limit: u64,
    key: &PublicKey,
) -> Result<Vec<Ciphertext>, WireError> {
    batch(key).read(bytes, limit, |one| key.read_ciphertext(one))
}

fn batch(key: &PublicKey) -> Batch {
    Batch { kind: Kind::ElGamalCiphertexts, key: key.id(), one: key.ciphertext_bytes() }
}
