//! The shape of a ciphertext, known without its data: level, components, scaling, noise bound and noise estimate. The
//! evaluator and the planner both follow shapes, so a plan predicts exactly the ciphertexts of its run.

use crate::automorphism::Automorphism;
use crate::error::EvalError;
use crate::noise::{Log2, Noise, NoiseRules, Origin, PlainSize, Typical};
use crate::parameters::Params;
use crate::plaintext::Plaintext;
use crate::scheme::Scheme;

/// The shape of a ciphertext.
///
/// ```
/// use sotto_rlwe::{Bfv, Origin, Params, Shape};
///
/// let params = Params::<Bfv>::default_chain(4096, 65_537)?;
/// // The planner follows a product and its relinearisation without a ciphertext.
/// let fresh = Shape::fresh(&params, Origin::PublicKey, 1.0)?;
/// let product = fresh.multiply(&params, &fresh)?;
/// assert_eq!(product.components, 3);
/// let two = product.relinearise(&params)?;
/// assert!(two.components == 2 && two.room(&params) >= 0.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shape<S: Scheme> {
    /// Level: limbs q_0 … q_level.
    pub level: usize,
    /// Components: 2, or 3 after a product.
    pub components: usize,
    /// The multiplier of the message.
    pub scaling: S::Scaling,
    /// Noise bounds. Only these decide.
    pub noise: Noise,
    /// Average noise, for display.
    pub estimate: Noise<Typical>,
}

impl<S: Scheme> Shape<S> {
    /// Returns the shape of a fresh ciphertext at the top level whose values are declared to be at most `magnitude`
    /// (CKKS; the integer schemes accept any message).
    ///
    /// # Errors
    /// [`EvalError::Noise`] if the noise bound passes the decryption limit.
    pub fn fresh(params: &Params<S>, origin: Origin, magnitude: f64) -> Result<Self, EvalError> {
        Self {
            level: params.top_level(),
            components: 2,
            scaling: S::fresh_scaling(),
            noise: S::Noise::fresh(params, origin, magnitude),
            estimate: S::Noise::fresh(params, origin, magnitude),
        }
        .checked(params)
    }

    /// Returns a shape of which only the bound is known, for a ciphertext from bytes: the estimate equals the bound.
    pub fn bounded(level: usize, components: usize, scaling: S::Scaling, noise: Noise) -> Self {
        let estimate =
            Noise { message: Typical::exactly(noise.message), error: Typical::exactly(noise.error) };
        Self { level, components, scaling, noise, estimate }
    }

    /// Returns the shape of a plaintext's encryption.
    ///
    /// # Errors
    /// [`EvalError::Magnitude`] if the values exceed the declared magnitude; [`EvalError::LevelMismatch`] and
    /// [`EvalError::ScalingMismatch`] if a CKKS plaintext was encoded for another level or scaling; else as
    /// [`Shape::fresh`].
    pub fn of_encryption(
        params: &Params<S>,
        origin: Origin,
        plaintext: &Plaintext<S>,
    ) -> Result<Self, EvalError> {
        let shape = Self::fresh(params, origin, plaintext.magnitude())?;
        shape.encoded_for(plaintext.level(), plaintext.scaling())?;
        let too_coarse = plaintext.rounding() > params.norms().bound.any_rounding;
        if plaintext.message_norm() > shape.noise.message || too_coarse {
            return Err(EvalError::Magnitude { declared: plaintext.magnitude() });
        }
        Ok(shape)
    }

    pub(crate) fn checked(self, params: &Params<S>) -> Result<Self, EvalError> {
        if !S::scaling_is_valid(params, self.scaling) {
            return Err(EvalError::Unsupported {
                operation: "product of operands that were not rescaled",
                scheme: S::ID,
            });
        }
        let room = self.room(params);
        if room >= 0.0 { Ok(self) } else { Err(EvalError::Noise { over: -room }) }
    }

    /// Returns the bytes of a ciphertext of this shape in memory.
    pub fn bytes(&self, params: &Params<S>) -> u64 {
        (self.components * sotto_ring::polynomial_bytes(params.degree(), self.level + 1)) as u64
    }

    /// Returns the bits between the bound and the decryption limit.
    pub fn room(&self, params: &Params<S>) -> f64 {
        S::Noise::room(params, self.level, self.noise)
    }

    /// Returns a bound on the error of a decoded slot; 0 for exact schemes.
    pub fn slot_error(&self, params: &Params<S>) -> f64 {
        S::Noise::slot_error(params, self.level, self.scaling, self.noise)
    }

    /// Returns the expected noise: average sizes, as canonical norms.
    pub fn estimated(&self, params: &Params<S>) -> Noise {
        let norm = |size: Typical, bound: Log2| Log2(size.norm_bits(params.degree())).min(bound);
        Noise {
            message: norm(self.estimate.message, self.noise.message),
            error: norm(self.estimate.error, self.noise.error),
        }
    }

    /// Returns the expected bits between the noise and the decryption limit. For display: only [`room`](Self::room)
    /// decides.
    pub fn estimated_room(&self, params: &Params<S>) -> f64 {
        S::Noise::room(params, self.level, self.estimated(params))
    }

    /// Returns the expected error of the worst decoded slot. For display.
    pub fn estimated_slot_error(&self, params: &Params<S>) -> f64 {
        S::Noise::slot_error(params, self.level, self.scaling, self.estimated(params))
    }

    /// Returns the shape with bounds that a caller has proved: no slot of the message is larger than `within`, and none of
    /// the phase is off by more than `error`. Exact schemes keep theirs.
    ///
    /// ```
    /// use sotto_rlwe::{Ckks, Origin, Params, Shape};
    ///
    /// let params = Params::<Ckks>::default_chain(8192, 0)?;
    /// let x = Shape::<Ckks>::fresh(&params, Origin::SecretKey, 1.0)?;
    /// let difference = x.add(&params, &x)?;
    /// // The caller knows that the two values differ by at most 1/4.
    /// let proved = difference.with_slot_bounds(&params, 0.25, difference.slot_error(&params));
    /// assert!((difference.noise.message.0 - proved.noise.message.0 - 3.0).abs() < 0.01);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_slot_bounds(&self, params: &Params<S>, within: f64, error: f64) -> Self {
        let noise = S::Noise::of_slots(params, self.level, self.scaling, within, error);
        Self { noise: noise.unwrap_or(self.noise), ..*self }
    }

    /// Returns the shape of the sum with itself.
    ///
    /// # Errors
    /// As [`Shape::add`].
    pub fn double(&self, params: &Params<S>) -> Result<Self, EvalError> {
        let (two, sum) = (Log2(1.0), self.add(params, self)?);
        Ok(Self { estimate: S::Noise::multiply_scalar(params, self.estimate, two), ..sum })
    }

    /// Returns the shape of a sum or difference.
    ///
    /// # Errors
    /// [`EvalError::LevelMismatch`] and [`EvalError::ScalingMismatch`] if the operands differ; [`EvalError::Noise`] if
    /// the noise bound passes the decryption limit.
    pub fn add(&self, params: &Params<S>, other: &Self) -> Result<Self, EvalError> {
        self.matches(other.level, other.scaling)?;
        let components = self.components.max(other.components);
        let noise = S::Noise::add(params, self.noise, other.noise);
        let estimate = S::Noise::add(params, self.estimate, other.estimate);
        Self { components, noise, estimate, ..*self }.checked(params)
    }

    fn matches(&self, level: usize, scaling: S::Scaling) -> Result<(), EvalError> {
        if self.level != level {
            return Err(EvalError::LevelMismatch { left: self.level, right: level });
        }
        if self.scaling != scaling {
            let (left, right) = (format!("{:?}", self.scaling), format!("{scaling:?}"));
            return Err(EvalError::ScalingMismatch { left, right });
        }
        Ok(())
    }

    /// Refuses a plaintext that was encoded for another level or scaling, if the scheme depends on that.
    pub(crate) fn encoded_for(&self, level: usize, scaling: S::Scaling) -> Result<(), EvalError> {
        if S::ANY_LEVEL { Ok(()) } else { self.matches(level, scaling) }
    }

    /// Returns the shape of a sum with a plaintext prepared for `level` and `scaling`.
    ///
    /// # Errors
    /// As [`Shape::add`].
    pub fn add_plain(
        &self,
        params: &Params<S>,
        level: usize,
        scaling: S::Scaling,
        plain: PlainSize,
    ) -> Result<Self, EvalError> {
        self.matches(level, scaling)?;
        let noise = S::Noise::add_plain(params, self.noise, plain);
        let estimate = S::Noise::add_plain(params, self.estimate, plain);
        Self { noise, estimate, ..*self }.checked(params)
    }

    /// Returns the shape of a product with a plaintext prepared for `level`.
    ///
    /// # Errors
    /// As [`Shape::add`].
    pub fn multiply_plain(
        &self,
        params: &Params<S>,
        level: usize,
        plain: PlainSize,
    ) -> Result<Self, EvalError> {
        self.matches(level, self.scaling)?;
        let scaling = S::multiply_plain_scaling(self.scaling);
        let noise = S::Noise::multiply_plain(params, self.noise, plain);
        let estimate = S::Noise::multiply_plain(params, self.estimate, plain);
        Self { scaling, noise, estimate, ..*self }.checked(params)
    }

    /// Returns the shape of a product with an integer; the scaling stays.
    ///
    /// # Errors
    /// [`EvalError::Noise`] if the noise bound passes the decryption limit.
    pub fn multiply_scalar(&self, params: &Params<S>, scalar: i64) -> Result<Self, EvalError> {
        let norm = Log2::of(scalar.unsigned_abs() as f64);
        let noise = S::Noise::multiply_scalar(params, self.noise, norm);
        let estimate = S::Noise::multiply_scalar(params, self.estimate, norm);
        Self { noise, estimate, ..*self }.checked(params)
    }

    /// Returns the shape of a product with a power of X.
    ///
    /// # Errors
    /// [`EvalError::Monomial`] for a power of n or more.
    pub fn multiply_monomial(&self, params: &Params<S>, power: usize) -> Result<Self, EvalError> {
        let degree = params.degree();
        if power < degree { Ok(*self) } else { Err(EvalError::Monomial { power, degree }) }
    }

    /// Returns the shape of a tensor product: three components.
    ///
    /// # Errors
    /// [`EvalError::Components`] unless both have two; [`EvalError::Unsupported`] if the scale of a CKKS product
    /// exceeds the fourth power; else as [`Shape::add`].
    pub fn multiply(&self, params: &Params<S>, other: &Self) -> Result<Self, EvalError> {
        self.product(params, other, false)
    }

    /// Returns the shape of the tensor product with itself: the bound of [`multiply`](Self::multiply), and a better
    /// estimate.
    ///
    /// # Errors
    /// As [`Shape::multiply`].
    pub fn square(&self, params: &Params<S>) -> Result<Self, EvalError> {
        self.product(params, self, true)
    }

    fn product(&self, params: &Params<S>, other: &Self, same: bool) -> Result<Self, EvalError> {
        self.matches(other.level, self.scaling)?;
        for components in [self.components, other.components] {
            if components != 2 {
                return Err(EvalError::Components { components });
            }
        }
        let scaling = S::multiply_scaling(params, self.scaling, other.scaling);
        let noise = S::Noise::multiply(params, self.level, self.noise, other.noise, same);
        let estimate = S::Noise::multiply(params, self.level, self.estimate, other.estimate, same);
        Self { level: self.level, components: 3, scaling, noise, estimate }.checked(params)
    }

    /// Returns the shape after relinearisation from three components to two.
    ///
    /// # Errors
    /// [`EvalError::Components`] unless there are three; [`EvalError::NoSpecialPrime`]; [`EvalError::Noise`] if the
    /// noise bound passes the decryption limit.
    pub fn relinearise(&self, params: &Params<S>) -> Result<Self, EvalError> {
        params.require_key_switching(self.level)?;
        if self.components != 3 {
            return Err(EvalError::Components { components: self.components });
        }
        self.switched(params)
    }

    /// Returns the shape after relinearisation and dropping the last prime at once. One division rounds once; the bound is
    /// that of two.
    ///
    /// # Errors
    /// As [`Shape::relinearise`] and [`Shape::drop_prime`].
    pub fn relinearise_and_drop(&self, params: &Params<S>) -> Result<Self, EvalError> {
        self.relinearise(params)?.drop_prime(params)
    }

    /// Returns the shape after an automorphism.
    ///
    /// # Errors
    /// [`EvalError::Step`] if no such rotation exists, and as [`Shape::switch_key`].
    pub fn rotate(
        &self,
        params: &Params<S>,
        automorphism: impl Into<Automorphism>,
    ) -> Result<Self, EvalError> {
        params.require_key_switching(self.level)?;
        let automorphism = automorphism.into();
        if params.galois_element(automorphism).is_none() {
            return Err(EvalError::Step { step: automorphism.step(), row: params.degree() / 2 });
        }
        self.switch_key(params)
    }

    /// Returns the shape under another secret key.
    ///
    /// # Errors
    /// [`EvalError::Components`] unless there are two; [`EvalError::NoSpecialPrime`]; [`EvalError::Noise`] if the noise
    /// bound passes the decryption limit.
    pub fn switch_key(&self, params: &Params<S>) -> Result<Self, EvalError> {
        params.require_key_switching(self.level)?;
        if self.components != 2 {
            return Err(EvalError::Components { components: self.components });
        }
        self.switched(params)
    }

    fn switched(&self, params: &Params<S>) -> Result<Self, EvalError> {
        let noise = S::Noise::key_switch(params, self.level, self.noise);
        let estimate = S::Noise::key_switch(params, self.level, self.estimate);
        Self { components: 2, noise, estimate, ..*self }.checked(params)
    }

    /// Returns the shape without the last prime: rescaling (CKKS) or modulus switching.
    ///
    /// # Errors
    /// [`EvalError::NoLevel`] at level 0; [`EvalError::ScalePower`] in CKKS unless it is a product;
    /// [`EvalError::Noise`] if the noise bound passes the decryption limit.
    pub fn drop_prime(&self, params: &Params<S>) -> Result<Self, EvalError> {
        if self.level == 0 {
            return Err(EvalError::NoLevel { level: 0 });
        }
        let scaling = S::drop_scaling(params, self.level, self.scaling)?;
        let noise = S::Noise::drop_prime(params, self.level, self.components, self.noise);
        let estimate = S::Noise::drop_prime(params, self.level, self.components, self.estimate);
        Self { level: self.level - 1, components: self.components, scaling, noise, estimate }.checked(params)
    }

    /// Returns the same value, noise and scaling at a lower level: limbs are omitted, nothing is divided. The caller
    /// must correct the scaling.
    pub(crate) fn restricted(&self, params: &Params<S>, level: usize) -> Result<Self, EvalError> {
        Self { level, ..*self }.checked(params)
    }
}
