//! Secret keys from other libraries, and ours for other libraries. Those libraries exchange them without
//! protection.

use alloc::vec::Vec;
#[cfg(feature = "files")]
use std::path::Path;

#[cfg(feature = "files")]
use sotto_ring::SecretRng;
use sotto_ring::{Eval, Poly, SmallPoly};
use sotto_rlwe::{KeyId, Params, Scheme};
use zeroize::Zeroizing;

#[cfg(feature = "files")]
use crate::file::{KeyFile, KeyFileError, Protection};
use crate::secret::{SecretKey, canonical_norm};

/// The reason why residues are not accepted as a secret key.
///
/// ```
/// use sotto_keys::{DeviceSecret, ImportedKeyError, SecretKey};
/// use sotto_rlwe::{Bfv, Params};
///
/// let params = Params::<Bfv>::default_chain(4096, 65537)?;
/// let key = SecretKey::derive(&DeviceSecret::from_bytes(&[7; 32]), &params);
/// let mut residues = key.unprotected_residues().clone();
/// residues.scale_signed(2); // coefficients −2, 0 and 2
/// let refused = SecretKey::from_unprotected_residues(&params, &residues).err();
/// assert_eq!(refused, Some(ImportedKeyError::NotTernary));
/// # Ok::<(), sotto_rlwe::ParameterError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImportedKeyError {
    /// The residues are not over the parameters' key limbs.
    #[error("the secret key has other parameters")]
    Parameters,
    /// A coefficient is not −1, 0 or 1, or differs between primes.
    #[error("this is no secret key: its polynomial is not ternary, or not the same modulo every prime")]
    NotTernary,
    /// The key's canonical norm exceeds the limit that the parameters' noise bounds need.
    #[error(
        "the norm of this secret key exceeds the limit that these parameters assume for their noise bounds, as about one key in a hundred of \
         other libraries does: check the parameters against he-standard-2018, whose bounds hold for every key, or make another key"
    )]
    Norm,
}

impl<S: Scheme> SecretKey<S> {
    /// Makes a key of the residues that another library wrote without protection: s in Eval form over all key
    /// limbs. Its name is a hash of its coefficients, so that a key has the same name wherever it is read.
    ///
    /// Other libraries do not bound a secret's canonical norm, so a key may exceed the limit of these
    /// parameters. Parameters checked against `he-standard-2018` have a limit that every key keeps (see
    /// [`sotto_rlwe::Norms::of_any_secret`]).
    ///
    /// # Errors
    /// [`ImportedKeyError`] if the residues have other parameters, are not ternary, or exceed the limit of
    /// the norm.
    pub fn from_unprotected_residues(
        params: &Params<S>,
        residues: &Poly<Eval>,
    ) -> Result<Self, ImportedKeyError> {
        if residues.limbs() != params.key_limbs() || residues.ring().degree() != params.degree() {
            return Err(ImportedKeyError::Parameters);
        }
        let limb = params.limbs(0).start;
        let first = Zeroizing::new(residues.restricted(limb..limb + 1).into_coeff());
        let coefficients: Zeroizing<Vec<i64>> =
            Zeroizing::new(first.limb(limb).iter().map(|x| params.modulus(limb).centre(*x)).collect());
        // Reads all coefficients whatever the first ones are, so that timing does not depend on the position
        // of an error.
        let outside = coefficients.iter().fold(false, |any, c| any | (c.unsigned_abs() > 1));
        let id = imported_key_id(params, &coefficients);
        let key = Self::from_secret(params, id, &SmallPoly::from_coefficients(coefficients.to_vec()));
        let again = key.expose_secret_eval();
        let same = params.key_limbs().fold(true, |all, limb| all & (again.limb(limb) == residues.limb(limb)));
        if outside || !same {
            return Err(ImportedKeyError::NotTernary);
        }
        if !norm_is_bounded(params, &coefficients) {
            return Err(ImportedKeyError::Norm);
        }
        Ok(key)
    }

    /// Returns s in Eval form over all key limbs, for another library's file. Anybody who has it can read all
    /// data encrypted under this key.
    pub fn unprotected_residues(&self) -> &Poly<Eval> {
        self.expose_secret_eval()
    }

    /// Returns the coefficients, each −1, 0 or 1.
    #[cfg(feature = "files")]
    pub(crate) fn ternary(&self) -> Zeroizing<Vec<i64>> {
        let params = self.params();
        let limb = params.limbs(0).start;
        let first = Zeroizing::new(self.expose_secret_eval().restricted(limb..limb + 1).into_coeff());
        Zeroizing::new(first.limb(limb).iter().map(|x| params.modulus(limb).centre(*x)).collect())
    }
}

/// Returns true if the noise bounds of these parameters hold for this secret.
fn norm_is_bounded<S: Scheme>(params: &Params<S>, coefficients: &[i64]) -> bool {
    canonical_norm(params.embedding(), coefficients) <= params.norms().bound.secret.value()
}

/// Hashes parameters and coefficients to 16 bytes. The coefficients have far too much entropy to be searched.
fn imported_key_id<S: Scheme>(params: &Params<S>, coefficients: &[i64]) -> KeyId {
    let mut material = Zeroizing::new(Vec::with_capacity(PARAMETER_ID + coefficients.len()));
    material.extend_from_slice(&params.id().0);
    material.extend(coefficients.iter().map(|c| (c + 1) as u8));
    let name = blake3::derive_key("sotto imported key id v1", &material);
    let mut id = [0; 16];
    id.copy_from_slice(&name[..16]);
    KeyId(id)
}

const PARAMETER_ID: usize = 32;

#[cfg(feature = "files")]
impl<S: Scheme> SecretKey<S> {
    /// Writes a key that was not derived from a device secret to a new file of mode 0600, encrypted under a
    /// passphrase. The content is the parameters' identity and two bits a coefficient.
    ///
    /// # Errors
    /// [`KeyFileError`] if the file exists or cannot be written, or the passphrase cannot be used.
    pub fn write_imported(
        &self,
        path: &Path,
        passphrase: &str,
        rng: &mut impl SecretRng,
    ) -> Result<(), KeyFileError> {
        let coefficients = self.ternary();
        let mut secret = Zeroizing::new(Vec::with_capacity(PARAMETER_ID + coefficients.len() / 4));
        secret.extend_from_slice(&self.params().id().0);
        for four in coefficients.chunks(4) {
            secret.push(four.iter().rev().fold(0, |byte, c| byte << 2 | (c + 1) as u8));
        }
        KeyFile::Imported.write_secret(path, &secret, Protection::Passphrase(passphrase), rng)
    }

    /// Reads a file of [`write_imported`](Self::write_imported) for these parameters.
    ///
    /// # Errors
    /// Those of [`KeyFile::read`]; [`KeyFileError::Damaged`] for a key of other parameters.
    pub fn read_imported(path: &Path, params: &Params<S>, passphrase: &str) -> Result<Self, KeyFileError> {
        Self::imported(
            &KeyFile::Imported.read_secret(path, Protection::Passphrase(passphrase))?,
            path,
            params,
        )
    }

    /// Decodes the bytes of a file; `path` names the file in errors.
    ///
    /// # Errors
    /// Those of [`SecretKey::read_imported`], except for I/O and the file's mode.
    pub fn parse_imported(
        bytes: &[u8],
        path: &Path,
        params: &Params<S>,
        passphrase: Option<&str>,
    ) -> Result<Self, KeyFileError> {
        Self::imported(&KeyFile::Imported.parse_secret(bytes, path, passphrase.into())?, path, params)
    }

    fn imported(secret: &[u8], path: &Path, params: &Params<S>) -> Result<Self, KeyFileError> {
        let damaged = |reason| KeyFileError::Damaged { path: path.display().to_string(), reason };
        if secret.len() != PARAMETER_ID + params.degree() / 4 || secret[..PARAMETER_ID] != params.id().0 {
            return Err(damaged("holds a key of other parameters"));
        }
        let coefficient = |i: usize| i64::from(secret[PARAMETER_ID + i / 4] >> (2 * (i % 4)) & 3) - 1;
        let coefficients: Zeroizing<Vec<i64>> =
            Zeroizing::new((0..params.degree()).map(coefficient).collect());
        if coefficients.iter().fold(false, |any, c| any | (*c > 1)) {
            return Err(damaged("does not hold a ternary polynomial"));
        }
        if !norm_is_bounded(params, &coefficients) {
            return Err(damaged(
                "holds a key whose norm exceeds the limit that these parameters assume for their noise bounds",
            ));
        }
        let id = imported_key_id(params, &coefficients);
        Ok(Self::from_secret(params, id, &SmallPoly::from_coefficients(coefficients.to_vec())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::secret::accepted_secret;
    use sotto_rlwe::{Bfv, Norms, ParameterSpec, SchemeId};

    fn insecure_n16() -> Params<Bfv> {
        let primes: Vec<u64> = sotto_ring::primes::below(1 << 40, 16).take(3).collect();
        let (special, data) = (primes[..1].to_vec(), primes[1..].to_vec());
        let spec =
            ParameterSpec { scheme: SchemeId::Bfv, degree: 16, special, data, digit_primes: 1, plain: 97 };
        Params::insecure(spec).unwrap()
    }

    /// Draws a secret that these parameters accept: about one ternary polynomial in a hundred exceeds the
    /// limit.
    fn secret(params: &Params<Bfv>) -> SmallPoly {
        accepted_secret(params.embedding(), &mut sotto_ring::secure_rng().unwrap())
    }

    #[test]
    fn residues_make_the_same_key_again_and_nothing_else_does() {
        let params = insecure_n16();
        let secret = secret(&params);
        let key = SecretKey::from_secret(&params, KeyId([1; 16]), &secret);
        let again = SecretKey::from_unprotected_residues(&params, key.unprotected_residues()).unwrap();
        assert_eq!(again.ternary().as_slice(), secret.coefficients());
        let mut other = key.unprotected_residues().clone();
        for limb in params.key_limbs() {
            let mut changed = other.clone();
            changed.limb_mut(limb)[3] = (changed.limb(limb)[3] + 1) % params.modulus(limb).value();
            let refused = SecretKey::from_unprotected_residues(&params, &changed).err();
            assert_eq!(refused, Some(ImportedKeyError::NotTernary), "limb {limb}");
        }
        other.scale_signed(2);
        assert!(SecretKey::from_unprotected_residues(&params, &other).is_err(), "coefficients of two");
    }

    #[test]
    fn a_secret_beyond_the_norm_of_the_bounds_is_refused() {
        let params = insecure_n16();
        // Ternary, with a norm of about 2·16/π at the first root.
        let largest = SmallPoly::from_coefficients(vec![1; 16]);
        assert!(canonical_norm(params.embedding(), largest.coefficients()) > Norms::secret_limit(16));
        let key = SecretKey::from_secret(&params, KeyId([1; 16]), &largest);
        let refused = SecretKey::from_unprotected_residues(&params, key.unprotected_residues()).err();
        assert_eq!(refused, Some(ImportedKeyError::Norm));
        let (folder, mut rng) = (tempfile::tempdir().unwrap(), sotto_ring::secure_rng().unwrap());
        let path = folder.path().join("imported.key");
        key.write_imported(&path, "correct horse", &mut rng).unwrap();
        assert!(matches!(
            SecretKey::read_imported(&path, &params, "correct horse"),
            Err(KeyFileError::Damaged { .. })
        ));
    }

    #[test]
    fn files_round_trip_under_their_passphrase_and_parameters() {
        let params = insecure_n16();
        let mut rng = sotto_ring::secure_rng().unwrap();
        let secret = secret(&params);
        let key = SecretKey::from_secret(&params, KeyId([1; 16]), &secret);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("imported.key");
        key.write_imported(&path, "correct horse", &mut rng).unwrap();
        let read = SecretKey::read_imported(&path, &params, "correct horse").unwrap();
        assert_eq!(read.ternary().as_slice(), secret.coefficients());
        let imported = SecretKey::from_unprotected_residues(&params, key.unprotected_residues()).unwrap();
        assert_eq!(read.id(), imported.id(), "named after its coefficients");
        assert!(SecretKey::read_imported(&path, &params, "wrong").is_err());
        assert!(KeyFile::Device.read(&path, Some("correct horse")).is_err(), "another kind");
        let spec = ParameterSpec { plain: 193, ..params.spec().clone() };
        let others = Params::<Bfv>::insecure(spec).unwrap();
        assert!(SecretKey::read_imported(&path, &others, "correct horse").is_err(), "other parameters");
    }
}
