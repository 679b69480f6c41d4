//! Noise in the canonical embedding, in two separate measures.
//!
//! The norm of a polynomial is its largest absolute value at a primitive 2n-th root of unity. It is submultiplicative,
//! and no coefficient exceeds it.
//! - The **bound** ([`Log2`]): random polynomials are bounded by a tail cut at 2^-128; sums add bounds and products
//!   multiply them, so operands may depend on each other (Gentry, Halevi and Smart, ePrint 2012/099, appendix A.5;
//!   Costache, Laine and Player, ePrint 2019/493). Only the bound decides which operations are refused and which
//!   ciphertexts may be decrypted.
//! - The **estimate** ([`Typical`]): the average size if randomness is independent. For display only.
//!
//! Both follow the same rules, which are written once for each scheme and are generic in the [`Figure`].

mod figure;
mod key_switch;
mod log2;
mod norms;
mod reducing;
mod rules;
mod sizes;
mod typical;

pub use figure::{Figure, PlainSize};
pub(crate) use key_switch::key_switch;
pub use log2::Log2;
pub use norms::{Norms, NormsOf};
pub(crate) use reducing::canonical_bound;
pub use rules::NoiseRules;
pub(crate) use rules::half_modulus;
pub use typical::Typical;

/// The way in which a ciphertext was encrypted.
///
/// ```
/// use sotto_rlwe::{Bfv, Origin, Params, Shape};
///
/// let params = Params::<Bfv>::default_chain(4096, 65_537)?;
/// let by_device = Shape::fresh(&params, Origin::SecretKey, 1.0)?;
/// let by_anyone = Shape::fresh(&params, Origin::PublicKey, 1.0)?;
/// assert!(by_device.noise.error < by_anyone.noise.error);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Encrypted with the secret key.
    SecretKey,
    /// Encrypted with the public key.
    PublicKey,
}

/// Sizes of the parts of a ciphertext's phase, as canonical norms: bounds unless stated otherwise.
///
/// phase = (Q/t)·message + error (BFV), message + error with the error a multiple of t (BGV: `error` is the size of the
/// whole phase), message + error (CKKS, `message` scaled).
///
/// ```
/// use sotto_rlwe::{Bfv, Noise, NoiseRules, Origin, Params, Shape};
///
/// let params = Params::<Bfv>::default_chain(4096, 65_537)?;
/// let fresh: Noise = Shape::fresh(&params, Origin::PublicKey, 1.0)?.noise;
/// // A sum of two readings has twice the error bound: one bit more.
/// let sum = Bfv::add(&params, fresh, fresh);
/// assert!((sum.error.0 - fresh.error.0 - 1.0).abs() < 1e-9);
/// assert_eq!(sum.message, fresh.message);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise<F = Log2> {
    /// Size of the message polynomial.
    pub message: F,
    /// Size of the error polynomial.
    pub error: F,
}
