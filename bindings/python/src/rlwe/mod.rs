//! The module `sotto.rlwe`: parameters, keys, encoders, ciphertexts and the evaluator of the crates `rlwe`, `keys`,
//! `decrypt` and `wire`, for the three schemes.

mod arguments;
mod arrays;
mod ciphertext;
mod encoder;
mod error;
mod evaluator;
mod keys;
mod measure;
mod parameters;
mod plaintext;
mod scheme;
mod secret;
mod shape;
mod small;

pub(crate) use error::{OrRefuse, Refusal};

use pyo3::prelude::*;

#[pymodule(submodule)]
#[pyo3(name = "rlwe")]
pub(crate) mod module {
    #[pymodule_export]
    use super::ciphertext::Ciphertext;
    #[pymodule_export]
    use super::encoder::Encoder;
    #[pymodule_export]
    use super::evaluator::Evaluator;
    #[pymodule_export]
    use super::keys::{EvaluationKeys, PublicKey};
    #[pymodule_export]
    use super::parameters::{Parameters, largest_modulus_bits};
    #[pymodule_export]
    use super::plaintext::{Addend, Multiplier, Plaintext};
    #[pymodule_export]
    use super::secret::SecretKey;
    #[pymodule_export]
    use super::shape::Shape;
}
