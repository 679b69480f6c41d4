//! Decryption in the LWE scheme of Aono and others: c·(S over 1); a product is multiplied from both sides.

use sotto_keys::partial::lwe::SecretKey;
use sotto_partial::PartialError;
use sotto_partial::lwe::{Ciphertext, DIMENSION, Product, decode};
use zeroize::Zeroizing;

/// Returns the message, centred modulo p.
///
/// # Errors
/// [`PartialError::OtherKey`] for a ciphertext under another key.
pub fn decrypt(secret: &SecretKey, ciphertext: &Ciphertext) -> Result<Vec<i64>, PartialError> {
    if ciphertext.key() != secret.id() {
        return Err(PartialError::OtherKey);
    }
    Ok(phases(secret, ciphertext.entries()).iter().map(|phase| decode(*phase)).collect())
}

/// Returns all products a_i·b_j, row by row, centred modulo p.
///
/// # Errors
/// [`PartialError::OtherKey`] for a product under another key.
pub fn decrypt_product(secret: &SecretKey, product: &Product) -> Result<Vec<i64>, PartialError> {
    if product.key() != secret.id() {
        return Err(PartialError::OtherKey);
    }
    let (width, length) = (DIMENSION + secret.length(), secret.length());
    let right: Vec<Zeroizing<Vec<u64>>> =
        product.entries().chunks_exact(width).map(|row| phases(secret, row)).collect();
    let mut out = vec![0; length * length];
    for column in 0..length {
        let entries = Zeroizing::new(right.iter().map(|row| row[column]).collect::<Vec<u64>>());
        for (row, phase) in phases(secret, &entries).iter().enumerate() {
            out[row * length + column] = decode(*phase);
        }
    }
    Ok(out)
}

/// Computes the l phases of n + l entries, modulo 2^64.
fn phases(secret: &SecretKey, entries: &[u64]) -> Zeroizing<Vec<u64>> {
    let (mask, body) = entries.split_at(DIMENSION);
    let mut phases = Zeroizing::new(body.to_vec());
    for (entry, row) in mask.iter().zip(secret.expose_secret_matrix().chunks_exact(secret.length())) {
        for (phase, s) in phases.iter_mut().zip(row) {
            *phase = phase.wrapping_add(entry.wrapping_mul(*s as u64));
        }
    }
    phases
}
