//! From a program to a flow.

mod flow;
mod terms;

use sotto_program::Program;

use crate::error::LowerError;
use crate::flow::Flow;

/// Bits of the largest value, sign left out: what a decrypted answer is read into. Every value of a program is held to it.
pub const LARGEST_CLEAR_BITS: u32 = 127;

/// Bits of the largest value that travels through ElGamal, sign left out.
pub const LARGEST_ELGAMAL_BITS: u32 = 63;

/// How two ciphertexts are multiplied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Products {
    /// The paper's: factors go to ElGamal and products come back. The recryptor sees them.
    Converted {
        /// Bits of the ElGamal group: 2048 or 3072.
        group_bits: u32,
    },
    /// Blinded, under Paillier alone. The recryptor sees nothing, to 2^-80.
    Blinded,
}

/// What a program can be lowered to: key lengths, and how products are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Emulation {
    /// Bits of Paillier's n.
    pub key_bits: u32,
    /// How products are made.
    pub products: Products,
}

impl Emulation {
    /// The flow that does what the program asks on single whole numbers. Sums, products by public numbers and signs are local; public
    /// factors are moved out of products, so that a number is converted once whatever its factors. Equal parts are computed once,
    /// and what no answer reads is left out. Products that follow each other stay under ElGamal as long as the group holds them.
    ///
    /// # Errors
    /// [`LowerError`] where the declared ranges leave too little room, or for what needs slots, real numbers or several keys.
    pub fn lower(&self, program: &Program) -> Result<Flow, LowerError> {
        let terms = terms::Terms::of(program, self.key_bits)?;
        flow::write(self, program, &terms)
    }
}
