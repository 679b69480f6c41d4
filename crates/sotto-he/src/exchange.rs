//! Vectors under a public key: encrypted with it, or read from bytes.

use sotto_ring::secure_rng;
use sotto_rlwe::Origin;
use sotto_wire::{AnyCiphertext, LARGEST_BUNDLE, read_vector};

use crate::encode::plaintexts;
use crate::encrypted::{Body, Encrypted, Facts, claimed_errors, fresh_errors};
use crate::error::{Error, Result};
use crate::public::Public;
use crate::scheme::Arithmetic;
use crate::watch::each;

impl<S: Arithmetic> Public<S> {
    /// Encrypts values with the public key: for a sender who must not read them again. Plans hold for such inputs if the
    /// context was made with [`public_inputs`](crate::ContextBuilder::public_inputs); otherwise results are decrypted only
    /// in the process that computed them.
    ///
    /// # Errors
    /// [`Error::Value`] and [`Error::Count`], as [`Secret::encrypt`](crate::Secret::encrypt).
    pub fn encrypt(&self, values: &[S::Value]) -> Result<Encrypted<S>> {
        self.encrypt_within(values, self.context().values_within())
    }

    /// Like [`Public::encrypt`], with a bound of its own on the absolute values: see
    /// [`Secret::encrypt_within`](crate::Secret::encrypt_within).
    ///
    /// # Errors
    /// As [`Secret::encrypt_within`](crate::Secret::encrypt_within).
    pub fn encrypt_within(&self, values: &[S::Value], bound: f64) -> Result<Encrypted<S>> {
        let context = self.context();
        let mut rng = secure_rng()?;
        let facts = Facts::fresh(context, values.len())?.within::<S>(bound)?;
        let parts = plaintexts(context, &facts, values)?;
        let parts = each(&parts, |part| Ok(self.public_key().encrypt(part, &mut rng)?))?;
        let errors = fresh_errors(context, values.len(), Origin::PublicKey);
        let body = Body::Real { parts, errors, keys: Some(self.clone()), claimed: false };
        Ok(Encrypted::new(context, facts, body))
    }

    /// Attaches these evaluation keys to a vector.
    ///
    /// # Errors
    /// [`Error::Mixed`] for a vector of another context or key.
    pub fn attach(&self, vector: Encrypted<S>) -> Result<Encrypted<S>> {
        let Encrypted { context, facts, body, .. } = vector;
        match body {
            Body::Real { parts, errors, claimed, .. }
                if &context == self.context() && parts.iter().all(|part| part.key() == self.id()) =>
            {
                let body = Body::Real { parts, errors, keys: Some(self.clone()), claimed };
                Ok(Encrypted::new(&context, facts, body))
            }
            _ => Err(Error::Mixed),
        }
    }

    /// Reads a vector to compute on. Its residues are checked; its noise bound is the sender's claim, so the result is
    /// decrypted with [`Secret::decrypt_answer`](crate::Secret::decrypt_answer) and never directly.
    ///
    /// # Errors
    /// [`Error::Bytes`] if the bytes are not a vector of these parameters, [`Error::Mixed`] for another key.
    pub fn read(&self, bytes: &[u8]) -> Result<Encrypted<S>> {
        let context = self.context();
        let (header, frames) = read_vector(bytes, LARGEST_BUNDLE)?;
        let mut facts = Facts::of_header(&header)?;
        let expected = context.parts(facts.len);
        if frames.len() != expected {
            return Err(Error::Unplanned(format!("{} values take {expected} ciphertexts", facts.len)));
        }
        let fresh = context.fresh(self.id())?;
        let mut sent = true;
        let parts = frames
            .iter()
            .map(|frame| {
                Ok(match AnyCiphertext::read(frame, context.params())?.with_claimed_shape() {
                    // A seed says that the ciphertext is fresh.
                    AnyCiphertext::Seeded(seeded) => seeded.expand().expect(&fresh)?,
                    AnyCiphertext::Expanded(computed) => {
                        sent = false;
                        computed
                    }
                })
            })
            .collect::<Result<Vec<_>>>()?;
        if parts.iter().any(|part| part.key() != self.id()) {
            return Err(Error::Mixed);
        }
        if sent {
            facts.range = context.0.range;
        }
        let errors = claimed_errors(context, &parts);
        let body = Body::Real { parts, errors, keys: Some(self.clone()), claimed: true };
        Ok(Encrypted::new(context, facts, body))
    }
}
