//! ElGamal's decryption in constant time: b/a^x, and the message which that square encodes.

use crypto_bigint::BoxedUint;
use sotto_keys::partial::elgamal::SecretKey;
use sotto_partial::PartialError;
use sotto_partial::elgamal::{Ciphertext, PublicKey};
use zeroize::Zeroizing;

/// Returns the message, from 1 to q.
///
/// # Errors
/// [`PartialError::OtherKey`] if ciphertext, public key and secret key do not belong together.
pub fn decrypt(
    secret: &SecretKey,
    key: &PublicKey,
    ciphertext: &Ciphertext,
) -> Result<Zeroizing<BoxedUint>, PartialError> {
    if ciphertext.key() != secret.id() || key.id() != secret.id() {
        return Err(PartialError::OtherKey);
    }
    let group = secret.group();
    let (a, b) = ciphertext.components();
    let m = key.group().modulus();
    let mask = m.power(a, secret.expose_secret_exponent(), group.name().exponent_bits());
    Ok(key.group().decode(&m.multiply(b, &key.group().inverse(&mask)?)))
}
