//! The owner's mirror of the log of a stream: what its windows are and when, without leaves and signatures. Windows that follow
//! each other are one run. The roots of the log's blocks are kept, so that leaves that the cloud gives again can be compared.

mod codec;
mod entry;
mod log;
mod piece;
mod record;
mod tree;

#[cfg(test)]
mod tests;

pub(super) use codec::Coder;
pub(crate) use entry::Entry;
pub(crate) use log::{NEW_COUNT, StreamLog};
pub(super) use record::{read, read_with, write};
pub(crate) use tree::BLOCK;
