//! The keys of a context.

use sotto_circuits::row_steps;
use sotto_keys::{DeviceSecret, SecretKey};
use sotto_ring::SecretRng;

use crate::context::Context;
use crate::error::{Error, Result};
use crate::plan::Plan;
use crate::public::Public;
use crate::scheme::Arithmetic;
use crate::secret::Secret;

impl<S: Arithmetic> Context<S> {
    /// Makes a secret key, and the public keys that any computation needs: the public key, the relinearisation key and one
    /// Galois key for each power of two (14 keys at n = 8192). [`Context::keys_for`] makes fewer.
    ///
    /// # Errors
    /// None with parameters that a context accepts; the layers below return a `Result`.
    pub fn keys(&self, rng: &mut impl SecretRng) -> Result<(Secret<S>, Public<S>)> {
        self.keys_of(DeviceSecret::generate(rng), rng)
    }

    /// Makes the keys of [`Context::keys`] from a stored device secret. The secret key is that of [`Context::secret`]; the
    /// public keys are fresh, and go with those of earlier calls.
    ///
    /// # Errors
    /// As [`Context::keys`].
    ///
    /// ```
    /// use sotto::{Context, Bfv, DeviceSecret};
    ///
    /// let context = Context::<Bfv>::for_depth(1)?;
    /// let mut rng = sotto::secure_rng()?;
    /// let stored = [7; 32]; // a real one: `Secret::device_secret`
    /// let (secret, _public) = context.keys_of(DeviceSecret::from_bytes(&stored), &mut rng)?;
    /// assert_eq!(secret.id(), context.secret(DeviceSecret::from_bytes(&stored)).id());
    /// assert_eq!(secret.decrypt(&secret.encrypt(&[3, 4])?.square()?.sum()?)?.value(), 25);
    /// # Ok::<(), sotto::Error>(())
    /// ```
    pub fn keys_of(&self, device: DeviceSecret, rng: &mut impl SecretRng) -> Result<(Secret<S>, Public<S>)> {
        let (rows, columns) = S::slot_shape(self.params()).unwrap_or((1, 1));
        let mut steps = row_steps(columns);
        steps.extend((rows == 2).then_some(0));
        self.make_keys(device, true, &steps, rng)
    }

    /// Makes a secret key, and of the evaluation keys only those that the plan lists.
    ///
    /// # Errors
    /// [`Error::Mixed`] for a plan of another context.
    ///
    /// ```
    /// use sotto::{Bfv, Context};
    ///
    /// let context = Context::<Bfv>::for_depth(1)?;
    /// let plan = context.plan(&[100], |x| &x[0] * &x[0])?;
    /// assert!(plan.rotations().is_empty());
    /// let (secret, public) = context.keys_for(&plan, &mut sotto::secure_rng()?)?;
    /// # let _ = (secret, public);
    /// # Ok::<(), sotto::Error>(())
    /// ```
    pub fn keys_for(&self, plan: &Plan<S>, rng: &mut impl SecretRng) -> Result<(Secret<S>, Public<S>)> {
        if plan.context() != self {
            return Err(Error::Mixed);
        }
        let steps: Vec<i32> = plan.rotations().iter().copied().collect();
        self.make_keys(DeviceSecret::generate(rng), plan.needs_relinearisation(), &steps, rng)
    }

    fn make_keys(
        &self,
        device: DeviceSecret,
        relinearisation: bool,
        steps: &[i32],
        rng: &mut impl SecretRng,
    ) -> Result<(Secret<S>, Public<S>)> {
        let key = SecretKey::derive(&device, self.params());
        let public_key = key.public_key(rng);
        let evaluation = key.evaluation_keys(relinearisation, steps, rng)?;
        let public = Public::of(self, public_key, evaluation);
        Ok((Secret::of(self, device, key, Some(public.clone())), public))
    }

    /// Derives the secret key from a stored device secret; the result is always the same. It encrypts and decrypts; vectors
    /// that it encrypts carry no evaluation keys until [`Public::attach`].
    pub fn secret(&self, device: DeviceSecret) -> Secret<S> {
        let key = SecretKey::derive(&device, self.params());
        Secret::of(self, device, key, None)
    }
}
