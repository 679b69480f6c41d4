//! The re-encryption agent's work: decrypts, computes, encrypts afresh.

use std::sync::Arc;

use rand_core::CryptoRng;
use rayon::prelude::*;
use sotto_keys::partial::{elgamal as elgamal_keys, paillier as paillier_keys};
use sotto_partial::encoding::{Complement, wrap};
use sotto_partial::recrypt::{LARGEST_BATCH, Recrypt, RecryptError, Request, Response};
use sotto_partial::{PartialError, elgamal, paillier};
use sotto_ring::secure_rng;
use zeroize::Zeroizing;

use super::elgamal::decrypt;
use super::paillier::Decryptor;

/// The re-encryption agent ("recryptor") in this process. Holds the secret keys of both schemes, or
/// Paillier's alone.
///
/// Answers are ciphertexts, so a caller can read nothing in them. But the caller decides which computations
/// run, and the plaintext of each request is in this process's memory.
///
/// ```
/// use sotto_decrypt::partial::{paillier::Decryptor, recryptor::LocalRecryptor};
/// use sotto_keys::partial::paillier::{Masking, SecretKey};
/// use sotto_partial::recrypt::{Recrypt, Request, Response};
///
/// let mut rng = sotto_ring::secure_rng()?;
/// let secret = SecretKey::generate(2048, Masking::HalfLength, &mut rng)?;
/// let recryptor = LocalRecryptor::new(&secret, None)?; // Paillier alone
/// let public = recryptor.paillier_key();
/// let mut encrypted = |value| public.encrypt(&public.signed(value), &mut rng);
/// let answers = recryptor.exchange(&[Request::Product(encrypted(230)?, encrypted(-5)?)])?;
/// let Response::Paillier(product) = &answers[0] else { unreachable!("a product is under Paillier") };
/// assert_eq!(Decryptor::new(&secret)?.decrypt(public, product)?.to_signed(public), Some(-1150));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub struct LocalRecryptor {
    paillier: Arc<paillier::PublicKey>,
    decryptor: Decryptor,
    elgamal: Option<(Arc<elgamal::PublicKey>, elgamal_keys::SecretKey)>,
}

impl LocalRecryptor {
    /// Makes a recryptor. Without ElGamal's key it multiplies and refuses conversions; blinded products need
    /// no more.
    ///
    /// # Errors
    /// [`PartialError`] if a key does not fit its scheme.
    pub fn new(
        paillier: &paillier_keys::SecretKey,
        elgamal: Option<elgamal_keys::SecretKey>,
    ) -> Result<Self, PartialError> {
        Self::with_public_key(paillier, paillier.public_key()?, elgamal)
    }

    /// Makes a recryptor with a given public key of Paillier: one without tables, or one of a length for
    /// tests.
    ///
    /// # Errors
    /// [`PartialError`] if the secret key does not fit its scheme.
    pub fn with_public_key(
        paillier: &paillier_keys::SecretKey,
        public: paillier::PublicKey,
        elgamal: Option<elgamal_keys::SecretKey>,
    ) -> Result<Self, PartialError> {
        let elgamal = elgamal.map(|secret| (Arc::new(secret.public_key()), secret));
        Ok(Self { paillier: Arc::new(public), decryptor: Decryptor::new(paillier)?, elgamal })
    }

    /// Returns Paillier's public key.
    pub fn paillier_key(&self) -> &Arc<paillier::PublicKey> {
        &self.paillier
    }

    /// Returns ElGamal's public key, if there is one.
    pub fn elgamal_key(&self) -> Option<&Arc<elgamal::PublicKey>> {
        self.elgamal.as_ref().map(|(public, _)| public)
    }

    /// Answers one request. Never refuses because of the encrypted number, which would reveal something of
    /// it: a number outside its encoding wraps.
    ///
    /// # Errors
    /// [`PartialError::OtherKey`] for a ciphertext under another key or without ElGamal's key,
    /// [`PartialError::Message`] for an encoding that the group cannot hold.
    pub fn answer(&self, request: &Request, rng: &mut impl CryptoRng) -> Result<Response, PartialError> {
        match request {
            Request::Product(x, y) => {
                let key = &*self.paillier;
                let (x, y) = (self.decryptor.decrypt(key, x)?, self.decryptor.decrypt(key, y)?);
                Ok(Response::Paillier(key.encrypt(&x.multiply(&y, key), rng)?))
            }
            Request::ToElGamal(x, code) => {
                let (key, _) = self.group(code)?;
                let value = self.decryptor.decrypt(&self.paillier, x)?.to_signed_wrapping(&self.paillier);
                let value = Zeroizing::new(wrap(i128::from(value), code.bits()) as i64);
                Ok(Response::ElGamal(key.encrypt(&*code.encode(*value)?, rng)?))
            }
            Request::ToPaillier(x, code) => {
                let (key, secret) = self.group(code)?;
                let value = Zeroizing::new(code.decode_wrapping(&*decrypt(secret, key, x)?));
                let plaintext = self.paillier.signed(i128::from(*value));
                Ok(Response::Paillier(self.paillier.encrypt(&plaintext, rng)?))
            }
        }
    }

    /// Returns ElGamal's keys if every number of this encoding fits their group.
    fn group(
        &self,
        code: &Complement,
    ) -> Result<(&elgamal::PublicKey, &elgamal_keys::SecretKey), PartialError> {
        let (key, secret) = self.elgamal.as_ref().ok_or(PartialError::OtherKey)?;
        let bits = key.group().name().bits() - 2;
        if code.fits(bits) { Ok((key, secret)) } else { Err(PartialError::Message { bits }) }
    }
}

/// Answers the requests of a trip in parallel, on rayon's threads.
impl Recrypt for LocalRecryptor {
    fn exchange(&self, batch: &[Request]) -> Result<Vec<Response>, RecryptError> {
        if batch.len() > LARGEST_BATCH {
            return Err(RecryptError::Batch { found: batch.len(), most: LARGEST_BATCH });
        }
        let answer = |(request, asked)| {
            let mut rng = secure_rng().map_err(|_| RecryptError::Randomness)?;
            self.answer(asked, &mut rng).map_err(|reason| RecryptError::Refused { request, reason })
        };
        match batch {
            // One request is answered here: waking a thread would cost more.
            [asked] => Ok(vec![answer((0, asked))?]),
            _ => batch.par_iter().enumerate().map(answer).collect(),
        }
    }
}
