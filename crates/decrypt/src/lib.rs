//! The owner's part: decryption, noise measurement, and publishing of results.
//!
//! ```
//! use sotto_decrypt::Decryptor;
//! use sotto_keys::{DeviceSecret, SecretKey};
//! use sotto_rlwe::{Bfv, Evaluator, Params, Scheme};
//!
//! let params = Params::<Bfv>::default_chain(4096, 65537)?;
//! let mut rng = sotto_ring::secure_rng()?;
//! let key = SecretKey::derive(&DeviceSecret::generate(&mut rng), &params);
//! let mut encrypted = |temperatures: &[i64]| -> Result<_, Box<dyn core::error::Error>> {
//!     let plaintext = Bfv::encode_slots(&params, temperatures, params.top_level())?;
//!     Ok(key.encrypt(&plaintext, &mut rng)?.expand())
//! };
//! let sum = Evaluator::new(&params).add(&encrypted(&[71, -4])?, &encrypted(&[72, 9])?)?;
//! let largest = 2.0 * 100.0; // two readings within −100 … 100
//! assert_eq!(Decryptor::new(&key).slots(&sum)?.into_exact(largest)?[..2], [143, 5]);
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```

mod budget;
mod decrypted;
mod decryptor;
mod flooding;
mod gaussian;
mod measure;
mod packings;
#[cfg(feature = "partial")]
pub mod partial;

pub use budget::{BudgetError, FloodingBudget, LEAST_STATISTICAL_BITS};
pub use decrypted::{Decrypted, MayWrap, PublishError, RangeError, rounded_error};
pub use decryptor::{DecryptError, Decryptor};
pub use flooding::Flooded;
pub use gaussian::WideGaussian;
