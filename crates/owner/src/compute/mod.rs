//! Computing on stored windows: from parts of windows to jobs, and from jobs to decrypted results.

mod compact;
mod job;
mod keys;
mod program;
mod quantity;

pub(crate) use compact::{CompactStream, UnderOneMask};
pub(crate) use job::{Computer, Results};
pub(crate) use program::{MOST_BEYOND_FRAMES, MOST_FRAMES, Part, frames, program};
pub(crate) use quantity::{
    Beyond, Input, LARGEST_WEIGHT, Quantity, STEPS_MODULUS, TickWeights, frame, kept, origin,
};
