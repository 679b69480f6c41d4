//! The number type over which the noise rules are generic.

use core::fmt::Debug;
use core::ops::{Add, Mul};

use super::log2::Log2;
use super::norms::{Norms, NormsOf};
use super::typical::Typical;

/// A size under the rules of noise: [`Log2`] in the worst case, [`Typical`] on average.
///
/// ```
/// use sotto_rlwe::{Figure, Log2, Typical};
///
/// fn after_sum_with_itself<F: Figure>(error: F) -> F {
///     error.twice()
/// }
/// assert_eq!(after_sum_with_itself(Log2(10.0)), Log2(11.0));
/// let estimate = after_sum_with_itself(Typical::exactly(Log2(10.0)));
/// assert!((estimate.rms - 11.0).abs() < 1e-6);
/// ```
pub trait Figure: Copy + Debug + PartialEq + Add<Output = Self> + Mul<Output = Self> {
    /// Returns the size of a known number.
    fn exactly(value: Log2) -> Self;
    /// Returns the size of a message of values declared to be at most this.
    fn declared(largest: Log2) -> Self;
    /// Returns the size of the sum with itself.
    fn twice(self) -> Self;
    /// Returns the size of a sum of two values that may share randomness, like the two cross terms of a product.
    fn related(self, other: Self) -> Self;
    /// Returns the size of the product with itself.
    fn square(self) -> Self;
    /// Returns the size of a plaintext.
    fn plain(size: PlainSize) -> Self;
    /// Returns the size of the rounding error of a plaintext's encoding.
    fn rounding(size: PlainSize) -> Self;
    /// Returns the sizes of the random polynomials.
    fn norms(norms: &Norms) -> &NormsOf<Self>;

    /// Returns the size after multiplication by a known number.
    fn scaled(self, by: Log2) -> Self {
        self * Self::exactly(by)
    }

    /// Returns the size after division by a known number, which must not be zero.
    fn over(self, by: Log2) -> Self {
        self.scaled(Log2(-by.0))
    }
}

/// Sizes of a plaintext.
///
/// ```
/// use sotto_rlwe::{Bfv, Params, PlainSize, Scheme};
///
/// let params = Params::<Bfv>::default_chain(4096, 65_537)?;
/// // A constant factor 8 is the number 8 at every root.
/// let size: PlainSize = Bfv::encode_scalar(&params, 8, params.top_level())?.size();
/// assert!((size.norm.value() - 8.0).abs() < 1e-6);
/// assert_eq!(size.rounding.value(), 0.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlainSize {
    /// An upper bound on the canonical norm.
    pub norm: Log2,
    /// The root mean square over the roots: the Euclidean length of the coefficient vector.
    pub rms: Log2,
    /// A bound on the canonical norm of the rounding error of encoding.
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
        // Half way between no and all randomness in common.
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
        // A constant is the same at every root; any other plaintext counts as random.
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
