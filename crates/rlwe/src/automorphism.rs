//! Automorphisms of the ring, named after the moves of slots.

use core::fmt;

use sotto_ring::GaloisMap;

/// An automorphism X → X^g, which moves slots. Each takes a Galois key of its own.
///
/// ```
/// use sotto_rlwe::Automorphism;
///
/// assert_eq!(Automorphism::Rotation(1).element(4096), Some(3));
/// assert_eq!(Automorphism::SwapRows.element(4096), Some(2 * 4096 - 1));
/// assert_eq!(Automorphism::Rotation(2048).element(4096), None, "a row has 2048 slots");
/// // In a set of steps, 0 stands for the row swap.
/// assert_eq!(Automorphism::from(0), Automorphism::SwapRows);
/// assert_eq!(Automorphism::from(-3).to_string(), "rotation by -3");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Automorphism {
    /// Rotates each row left by this many slots, right if negative.
    Rotation(i32),
    /// Swaps the two rows (BFV, BGV); conjugates (CKKS).
    SwapRows,
}

impl Automorphism {
    /// Returns g for a degree n, or None for a rotation by 0 or by n/2 slots and more.
    pub fn element(self, degree: usize) -> Option<usize> {
        match self {
            Self::Rotation(step) => GaloisMap::rotation_element(degree, step),
            Self::SwapRows => Some(GaloisMap::swap_element(degree)),
        }
    }

    /// Returns the step: 0 for the row swap.
    pub fn step(self) -> i32 {
        match self {
            Self::Rotation(step) => step,
            Self::SwapRows => 0,
        }
    }
}

impl From<i32> for Automorphism {
    fn from(step: i32) -> Self {
        if step == 0 { Self::SwapRows } else { Self::Rotation(step) }
    }
}

impl fmt::Display for Automorphism {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rotation(step) => write!(f, "rotation by {step}"),
            Self::SwapRows => f.write_str("row swap"),
        }
    }
}
