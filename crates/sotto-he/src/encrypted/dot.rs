//! Inner products of vectors: the products of all parts are added before they are relinearised.

use std::borrow::Cow;

use super::crossed::Kind;
use super::offset::Offset;
use super::{Encrypted, Facts};
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
            (false, false) => self.crossed(other, Kind::Dot { divisor: 1.0 }),
            (_, true) => self.dot_offset(&other.facts.offset, self.joined(other)?.len),
            (true, false) => other.dot_offset(&self.facts.offset, self.joined(other)?.len),
        }
    }

    /// The inner product of vectors without an offset, divided by a public number.
    pub(super) fn slots_dot(&self, other: &Self, divisor: f64) -> Result<Self> {
        let facts = self.product_facts(other)?;
        if facts.len == 1 || !facts.zero_padded {
            return self.slots_product(other)?.divided_sum(divisor);
        }
        match self.inner_product(other, &facts, divisor)? {
            Some(sum) => Ok(sum),
            // Slots that outgrow a product shrink before it.
            None => self.slots_product(other)?.divided_sum(divisor),
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
        let (vector, weights) = self.used_by(weights);
        vector.multiply_plain(&weights)?.sum()
    }

    /// Like [`Encrypted::dot_plain`], for a sum that is squared or multiplied with one like it: the weights shrink its slots by
    /// the bits that such a product lacks, which takes no level and makes the sum less exact by as many bits.
    ///
    /// # Errors
    /// As [`Encrypted::dot`].
    ///
    /// ```
    /// # use sotto::{Ckks, Context};
    /// # let context = Context::<Ckks>::for_depth(2)?;
    /// # let (secret, _) = context.keys(&mut sotto::secure_rng()?)?;
    /// // Of a full ciphertext: the plain product takes one of the two levels, the square the other.
    /// let (count, weight) = (context.slots(), 1.0 / context.slots() as f64);
    /// let x = secret.encrypt(&vec![3.0; count])?;
    /// let mean = x.dot_plain_to_multiply(&vec![weight; count])?;
    /// let squared = secret.decrypt(&(&mean * &mean)?)?;
    /// assert!((squared.value() - 9.0).abs() <= squared.bound());
    /// # Ok::<(), sotto::Error>(())
    /// ```
    pub fn dot_plain_to_multiply(&self, weights: &[S::Value]) -> Result<Self> {
        if S::EXACT || self.facts.is_public() || !self.facts.offset.is_none() {
            return self.dot_plain(weights);
        }
        let (vector, weights) = self.used_by(weights);
        let sum =
            |shrink: u32| vector.outlined().multiply_plain_within(&weights, f64::from(shrink).exp2())?.sum();
        let most = (vector.facts.len as f64).log2().ceil() as u32;
        let multiplies = |shrink: &u32| {
            let product = sum(*shrink).and_then(|sum| sum.multiplied(&sum));
            product.is_ok_and(|product| product.leaves_room())
        };
        let shrink = (0..=most).find(multiplies).unwrap_or(0);
        vector.multiply_plain_within(&weights, f64::from(shrink).exp2())?.sum()
    }

    /// Returns the ciphertexts with a weight other than zero, and their weights; all of them if all weights are zero.
    fn used_by<'w>(&self, weights: &'w [S::Value]) -> (Self, Cow<'w, [S::Value]>) {
        let zero = S::Value::default();
        let slots = self.context.slots();
        let used = |part: &[S::Value]| part.iter().any(|weight| *weight != zero);
        let kept: Vec<usize> =
            weights.chunks(slots).enumerate().filter(|(_, part)| used(part)).map(|(part, _)| part).collect();
        let all = self.context.parts(weights.len());
        if self.facts.is_public() || weights.len() != self.facts.len || kept.is_empty() || kept.len() == all {
            return (self.clone(), Cow::Borrowed(weights));
        }
        let mut whole = weights.to_vec();
        whole.resize(all * slots, zero);
        let weights =
            kept.iter().flat_map(|part| &whole[part * slots..(part + 1) * slots]).copied().collect();
        (self.only(&kept), Cow::Owned(weights))
    }

    /// Some ciphertexts of a vector of several, as full ones.
    fn only(&self, kept: &[usize]) -> Self {
        let body = self.body.only(kept);
        let len = kept.len() * self.context.slots();
        Self::new(&self.context, Facts { len, zero_padded: false, ..self.facts.clone() }, body)
    }
}
