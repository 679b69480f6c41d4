//! A machine that follows the errors of CKKS operands beside another machine.

use sotto_rlwe::{Adjustment, EvalError, Params, Plaintext, Scheme, Shape};

use super::backend::Backend;
use super::tracked::{Factor, Held, Tracked};
use crate::errors::{ErrorRules, Errors, KeyUse};

/// Runs circuits on another machine and follows the errors of CKKS slots ([`ErrorRules`]); refuses exactly as that
/// machine. In exact schemes it follows nothing.
///
/// ```
/// use sotto_circuits::{ErrorRules, Event, Outline, Tracked, Tracking, sum_all};
/// use sotto_rlwe::{Ckks, Origin, Params, Shape};
///
/// let params = Params::<Ckks>::default_chain(8192, 0)?;
/// let fresh = Shape::fresh(&params, Origin::SecretKey, 1.0)?;
/// let rules = ErrorRules::new(&params).ok_or("exact")?;
/// let mut machine = Tracking::new(Outline::new(&params));
/// let errors = rules.fresh(Origin::SecretKey, Event::new(), 0, None);
/// let sum = sum_all(&mut machine, &Tracked::new(&fresh, errors))?;
/// let bound = rules.slot_error(&params, sum.errors(), &sum, None);
/// assert!(100.0 * bound < sum.slot_error(&params));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Tracking<'a, B: Backend> {
    machine: B,
    rules: Option<ErrorRules>,
    operands: core::marker::PhantomData<&'a B::Operand>,
}

impl<'a, B: Backend> Tracking<'a, B> {
    /// Wraps a machine.
    pub fn new(machine: B) -> Self {
        let rules = ErrorRules::new(machine.params());
        Self { machine, rules, operands: core::marker::PhantomData }
    }

    /// Returns the wrapped machine.
    pub fn machine(&self) -> &B {
        &self.machine
    }

    /// Takes an operand apart; a borrowed one is copied.
    pub fn into_parts(&mut self, a: Tracked<'a, B::Operand>) -> (B::Operand, Errors) {
        let Tracked { operand, errors } = a;
        let operand = match operand {
            Held::Borrowed(operand) => self.machine.copied(operand),
            Held::Owned(operand) => operand,
        };
        (operand, errors)
    }

    /// Returns the operand to change, and its errors; a borrowed one is copied first.
    fn parts<'o>(&mut self, a: &'o mut Tracked<'a, B::Operand>) -> (&'o mut B::Operand, &'o mut Errors) {
        if let Held::Borrowed(operand) = a.operand {
            a.operand = Held::Owned(self.machine.copied(operand));
        }
        match &mut a.operand {
            Held::Owned(operand) => (operand, &mut a.errors),
            Held::Borrowed(_) => unreachable!("copied above"),
        }
    }

    fn follow<T>(&self, rule: impl FnOnce(&ErrorRules, &Params<B::Scheme>) -> T) -> Option<T> {
        self.rules.map(|rules| rule(&rules, self.machine.params()))
    }

    /// Follows a change that keeps the other bounds of the shape.
    fn turned(&self, a: &Tracked<'a, B::Operand>, operand: B::Operand, step: i32) -> Tracked<'a, B::Operand> {
        let mut errors = a.errors.clone();
        self.follow(|rules, params| {
            rules.rotate(&mut errors, step);
            let key = if step == 0 { KeyUse::Rows } else { KeyUse::Rotation(step) };
            rules.switch(params, &mut errors, B::shape(a).level, key);
        });
        Tracked::owned(operand, errors)
    }
}

impl<'a, B: Backend> Backend for Tracking<'a, B> {
    type Scheme = B::Scheme;
    type Operand = Tracked<'a, B::Operand>;
    type Multiplier = Factor<B::Multiplier>;

    fn params(&self) -> &Params<B::Scheme> {
        self.machine.params()
    }

    fn has_key(&self, step: i32) -> bool {
        self.machine.has_key(step)
    }

    fn shape(operand: &Self::Operand) -> &Shape<B::Scheme> {
        B::shape(operand)
    }

    fn copied(&mut self, a: &Self::Operand) -> Self::Operand {
        Tracked::owned(self.machine.copied(a), a.errors.clone())
    }

    fn give(&mut self, a: Self::Operand) {
        if let Held::Owned(operand) = a.operand {
            self.machine.give(operand);
        }
    }

    fn bounded(&mut self, a: Self::Operand, within: f64, error: f64) -> Self::Operand {
        let (operand, mut errors) = self.into_parts(a);
        let bounded = self.machine.bounded(operand, within, error);
        self.follow(|rules, _| rules.circuit(&mut errors, B::shape(&bounded)));
        Tracked::owned(bounded, errors)
    }

    fn adjust(&mut self, a: &Self::Operand, by: Adjustment) -> Result<Self::Operand, EvalError> {
        let adjusted = self.machine.adjust(a, by)?;
        let mut errors = a.errors.clone();
        self.follow(|rules, params| rules.lower(params, &mut errors, B::shape(a), B::shape(&adjusted)));
        Ok(Tracked::owned(adjusted, errors))
    }

    fn add_assign(&mut self, a: &mut Self::Operand, b: &Self::Operand) -> Result<(), EvalError> {
        let (operand, errors) = self.parts(a);
        self.machine.add_assign(operand, b)?;
        self.follow(|rules, _| rules.add(errors, &b.errors));
        Ok(())
    }

    fn subtract_assign(&mut self, a: &mut Self::Operand, b: &Self::Operand) -> Result<(), EvalError> {
        let (operand, errors) = self.parts(a);
        self.machine.subtract_assign(operand, b)?;
        self.follow(|rules, _| rules.subtract(errors, &b.errors));
        Ok(())
    }

    fn negate_assign(&mut self, a: &mut Self::Operand) -> Result<(), EvalError> {
        let (operand, errors) = self.parts(a);
        self.machine.negate_assign(operand)?;
        self.follow(|rules, _| rules.negate(errors));
        Ok(())
    }

    fn add_plain_assign(&mut self, a: &mut Self::Operand, b: &Plaintext<B::Scheme>) -> Result<(), EvalError> {
        let (operand, errors) = self.parts(a);
        self.machine.add_plain_assign(operand, b)?;
        self.follow(|rules, _| rules.add_plain(errors, b.size()));
        Ok(())
    }

    fn multiplier(&mut self, plaintext: &Plaintext<B::Scheme>) -> Self::Multiplier {
        let constant = self.rules.and_then(|_| match plaintext.coefficients() {
            [first, others @ ..] if others.iter().all(|coefficient| *coefficient == 0) => Some(*first < 0),
            _ => None,
        });
        Factor { multiplier: self.machine.multiplier(plaintext), size: plaintext.size(), negative: constant }
    }

    fn multiply_plain_assign(
        &mut self,
        a: &mut Self::Operand,
        b: &Self::Multiplier,
    ) -> Result<(), EvalError> {
        let before = *B::shape(a);
        let (operand, errors) = self.parts(a);
        self.machine.multiply_plain_assign(operand, &b.multiplier)?;
        self.follow(|rules, _| b.follow(rules, errors, &before));
        Ok(())
    }

    fn add_multiplied_plain_assign(
        &mut self,
        sum: &mut Self::Operand,
        a: &Self::Operand,
        b: &Self::Multiplier,
    ) -> Result<(), EvalError> {
        let (operand, errors) = self.parts(sum);
        self.machine.add_multiplied_plain_assign(operand, a, &b.multiplier)?;
        self.follow(|rules, _| {
            let mut product = a.errors.clone();
            b.follow(rules, &mut product, B::shape(a));
            rules.add(errors, &product);
        });
        Ok(())
    }

    fn multiply_integer_assign(&mut self, a: &mut Self::Operand, integer: i64) -> Result<(), EvalError> {
        let (operand, errors) = self.parts(a);
        self.machine.multiply_integer_assign(operand, integer)?;
        self.follow(|rules, _| rules.multiply_integer(errors, integer));
        Ok(())
    }

    fn weighted(
        &mut self,
        terms: &[&Self::Operand],
        weights: &[Vec<i64>],
    ) -> Result<Vec<Self::Operand>, EvalError> {
        let operands: Vec<&B::Operand> = terms.iter().map(|term| &***term).collect();
        let sums = self.machine.weighted(&operands, weights)?;
        let errors = |row: &Vec<i64>| {
            let mut sum = Errors::default();
            self.follow(|rules, _| {
                for (term, weight) in terms.iter().zip(row).filter(|(_, weight)| **weight != 0) {
                    let mut weighted = term.errors.clone();
                    rules.multiply_integer(&mut weighted, *weight);
                    rules.add(&mut sum, &weighted);
                }
            });
            sum
        };
        Ok(sums.into_iter().zip(weights).map(|(sum, row)| Tracked::owned(sum, errors(row))).collect())
    }

    fn dropped_to(&mut self, a: &Self::Operand, level: usize) -> Result<Self::Operand, EvalError> {
        let dropped = self.machine.dropped_to(a, level)?;
        let mut errors = a.errors.clone();
        self.follow(|rules, _| errors = rules.unknown(B::shape(&dropped), &errors));
        Ok(Tracked::owned(dropped, errors))
    }

    fn replaced_factor(
        &mut self,
        a: &mut Self::Operand,
        factor: <B::Scheme as Scheme>::Value,
    ) -> <B::Scheme as Scheme>::Value {
        let (operand, _) = self.parts(a);
        self.machine.replaced_factor(operand, factor)
    }

    fn monomial_assign(&mut self, a: &mut Self::Operand, power: usize) -> Result<(), EvalError> {
        let (operand, errors) = self.parts(a);
        self.machine.monomial_assign(operand, power)?;
        self.follow(|rules, _| rules.multiply_monomial(errors));
        Ok(())
    }

    fn tensor(&mut self, a: &Self::Operand, b: &Self::Operand) -> Result<Self::Operand, EvalError> {
        // A square has both operands by one reference here, and must have so in the wrapped machine.
        let product = self.machine.tensor(a, b)?;
        let errors =
            self.follow(|rules, _| rules.product((&a.errors, B::shape(a)), (&b.errors, B::shape(b))));
        Ok(Tracked::owned(product, errors.unwrap_or_default()))
    }

    fn relinearise_assign(&mut self, a: &mut Self::Operand) -> Result<(), EvalError> {
        let level = B::shape(a).level;
        let (operand, errors) = self.parts(a);
        self.machine.relinearise_assign(operand)?;
        self.follow(|rules, params| rules.switch(params, errors, level, KeyUse::Relinearisation));
        Ok(())
    }

    fn relinearise_and_drop_assign(&mut self, a: &mut Self::Operand) -> Result<(), EvalError> {
        let level = B::shape(a).level;
        let (operand, errors) = self.parts(a);
        self.machine.relinearise_and_drop_assign(operand)?;
        self.follow(|rules, params| {
            rules.switch(params, errors, level, KeyUse::Relinearisation);
            rules.drop_prime(params, errors, level, 2);
        });
        Ok(())
    }

    fn drop_assign(&mut self, a: &mut Self::Operand) -> Result<(), EvalError> {
        let Shape { level, components, .. } = *B::shape(a);
        let (operand, errors) = self.parts(a);
        self.machine.drop_assign(operand)?;
        self.follow(|rules, params| rules.drop_prime(params, errors, level, components));
        Ok(())
    }

    fn rotated(&mut self, a: &Self::Operand, step: i32) -> Result<Self::Operand, EvalError> {
        let rotated = self.machine.rotated(a, step)?;
        Ok(self.turned(a, rotated, step))
    }

    fn rotated_many(&mut self, a: &Self::Operand, steps: &[i32]) -> Result<Vec<Self::Operand>, EvalError> {
        let all = self.machine.rotated_many(a, steps)?;
        Ok(all.into_iter().zip(steps).map(|(rotated, step)| self.turned(a, rotated, *step)).collect())
    }
}
