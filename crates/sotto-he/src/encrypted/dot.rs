//! Inner products of vectors: the products of all parts are added before they are relinearised.

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
        if let Some(zeros) = self.times_zero(other)? {
            return zeros.sum();
        }
        let facts = self.product_facts(other)?;
        if facts.len == 1 || !facts.zero_padded {
            return self.product(other)?.sum();
        }
        match self.inner_product(other, facts)? {
            Some(sum) => Ok(sum),
            // Slots that outgrow a product shrink before it.
            None => self.product(other)?.sum(),
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
        let body = self.body.only(kept);
        let len = kept.len() * self.context.slots();
        Self::new(&self.context, Facts { len, zero_padded: false, ..self.facts }, body)
    }
}
