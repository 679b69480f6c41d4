//! The secret keys of the re-encryption agent ("recryptor"): Paillier's and ElGamal's, and nothing else of a
//! device. They do not reveal the device's secret or its keys of other schemes.

use alloc::sync::Arc;
use alloc::vec::Vec;
use std::path::Path;

use sotto_partial::PartialError;
use sotto_partial::elgamal::{Group, GroupName};
use sotto_partial::number::{from_bytes, to_bytes, words};
use sotto_partial::paillier::{Randomness, security_bits};
use sotto_ring::SecretRng;
use zeroize::Zeroizing;

use super::{elgamal, paillier};
use crate::device::DeviceSecret;
use crate::file::{KeyFile, KeyFileError, Protection};
use crate::lengths::LONGEST_RECRYPTOR;

/// Paillier's secret key and, optionally, ElGamal's. No Debug, Clone or PartialEq; wiped on drop.
///
/// ```
/// use sotto_keys::partial::{RecryptorSecret, paillier::Masking};
/// use sotto_keys::{DeviceSecret, Protection};
///
/// # let folder = tempfile::tempdir()?;
/// let boiler = DeviceSecret::from_bytes(&[7; 32]);
/// let keys = RecryptorSecret::derive(&boiler, 2048, Masking::HalfLength, None)?;
/// let path = folder.path().join("recryptor.key");
/// keys.write(&path, &Protection::FileMode, &mut sotto_ring::secure_rng()?)?;
/// let read = RecryptorSecret::read(&path, None)?;
/// assert_eq!(read.paillier.modulus(), keys.paillier.modulus());
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub struct RecryptorSecret {
    /// The secret key of Paillier's scheme.
    pub paillier: paillier::SecretKey,
    /// The secret key of ElGamal's scheme, needed to convert between the schemes.
    pub elgamal: Option<elgamal::SecretKey>,
}

impl RecryptorSecret {
    /// Derives the keys of a device; the result is always the same.
    ///
    /// # Errors
    /// [`PartialError::KeyLength`] and [`PartialError::Subgroup`] for lengths that are not offered.
    pub fn derive(
        device: &DeviceSecret,
        bits: u32,
        masking: paillier::Masking,
        group: Option<GroupName>,
    ) -> Result<Self, PartialError> {
        let paillier = paillier::SecretKey::derive(device, bits, masking)?;
        let elgamal = group
            .map(|name| Ok(elgamal::SecretKey::derive(device, &Arc::new(Group::new(name)?))))
            .transpose()?;
        Ok(Self { paillier, elgamal })
    }

    /// Writes a new file with mode 0600; an existing file is never overwritten.
    ///
    /// # Errors
    /// [`KeyFileError`] if the file exists or cannot be written, or the passphrase cannot be used.
    pub fn write(
        &self,
        path: &Path,
        protection: &Protection<'_>,
        rng: &mut impl SecretRng,
    ) -> Result<(), KeyFileError> {
        KeyFile::Recryptor.write_secret(path, &self.to_bytes(), *protection, rng)
    }

    /// Reads a file that [`write`](Self::write) made.
    ///
    /// # Errors
    /// [`KeyFileError`] if the file cannot be read, has a mode that lets others read it, is damaged, or does
    /// not fit the passphrase.
    pub fn read(path: &Path, passphrase: Option<&str>) -> Result<Self, KeyFileError> {
        Self::of_file(path, &KeyFile::Recryptor.read_secret(path, passphrase.into())?)
    }

    /// Decodes the bytes of a file of this kind; `path` names the file in errors.
    ///
    /// # Errors
    /// [`KeyFileError::Damaged`] for bytes that hold no keys of a recryptor, [`KeyFileError::Passphrase`] for
    /// a missing, wrong or unexpected passphrase.
    pub fn parse(bytes: &[u8], path: &Path, passphrase: Option<&str>) -> Result<Self, KeyFileError> {
        Self::of_file(path, &KeyFile::Recryptor.parse_secret(bytes, path, passphrase.into())?)
    }

    fn of_file(path: &Path, secret: &[u8]) -> Result<Self, KeyFileError> {
        let reason = "does not hold the keys of a re-encryption agent";
        Self::from_bytes(secret)
            .ok_or_else(|| KeyFileError::Damaged { path: path.display().to_string(), reason })
    }

    /// Encodes `bits of n u16 ‖ masks u8 ‖ p ‖ q ‖ h unless masks are textbook ‖ bits of ElGamal's prime u16,
    /// or 0 ‖ ElGamal's exponent`. Large numbers are big-endian, the `u16` little-endian.
    fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        // The capacity is the maximum: a vector that grows leaves a copy of the secret behind.
        let mut out = Zeroizing::new(Vec::with_capacity(LONGEST_RECRYPTOR));
        let number = self.paillier.modulus().bits() as usize / 8;
        let (masks, h) = match self.paillier.randomness() {
            Randomness::Textbook => (0, None),
            Randomness::HalfLength { h } => (1, Some(h)),
            Randomness::Subgroup { h } => (2, Some(h)),
        };
        out.extend_from_slice(&(8 * number as u16).to_le_bytes());
        out.push(masks);
        let (p, q) = self.paillier.expose_secret_primes();
        for prime in [p, q] {
            out.extend_from_slice(&Zeroizing::new(to_bytes(&words(prime), number / 2)));
        }
        if let Some(h) = h {
            out.extend_from_slice(&to_bytes(&words(h), number));
        }
        let name = self.elgamal.as_ref().map(|key| key.group().name());
        out.extend_from_slice(&(name.map_or(0, GroupName::bits) as u16).to_le_bytes());
        if let Some(key) = &self.elgamal {
            let length = key.group().name().exponent_bits() as usize / 8;
            out.extend_from_slice(&Zeroizing::new(to_bytes(key.expose_secret_exponent(), length)));
        }
        out
    }

    /// Decodes the keys. Returns None if the bytes are not an encoding. Tests the primes; sets up ElGamal's
    /// group only if the bytes hold an exponent.
    fn from_bytes(secret: &[u8]) -> Option<Self> {
        let (head, rest) = secret.split_first_chunk::<3>()?;
        let bits = u32::from(u16::from_le_bytes([head[0], head[1]]));
        security_bits(bits)?;
        let number = bits as usize / 8;
        let (p, rest) = rest.split_at_checked(number / 2)?;
        let (q, rest) = rest.split_at_checked(number / 2)?;
        let (h, rest) = rest.split_at_checked(if head[2] == 0 { 0 } else { number })?;
        let (group, exponent) = rest.split_first_chunk::<2>()?;
        let group = match u32::from(u16::from_le_bytes(*group)) {
            0 => None,
            bits => Some(GroupName::from_bits(bits)?),
        };
        if exponent.len() != group.map_or(0, |name| name.exponent_bits() as usize / 8) {
            return None;
        }
        let randomness = match head[2] {
            0 => Randomness::Textbook,
            1 => Randomness::HalfLength { h: from_bytes(h) },
            2 => Randomness::Subgroup { h: from_bytes(h) },
            _ => return None,
        };
        let paillier = paillier::SecretKey::from_parts(from_bytes(p), from_bytes(q), randomness).ok()?;
        // The product of two primes of half the length may be one bit shorter.
        if paillier.modulus().bits() != bits {
            return None;
        }
        let elgamal = match group {
            None => None,
            Some(name) => {
                let group = Arc::new(Group::new(name).ok()?);
                let number = Zeroizing::new(from_bytes(exponent));
                let mut exponent = words(&number);
                exponent.truncate(name.exponent_bits().div_ceil(64) as usize);
                Some(elgamal::SecretKey::from_exponent(&group, exponent).ok()?)
            }
        };
        Some(Self { paillier, elgamal })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use paillier::Masking;

    fn device() -> DeviceSecret {
        DeviceSecret::from_bytes(&[3; 32])
    }

    #[test]
    fn a_file_holds_the_keys_of_its_device() {
        let folder = tempfile::tempdir().unwrap();
        let mut rng = sotto_ring::secure_rng().unwrap();
        for (number, (masking, group)) in (0..).zip([
            (Masking::HalfLength, Some(GroupName::Ffdhe2048)),
            (Masking::Textbook, None),
            (Masking::HalfLength, Some(GroupName::Ffdhe3072)),
        ]) {
            let made = RecryptorSecret::derive(&device(), 2048, masking, group).unwrap();
            let path = folder.path().join(format!("{number}.key"));
            let protection = Protection::Passphrase("correct horse");
            made.write(&path, if number == 1 { &protection } else { &Protection::FileMode }, &mut rng)
                .unwrap();
            let read = RecryptorSecret::read(&path, (number == 1).then_some("correct horse")).unwrap();
            assert_eq!(read.paillier.modulus(), made.paillier.modulus());
            assert_eq!(read.paillier.expose_secret_primes(), made.paillier.expose_secret_primes());
            assert_eq!(read.paillier.randomness(), made.paillier.randomness());
            let exponent = |secret: &RecryptorSecret| {
                secret.elgamal.as_ref().map(|key| (key.id(), key.expose_secret_exponent().to_vec()))
            };
            assert_eq!(exponent(&read), exponent(&made));
            assert!(KeyFile::Device.read(&path, Some("correct horse")).is_err(), "no device's secret");
            let bytes = fs::read(&path).unwrap();
            assert!(!bytes.windows(32).any(|window| window == [3; 32]), "no device's secret");
        }
    }

    #[test]
    fn what_is_no_key_is_refused() {
        let group = Some(GroupName::Ffdhe2048);
        let made = RecryptorSecret::derive(&device(), 2048, Masking::HalfLength, group).unwrap();
        let good = made.to_bytes();
        assert!(RecryptorSecret::from_bytes(&good).is_some());
        for end in [0, 2, 3, 130, 259, 515, 517, good.len() - 1] {
            assert!(RecryptorSecret::from_bytes(&good[..end]).is_none(), "cut at {end}");
        }
        let refused = |what: &str, change: &dyn Fn(&mut Vec<u8>)| {
            let mut bytes = good.to_vec();
            change(&mut bytes);
            assert!(RecryptorSecret::from_bytes(&bytes).is_none(), "{what}");
        };
        refused("a byte too many", &|bytes| bytes.push(0));
        refused("1,024 bits", &|bytes| bytes[1] = 4);
        refused("masks of no sort", &|bytes| bytes[2] = 3);
        refused("p even", &|bytes| bytes[3 + 127] &= 0xfe);
        refused("p short", &|bytes| bytes[3] = 0);
        refused("p and q equal", &|bytes| bytes.copy_within(3..131, 131));
        refused("h above n", &|bytes| bytes[259..515].fill(0xff));
        refused("a group of no name", &|bytes| bytes[515] = 1);
        refused("an exponent of zero", &|bytes| bytes[517..].fill(0));
    }
}
