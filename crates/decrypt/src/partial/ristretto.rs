//! Decryption of ElGamal on Ristretto: computes b − x·a, then searches for its logarithm.

use sotto_keys::partial::ristretto::SecretKey;
use sotto_partial::PartialError;
use sotto_partial::ristretto::{BabySteps, Ciphertext};
use zeroize::Zeroizing;

/// Returns the message if it is in the table's range. The point is computed in constant time; the time of the
/// search reveals the message's size. Calls `progress(steps done, steps in all)` after each batch.
///
/// # Errors
/// [`PartialError::OtherKey`] for a ciphertext under another key, [`PartialError::NotFound`] if the message
/// is not in the range.
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
