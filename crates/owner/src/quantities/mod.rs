//! Quantities that are summed over windows, and the programs that compute them.

mod inputs;
mod part;
mod program;
mod quantity;

pub(crate) use inputs::{InputRun, Inputs};
pub(crate) use part::{Part, typical};
pub(crate) use program::{MOST_BEYOND_FRAMES, MOST_FRAMES, Packed, frames, program};
pub(crate) use quantity::{
    Beyond, Input, LARGEST_WEIGHT, Quantity, Rolled, STEPS_MODULUS, TickWeights, frame, kept, origin, stride,
};
