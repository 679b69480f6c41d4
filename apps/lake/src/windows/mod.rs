//! The table `windows`: a row for each window that counts now, or for a sum that stays in place of several.

mod batch;
mod columns;
mod filters;
mod rows;
mod scan;

pub(crate) use columns::body;
pub use columns::schema;
pub(crate) use filters::{narrow, pushed_down};
pub(crate) use scan::{Source, Windows, leaf};
