//! Ed25519 signatures.

use ed25519_dalek::{Signature, VerifyingKey};

use crate::counts::{Counted, count};
use crate::error::WireError;

pub(crate) const SIGNATURE_BYTES: usize = 64;

/// Checks an Ed25519 signature strictly: refuses keys and signatures of small order.
pub(crate) fn verify(
    message: &[u8],
    signature: &[u8; SIGNATURE_BYTES],
    verifying_key: &[u8; 32],
) -> Result<(), WireError> {
    count(Counted::Signature);
    let key = VerifyingKey::from_bytes(verifying_key).map_err(|_| WireError::Signature)?;
    key.verify_strict(message, &Signature::from_bytes(signature)).map_err(|_| WireError::Signature)
}
