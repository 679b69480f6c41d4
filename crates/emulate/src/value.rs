//! The results of steps.

use sotto_partial::{elgamal, paillier};

use crate::blind::Blinded;

/// The result of a step.
pub(crate) enum Value {
    Paillier(paillier::Ciphertext),
    ElGamal(elgamal::Ciphertext),
    Blinded(Blinded),
}
