//! ElGamal's public key, ciphertexts and operations.

use alloc::sync::Arc;
use alloc::vec::Vec;

use crypto_bigint::BoxedUint;
use rand_core::CryptoRng;
use sotto_kernels::{Comb, Residue};
use zeroize::Zeroizing;

use super::group::{Group, GroupName};
use crate::error::PartialError;
use crate::key_id::KeyId;
use crate::number::to_bytes;

/// The public key h = g^x, with its table.
///
/// ```
/// use std::sync::Arc;
///
/// use sotto_partial::elgamal::{Ciphertext, Group, GroupName, PublicKey};
/// use sotto_partial::number::from_words;
/// # use rand_core::SeedableRng;
/// # let mut rng = chacha20::ChaCha20Rng::from_seed([7; 32]);
///
/// let group = Arc::new(Group::new(GroupName::Ffdhe2048)?);
/// # let bytes = PublicKey::from_member(&group, group.power_of_generator(&[7; 4])).write();
/// let key = PublicKey::read(&group, &bytes)?; // 256 bytes from the owner
/// let mut encrypted = |number| key.encrypt(&from_words(&[number]), &mut rng);
/// let (volts, amperes) = (encrypted(230)?, encrypted(5)?);
/// let watts: Ciphertext = key.multiply(&volts, &amperes)?;
/// assert_eq!(key.write_ciphertext(&watts).len(), 512);
/// let again = key.divide(&watts, &amperes)?;
/// assert_eq!(key.write_ciphertext(&again), key.write_ciphertext(&volts));
/// # Ok::<(), sotto_partial::PartialError>(())
/// ```
pub struct PublicKey {
    group: Arc<Group>,
    h: Residue,
    table: Comb,
    id: KeyId,
}

/// A ciphertext (g^k, m·h^k).
///
/// Example: [`PublicKey`]
#[derive(Clone)]
pub struct Ciphertext {
    a: Residue,
    b: Residue,
    key: KeyId,
}

impl Ciphertext {
    /// Returns the name of the ciphertext's key.
    pub fn key(&self) -> KeyId {
        self.key
    }

    /// Returns g^k and m·h^k.
    pub fn components(&self) -> (&Residue, &Residue) {
        (&self.a, &self.b)
    }
}

impl PublicKey {
    /// Makes the key h = g^x, with a table of its powers.
    pub fn from_member(group: &Arc<Group>, h: Residue) -> Self {
        let table = Comb::new(group.modulus(), &h, group.name().exponent_bits());
        let id = Self::id_of(group, &h);
        Self { group: group.clone(), h, table, id }
    }

    /// Returns the name of the key with this member.
    pub fn id_of(group: &Group, h: &Residue) -> KeyId {
        Self::id_of_bytes(group.name(), &to_bytes(&group.modulus().leave(h), group.bytes()))
    }

    /// Returns the name of the key whose bytes are these, as [`write`](Self::write) returns them.
    pub fn id_of_bytes(group: GroupName, bytes: &[u8]) -> KeyId {
        KeyId::of("sotto elgamal key v1", &[&group.bits().to_be_bytes(), bytes])
    }

    /// Reads a key from its bytes.
    ///
    /// # Errors
    /// [`PartialError::Length`], [`PartialError::OutOfRange`] for zero or a number not below p,
    /// [`PartialError::OutsideGroup`] for one or a number outside the group.
    pub fn read(group: &Arc<Group>, bytes: &[u8]) -> Result<Self, PartialError> {
        Ok(Self::from_member(group, group.member(bytes, false)?))
    }

    /// Returns h, big-endian.
    pub fn write(&self) -> Vec<u8> {
        to_bytes(&self.group.modulus().leave(&self.h), self.group.bytes())
    }

    /// Returns the group that h is a member of.
    pub fn group(&self) -> &Arc<Group> {
        &self.group
    }

    /// Returns the key's name.
    pub fn id(&self) -> KeyId {
        self.id
    }

    /// Encrypts a number from 1 to q. Zero is not in the group (see [`crate::encoding`]).
    ///
    /// # Errors
    /// [`PartialError::Message`] for zero or a number above q.
    pub fn encrypt(&self, message: &BoxedUint, rng: &mut impl CryptoRng) -> Result<Ciphertext, PartialError> {
        let square = self.group.encode(message)?;
        let mut ciphertext = self.encryption_of_one(rng);
        self.group.modulus().multiply_assign(&mut ciphertext.b, &square);
        Ok(ciphertext)
    }

    /// Computes E(a·b). It decrypts to a·b if that is at most q.
    ///
    /// # Errors
    /// [`PartialError::OtherKey`] if a ciphertext is under another key.
    pub fn multiply(&self, x: &Ciphertext, y: &Ciphertext) -> Result<Ciphertext, PartialError> {
        self.expect(x.key)?;
        self.expect(y.key)?;
        let m = self.group.modulus();
        Ok(self.ciphertext(m.multiply(&x.a, &y.a), m.multiply(&x.b, &y.b)))
    }

    /// Computes E(a/b), which decrypts to the quotient if b divides a.
    ///
    /// # Errors
    /// [`PartialError::OtherKey`] if a ciphertext is under another key.
    pub fn divide(&self, x: &Ciphertext, y: &Ciphertext) -> Result<Ciphertext, PartialError> {
        self.expect(y.key)?;
        let inverse = self.ciphertext(self.group.inverse(&y.a)?, self.group.inverse(&y.b)?);
        self.multiply(x, &inverse)
    }

    /// Computes E(a^k) for a public k ≥ 1.
    ///
    /// # Errors
    /// [`PartialError::OtherKey`] for another key; [`PartialError::OutOfRange`] for k = 0, since (1, 1) is
    /// not a valid ciphertext.
    pub fn power(&self, x: &Ciphertext, k: u64) -> Result<Ciphertext, PartialError> {
        self.expect(x.key)?;
        if k == 0 {
            return Err(PartialError::OutOfRange);
        }
        let (m, bits) = (self.group.modulus(), u64::BITS - k.leading_zeros());
        Ok(self.ciphertext(m.power(&x.a, &[k], bits), m.power(&x.b, &[k], bits)))
    }

    /// Encrypts the same message under fresh randomness.
    ///
    /// # Errors
    /// [`PartialError::OtherKey`] if the ciphertext is under another key.
    pub fn rerandomise(&self, x: &Ciphertext, rng: &mut impl CryptoRng) -> Result<Ciphertext, PartialError> {
        self.multiply(x, &self.encryption_of_one(rng))
    }

    /// Returns the length of two group members.
    pub fn ciphertext_bytes(&self) -> usize {
        2 * self.group.bytes()
    }

    /// Returns both components, big-endian, of fixed length.
    pub fn write_ciphertext(&self, ciphertext: &Ciphertext) -> Vec<u8> {
        let write = |x| to_bytes(&self.group.modulus().leave(x), self.group.bytes());
        [write(&ciphertext.a), write(&ciphertext.b)].concat()
    }

    /// Reads a ciphertext. Its components must be members of the group, and the first not one.
    ///
    /// # Errors
    /// [`PartialError::Length`], [`PartialError::OutOfRange`] or [`PartialError::OutsideGroup`].
    pub fn read_ciphertext(&self, bytes: &[u8]) -> Result<Ciphertext, PartialError> {
        let expected = self.ciphertext_bytes();
        if bytes.len() != expected {
            return Err(PartialError::Length { found: bytes.len(), expected });
        }
        let (a, b) = bytes.split_at(expected / 2);
        Ok(self.ciphertext(self.group.member(a, false)?, self.group.member(b, true)?))
    }

    fn encryption_of_one(&self, rng: &mut impl CryptoRng) -> Ciphertext {
        let words = self.group.name().exponent_bits().div_ceil(64) as usize;
        let mut k = Zeroizing::new(vec![0u64; words]);
        k.iter_mut().for_each(|word| *word = rng.next_u64());
        // Masked to the comb's number of bits, so that both powers have the same exponent k.
        if let (Some(top), used @ 1..) = (k.last_mut(), self.group.name().exponent_bits() % 64) {
            *top &= u64::MAX >> (64 - used);
        }
        self.ciphertext(self.group.power_of_generator(&k), self.table.power(self.group.modulus(), &k))
    }

    fn ciphertext(&self, a: Residue, b: Residue) -> Ciphertext {
        Ciphertext { a, b, key: self.id }
    }

    fn expect(&self, key: KeyId) -> Result<(), PartialError> {
        if key == self.id { Ok(()) } else { Err(PartialError::OtherKey) }
    }
}
