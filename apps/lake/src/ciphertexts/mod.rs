//! The table `ciphertexts`: a row for each stored ciphertext that counts now.

mod batch;
mod columns;
mod entries;
mod scan;
mod values;

pub(crate) use columns::ciphertext_fields;
pub use columns::schema;
pub(crate) use entries::Entries;
pub(crate) use scan::leaf;
pub(crate) use values::{Shared, Stored, Values};
