//! The part of a body that a compact ciphertext transmits.

/// The transmitted part of a body: k of its n coefficients, or k differences of them. k is a power of two.
///
/// ```
/// use sotto_rlwe::Kept;
///
/// // Eight hourly readings at n = 4096: 8 residues a limb in place of 4096.
/// let kept = Kept::Folded(8);
/// assert_eq!((kept.places(), kept.values(), kept.spacing(4096)), (8, 8, 256));
/// // Without folding they take 16.
/// assert_eq!(Kept::Whole(16).values(), 8);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kept {
    /// The coefficients b_j of X^(j·n/k). Range: k from 4 to n. For any message in X^(n/k), such as k/2
    /// [repeated](crate::Params::encode_repeated) values.
    Whole(usize),
    /// From the coefficients b_j of X^(j·n/2k): b_0 and the differences b_j − b_(2k−j) for 0 < j < k. Range: k from 2
    /// to n/2. For a message in X^(n/2k) that X → X^-1 does not change, such as k repeated values. The ciphertext
    /// encrypts half of the message ([`encode_folded`](crate::Params::encode_folded)): adding its conjugate restores the whole, and that sum
    /// depends only on these differences.
    Folded(usize),
}

impl Kept {
    /// Returns k, the number of residues a limb.
    #[must_use]
    pub fn places(self) -> usize {
        let (Self::Whole(places) | Self::Folded(places)) = self;
        places
    }

    /// Returns the number of values, which repeat to fill every row.
    #[must_use]
    pub fn values(self) -> usize {
        match self {
            Self::Whole(places) => places / 2,
            Self::Folded(places) => places,
        }
    }

    /// Returns the s for which the message is a polynomial in X^s.
    #[must_use]
    pub fn spacing(self, degree: usize) -> usize {
        degree / (2 * self.values())
    }
}
