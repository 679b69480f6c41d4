//! Windows of sums in segments, and their catalogue in the database.

mod adopt;
mod blocks;
mod build;
mod compact;
mod rewrite;
pub(super) mod runs;
mod scan;
mod seal;
mod window;

pub(super) use blocks::name_of;
pub(super) use build::Salvage;
pub(crate) use rewrite::Rewriting;
pub(super) use scan::Scanner;
pub(super) use seal::frontier;
pub(super) use window::Sealed;
