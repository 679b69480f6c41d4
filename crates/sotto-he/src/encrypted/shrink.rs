//! Answers in few bytes: primes that the values do not need are dropped before they travel back.

use sotto_rlwe::{Params, Shape};

use super::Encrypted;
use super::work::decodes;
use crate::error::Result;
use crate::scheme::Arithmetic;

/// Bits that stay between the noise bound and the decryption limit, for a sum with another vector.
pub(super) const SPARE_BITS: f64 = 1.75;
/// The same for a last step.
pub(super) const LAST_BITS: f64 = 0.25;
/// Growth of the error bound that fewer bytes are worth.
pub(super) const GROWTH: f64 = 1.25;

impl<S: Arithmetic> Encrypted<S> {
    /// Drops the primes that decryption does not need: an answer of few bytes, with which little can be computed any more.
    /// The last step of a computation, in the dry run too. The error bound grows by at most a quarter, after a sum up to
    /// threefold: [`Encrypted::sum_for_answer`] loses less.
    ///
    /// # Errors
    /// [`Error::Depth`](crate::Error::Depth) if the vector itself cannot be decrypted.
    ///
    /// ```
    /// # use sotto::{Ckks, Context};
    /// let context = Context::<Ckks>::for_depth(2)?;
    /// let whole = context.plan(&[100], |x| x[0].mean())?;
    /// let short = context.plan(&[100], |x| x[0].mean()?.for_answer())?;
    /// assert!(2 * short.answer_bytes() < whole.answer_bytes());
    /// # Ok::<(), sotto::Error>(())
    /// ```
    pub fn for_answer(&self) -> Result<Self> {
        let params = self.context.params();
        if self.shapes().iter().all(|shape| lowest(params, shape) == shape.level) {
            // A vector that nobody computed on keeps the seeds of its masks.
            return Ok(self.clone());
        }
        self.lowered(|shape| lowest(params, shape))
    }

    /// True if decryption decodes the slots, and a sum with another such vector has room.
    pub(super) fn leaves_room(&self) -> bool {
        let params = self.context.params();
        self.shapes().iter().all(|shape| has_room(params, shape))
    }

    /// The same vector with every part at the level that its shape is given.
    pub(super) fn lowered(&self, level: impl Fn(&Shape<S>) -> usize) -> Result<Self> {
        let body = self.body.lowered(&self.context, level)?;
        Ok(Self::new(&self.context, self.facts.clone(), body))
    }
}

/// True if decryption decodes a shape, and the sum of two has room.
pub(super) fn has_room<S: Arithmetic>(params: &Params<S>, shape: &Shape<S>) -> bool {
    decodes(params, shape).is_ok() && shape.room(params) >= SPARE_BITS
}

/// The lowest level at which the values can still be decrypted, about as exactly.
fn lowest<S: Arithmetic>(params: &Params<S>, shape: &Shape<S>) -> usize {
    let most = GROWTH * shape.slot_error(params);
    let fits = |level: &usize| {
        shape
            .lower(params, *level)
            .is_ok_and(|lower| lower.room(params) >= LAST_BITS && lower.slot_error(params) <= most)
    };
    (0..shape.level).find(fits).unwrap_or(shape.level)
}
