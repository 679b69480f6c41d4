//! The keys that a computing party holds.

use core::fmt;
use std::sync::Arc;

use sotto_rlwe::{EvaluationKeys, KeyId, Params, PublicKey};
use sotto_wire::{
    EvaluationKeyCounts, LARGEST_BUNDLE, OwnerKeys, read_evaluation_keys, read_parameters, read_public_key,
    write_evaluation_keys, write_parameters, write_public_key,
};

use crate::context::Context;
use crate::error::{Error, Result};
use crate::scheme::Arithmetic;

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

    /// Returns the context that it encrypts in.
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
