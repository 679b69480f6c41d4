//! The owner's part: decryption, noise measurement, and publishing of results.

mod budget;
mod compact;
mod decrypted;
mod decryptor;
mod flooding;
mod gaussian;
mod measure;
mod packings;
pub mod partial;

pub use budget::{BudgetError, FloodingBudget, LEAST_STATISTICAL_BITS};
pub use compact::{MaskProduct, open_compact, open_compact_places, open_fleet};
pub use decrypted::{Decrypted, MayWrap, PublishError, RangeError};
pub use decryptor::{DecryptError, Decryptor};
pub use flooding::Flooded;
pub use gaussian::WideGaussian;
