//! Inner products of vectors: the products of all parts are added before they are relinearised.

use sotto_circuits::{Machine, sum_all, sum_block};

use super::arithmetic::pairs;
use super::work::{Operands, Operation, Outcome, check};
use super::{Body, Encrypted, Facts};
use crate::error::Result;
use crate::scheme::Arithmetic;

/// Σ a·b over all parts and slots, in every slot. `factor` shrinks the slots before rotations add them.
struct InnerProduct<V> {
    factor: Option<V>,
    /// Slots after which a short vector repeats.
    period: Option<usize>,
}

impl<S: Arithmetic> Operation<S> for InnerProduct<S::Value> {
    fn run<M: Machine<Value = S::Value>>(&self, machine: &mut M, operands: Operands<'_, M>) -> Outcome<M> {
        let terms: Vec<_> = pairs(operands).collect();
        let mut products = machine.sum_of_products(&terms)?;
        if let Some(factor) = self.factor {
            let shrunk = machine.multiply_constant(&products, factor)?;
            machine.recycle(core::mem::replace(&mut products, shrunk));
        }
        let total = match self.period {
            Some(period) => sum_block(machine, &products, period)?,
            None => sum_all(machine, &products)?,
        };
        machine.recycle(products);
        Ok(vec![total])
    }
}

impl<S: Arithmetic> Encrypted<S> {
    /// Returns Σ aᵢ·bᵢ as a vector of length 1: one product for each ciphertext of the vectors, but one relinearisation, one
    /// rescaling and the rotations of one sum, however long the vectors are.
    ///
    /// # Errors
    /// [`Error::Length`](crate::Error::Length) for vectors of different lengths; as [`Encrypted::sum`].
    ///
    /// ```
    /// # use sotto::{Bfv, Context};
    /// # let context = Context::<Bfv>::for_depth(1)?;
    /// # let (secret, _) = context.keys(&mut sotto::secure_rng()?)?;
    /// let (x, y) = (secret.encrypt(&[1, 2, 3])?, secret.encrypt(&[10, 20, 30])?);
    /// assert_eq!(secret.decrypt(&x.dot(&y)?)?.value(), 140);
    /// # Ok::<(), sotto::Error>(())
    /// ```
    pub fn dot(&self, other: &Self) -> Result<Self> {
        let facts = self.product_facts(other)?;
        if facts.len == 1 || !facts.zero_padded {
            return self.product(other)?.sum();
        }
        let period = self.context.period(facts.len);
        // Slots that would grow beyond the last primes are shrunk first, which takes a level.
        let factor = (-(facts.len as f64).log2().ceil()).exp2();
        let shrunk = (!S::EXACT).then_some((Some(S::number(factor)), facts.unit / factor));
        for (factor, unit) in [(None, facts.unit)].into_iter().chain(shrunk) {
            let work = InnerProduct { factor, period };
            match check(&[self, other], &work) {
                Ok(()) => {
                    let magnitude = facts.magnitude * facts.len as f64;
                    let facts = Facts { len: 1, zero_padded: true, unit, magnitude, range: None }.finite()?;
                    return Self::computed(facts, &[self, other], &work);
                }
                Err(error) if error.is_room() => {}
                Err(error) => return Err(error),
            }
        }
        self.product(other)?.sum()
    }

    /// Returns Σ aᵢ·wᵢ with public weights. Ciphertexts whose weights are all zero are left out.
    ///
    /// # Errors
    /// [`Error::Circuit`](crate::Error::Circuit) if all weights are zero; otherwise as [`Encrypted::dot`].
    ///
    /// ```
    /// # use sotto::{Bfv, Context};
    /// # let context = Context::<Bfv>::for_depth(1)?;
    /// # let (secret, _) = context.keys(&mut sotto::secure_rng()?)?;
    /// let x = secret.encrypt(&[1, 2, 3])?;
    /// assert_eq!(secret.decrypt(&x.dot_plain(&[0, 0, 5])?)?.value(), 15);
    /// # Ok::<(), sotto::Error>(())
    /// ```
    pub fn dot_plain(&self, weights: &[S::Value]) -> Result<Self> {
        let zero = S::Value::default();
        let slots = self.context.slots();
        let used = |part: &[S::Value]| part.iter().any(|weight| *weight != zero);
        let kept: Vec<usize> =
            weights.chunks(slots).enumerate().filter(|(_, part)| used(part)).map(|(part, _)| part).collect();
        let all = self.context.parts(weights.len());
        if weights.len() != self.facts.len || kept.is_empty() || kept.len() == all {
            return self.multiply_plain(weights)?.sum();
        }
        let mut whole = weights.to_vec();
        whole.resize(all * slots, zero);
        let weights: Vec<_> =
            kept.iter().flat_map(|part| &whole[part * slots..(part + 1) * slots]).copied().collect();
        self.only(&kept).multiply_plain(&weights)?.sum()
    }

    /// Some ciphertexts of a vector of several, as full ones.
    fn only(&self, kept: &[usize]) -> Self {
        let body = match &self.body {
            Body::Dry { parts, tally } => {
                Body::Dry { parts: kept.iter().map(|part| parts[*part]).collect(), tally: tally.clone() }
            }
            Body::Real { parts, keys, claimed } => Body::Real {
                parts: kept.iter().map(|part| parts[*part].clone()).collect(),
                keys: keys.clone(),
                claimed: *claimed,
            },
        };
        let len = kept.len() * self.context.slots();
        Self::new(&self.context, Facts { len, zero_padded: false, ..self.facts }, body)
    }
}
