//! Several machines: workers run the parts of a plan that a coordinator sends them, by datafusion-distributed.

mod authority;
mod coordinator;
mod identity;
mod named;
mod worker;

pub use authority::make_authority;
pub use coordinator::with_workers;
pub use identity::Identity;
pub use worker::{Listening, listen};
