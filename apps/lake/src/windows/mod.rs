//! The table `windows`: a row for each window that counts now, or for a sum that stays in place of several.

mod batch;
mod codec;
mod columns;
mod filters;
mod rows;
mod scan;
mod table;

pub use codec::Codec;
pub(crate) use columns::body;
pub use columns::schema;
pub use scan::{Source, WindowsExec};
pub use table::Windows;
