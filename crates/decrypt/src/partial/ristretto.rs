//! Decryption of ElGamal on Ristretto: b − x·a, and the search for its logarithm.

use sotto_keys::partial::ristretto::SecretKey;
use sotto_partial::PartialError;
use sotto_partial::ristretto::{BabySteps, Ciphertext};
use zeroize::Zeroizing;

/// The message, if the table's range holds it. The point is worked out in constant time; the search shows in its time how large
/// the message is. `progress` is told after each batch how many of how many steps are done.
pub fn decrypt_vartime(
    secret: &SecretKey,
    ciphertext: &Ciphertext,
    table: &BabySteps,
    progress: impl FnMut(u64, u64),
) -> Result<i64, PartialError> {
    if ciphertext.key() != secret.id() {
        return Err(PartialError::OtherKey);
    }
    let (a, b) = ciphertext.components();
    let point = Zeroizing::new(b - a * secret.expose_secret_scalar());
    table.search_vartime(&point, progress)
}
