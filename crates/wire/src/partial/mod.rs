//! Keys and ciphertexts of the partially homomorphic schemes as bytes.
//!
//! Large numbers are big-endian and of fixed length, as the schemes write them; all other numbers are little-endian.
//! Readers refuse a number that is out of range, not coprime to the key, or outside its scheme's group. They check the
//! key's id before they compute.

mod elgamal;
mod paillier;
mod ristretto;

use alloc::vec::Vec;

use sotto_partial::{KeyId, PartialError};

use crate::error::WireError;
use crate::frame;
use crate::kind::Kind;
use crate::reader::Reader;

pub use elgamal::{
    elgamal_group, read_elgamal_ciphertexts, read_elgamal_public_key, write_elgamal_ciphertexts,
    write_elgamal_public_key,
};
pub use paillier::{
    read_paillier_ciphertexts, read_paillier_public_key, write_paillier_ciphertexts,
    write_paillier_public_key,
};
pub use ristretto::{
    read_ristretto_ciphertexts, read_ristretto_public_key, write_ristretto_ciphertexts,
    write_ristretto_public_key,
};

/// Largest number of ciphertexts in one frame.
pub const MOST_CIPHERTEXTS: usize = 1 << 16;

/// Bytes of a key's id.
const NAME: usize = 16;

/// Refuses the id of another key.
pub(crate) fn expect_key(expected: KeyId, found: KeyId) -> Result<(), WireError> {
    if expected == found {
        return Ok(());
    }
    let [expected, found] = [expected, found].map(|KeyId(name)| sotto_rlwe::KeyId(name));
    Err(WireError::Key { expected, found })
}

/// Reads a key's id and refuses that of another key.
pub(crate) fn read_key_id(reader: &mut Reader<'_>, expected: KeyId) -> Result<(), WireError> {
    expect_key(expected, KeyId(reader.array()?))
}

/// Refuses a count above [`MOST_CIPHERTEXTS`].
fn checked_count(count: usize) -> Result<usize, WireError> {
    if count <= MOST_CIPHERTEXTS {
        Ok(count)
    } else {
        Err(WireError::TooLarge { limit: MOST_CIPHERTEXTS as u64, found: count as u64 })
    }
}

/// Writes and reads frames of ciphertexts under one key.
struct Batch {
    kind: Kind,
    key: KeyId,
    /// Bytes per ciphertext.
    one: usize,
}

impl Batch {
    fn write<C, B: AsRef<[u8]>>(
        &self,
        ciphertexts: &[C],
        key: impl Fn(&C) -> KeyId,
        bytes: impl Fn(&C) -> B,
    ) -> Result<Vec<u8>, WireError> {
        let count = checked_count(ciphertexts.len())?;
        ciphertexts.iter().try_for_each(|one| expect_key(self.key, key(one)))?;
        Ok(frame::write(self.kind, NAME + 6 + count * self.one, |out| {
            out.extend_from_slice(&self.key.0);
            out.extend_from_slice(&(self.one as u16).to_le_bytes());
            out.extend_from_slice(&(count as u32).to_le_bytes());
            ciphertexts.iter().for_each(|one| out.extend_from_slice(bytes(one).as_ref()));
        }))
    }

    fn read<C>(
        &self,
        bytes: &[u8],
        limit: u64,
        read: impl Fn(&[u8]) -> Result<C, PartialError>,
    ) -> Result<Vec<C>, WireError> {
        let mut reader = frame::open(bytes, self.kind, limit)?;
        read_key_id(&mut reader, self.key)?;
        if usize::from(reader.u16()?) != self.one {
            return Err(WireError::Value("ciphertexts of this key have another length"));
        }
        let count = checked_count(reader.u32()? as usize)?;
        reader.expect_left(count * self.one)?;
        let mut ciphertexts = Vec::with_capacity(count);
        for _ in 0..count {
            ciphertexts.push(read(reader.take(self.one)?)?);
        }
        Ok(ciphertexts)
    }
}
