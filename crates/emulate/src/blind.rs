//! Additive blinding: what the recryptor multiplies says nothing.
//!
//! The cloud sends E(a − r) and E(b − s), the recryptor returns E((a − r)·(b − s)), and the cloud adds a·s, b·r and −r·s. (Subtracting
//! instead of adding saves the inversions that the cross terms would need.) All of it holds modulo n, so nothing can
//! overflow. Such a number is [`BLINDING_BITS`] longer than the declared range, and longer still by the bits of how many there are: the
//! distributions of all that the recryptor sees under any two inputs are within 2^-80 of each other.
//!
//! That takes masks that are uniform among all n-th powers: the recryptor knows the factors of n, so it sees of a mask whatever
//! the group's structure shows. The mask of E(a·b) depends on r and s, and a key's own masks lie in a subgroup, which
//! cannot hide in which coset that one is (its Jacobi symbol, say, which would be a parity of r).

use crypto_bigint::{BoxedUint, RandomBits};
use rand_core::CryptoRng;
use sotto_partial::PartialError;
use sotto_partial::paillier::{Ciphertext, Plaintext, PublicKey};
use zeroize::Zeroizing;

/// Bits that r is longer than what it hides, before the bits of how many there are: 80, and one as two values of a range lie
/// at most twice its largest apart.
pub const BLINDING_BITS: u32 = 81;

/// E(a − r) and r. Wiped on drop.
pub(crate) struct Blinded {
    pub(crate) ciphertext: Ciphertext,
    r: Plaintext,
    minus: Plaintext,
    bits: u32,
}

impl Blinded {
    /// Under a fresh uniform mask, so that the recryptor sees a − r and nothing of the masks before. A number that is a factor twice is
    /// blinded once: that it is the same can be seen.
    pub(crate) fn new(
        key: &PublicKey,
        a: &Ciphertext,
        bits: u32,
        rng: &mut impl CryptoRng,
    ) -> Result<Self, PartialError> {
        // From 1 to 2^bits, as n − 0 would be no plaintext.
        let drawn = BoxedUint::random_bits_with_precision(rng, bits, key.modulus().bits_precision());
        let r = key.plaintext(Zeroizing::new(drawn).wrapping_add(BoxedUint::one()))?;
        let minus = key.plaintext(key.modulus().wrapping_sub(r.value()))?;
        let ciphertext = key.add(a, &key.encrypt_with(&minus, key.uniform_mask(rng))?)?;
        Ok(Self { ciphertext, r, minus, bits: bits + 1 })
    }
}

/// E(a·b) from the recryptor's product.
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
