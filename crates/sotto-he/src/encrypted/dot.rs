//! Inner products of vectors: the products of all parts are added before they are relinearised.

use super::crossed::Kind;
use super::offset::Offset;
use super::{Body, Encrypted, Facts};
use crate::error::Result;
use crate::scheme::Arithmetic;

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
        match (self.facts.is_public(), other.facts.is_public()) {
            (false, false) => self.crossed(other, Kind::Dot),
            (_, true) => self.dot_offset(&other.facts.offset, self.joined(other)?.len),
            (true, false) => other.dot_offset(&self.facts.offset, self.joined(other)?.len),
        }
    }

    /// The inner product of vectors without an offset.
    pub(super) fn slots_dot(&self, other: &Self) -> Result<Self> {
        let facts = self.product_facts(other)?;
        if facts.len == 1 || !facts.zero_padded {
            return self.slots_product(other)?.sum();
        }
        match self.inner_product(other, &facts)? {
            Some(sum) => Ok(sum),
            // Slots that outgrow a product shrink before it.
            None => self.slots_product(other)?.sum(),
        }
    }

    /// Returns Σ aᵢ·wᵢ with public weights. Ciphertexts whose weights are all zero are left out.
    ///
    /// # Errors
    /// As [`Encrypted::dot`].
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
        let offset = &self.facts.offset;
        if !offset.is_none() && !self.facts.is_public() && weights.len() == self.facts.len {
            let constant = offset.times(&Offset::each::<S>(weights)).sum(weights.len());
            return self.without_offset().dot_plain(weights)?.plus_offset(&constant, 1);
        }
        let zero = S::Value::default();
        let slots = self.context.slots();
        let used = |part: &[S::Value]| part.iter().any(|weight| *weight != zero);
        let kept: Vec<usize> =
            weights.chunks(slots).enumerate().filter(|(_, part)| used(part)).map(|(part, _)| part).collect();
        let all = self.context.parts(weights.len());
        if self.facts.is_public() || weights.len() != self.facts.len || kept.is_empty() || kept.len() == all {
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
        Self::new(&self.context, Facts { len, zero_padded: false, ..self.facts.clone() }, body)
    }
}
