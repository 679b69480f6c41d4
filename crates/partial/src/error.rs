//! What is refused.

/// Why a number, a key or an operation is refused. Carries public facts only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PartialError {
    /// A modulus of a length that is not offered.
    #[error("a modulus of {bits} bits is not offered: use 2048, 3072 or 4096")]
    KeyLength {
        /// Its bits.
        bits: u32,
    },
    /// A modulus that cannot be one.
    #[error("the modulus is even or too long")]
    Modulus,
    /// Primes of unequal length.
    #[error("the primes of a key must have half of its modulus's bits each")]
    Primes,
    /// A base of masks whose square is one: every mask would be one of two.
    #[error("masks from this base hide nothing")]
    Masks,
    /// The randomness asked for is not defined at this length.
    #[error("subgroup randomness is defined for 2048 and 3072 bits, not {bits}")]
    Subgroup {
        /// The modulus's bits.
        bits: u32,
    },
    /// Bytes of another length than the key says.
    #[error("{found} bytes where the key says {expected}")]
    Length {
        /// What came.
        found: usize,
        /// What the key says.
        expected: usize,
    },
    /// Zero, or not below the modulus.
    #[error("the number is zero or not below the modulus")]
    OutOfRange,
    /// A number that shares a factor with the modulus.
    #[error("the number has no inverse modulo the key")]
    NoInverse,
    /// A number that is no member of the scheme's group.
    #[error("the value is outside the group of the scheme")]
    OutsideGroup,
    /// Ciphertexts, or a ciphertext and an operation, under different keys.
    #[error("the ciphertext belongs to another key")]
    OtherKey,
    /// A message that the scheme cannot hold.
    #[error("the message does not fit: {bits} bits are the most")]
    Message {
        /// The longest message.
        bits: u32,
    },
    /// More was added up than the layout has carry room for.
    #[error("{found} summands in a layout with room for {most}")]
    CarryRoom {
        /// Summands.
        found: u64,
        /// What the layout leaves room for.
        most: u64,
    },
    /// More values than slots.
    #[error("{found} values in a layout of {slots} slots")]
    Slots {
        /// Values.
        found: usize,
        /// Slots.
        slots: usize,
    },
    /// The result of an operation is outside the clear range that was declared.
    #[error("the result is outside the declared range of {bits} bits")]
    Overflow {
        /// The declared width.
        bits: u32,
    },
    /// A result that is not zero, and nearer to zero than the declared resolution can say.
    #[error("the result is nearer to zero than the declared resolution")]
    Underflow,
    /// More sums and products than the noise bound allows.
    #[error("the result might not decrypt: fewer sums, or a lattice scheme")]
    Noise,
    /// No value within the range that was searched.
    #[error("the message is not within {bits} bits")]
    NotFound {
        /// The range's bits.
        bits: u32,
    },
}
