//! Additive blinding: the factors that the recryptor multiplies reveal nothing.
//!
//! The cloud sends E(a − r) and E(b − s), the recryptor returns E((a − r)·(b − s)), and the cloud adds a·s,
//! b·r and −r·s. (Subtracting r and s instead of adding them saves the inversions that the cross terms would
//! need.) All of it holds modulo n, so nothing can overflow. A blinding number is [`BLINDING_BITS`] longer
//! than the declared range, and longer still by the bits of the count of blinding numbers: the distributions
//! of all numbers that the recryptor sees under any two inputs are within 2^-80 of each other.
//!
//! This needs masks that are uniform among all n-th powers. The recryptor knows the factors of n, so it sees
//! whatever the group's structure reveals of a mask. The mask of E(a·b) depends on r and s. A key's own masks
//! lie in a subgroup and cannot hide the coset of that mask (its Jacobi symbol, for example, which would be a
//! parity of r).

use crypto_bigint::{BoxedUint, RandomBits};
use rand_core::CryptoRng;
use sotto_partial::PartialError;
use sotto_partial::paillier::{Ciphertext, Plaintext, PublicKey};
use zeroize::Zeroizing;

/// Bits by which r is longer than the number it hides, before the bits for the count of blinding numbers: 80,
/// and one because two values of a range are at most twice its largest value apart.
pub const BLINDING_BITS: u32 = 81;

/// The ciphertext E(a − r), with r. Wiped on drop.
pub(crate) struct Blinded {
    pub(crate) ciphertext: Ciphertext,
    r: Plaintext,
    minus: Plaintext,
    bits: u32,
}

impl Blinded {
    /// Blinds under a fresh uniform mask, so that the recryptor sees a − r and nothing of earlier masks. A
    /// number that is a factor twice is blinded once, so the recryptor sees that both factors are the same.
    pub(crate) fn new(
        key: &PublicKey,
        a: &Ciphertext,
        bits: u32,
        rng: &mut impl CryptoRng,
    ) -> Result<Self, PartialError> {
        // From 1 to 2^bits: r = 0 would make n − r equal to n, which is not a plaintext.
        let drawn = BoxedUint::random_bits_with_precision(rng, bits, key.modulus().bits_precision());
        let r = key.plaintext(Zeroizing::new(drawn).wrapping_add(BoxedUint::one()))?;
        let minus = key.plaintext(key.modulus().wrapping_sub(r.value()))?;
        let ciphertext = key.add(a, &key.encrypt_with(&minus, key.uniform_mask(rng))?)?;
        Ok(Self { ciphertext, r, minus, bits: bits + 1 })
    }
}

/// Computes E(a·b) from the recryptor's product.
pub(crate) fn unblind(
    key: &PublicKey,
    product: &Ciphertext,
    [a, b]: [&Ciphertext; 2],
    [x, y]: [&Blinded; 2],
) -> Result<Ciphertext, PartialError> {
    let cross =
        key.add(&key.multiply_plaintext_of(a, &y.r, y.bits)?, &key.multiply_plaintext_of(b, &x.r, x.bits)?)?;
    key.add_plain(&key.add(product, &cross)?, &x.minus.multiply(&y.r, key))
}
