//! Compact encryption of a window of readings for the smallest devices: no allocation, no transform, no
//! table.
//!
//! ```
//! use sotto_device::{Form, MaskKey, SecretBits, encrypt, unpack};
//!
//! // Two readings modulo 257 at n = 64 (too small to be secure), 40 bits each.
//! let form = Form::new(64, 1_099_511_627_689, 257, 2, 40)?;
//! let mut bits = [0; 16];
//! SecretBits::write([1], &mut bits); // this example's secret is s = 1; a real one is random
//! let mask = MaskKey([7; 32]).mask(&[9; 12], 3);
//! let mut body = [0; 10];
//! encrypt(&form, SecretBits::new(&bits), &mask, &[215, 198], &mut || 0, &mut [0; 2], &mut body)?;
//! // The owner adds a·s, here a, to each place.
//! let open = |place: usize| {
//!     let a = mask.residues(0, form.prime()).nth(place * form.spacing()).expect("residues without end");
//!     let sum = (unpack(&body, 40, place) + form.round(a)) & form.low_bits();
//!     (sum * 257 + (1 << 39)) >> 40
//! };
//! assert_eq!((open(0), open(1)), (215, 198));
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
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
