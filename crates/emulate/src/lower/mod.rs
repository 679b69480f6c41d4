//! Lowering a program to a flow.

mod flow;
mod terms;

use sotto_program::Program;

use crate::error::LowerError;
use crate::flow::Flow;

/// Maximum bits of a value, without the sign: a decrypted answer is read into 128 bits. Every value of a
/// program must fit.
pub const LARGEST_CLEAR_BITS: u32 = 127;

/// Maximum bits of a value under ElGamal, without the sign.
pub const LARGEST_ELGAMAL_BITS: u32 = 63;

/// How two ciphertexts are multiplied.
///
/// Example: [`Emulation`]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Products {
    /// Converted, as in the paper: factors go to ElGamal and products come back. The recryptor sees them.
    Converted {
        /// Bits of the ElGamal group: 2048 or 3072.
        group_bits: u32,
    },
    /// Blinded, under Paillier alone. The recryptor sees nothing, to within 2^-80.
    Blinded,
}

/// The target of lowering: key lengths, and how products are computed.
///
/// ```
/// use sotto_emulate::{Emulation, Products};
/// use sotto_program::{ParseOptions, parse};
///
/// let inputs = ParseOptions { undeclared: Some(1000.0), ..ParseOptions::default() };
/// let power = parse("volts*amperes", &inputs)?.program;
/// let blinded = Emulation { key_bits: 2048, products: Products::Blinded }.lower(&power)?;
/// assert_eq!((blinded.requests(), blinded.rounds()), (1, 1)); // one product
/// let converted = Products::Converted { group_bits: 2048 };
/// let converted = Emulation { key_bits: 2048, products: converted }.lower(&power)?;
/// assert_eq!((converted.requests(), converted.rounds()), (3, 2)); // two factors, one product
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Emulation {
    /// Bits of Paillier's n.
    pub key_bits: u32,
    /// How products are computed.
    pub products: Products,
}

impl Emulation {
    /// Lowers a program on single whole numbers to a flow.
    ///
    /// Sums, signs and products by public numbers are local. Public factors are moved out of products, so
    /// that a number is converted once for all its factors. Common subexpressions are computed once, and
    /// unused ones are dropped. Successive products stay under ElGamal as long as the group can hold them.
    ///
    /// # Errors
    /// [`LowerError`] if the declared ranges leave too little room, or the program needs slots, real numbers
    /// or several keys.
    pub fn lower(&self, program: &Program) -> Result<Flow, LowerError> {
        let terms = terms::Terms::of(program, self.key_bits)?;
        flow::write(self, program, &terms)
    }
}
