//! ElGamal's secret key: a short exponent.

use std::sync::Arc;

use sotto_kernels::Residue;
use sotto_partial::elgamal::{Group, PublicKey};
use sotto_partial::{KeyId, PartialError};
use sotto_ring::SecretRng;
use zeroize::Zeroizing;

use crate::device::DeviceSecret;

/// x with h = g^x. No Debug, Clone or PartialEq; wiped on drop.
pub struct SecretKey {
    group: Arc<Group>,
    exponent: Zeroizing<Vec<u64>>,
    /// g^x.
    public: Residue,
    id: KeyId,
}

impl SecretKey {
    /// A new key.
    pub fn generate(group: &Arc<Group>, rng: &mut impl SecretRng) -> Self {
        let bits = group.name().exponent_bits();
        let mut exponent = Zeroizing::new(vec![0u64; bits.div_ceil(64) as usize]);
        exponent.iter_mut().for_each(|word| *word = rng.next_u64());
        if let (Some(top), used @ 1..) = (exponent.last_mut(), bits % 64) {
            *top &= u64::MAX >> (64 - used);
        }
        Self::of_exponent(group, exponent)
    }

    /// A key by its exponent, least significant word first, of at most the group's bits.
    pub fn from_exponent(group: &Arc<Group>, exponent: Zeroizing<Vec<u64>>) -> Result<Self, PartialError> {
        let bits = group.name().exponent_bits();
        let expected = bits.div_ceil(64) as usize;
        if exponent.len() != expected {
            return Err(PartialError::Length { found: 8 * exponent.len(), expected: 8 * expected });
        }
        // Only whether it is a key shows.
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

    /// The key of a device, always the same one.
    pub fn derive(device: &DeviceSecret, group: &Arc<Group>) -> Self {
        Self::generate(group, &mut device.partial_key_stream("elgamal", group.name().bits(), ""))
    }

    /// The public key.
    pub fn public_key(&self) -> PublicKey {
        PublicKey::from_member(&self.group, self.public.clone())
    }

    /// The public key's name.
    pub fn id(&self) -> KeyId {
        self.id
    }

    /// The group.
    pub fn group(&self) -> &Arc<Group> {
        &self.group
    }

    /// x: whoever has it reads everything under this key.
    pub fn expose_secret_exponent(&self) -> &[u64] {
        &self.exponent
    }
}
