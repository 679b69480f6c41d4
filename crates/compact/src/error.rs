//! Refusals of compact ciphertexts.

use sotto_device::FormError;

/// The reason why compact ciphertexts are refused.
///
/// ```
/// use sotto_compact::{CompactError, Profile};
/// use sotto_rlwe::{Bfv, Params};
///
/// // A chain with key switching.
/// let params = Params::<Bfv>::default_chain(4096, 65_537)?;
/// assert_eq!(Profile::new(&params, 16, 36).map(|_| ()), Err(CompactError::Chain));
/// # Ok::<(), sotto_rlwe::ParameterError>(())
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CompactError {
    /// The form is not valid.
    #[error("{0}")]
    Form(FormError),
    /// The parameters have more than one data prime, or special primes.
    #[error("compact sums need parameters with one prime and without special primes")]
    Chain,
    /// A body or a sum does not have the form's length.
    #[error("a compact body of {expected} bytes was expected, not {found}")]
    Length {
        /// Bytes of the form.
        expected: usize,
        /// Bytes that were given.
        found: usize,
    },
    /// The unused bits after the last place are not zero.
    #[error("bits behind the last place are not zero")]
    Padding,
    /// Bodies and masks were added with different weights.
    #[error("bodies and masks were added with different weights")]
    Weights,
    /// The error bound of a sum exceeds the limit up to which values are told apart.
    #[error("the error bound of the sum exceeds the limit by {over:.1} bits: add fewer windows to one sum")]
    Noise {
        /// Bits by which the bound exceeds the limit.
        over: f64,
    },
}

impl From<FormError> for CompactError {
    fn from(error: FormError) -> Self {
        Self::Form(error)
    }
}
