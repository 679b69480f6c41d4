//! Compact BFV ciphertexts: of a window with r readings, only the r coefficients that mean something, rounded to a few bits.
//!
//! [docs/concepts/compact.md](../../../docs/concepts/compact.md) says what travels and why it is safe, docs/math/conventions.md has the bytes. The
//! device's half is `sotto-device`; this crate is what cloud and owner share: [`Profile`] checks a form against parameters and bounds the error of
//! sums, [`Sum`] adds bodies, which takes no key and no mask, [`MaskSum`] adds the masks. The owner opens both together
//! (`sotto_decrypt::open_compact`).

mod mask;
mod profile;
mod sum;

pub use mask::{MaskSum, StreamMasks, fleet_id, fleet_mask_key, mask_key};
pub use profile::{CompactError, Profile};
pub use sotto_device::{Form, FormError, Mask, MaskKey};
pub use sum::{Sum, Weights, largest};
