//! Sums, differences, and operations with plaintexts and integers.

use sotto_ring::{Poly, Scratch};

use super::{Evaluator, Operation};
use crate::ciphertext::Ciphertext;
use crate::error::EvalError;
use crate::prepared::{Addend, Multiplier};
use crate::scheme::Scheme;
use crate::shape::Shape;

impl<S: Scheme> Evaluator<S> {
    /// Returns a + b.
    ///
    /// # Errors
    /// [`EvalError::ParameterMismatch`], [`EvalError::KeyMismatch`], [`EvalError::LevelMismatch`] and
    /// [`EvalError::ScalingMismatch`] if the operands differ; [`EvalError::Noise`] if the noise bound passes the
    /// decryption limit.
    pub fn add(&self, a: &Ciphertext<S>, b: &Ciphertext<S>) -> Result<Ciphertext<S>, EvalError> {
        let mut sum = a.clone();
        self.add_assign(&mut sum, b, &mut Scratch::new())?;
        if core::ptr::eq(a, b) {
            sum.set_shape(a.shape().double(&self.params)?);
        }
        Ok(sum)
    }

    /// Like [`Evaluator::add`], with buffers from the caller.
    ///
    /// # Errors
    /// As [`Evaluator::add`].
    pub fn add_with(
        &self,
        a: &Ciphertext<S>,
        b: &Ciphertext<S>,
        scratch: &mut Scratch,
    ) -> Result<Ciphertext<S>, EvalError> {
        let same = core::ptr::eq(a, b);
        if same || a.components().len() != b.components().len() {
            let mut sum = self.copy_with(a, scratch);
            self.add_assign(&mut sum, b, scratch)?;
            if same {
                sum.set_shape(a.shape().double(&self.params)?);
            }
            return Ok(sum);
        }
        self.pair(a, b)?;
        let shape = a.shape().add(&self.params, b.shape())?;
        self.counters.count(Operation::Add);
        let sum = a.components().iter().zip(b.components()).map(|(c, d)| {
            let mut sum = scratch.poly(self.params.ring(), c.limbs());
            sum.set_sum(c, d);
            sum
        });
        Ok(self.result(a, shape, sum))
    }

    /// Computes a += b. Takes buffers only if a has two components and b three.
    ///
    /// # Errors
    /// As [`Evaluator::add`].
    pub fn add_assign(
        &self,
        a: &mut Ciphertext<S>,
        b: &Ciphertext<S>,
        scratch: &mut Scratch,
    ) -> Result<(), EvalError> {
        self.combine(a, b, Operation::Add, scratch)
    }

    /// Returns a − b.
    ///
    /// # Errors
    /// As [`Evaluator::add`].
    pub fn subtract(&self, a: &Ciphertext<S>, b: &Ciphertext<S>) -> Result<Ciphertext<S>, EvalError> {
        let mut difference = a.clone();
        self.subtract_assign(&mut difference, b, &mut Scratch::new())?;
        Ok(difference)
    }

    /// Computes a −= b. Takes buffers only if a has two components and b three.
    ///
    /// # Errors
    /// As [`Evaluator::add`].
    pub fn subtract_assign(
        &self,
        a: &mut Ciphertext<S>,
        b: &Ciphertext<S>,
        scratch: &mut Scratch,
    ) -> Result<(), EvalError> {
        self.combine(a, b, Operation::Subtract, scratch)
    }

    fn combine(
        &self,
        a: &mut Ciphertext<S>,
        b: &Ciphertext<S>,
        what: Operation,
        scratch: &mut Scratch,
    ) -> Result<(), EvalError> {
        self.pair(a, b)?;
        let shape = a.shape().add(&self.params, b.shape())?;
        self.counters.count(what);
        self.reshape(a, shape, scratch);
        for (c, d) in a.components_mut().iter_mut().zip(b.components()) {
            if what == Operation::Add { c.add_assign(d) } else { c.subtract_assign(d) }
        }
        Ok(())
    }

    /// Sets the shape of a sum; new components are zero.
    fn reshape(&self, a: &mut Ciphertext<S>, shape: Shape<S>, scratch: &mut Scratch) {
        a.reshape(shape, || scratch.zero(self.params.ring(), self.params.limbs(shape.level)));
    }

    /// Returns −a.
    ///
    /// # Errors
    /// [`EvalError::ParameterMismatch`].
    pub fn negate(&self, a: &Ciphertext<S>) -> Result<Ciphertext<S>, EvalError> {
        let mut negated = a.clone();
        self.negate_assign(&mut negated)?;
        Ok(negated)
    }

    /// Computes a = −a.
    ///
    /// # Errors
    /// [`EvalError::ParameterMismatch`].
    pub fn negate_assign(&self, a: &mut Ciphertext<S>) -> Result<(), EvalError> {
        self.belongs(a)?;
        self.counters.count(Operation::Negate);
        a.components_mut().iter_mut().for_each(Poly::negate);
        Ok(())
    }

    /// Adds a prepared plaintext to a.
    ///
    /// # Errors
    /// [`EvalError::ParameterMismatch`], [`EvalError::LevelMismatch`] and [`EvalError::ScalingMismatch`] if the
    /// plaintext was prepared for another ciphertext; [`EvalError::Noise`] if the noise bound passes the decryption
    /// limit.
    pub fn add_plain(&self, a: &Ciphertext<S>, b: &Addend<S>) -> Result<Ciphertext<S>, EvalError> {
        self.add_plain_with(a, b, &mut Scratch::new())
    }

    /// Like [`Evaluator::add_plain`], with buffers from the caller.
    ///
    /// # Errors
    /// As [`Evaluator::add_plain`].
    pub fn add_plain_with(
        &self,
        a: &Ciphertext<S>,
        b: &Addend<S>,
        scratch: &mut Scratch,
    ) -> Result<Ciphertext<S>, EvalError> {
        let shape = self.sum_with_plain(a, b)?;
        let sum = a.components().iter().enumerate().map(|(i, c)| {
            if i > 0 {
                return scratch.copy(c);
            }
            let mut sum = scratch.poly(self.params.ring(), c.limbs());
            sum.set_sum(c, &b.poly);
            sum
        });
        Ok(self.result(a, shape, sum))
    }

    /// Like [`Evaluator::add_plain`], in place.
    ///
    /// # Errors
    /// As [`Evaluator::add_plain`].
    pub fn add_plain_assign(&self, a: &mut Ciphertext<S>, b: &Addend<S>) -> Result<(), EvalError> {
        let shape = self.sum_with_plain(a, b)?;
        a.set_shape(shape);
        a.components_mut()[0].add_assign(&b.poly);
        Ok(())
    }

    /// Returns the shape of a sum with a prepared plaintext, and counts the sum.
    fn sum_with_plain(&self, a: &Ciphertext<S>, b: &Addend<S>) -> Result<Shape<S>, EvalError> {
        self.follow(a, Operation::AddPlain, |shape, params| {
            self.prepared(b.params.as_ref())?;
            let (level, scaling) = b.encoded;
            shape.encoded_for(level, scaling)?;
            shape.add_plain(params, b.level, b.scaling, b.size)
        })
    }

    /// Returns the shape of a product with a prepared plaintext, and counts the product.
    fn product_with_plain(&self, a: &Ciphertext<S>, b: &Multiplier<S>) -> Result<Shape<S>, EvalError> {
        self.follow(a, Operation::MultiplyPlain, |shape, params| {
            self.prepared(b.params.as_ref())?;
            factor_fits(b)?;
            shape.multiply_plain(params, b.level, b.size)
        })
    }

    /// Multiplies a by a prepared plaintext.
    ///
    /// # Errors
    /// As [`Evaluator::add_plain`].
    pub fn multiply_plain(&self, a: &Ciphertext<S>, b: &Multiplier<S>) -> Result<Ciphertext<S>, EvalError> {
        let mut product = a.clone();
        self.multiply_plain_assign(&mut product, b)?;
        Ok(product)
    }

    /// Like [`Evaluator::multiply_plain`], with buffers from the caller.
    ///
    /// # Errors
    /// As [`Evaluator::add_plain`].
    pub fn multiply_plain_with(
        &self,
        a: &Ciphertext<S>,
        b: &Multiplier<S>,
        scratch: &mut Scratch,
    ) -> Result<Ciphertext<S>, EvalError> {
        let shape = self.product_with_plain(a, b)?;
        let product = a.components().iter().map(|c| {
            let mut product = scratch.poly(self.params.ring(), c.limbs());
            product.set_product(c, &b.poly);
            product
        });
        Ok(self.result(a, shape, product))
    }

    /// Like [`Evaluator::multiply_plain`], in place.
    ///
    /// # Errors
    /// As [`Evaluator::add_plain`].
    pub fn multiply_plain_assign(&self, a: &mut Ciphertext<S>, b: &Multiplier<S>) -> Result<(), EvalError> {
        let shape = self.product_with_plain(a, b)?;
        a.set_shape(shape);
        a.components_mut().iter_mut().for_each(|c| c.multiply_assign(&b.poly));
        Ok(())
    }

    /// Adds the product of a and a prepared plaintext to `sum`, in one pass over the limbs.
    ///
    /// # Errors
    /// As [`Evaluator::add`] and [`Evaluator::add_plain`].
    pub fn add_multiplied_plain_assign(
        &self,
        sum: &mut Ciphertext<S>,
        a: &Ciphertext<S>,
        b: &Multiplier<S>,
        scratch: &mut Scratch,
    ) -> Result<(), EvalError> {
        self.pair(sum, a)?;
        self.prepared(b.params.as_ref())?;
        factor_fits(b)?;
        let product = a.shape().multiply_plain(&self.params, b.level, b.size)?;
        let shape = sum.shape().add(&self.params, &product)?;
        self.counters.count(Operation::MultiplyPlain);
        self.counters.count(Operation::Add);
        self.reshape(sum, shape, scratch);
        for (total, component) in sum.components_mut().iter_mut().zip(a.components()) {
            total.add_product(component, &b.poly);
        }
        Ok(())
    }

    /// Multiplies a by an integer.
    ///
    /// # Errors
    /// [`EvalError::ParameterMismatch`]; [`EvalError::Noise`] if the noise bound passes the decryption limit.
    pub fn multiply_scalar(&self, a: &Ciphertext<S>, scalar: i64) -> Result<Ciphertext<S>, EvalError> {
        let mut product = a.clone();
        self.multiply_scalar_assign(&mut product, scalar)?;
        Ok(product)
    }

    /// Like [`Evaluator::multiply_scalar`], in place.
    ///
    /// # Errors
    /// As [`Evaluator::multiply_scalar`].
    pub fn multiply_scalar_assign(&self, a: &mut Ciphertext<S>, scalar: i64) -> Result<(), EvalError> {
        let rule = |shape: &Shape<S>, params: &_| shape.multiply_scalar(params, scalar);
        let shape = self.follow(a, Operation::MultiplyScalar, rule)?;
        a.set_shape(shape);
        a.components_mut().iter_mut().for_each(|c| c.scale_signed(scalar));
        Ok(())
    }

    /// Multiplies a by X^power in place. Message and noise keep their size; coefficient i moves to i + power, with the
    /// opposite sign from n on. Every slot is multiplied by a root of unity: read the coefficients of the result, not
    /// its slots.
    ///
    /// # Errors
    /// [`EvalError::Monomial`] for a power of n or more; [`EvalError::ParameterMismatch`].
    pub fn multiply_monomial_assign(&self, a: &mut Ciphertext<S>, power: usize) -> Result<(), EvalError> {
        let rule = |shape: &Shape<S>, params: &_| shape.multiply_monomial(params, power);
        self.follow(a, Operation::MultiplyMonomial, rule)?;
        if power == 0 {
            return Ok(());
        }
        let mut monomial = vec![0; power + 1];
        monomial[power] = 1;
        let limbs = self.params.limbs(a.level());
        let monomial = Poly::from_signed(self.params.ring(), limbs, &monomial).into_eval();
        a.components_mut().iter_mut().for_each(|c| c.multiply_assign(&monomial));
        Ok(())
    }
}

/// Refuses a factor that was encoded for another level, or not at the fresh scaling, if the scheme depends on that.
fn factor_fits<S: Scheme>(b: &Multiplier<S>) -> Result<(), EvalError> {
    let (level, scaling) = b.encoded;
    if S::ANY_LEVEL || (level == b.level && scaling == S::fresh_scaling()) {
        return Ok(());
    }
    if level != b.level {
        return Err(EvalError::LevelMismatch { left: b.level, right: level });
    }
    let (left, right) = (format!("{:?}", S::fresh_scaling()), format!("{scaling:?}"));
    Err(EvalError::ScalingMismatch { left, right })
}
