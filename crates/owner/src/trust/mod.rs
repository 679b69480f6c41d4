//! Verification: repeats the work behind an answer on the signed messages of the devices, without a secret key, and
//! compares the outputs' digests.

mod folder;
mod repeat;
mod sources;
mod verify;

pub(crate) use folder::{Document, Folder};
pub(crate) use sources::Sources;
pub(crate) use verify::{Claim, MOST_DAYS, of_the_cloud, verified, verify_work};
pub use verify::{Finding, OnVerified, Verification, verify_folder};
