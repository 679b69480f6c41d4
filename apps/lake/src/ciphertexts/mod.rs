//! The table `ciphertexts`: a row for each stored ciphertext that counts now.

mod batch;
mod columns;
mod reading;
mod scan;
mod table;
mod values;

pub(crate) use columns::ciphertext_fields;
pub use columns::schema;
pub(crate) use reading::Reading;
pub use scan::CiphertextsExec;
pub use table::CiphertextsTable;
pub(crate) use values::{Shared, Stored, Values};
