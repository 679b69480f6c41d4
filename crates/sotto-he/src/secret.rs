//! The owner's half: encryption with the secret key, decryption.

use core::fmt;

use sotto_decrypt::{Decryptor, RangeError};
use sotto_keys::{DeviceSecret, SecretKey};
use sotto_ring::secure_rng;
use sotto_rlwe::{Ciphertext, KeyId, Origin, Plaintext, Seeded};
use sotto_wire::{AnyCiphertext, LARGEST_BUNDLE, read_vector, write_vector};

use crate::answer::Answer;
use crate::context::Context;
use crate::encode::plaintexts;
use crate::encrypted::{Body, Encrypted, Facts, fresh_errors};
use crate::error::{Error, Result};
use crate::plan::Plan;
use crate::public::Public;
use crate::scheme::{Arithmetic, Real};
use crate::watch::{Steps, each};

/// The secret key of one context: encrypts and decrypts. Without Debug of its content, without Clone, wiped on drop.
///
/// ```
/// use sotto::{Bgv, Context};
///
/// let context = Context::<Bgv>::for_depth(1)?;
/// let (secret, _) = context.keys(&mut sotto::secure_rng()?)?;
/// let x = secret.encrypt(&[3, -4, 12])?;
/// assert_eq!(secret.decrypt(&x.dot(&x)?)?.value(), 169);
/// # Ok::<(), sotto::Error>(())
/// ```
pub struct Secret<S: Arithmetic> {
    context: Context<S>,
    device: DeviceSecret,
    key: SecretKey<S>,
    public: Option<Public<S>>,
}

impl<S: Arithmetic> fmt::Debug for Secret<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret({})", self.key.id())
    }
}

impl<S: Arithmetic> Secret<S> {
    pub(crate) fn of(
        context: &Context<S>,
        device: DeviceSecret,
        key: SecretKey<S>,
        public: Option<Public<S>>,
    ) -> Self {
        Self { context: context.clone(), device, key, public }
    }

    /// Returns the key's public name.
    pub fn id(&self) -> KeyId {
        self.key.id()
    }

    /// Returns the context that it was made in.
    pub fn context(&self) -> &Context<S> {
        &self.context
    }

    /// Returns the 32 bytes to store ([`DeviceSecret::expose_secret_bytes`], or a `KeyFile`).
    /// [`Context::secret`] makes the key from them again. They decrypt everything: store them like a password.
    pub fn device_secret(&self) -> &DeviceSecret {
        &self.device
    }

    /// Encrypts values: any number up to 4,096 ciphertexts full.
    ///
    /// # Errors
    /// [`Error::Value`] for a value beyond the declared bound or not a number; [`Error::Count`] for none or too many.
    pub fn encrypt(&self, values: &[S::Value]) -> Result<Encrypted<S>> {
        self.encrypt_within(values, self.context.values_within())
    }

    /// Like [`Secret::encrypt`], with a bound of its own on the absolute values. A tighter bound makes real numbers more
    /// precise. For whole numbers it is at most the context's; for real numbers any.
    ///
    /// # Errors
    /// As [`Secret::encrypt`]; [`Error::Bound`] for a bound that is not a positive number.
    ///
    /// ```
    /// # use sotto::{Ckks, Context};
    /// # let context = Context::<Ckks>::for_depth(1)?;
    /// # let (secret, _) = context.keys(&mut sotto::secure_rng()?)?;
    /// let pressure = secret.encrypt_within(&[101_325.0, 100_890.0], 110_000.0)?; // Pa
    /// let humidity = secret.encrypt_within(&[0.41, 0.43], 1.0)?;
    /// let product = secret.decrypt(&(&pressure * &humidity)?)?;
    /// assert!((product.values()[0] - 101_325.0 * 0.41).abs() <= product.bound());
    /// # Ok::<(), sotto::Error>(())
    /// ```
    pub fn encrypt_within(&self, values: &[S::Value], bound: f64) -> Result<Encrypted<S>> {
        let (facts, seeded) = self.encrypt_seeded(values, bound)?;
        let fresh = self.context.fresh(self.id())?;
        let parts = seeded.iter().map(|part| part.expand().expect(&fresh)).collect::<Result<_, _>>()?;
        let errors = fresh_errors(&self.context, values.len(), Origin::SecretKey);
        let body = Body::Real { parts, errors, keys: self.public.clone(), claimed: false };
        let seeds = seeded.iter().map(|part| part.seed).collect();
        Ok(Encrypted::fresh(&self.context, facts, body, seeds))
    }

    /// Encrypts values straight to bytes, those of [`Encrypted::to_bytes`], without expanding a mask: for a device that
    /// only sends. Read them with [`Public::read`].
    ///
    /// # Errors
    /// As [`Secret::encrypt`].
    pub fn encrypt_to_bytes(&self, values: &[S::Value]) -> Result<Vec<u8>> {
        let (facts, seeded) = self.encrypt_seeded(values, self.context.values_within())?;
        let frames: Vec<_> = seeded.into_iter().map(|part| AnyCiphertext::Seeded(part).write()).collect();
        Ok(write_vector(&facts.header(), &frames)?)
    }

    fn encrypt_seeded(&self, values: &[S::Value], bound: f64) -> Result<(Facts, Vec<Seeded<S>>)> {
        let mut rng = secure_rng()?;
        let facts = Facts::fresh(&self.context, values.len())?.within::<S>(bound)?;
        let parts = plaintexts(&self.context, &facts, values)?;
        let seeded = each(&parts, |part| Ok(self.key.encrypt(part, &mut rng)?))?;
        Ok((facts, seeded))
    }

    /// Decrypts a vector that was computed in this process, from this key's encryptions alone. Real numbers are rounded to a
    /// step that the noise hides behind, which the bound includes.
    ///
    /// # Errors
    /// [`Error::Claimed`] for a vector that came as bytes; [`Error::Wraps`] for whole numbers that may exceed the plain
    /// modulus; [`Error::Range`] for values that the computation cannot have; [`Error::Decrypt`] for another key.
    pub fn decrypt(&self, vector: &Encrypted<S>) -> Result<Answer<S>> {
        self.open(&vector.facts, vector.computed_here()?, &vector.slot_errors())
    }

    /// Decrypts an answer that came as bytes, after comparing its claims with the plan of the computation. This does not
    /// prove that the computation was done: see docs/concepts/trust.md.
    ///
    /// # Errors
    /// [`Error::Bytes`] if the bytes are not a vector; [`Error::Unplanned`] if level, scale, noise or layout are not the
    /// plan's; otherwise as [`Secret::decrypt`].
    pub fn decrypt_answer(&self, bytes: &[u8], plan: &Plan<S>) -> Result<Answer<S>> {
        let parts = self.planned(bytes, plan)?;
        self.open(plan.output().0, &parts, plan.slot_errors())
    }

    /// Reads the ciphertexts of an answer and compares their claims with the plan.
    pub(crate) fn planned(&self, bytes: &[u8], plan: &Plan<S>) -> Result<Vec<Ciphertext<S>>> {
        if plan.context() != &self.context {
            return Err(Error::Mixed);
        }
        let (header, frames) = read_vector(bytes, LARGEST_BUNDLE)?;
        let (facts, shapes) = plan.output();
        if header != facts.header() || frames.len() != shapes.len() {
            return Err(Error::Unplanned(
                "its length, unit or public numbers differ (a plan holds for the very public numbers that it was made with)"
                    .into(),
            ));
        }
        let params = self.context.params();
        let expected = |shape| self.context.expected(self.id(), shape);
        frames
            .iter()
            .zip(shapes)
            .map(|(frame, shape)| Ok(AnyCiphertext::read(frame, params)?.expect(&expected(*shape))?))
            .collect::<Result<Vec<_>>>()
    }

    pub(crate) fn polynomials(&self, parts: &[Ciphertext<S>]) -> Result<Vec<Plaintext<S>>> {
        let decryptor = Decryptor::new(&self.key);
        each(parts, |part| Ok(decryptor.decrypt(part)?))
    }

    /// Decrypts parts whose slots are known to be off by at most `slot_errors`.
    fn open(&self, facts: &Facts, parts: &[Ciphertext<S>], slot_errors: &[f64]) -> Result<Answer<S>> {
        if facts.is_public() {
            return Ok(Answer::new(facts.offset.values::<S>(facts.len), facts.rounding::<S>()));
        }
        let decryptor = Decryptor::new(&self.key);
        let slot_magnitude = facts.slots_within();
        let (mut values, mut error) = (Vec::with_capacity(facts.len), 0.0_f64);
        let steps = Steps::of(|| parts.len());
        for (part, slot_error) in parts.iter().zip(slot_errors) {
            steps.proceed()?;
            let period = self.context.period(facts.len);
            let opened = S::slots(&decryptor, part, period, slot_magnitude, *slot_error)?;
            let left = facts.len - values.len();
            values.extend(opened.values.into_iter().take(left));
            error = error.max(opened.error);
        }
        S::multiplied(&mut values, facts.unit);
        let bound = error * facts.unit.abs() + facts.rounding::<S>();
        if !facts.offset.is_zero() {
            let within = facts.magnitude + bound;
            for (index, value) in values.iter_mut().enumerate() {
                let sum = Into::<Real>::into(*value).0 + facts.offset.at(index);
                if sum.abs() > within {
                    return Err(RangeError::Beyond.into());
                }
                *value = S::number(sum);
            }
        }
        Ok(Answer::new(values, bound))
    }
}
