//! ElGamal's secret key: a short exponent.

use alloc::sync::Arc;
use alloc::vec::Vec;

use sotto_kernels::Residue;
use sotto_partial::elgamal::{Group, PublicKey};
use sotto_partial::{KeyId, PartialError};
use sotto_ring::SecretRng;
use zeroize::Zeroizing;

use crate::device::DeviceSecret;

/// The exponent x with h = g^x. No Debug, Clone or PartialEq; wiped on drop.
///
/// ```
/// use std::sync::Arc;
///
/// use sotto_keys::{DeviceSecret, partial::elgamal::SecretKey};
/// use sotto_partial::elgamal::{Group, GroupName};
///
/// let group = Arc::new(Group::new(GroupName::Ffdhe2048)?);
/// let key = SecretKey::derive(&DeviceSecret::from_bytes(&[7; 32]), &group);
/// assert_eq!(key.public_key().id(), key.id());
/// # Ok::<(), sotto_partial::PartialError>(())
/// ```
pub struct SecretKey {
    group: Arc<Group>,
    exponent: Zeroizing<Vec<u64>>,
    /// The public g^x.
    public: Residue,
    id: KeyId,
}

impl SecretKey {
    /// Draws an exponent of the group's length.
    pub fn generate(group: &Arc<Group>, rng: &mut impl SecretRng) -> Self {
        let bits = group.name().exponent_bits();
        let mut exponent = Zeroizing::new(vec![0u64; bits.div_ceil(64) as usize]);
        exponent.iter_mut().for_each(|word| *word = rng.next_u64());
        if let (Some(top), used @ 1..) = (exponent.last_mut(), bits % 64) {
            *top &= u64::MAX >> (64 - used);
        }
        Self::of_exponent(group, exponent)
    }

    /// Makes a key of its exponent x: least significant word first, x ≠ 0, at most as long as the group's
    /// exponents.
    ///
    /// # Errors
    /// [`PartialError::Length`] for a wrong number of words, [`PartialError::OutOfRange`] if x is zero or too
    /// long.
    pub fn from_exponent(group: &Arc<Group>, exponent: Zeroizing<Vec<u64>>) -> Result<Self, PartialError> {
        let bits = group.name().exponent_bits();
        let expected = bits.div_ceil(64) as usize;
        if exponent.len() != expected {
            return Err(PartialError::Length { found: 8 * exponent.len(), expected: 8 * expected });
        }
        // Timing reveals only the result of this check, not the exponent.
        let above = if bits.is_multiple_of(64) { 0 } else { exponent[expected - 1] >> (bits % 64) };
        if above != 0 || exponent.iter().fold(0, |any, word| any | word) == 0 {
            return Err(PartialError::OutOfRange);
        }
        Ok(Self::of_exponent(group, exponent))
    }

    fn of_exponent(group: &Arc<Group>, exponent: Zeroizing<Vec<u64>>) -> Self {
        let public = group.power_of_generator(&exponent);
        let id = PublicKey::id_of(group, &public);
        Self { group: group.clone(), exponent, public, id }
    }

    /// Derives the key of a device; the result is always the same.
    pub fn derive(device: &DeviceSecret, group: &Arc<Group>) -> Self {
        Self::generate(group, &mut device.partial_key_stream("elgamal", group.name().bits(), ""))
    }

    /// Returns g^x, with tables for encryption.
    pub fn public_key(&self) -> PublicKey {
        PublicKey::from_member(&self.group, self.public.clone())
    }

    /// Returns the public key's name.
    pub fn id(&self) -> KeyId {
        self.id
    }

    /// Returns the group that the exponent is for.
    pub fn group(&self) -> &Arc<Group> {
        &self.group
    }

    /// Returns x. Anybody who has it reads everything under this key.
    pub fn expose_secret_exponent(&self) -> &[u64] {
        &self.exponent
    }
}
