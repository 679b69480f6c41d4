//! The keys that a computing party holds.

use core::fmt;
use std::sync::Arc;

use sotto_ring::secure_rng;
use sotto_rlwe::{EvaluationKeys, KeyId, Params, PublicKey};
use sotto_wire::{
    AnyCiphertext, EvaluationKeyCounts, LARGEST_BUNDLE, OwnerKeys, read_evaluation_keys, read_parameters,
    read_public_key, read_vector, write_evaluation_keys, write_parameters, write_public_key,
};

use crate::context::Context;
use crate::encrypted::{Body, Encrypted, Facts};
use crate::error::{Error, Result};
use crate::scheme::Arithmetic;
use crate::secret::plaintexts;
use crate::watch::each;

/// Galois keys that a `Public` may hold: more than the powers of two at n = 65536 take.
const MOST_GALOIS: usize = 256;

/// The public keys that a cloud needs of an owner: parameters, public key, evaluation keys. They compute and encrypt, and
/// decrypt nothing.
/// Cheap to clone.
///
/// ```
/// use sotto::{Ckks, Context, Public};
///
/// // The owner plans, and sends keys and data.
/// let context = Context::<Ckks>::for_depth(1)?;
/// let plan = context.plan(&[3], |x| x[0].square()?.mean()?.for_answer())?;
/// let (secret, public) = context.keys_for(&plan, &mut sotto::secure_rng()?)?;
/// let (keys, data) = (public.to_bytes(), secret.encrypt_to_bytes(&[1.0, 2.0, 3.0])?);
///
/// // The cloud computes.
/// let public = Public::<Ckks>::from_bytes(&keys)?;
/// let answer = public.read(&data)?.square()?.mean()?.for_answer()?.to_bytes()?;
///
/// // The owner decrypts by the plan.
/// let mean = secret.decrypt_answer(&answer, &plan)?;
/// assert!((mean.value() - 14.0 / 3.0).abs() <= mean.bound());
/// # Ok::<(), sotto::Error>(())
/// ```
pub struct Public<S: Arithmetic>(Arc<Inner<S>>);

struct Inner<S: Arithmetic> {
    context: Context<S>,
    key: PublicKey<S>,
    evaluation: EvaluationKeys<S>,
}

impl<S: Arithmetic> Clone for Public<S> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<S: Arithmetic> fmt::Debug for Public<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Public({}; {})", self.id(), self.0.context)
    }
}

impl<S: Arithmetic> Public<S> {
    pub(crate) fn of(context: &Context<S>, key: PublicKey<S>, evaluation: EvaluationKeys<S>) -> Self {
        Self(Arc::new(Inner { context: context.clone(), key, evaluation }))
    }

    /// Returns the secret key's public name.
    pub fn id(&self) -> KeyId {
        self.0.key.key()
    }

    /// Returns the context.
    pub fn context(&self) -> &Context<S> {
        &self.0.context
    }

    /// Returns the evaluation keys, for the layers below.
    pub fn evaluation_keys(&self) -> &EvaluationKeys<S> {
        &self.0.evaluation
    }

    /// Returns the public key, for the layers below.
    pub fn public_key(&self) -> &PublicKey<S> {
        &self.0.key
    }

    /// Encrypts values with the public key: for a sender who must not read them again. Plans hold for such inputs if the
    /// context was made with [`public_inputs`](crate::ContextBuilder::public_inputs); otherwise results are decrypted only
    /// in the process that computed them.
    ///
    /// # Errors
    /// [`Error::Value`] and [`Error::Count`], as [`Secret::encrypt`](crate::Secret::encrypt).
    pub fn encrypt(&self, values: &[S::Value]) -> Result<Encrypted<S>> {
        self.encrypt_within(values, self.0.context.values_within())
    }

    /// Like [`Public::encrypt`], with a bound of its own on the absolute values: see
    /// [`Secret::encrypt_within`](crate::Secret::encrypt_within).
    ///
    /// # Errors
    /// As [`Secret::encrypt_within`](crate::Secret::encrypt_within).
    pub fn encrypt_within(&self, values: &[S::Value], bound: f64) -> Result<Encrypted<S>> {
        let context = &self.0.context;
        let mut rng = secure_rng()?;
        let facts = Facts::fresh(context, values.len())?.within::<S>(bound)?;
        let parts = plaintexts(context, &facts, values)?;
        let parts = each(&parts, |part| Ok(self.0.key.encrypt(part, &mut rng)?))?;
        Ok(Encrypted::new(context, facts, Body::Real { parts, keys: Some(self.clone()), claimed: false }))
    }

    /// Attaches these evaluation keys to a vector.
    ///
    /// # Errors
    /// [`Error::Mixed`] for a vector of another context or key.
    pub fn attach(&self, vector: Encrypted<S>) -> Result<Encrypted<S>> {
        let Encrypted { context, facts, body, .. } = vector;
        match body {
            Body::Real { parts, claimed, .. }
                if context == self.0.context && parts.iter().all(|part| part.key() == self.id()) =>
            {
                Ok(Encrypted::new(&context, facts, Body::Real { parts, keys: Some(self.clone()), claimed }))
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
        let context = &self.0.context;
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
        Ok(Encrypted::new(context, facts, Body::Real { parts, keys: Some(self.clone()), claimed: true }))
    }

    /// Writes the keys: one frame, docs/concepts/wire.md.
    pub fn to_bytes(&self) -> Vec<u8> {
        let Inner { context, key, evaluation } = &*self.0;
        OwnerKeys {
            values_within: context.values_within(),
            public_inputs: context.0.public_inputs,
            range: context.0.range,
            parameters: &write_parameters(context.params().spec()),
            public_key: &write_public_key(key),
            evaluation_keys: &write_evaluation_keys(evaluation),
        }
        .write()
    }

    /// Reads keys. Parameters below 128 bits of security are refused.
    ///
    /// # Errors
    /// [`Error::Bytes`] if the bytes are not such a frame, [`Error::Parameters`] for insecure or another scheme's
    /// parameters, [`Error::Mixed`] if the keys are not of one secret key.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let frames = OwnerKeys::read(bytes, LARGEST_BUNDLE)?;
        let params = Params::<S>::new(read_parameters(frames.parameters)?)?;
        let context =
            Context::with_inputs(&params, frames.values_within, frames.public_inputs, frames.range)?;
        let key = read_public_key(frames.public_key, &params)?;
        let most = EvaluationKeyCounts { relinearisation: true, galois: MOST_GALOIS, transfers: 0 };
        let evaluation = read_evaluation_keys(frames.evaluation_keys, &params, most)?;
        if key.key() != evaluation.key {
            return Err(Error::Mixed);
        }
        Ok(Self::of(&context, key, evaluation))
    }
}
