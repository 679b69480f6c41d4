//! Compact encryption of a window of readings for the smallest devices: no allocation, no transform, no
//! table.
//!
//! In a BFV ciphertext of a window with r readings, only r coefficients carry readings, at multiples of n/k.
//! Only those are computed, rounded and sent: `docs/concepts/compact.md` explains the form,
//! `docs/math/conventions.md` defines its bytes. Given the same mask and errors, they are the ordinary
//! encryptor's coefficients, rounded.
//!
//! A message is a [`Head`], a body and a signature.
//!
//! [`encrypt`] takes n·r additions. No branch and no address depends on the secret, the errors or the
//! readings. The mask is public.
#![cfg_attr(not(test), no_std)]

mod arithmetic;
mod encrypt;
mod form;
mod head;
mod mask;
mod secret;

pub use arithmetic::fraction;
pub use encrypt::{EncryptError, encrypt, encrypt_products};
pub use form::{Form, FormError, MOST_PLACES, pack, unpack};
pub use head::{Head, WHOLE_HEAD_BYTES};
pub use mask::{Mask, MaskKey, Residues};
pub use secret::{ErrorSource, SecretBits, draw_error};
