//! What is known of a ciphertext without looking at it: level, components, scaling and noise bound. The evaluator and the
//! planner both follow shapes, so what a plan promises is what happens.

use crate::error::EvalError;
use crate::noise::{Log2, Noise, NoiseRules, Origin};
use crate::parameters::Params;
use crate::plaintext::Plaintext;
use crate::scheme::Scheme;

/// The shape of a ciphertext.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shape<S: Scheme> {
    /// Level: limbs q_0 … q_level.
    pub level: usize,
    /// Components: 2, or 3 after a product.
    pub components: usize,
    /// What the message is multiplied by.
    pub scaling: S::Scaling,
    /// Noise bounds.
    pub noise: Noise,
}

impl<S: Scheme> Shape<S> {
    /// A fresh ciphertext at the top level whose values are declared to be at most `magnitude` (CKKS; the integer schemes take
    /// any message).
    pub fn fresh(params: &Params<S>, origin: Origin, magnitude: f64) -> Result<Self, EvalError> {
        let noise = S::Noise::fresh(params, origin, magnitude);
        Self { level: params.top_level(), components: 2, scaling: S::fresh_scaling(), noise }.checked(params)
    }

    /// The shape of a plaintext's encryption; refused when its values pass what was declared.
    pub fn of_encryption(
        params: &Params<S>,
        origin: Origin,
        plaintext: &Plaintext<S>,
    ) -> Result<Self, EvalError> {
        let shape = Self::fresh(params, origin, plaintext.magnitude())?;
        let too_coarse = plaintext.rounding() > params.norms().any_rounding();
        if plaintext.norm() > shape.noise.message || too_coarse {
            return Err(EvalError::Magnitude { declared: plaintext.magnitude() });
        }
        Ok(shape)
    }

    fn checked(self, params: &Params<S>) -> Result<Self, EvalError> {
        if !S::scaling_is_valid(params, self.scaling) {
            return Err(EvalError::Unsupported { operation: "a product of so many scales", scheme: S::ID });
        }
        let room = self.room(params);
        if room >= 0.0 { Ok(self) } else { Err(EvalError::Noise { over: -room }) }
    }

    /// Bits between the bound and the decryption limit.
    pub fn room(&self, params: &Params<S>) -> f64 {
        S::Noise::room(params, self.level, self.noise)
    }

    /// A bound on the error of a decoded slot; 0 for exact schemes.
    pub fn slot_error(&self, params: &Params<S>) -> f64 {
        S::Noise::slot_error(params, self.level, self.scaling, self.noise)
    }

    /// Sum or difference.
    pub fn add(&self, params: &Params<S>, other: &Self) -> Result<Self, EvalError> {
        self.matches(other.level, other.scaling)?;
        let components = self.components.max(other.components);
        Self { components, noise: S::Noise::add(params, self.noise, other.noise), ..*self }.checked(params)
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

    /// Sum with a plaintext prepared for `level` and `scaling`.
    pub fn add_plain(
        &self,
        params: &Params<S>,
        (level, scaling): (usize, S::Scaling),
        (norm, rounding): (Log2, Log2),
    ) -> Result<Self, EvalError> {
        self.matches(level, scaling)?;
        Self { noise: S::Noise::add_plain(params, self.noise, norm, rounding), ..*self }.checked(params)
    }

    /// Product with a plaintext prepared for `level`.
    pub fn multiply_plain(
        &self,
        params: &Params<S>,
        level: usize,
        (norm, rounding): (Log2, Log2),
    ) -> Result<Self, EvalError> {
        self.matches(level, self.scaling)?;
        let scaling = S::multiply_plain_scaling(self.scaling);
        Self { scaling, noise: S::Noise::multiply_plain(params, self.noise, norm, rounding), ..*self }
            .checked(params)
    }

    /// Product with an integer; scaling stays.
    pub fn multiply_scalar(&self, params: &Params<S>, scalar: i64) -> Result<Self, EvalError> {
        let norm = Log2::of(scalar.unsigned_abs() as f64);
        Self { noise: S::Noise::multiply_plain(params, self.noise, norm, Log2::ZERO), ..*self }
            .checked(params)
    }

    /// Tensor product: three components.
    pub fn multiply(&self, params: &Params<S>, other: &Self) -> Result<Self, EvalError> {
        self.matches(other.level, self.scaling)?;
        for components in [self.components, other.components] {
            if components != 2 {
                return Err(EvalError::Components { components });
            }
        }
        let scaling = S::multiply_scaling(params, self.scaling, other.scaling);
        let noise = S::Noise::multiply(params, self.level, self.noise, other.noise);
        Self { level: self.level, components: 3, scaling, noise }.checked(params)
    }

    /// From three components to two.
    pub fn relinearise(&self, params: &Params<S>) -> Result<Self, EvalError> {
        params.require_special_primes()?;
        if self.components != 3 {
            return Err(EvalError::Components { components: self.components });
        }
        Self { components: 2, noise: S::Noise::key_switch(params, self.level, self.noise), ..*self }
            .checked(params)
    }

    /// Rotation by a step, or the row swap for step 0.
    pub fn rotate(&self, params: &Params<S>, step: i32) -> Result<Self, EvalError> {
        params.require_special_primes()?;
        if params.galois_element(step).is_none() {
            return Err(EvalError::Step { step, row: params.degree() / 2 });
        }
        if self.components != 2 {
            return Err(EvalError::Components { components: self.components });
        }
        Self { noise: S::Noise::key_switch(params, self.level, self.noise), ..*self }.checked(params)
    }

    /// Drops the last prime: rescaling (CKKS) or modulus switching.
    pub fn drop_prime(&self, params: &Params<S>) -> Result<Self, EvalError> {
        if self.level == 0 {
            return Err(EvalError::NoLevel { level: 0 });
        }
        let scaling = S::drop_scaling(params, self.level, self.scaling)?;
        let noise = S::Noise::drop_prime(params, self.level, self.components, self.noise);
        Self { level: self.level - 1, components: self.components, scaling, noise }.checked(params)
    }

    /// The same value, noise and scaling at a lower level, where limbs are left out and nothing is divided. The scaling must
    /// be corrected by the caller.
    pub(crate) fn restricted(&self, params: &Params<S>, level: usize) -> Result<Self, EvalError> {
        Self { level, ..*self }.checked(params)
    }
}
