//! Windows of sums in segments, and their catalogue in the database.

mod adopt;
mod blocks;
mod build;
mod choose;
mod compact;
mod rewrite;
pub(super) mod runs;
mod scan;
mod seal;
#[cfg(test)]
mod tests;
mod tree;
mod window;

pub(super) use blocks::{digest_of, name_of, unreadable};
pub(super) use build::Building;
pub(crate) use rewrite::Rewriting;
pub(super) use scan::Scanner;
pub(super) use tree::{frontier, logged_leaves};
pub(super) use window::Sealed;
