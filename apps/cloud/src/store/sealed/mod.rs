//! Windows of sums in segments, and their catalogue in the database.

mod adopt;
mod build;
mod compact;
mod held;
mod rewrite;
pub(super) mod runs;
mod scan;
mod seal;
mod window;

pub(super) use build::Salvage;
pub(super) use held::{Held, name_of};
pub(crate) use rewrite::Rewriting;
pub(super) use scan::Scanner;
pub(crate) use seal::Sealing;
pub(super) use seal::frontier;
pub(super) use window::Sealed;
