//! Moves down the levels: rescaling, modulus switching, matching scales and factors.

use sotto_ring::{Division, Scratch};

use super::{Evaluator, Operation};
use crate::ciphertext::Ciphertext;
use crate::error::EvalError;
use crate::level_rules::LevelRules;
use crate::noise::{Log2, NoiseRules};
use crate::parameters::Params;
use crate::scheme::{Lowering, Scheme};
use crate::shape::Shape;

impl<S: Scheme> Shape<S> {
    /// Returns the shape of the same message at a lower level, or at the same one.
    ///
    /// # Errors
    /// [`EvalError::LevelMismatch`] for a higher level; [`EvalError::Noise`] if the noise bound passes the decryption
    /// limit; [`EvalError::ScalePower`] for a CKKS product that was not rescaled.
    pub fn lower(&self, params: &Params<S>, level: usize) -> Result<Self, EvalError> {
        if level == self.level {
            return Ok(*self);
        }
        self.lowered(params, level, &self.lowering(params, level)?)
    }

    fn lowered(&self, params: &Params<S>, level: usize, lowering: &Lowering<S>) -> Result<Self, EvalError> {
        match lowering {
            Lowering::Primes => {
                let mut shape = *self;
                while shape.level > level {
                    shape = shape.drop_prime(params)?;
                }
                Ok(shape)
            }
            Lowering::Rescale(constant) => self
                .restricted(params, level + 1)?
                .multiply_plain(params, level + 1, constant.size())?
                .drop_prime(params),
        }
    }

    fn lowering(&self, params: &Params<S>, level: usize) -> Result<Lowering<S>, EvalError> {
        if self.level < level {
            return Err(EvalError::LevelMismatch { left: self.level, right: level });
        }
        S::lowering(params, self, level)
    }
}

impl<S: LevelRules> Shape<S> {
    /// Returns the shape after [`Evaluator::drop_to_with`]: one rounding instead of one for each prime.
    ///
    /// # Errors
    /// [`EvalError::LevelMismatch`] for a higher level; [`EvalError::Unsupported`] in CKKS; [`EvalError::Noise`] if the
    /// noise bound passes the decryption limit.
    pub fn drop_to(&self, params: &Params<S>, level: usize) -> Result<Self, EvalError> {
        if S::RESCALES {
            return Err(EvalError::Unsupported { operation: "several primes at once", scheme: S::ID });
        }
        if self.level < level {
            return Err(EvalError::LevelMismatch { left: self.level, right: level });
        }
        if self.level == level {
            return Ok(*self);
        }
        let mut scaling = self.scaling;
        for dropped in (level + 1..=self.level).rev() {
            scaling = S::drop_scaling(params, dropped, scaling)?;
        }
        let by = Log2(params.data_bits(self.level) - params.data_bits(level));
        let noise = S::Noise::drop_primes(params, by, self.components, self.noise);
        let estimate = S::Noise::drop_primes(params, by, self.components, self.estimate);
        Self { level, scaling, noise, estimate, ..*self }.checked(params)
    }
}

impl<S: LevelRules> Evaluator<S> {
    /// Switches the modulus to that of a lower level by one division by all the primes between, which takes fewer
    /// transforms than [`Evaluator::lower`] and rounds once. Its result has the same message and other residues. At the
    /// same level, returns a copy.
    ///
    /// # Errors
    /// [`EvalError::ParameterMismatch`], and as [`Shape::drop_to`].
    pub fn drop_to_with(
        &self,
        a: &Ciphertext<S>,
        level: usize,
        scratch: &mut Scratch,
    ) -> Result<Ciphertext<S>, EvalError> {
        self.belongs(a)?;
        let shape = a.shape().drop_to(&self.params, level)?;
        if level == a.level() {
            return Ok(self.copy_with(a, scratch));
        }
        let one = (a.level() - level == 1).then(|| self.params.level(a.level()).last.as_ref()).flatten();
        let several;
        let division = match one {
            Some(division) => division,
            None => {
                let (kept, all) = (self.params.limbs(level), self.params.limbs(a.level()));
                let rounding = S::rounding(self.params.spec()).ok();
                let division = rounding.and_then(|rounding| {
                    Division::new(self.params.ring(), kept.end..all.end, kept, rounding)
                });
                several = division.ok_or(EvalError::NoLevel { level })?;
                &several
            }
        };
        (level..a.level()).for_each(|_| self.counters.count(Operation::DropModulus));
        Ok(self.result(a, shape, a.components().iter().map(|c| division.apply_with(c, scratch))))
    }
}

impl<S: Scheme> Evaluator<S> {
    /// Drops the last prime: rescales a CKKS product, switches the modulus of BFV and BGV.
    ///
    /// # Errors
    /// [`EvalError::NoLevel`] at level 0; [`EvalError::ScalePower`] in CKKS unless it is a product;
    /// [`EvalError::ParameterMismatch`]; [`EvalError::Noise`] if the noise bound passes the decryption limit.
    pub fn drop_modulus(&self, a: &Ciphertext<S>) -> Result<Ciphertext<S>, EvalError> {
        self.drop_modulus_with(a, &mut Scratch::new())
    }

    /// Like [`Evaluator::drop_modulus`], with buffers from the caller.
    ///
    /// # Errors
    /// As [`Evaluator::drop_modulus`].
    pub fn drop_modulus_with(
        &self,
        a: &Ciphertext<S>,
        scratch: &mut Scratch,
    ) -> Result<Ciphertext<S>, EvalError> {
        let (shape, division) = self.last_division(a)?;
        Ok(self.result(a, shape, a.components().iter().map(|c| division.apply_with(c, scratch))))
    }

    /// Like [`Evaluator::drop_modulus`], in place.
    ///
    /// # Errors
    /// As [`Evaluator::drop_modulus`].
    pub fn drop_modulus_assign(&self, a: &mut Ciphertext<S>, scratch: &mut Scratch) -> Result<(), EvalError> {
        let (shape, division) = self.last_division(a)?;
        a.components_mut().iter_mut().for_each(|component| division.assign_with(component, scratch));
        a.set_shape(shape);
        Ok(())
    }

    /// Returns the shape without the last prime, and the division by that prime.
    fn last_division(&self, a: &Ciphertext<S>) -> Result<(Shape<S>, &Division), EvalError> {
        let (shape, level) = (self.follow(a, Operation::DropModulus, Shape::drop_prime)?, a.level());
        let division = self.params.level(level).last.as_ref().ok_or(EvalError::NoLevel { level })?;
        Ok((shape, division))
    }

    /// Returns the same message at a lower level: modulus switching prime by prime, or, in CKKS, one multiplication by
    /// the right constant and one rescale for any distance. At the same level, returns a copy.
    ///
    /// # Errors
    /// [`EvalError::ParameterMismatch`], and as [`Shape::lower`].
    pub fn lower(&self, a: &Ciphertext<S>, level: usize) -> Result<Ciphertext<S>, EvalError> {
        self.lower_with(a, level, &mut Scratch::new())
    }

    /// Like [`Evaluator::lower`], with buffers from the caller.
    ///
    /// # Errors
    /// As [`Evaluator::lower`].
    pub fn lower_with(
        &self,
        a: &Ciphertext<S>,
        level: usize,
        scratch: &mut Scratch,
    ) -> Result<Ciphertext<S>, EvalError> {
        self.belongs(a)?;
        if level == a.level() {
            return Ok(self.copy_with(a, scratch));
        }
        let lowering = a.shape().lowering(&self.params, level)?;
        let shape = a.shape().lowered(&self.params, level, &lowering)?;
        match lowering {
            Lowering::Primes => {
                let mut lowered = self.drop_modulus_with(a, scratch)?;
                while lowered.level() > level {
                    self.drop_modulus_assign(&mut lowered, scratch)?;
                }
                Ok(lowered)
            }
            Lowering::Rescale(constant) => {
                self.counters.count(Operation::MatchScale);
                let division = self
                    .params
                    .level(level + 1)
                    .last
                    .as_ref()
                    .ok_or(EvalError::NoLevel { level: level + 1 })?;
                // The constant is part of the division. It is positive: a ratio near a prime.
                let scalar = constant.coefficients()[0].unsigned_abs();
                let lowered = a.components().iter().map(|c| division.apply_to_multiple(c, scalar, scratch));
                let lowered = self.result(a, shape, lowered);
                Ok(lowered)
            }
        }
    }
}
