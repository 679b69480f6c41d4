//! The work on windows: jobs and sums in the cloud, their decrypted results, and tallies from these.

mod batch;
mod budgets;
mod came_down;
mod crossings;
mod curve;
mod decide;
mod device;
mod evidence;
mod exact;
mod faults;
mod flags;
mod flooded;
mod held;
mod job;
mod keys;
mod outline;
mod pieces;
mod progress;
mod readings;
mod reals;
mod spent;
mod steps;
mod sums;
mod transcript;
mod used;
mod wanted;
mod weights;

pub(crate) use came_down::CameDown;
#[cfg(test)]
pub(crate) use crossings::note_crossings;
pub(crate) use device::{Computed, DeviceWork, Tallied};
pub(crate) use evidence::LARGEST_EVIDENCE;
pub use evidence::{Evidence, WorkRecord};
pub use flooded::Flooded;
pub(crate) use job::Computer;
pub(crate) use keys::sent_evaluation_keys;
pub(crate) use outline::{OutlinedBatch, OutlinedValues};
pub use progress::OnProgress;
pub(crate) use used::Used;
