//! Jobs: checked at submission, then run by workers, one job per worker at a time.

mod queue;
mod submit;
mod worker;

pub(crate) use queue::Queue;
pub(crate) use submit::submit;
pub(crate) use worker::Workers;
