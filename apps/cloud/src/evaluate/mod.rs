//! Jobs: checked when they are submitted, run one after another by every worker.

mod queue;
mod submit;
mod worker;

pub(crate) use queue::Queue;
pub(crate) use submit::{Submission, submit};
pub(crate) use worker::Workers;
