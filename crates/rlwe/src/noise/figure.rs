//! What the noise rules are generic in.

use core::fmt::Debug;
use core::ops::{Add, Mul};

use super::log2::Log2;
use super::norms::{Norms, NormsOf};
use super::typical::Typical;

/// A way to reckon with sizes: [`Log2`] in the worst case, [`Typical`] on average.
pub trait Figure: Copy + Debug + PartialEq + Add<Output = Self> + Mul<Output = Self> {
    /// A number that is known.
    fn exactly(value: Log2) -> Self;
    /// A message of values declared to be at most this.
    fn declared(largest: Log2) -> Self;
    /// What is added to itself.
    fn twice(self) -> Self;
    /// The sum of two that may have some of their randomness in common, as the two cross terms of a product.
    fn related(self, other: Self) -> Self;
    /// What is multiplied by itself.
    fn square(self) -> Self;
    /// A plaintext.
    fn plain(size: PlainSize) -> Self;
    /// What a plaintext's encoding rounded off.
    fn rounding(size: PlainSize) -> Self;
    /// The sizes of the random polynomials that occur.
    fn norms(norms: &Norms) -> &NormsOf<Self>;

    /// Times a number that is known.
    fn scaled(self, by: Log2) -> Self {
        self * Self::exactly(by)
    }

    /// Over a number that is known, which is not zero.
    fn over(self, by: Log2) -> Self {
        self.scaled(Log2(-by.0))
    }
}

/// Sizes of a plaintext.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlainSize {
    /// Its canonical norm, bounded from above.
    pub norm: Log2,
    /// Its root mean square over the roots: the length of its coefficients as a vector.
    pub rms: Log2,
    /// What encoding rounded off, as a bound on the canonical norm.
    pub rounding: Log2,
}

impl Figure for Log2 {
    fn exactly(value: Self) -> Self {
        value
    }
    fn declared(largest: Self) -> Self {
        largest
    }
    fn twice(self) -> Self {
        self + self
    }
    fn related(self, other: Self) -> Self {
        self + other
    }
    fn square(self) -> Self {
        self * self
    }
    fn plain(size: PlainSize) -> Self {
        size.norm
    }
    fn rounding(size: PlainSize) -> Self {
        size.rounding
    }
    fn norms(norms: &Norms) -> &NormsOf<Self> {
        &norms.bound
    }
}

impl Figure for Typical {
    fn exactly(value: Log2) -> Self {
        Self::exactly(value)
    }
    fn declared(largest: Log2) -> Self {
        Self::even(largest)
    }
    fn twice(self) -> Self {
        self.scaled(Log2(1.0))
    }
    fn related(self, other: Self) -> Self {
        // Half way between nothing and everything in common.
        let (nothing, everything) = (self + other, (Log2(self.rms) + Log2(other.rms)).0);
        if nothing == Self::ZERO {
            nothing
        } else {
            Self { rms: (nothing.rms + everything) / 2.0, ..nothing }
        }
    }
    fn square(self) -> Self {
        Self::square(self)
    }
    fn plain(size: PlainSize) -> Self {
        // A constant is the same at every root; anything else is taken for random.
        let gaussians = if size.norm.0 - size.rms.0 < 0.01 { 0.0 } else { 1.0 };
        Self { gaussians, ..Self::exactly(size.rms) }
    }
    fn rounding(size: PlainSize) -> Self {
        Self::exactly(size.rounding)
    }
    fn norms(norms: &Norms) -> &NormsOf<Self> {
        &norms.estimate
    }
}
