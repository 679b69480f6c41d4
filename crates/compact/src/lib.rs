//! Compact BFV ciphertexts: for a window of r readings, only the r coefficients that carry readings, rounded
//! to a few bits.
//!
//! ```
//! use sotto_compact::{MaskSum, Profile, Sum, mask_key};
//! use sotto_rlwe::{Bfv, ChainRequest, KeyId, Params, SchemeId};
//! # use sotto_compact::Mask;
//! # use sotto_device::SecretBits;
//!
//! // Two readings a window, 36 bits each.
//! let request = ChainRequest::one_prime(SchemeId::Bfv, 4096, 65_537, 50);
//! let params = Params::<Bfv>::new(request.build()?)?;
//! let profile = Profile::new(&params, 2, 36)?;
//! let form = profile.form();
//! # let mut secret = [0; 1024];
//! # SecretBits::write([1], &mut secret); // s = 1 keeps this example short
//! # let encrypt = |values: [u64; 2], mask: &Mask| {
//! #     let (mut sums, mut body) = ([0; 2], vec![0; form.body_bytes()]);
//! #     sotto_device::encrypt(form, SecretBits::new(&secret), mask, &values, &mut || 0, &mut sums, &mut body)?;
//! #     Ok::<_, sotto_device::EncryptError>(body)
//! # };
//! # let open = |sum: &Sum, masks: &MaskSum| {
//! #     let masks = masks.polynomial(&params);
//! #     let column = |(place, column): (usize, u64)| {
//! #         let fraction = (column + form.round(masks.limb(0)[place * form.spacing()])) & form.low_bits();
//! #         ((u128::from(fraction) * 65_537 + (1 << 35)) >> 36) as u64
//! #     };
//! #     sum.columns().enumerate().map(column).collect::<Vec<u64>>()
//! # };
//! let key = mask_key(KeyId([1; 16]), "boiler");
//! let (mut sum, mut masks) = (Sum::new(form), MaskSum::new(form));
//! for (sequence, readings) in [(0, [215, 198]), (1, [187, 203])] {
//!     let mask = key.mask(&[9; 12], sequence);
//!     // The cloud adds the device's bodies; the owner adds the masks.
//!     sum.add(&encrypt(readings, &mask)?, 1)?;
//!     masks.add(&mask, 1);
//! }
//! assert!(profile.room(sum.weights()) >= 0.0);
//! // The owner opens both sums with the secret key.
//! assert_eq!(open(&sum, &masks), [402, 401]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [docs/concepts/compact.md](../../../docs/concepts/compact.md) explains the format and its security,
//! docs/math/conventions.md defines the bytes.
//!
//! `sotto-device` is the device's half; this crate is the part that cloud and owner share. [`Profile`] checks
//! a form against parameters and bounds the error of sums. [`Sum`] adds bodies, without a key or a mask.
//! [`MaskSum`] adds the masks. The owner decrypts from both sums (`sotto_decrypt::open_compact`).
//!
//! # Features
//!
//! - `std` (default): the standard library in the dependencies. Without it the crate needs `alloc` only, with the same
//!   interface.

#![cfg_attr(not(feature = "std"), no_std)]

#[macro_use]
extern crate alloc;

mod error;
mod mask;
mod profile;
mod sum;

pub use error::CompactError;
pub use mask::{MaskSum, StreamMasks, fleet_id, fleet_mask_key, mask_key};
pub use profile::Profile;
pub use sotto_device::{Form, FormError, Mask, MaskKey};
pub use sum::{Sum, Weights, largest};
