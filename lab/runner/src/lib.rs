//! The lab: definitions of what is measured, the runner that measures it on every engine in turn, rows, comparisons, and the
//! report.
//!
//! [`Definition`] says what; [`Selection`] narrows it to some engines, sizes and schemes; [`run`] carries it out and hands
//! each [`Row`] and each [`Gap`] to an [`Observer`]; [`Store`] keeps them; [`report`] shows them. `METHODOLOGY.md` says how
//! the figures come about, `BIAS.md` where they may be wrong about others.

pub mod claims;
pub mod compare;
mod contender;
pub mod definition;
pub mod digits;
mod error;
pub mod machine;
pub mod report;
mod row;
mod run;
mod selection;
mod statistics;
mod store;

pub use contender::{Contender, Speaker};
pub use definition::{Definition, Scheme};
pub use error::RunnerError;
pub use machine::Machine;
pub use row::{Gap, Row, RowKey};
pub use run::{Observer, run};
pub use selection::{Selection, Span};
pub use statistics::Statistics;
pub use store::{Collection, Extent, Store};
