//! Bounds on the error of CKKS slots, derived from the randomness of encryption, keys and rounding.
//!
//! A [`Shape`](sotto_rlwe::Shape) follows a single figure, the canonical norm of the error, and must assume any
//! dependence between operands: a sum over n/2 rotations multiplies it by n/2. Here each operand's error is a linear
//! combination of the random polynomials that caused it. A random polynomial e with independent coefficients of variance V has
//! sub-Gaussian values with parameter √(nV) at the roots ζ_j. As the columns (ζ_j^i)_i are orthogonal, values at
//! different roots add as squares: Σ_r d_r·e(ζ_{j+r}) is sub-Gaussian with parameter √(nV·Σ_r |d_r|²). That is the
//! error which a sum of rotations of e leaves in slot j. Independent polynomials add as squares too: those of the parts of one
//! encrypted vector.
//!
//! Errors that may depend on each other add linearly: the errors of different vectors, which may be the same ciphertexts
//! twice; all contributions of one evaluation key in different operations; all rounding errors of rescaling. Errors that are
//! not random add linearly too: second-order terms of products, and the rounding of encodings. Of the latter only
//! |ρ_i| ≤ 1/2 is used. If a message repeats after k slots, 2k of its coefficients are not zero, and
//! |Σ_r d_r·ρ(ζ_{j+r})| ≤ k/√2·√(Σ_r |d_r|²) by Cauchy, Schwarz and Parseval. A sum over all k rotations with one factor d
//! keeps two coefficients, k times each: it is at most |d|·k/√2.
//!
//! The error of a public-key encryption is e0 + e·u + e1·s. Given the keys' e and s, it is sub-Gaussian with the
//! parameters of u, e0 and e1, which are drawn for this encryption alone, times the norms of e and s.
//!
//! Key switching adds Σ digit·error/P. A digit is bounded at every root by its tail. Over all roots of a row its
//! squares sum to at most n/2·n/4·q² by Parseval, as no coefficient exceeds q/2; for sums of many rotations this bound
//! is smaller.
//!
//! An evaluation key's error is independent of the digits that it is multiplied by as long as these come from masks
//! alone, which are drawn independently of errors. After a product of ciphertexts the masks depend on the keys used
//! before: later contributions of these keys count as not random, by their canonical norm. The tail at 2^-128 is that
//! of [`sotto_rlwe::Norms`], with its union over the roots.
//!
//! Slots of k values that repeat are read as means of their copies ([`sotto_rlwe::Params::decode_repeated`]): that is the mean
//! of the error's rotations by multiples of k, another combination of the same polynomials.
//!
//! The bounds hold if inputs are fresh and the operations do not depend on their noise. docs/concepts/noise.md has figures.

mod bound;
mod rules;
mod runs;
mod terms;

#[cfg(test)]
mod tests;

pub use rules::ErrorRules;
pub use terms::{Errors, Event, KeyUse};
