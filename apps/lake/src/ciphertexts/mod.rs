//! The table `ciphertexts`: a row for each stored ciphertext that counts now.

mod batch;
mod columns;
mod scan;
mod table;
mod values;

pub(crate) use columns::ciphertext_fields;
pub use columns::schema;
pub use scan::CiphertextsExec;
pub(crate) use scan::Reading;
pub use table::CiphertextsTable;
pub(crate) use values::{Shared, Stored, Values};
