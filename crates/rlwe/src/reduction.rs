//! The form of a reduced answer.

/// Valid bits of a coefficient of a [`Reduced`](crate::Reduced) ciphertext.
pub const REDUCED_WIDTHS: core::ops::RangeInclusive<u32> = 8..=56;

/// The coefficients of a plaintext that the owner reads: those of X^i with i mod `spacing` < `count`.
///
/// ```
/// use sotto_rlwe::Selection;
///
/// // The owner reads one of every 256 coefficients.
/// let selection = Selection::new(256, 1);
/// assert_eq!(selection.coefficients(4096), 16);
/// assert_eq!(selection.exponents(4096).nth(1), Some(256));
/// assert_eq!(Selection::ALL.coefficients(4096), 4096);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Selection {
    /// A power of two. Range: at most n.
    pub spacing: usize,
    /// Range: 1 to `spacing`; equal to `spacing` only if both are 1.
    pub count: usize,
}

impl Selection {
    /// All coefficients: slots depend on each of them.
    pub const ALL: Self = Self { spacing: 1, count: 1 };

    /// Selects the first `count` of every `spacing` coefficients.
    #[must_use]
    pub fn new(spacing: usize, count: usize) -> Self {
        if count >= spacing { Self::ALL } else { Self { spacing, count } }
    }

    /// Returns the number of coefficients of one result: those of X^i, X^(i + spacing), … for one i.
    #[must_use]
    pub fn coefficients_of_one(self, degree: usize) -> usize {
        degree / self.spacing
    }

    /// Returns the number of selected coefficients.
    #[must_use]
    pub fn coefficients(self, degree: usize) -> usize {
        self.count * self.coefficients_of_one(degree)
    }

    /// Returns the exponents, ascending.
    pub fn exponents(self, degree: usize) -> impl Iterator<Item = usize> {
        (0..degree).filter(move |at| self.contains(*at))
    }

    fn contains(self, exponent: usize) -> bool {
        exponent % self.spacing < self.count
    }
}

/// The form of a [`Reduced`](crate::Reduced) ciphertext.
///
/// Example: [`Reduced`](crate::Reduced)
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reduction {
    /// Bits of a coefficient, w. Range: in [`REDUCED_WIDTHS`], and 2^w below the modulus.
    pub width: u32,
    /// The transmitted coefficients of c0.
    pub selection: Selection,
}
