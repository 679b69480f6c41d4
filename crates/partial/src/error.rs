//! Errors of the partially homomorphic schemes.

/// The reason why a number, a key or an operation is refused. Carries public facts only.
///
/// ```
/// use sotto_partial::{PartialError, encoding::Format};
///
/// let celsius = Format::integers(8)?; // −128 to 127
/// assert_eq!(celsius.encode(130.0), Err(PartialError::Overflow { bits: 8 }));
/// # Ok::<(), PartialError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PartialError {
    /// The modulus has a length that is not offered.
    #[error("a modulus of {bits} bits is not offered: use 2048, 3072 or 4096")]
    KeyLength {
        /// Bits of the modulus.
        bits: u32,
    },
    /// The modulus is even, too long, or its primes do not fit the scheme.
    #[error("the modulus is even or too long")]
    Modulus,
    /// The primes do not have half of the modulus's bits each.
    #[error("the primes of a key must have half of its modulus's bits each")]
    Primes,
    /// The square of the masks' base is one, so that every mask would be one of two.
    #[error("masks from this base would hide nothing")]
    Masks,
    /// Subgroup randomness is not defined for this length.
    #[error("subgroup randomness is defined for 2048 and 3072 bits, not {bits}")]
    Subgroup {
        /// Bits of the modulus.
        bits: u32,
    },
    /// The bytes do not have the key's length.
    #[error("{found} bytes were given, but the key needs {expected}")]
    Length {
        /// Bytes given.
        found: usize,
        /// Bytes that the key needs.
        expected: usize,
    },
    /// The number is zero, or not below the modulus.
    #[error("the number is zero or not below the modulus")]
    OutOfRange,
    /// The number shares a factor with the modulus.
    #[error("the number has no inverse modulo the key")]
    NoInverse,
    /// The number is not in the scheme's group.
    #[error("the value is outside the group of the scheme")]
    OutsideGroup,
    /// Ciphertexts, or a ciphertext and an operation, are under different keys.
    #[error("the ciphertext belongs to another key")]
    OtherKey,
    /// The scheme cannot hold the message.
    #[error("the message does not fit: it has at most {bits} bits")]
    Message {
        /// Bits of the longest message.
        bits: u32,
    },
    /// A sum has more summands than the layout has carry room for.
    #[error("a sum of {found} summands does not fit: the layout has carry room for {most}")]
    CarryRoom {
        /// Summands of the sum.
        found: u64,
        /// Summands that the layout has room for.
        most: u64,
    },
    /// There are more values than slots.
    #[error("{found} values do not fit: the layout has {slots} slots")]
    Slots {
        /// Values given.
        found: usize,
        /// Slots of the layout.
        slots: usize,
    },
    /// The result is outside the declared range.
    #[error("the result is outside the declared range of {bits} bits")]
    Overflow {
        /// Bits of the declared range.
        bits: u32,
    },
    /// The result is not zero, but the declared resolution rounds it to zero.
    #[error("the result is not zero, but the declared resolution rounds it to zero")]
    Underflow,
    /// The noise bound does not allow this many sums and products.
    #[error("the result might not decrypt: use fewer sums, or a lattice scheme")]
    Noise,
    /// No value within the searched range fits.
    #[error("the message is not within {bits} bits")]
    NotFound {
        /// Bits of the range.
        bits: u32,
    },
}
