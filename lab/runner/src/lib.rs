//! The lab's runner: definitions of measurements, runs of them on every engine in turn, rows, comparisons, and the
//! report.
//!
//! A [`Definition`] lists the measurements; a [`Selection`] restricts it to some engines, sizes and schemes; [`run`]
//! carries it out and hands each [`Row`] and each [`Gap`] to an [`Observer`]; a [`Store`] keeps them; [`report`] shows
//! them. `METHODOLOGY.md` explains the figures, `BIAS.md` lists where they may be unfair to other libraries.

pub mod claims;
pub mod compare;
mod comparison_row;
mod contender;
pub mod definition;
pub mod digits;
mod error;
pub mod machine;
mod readings;
pub mod report;
mod row;
mod run;
mod selection;
mod statistics;
mod store;

pub use comparison_row::{ComparisonRow, Score};
pub use contender::{Contender, Speaker};
pub use definition::{Definition, Scheme};
pub use error::RunnerError;
pub use machine::Host;
pub use row::{Gap, Row, RowKey};
pub use run::{Observer, run};
pub use selection::{Selection, Span};
pub use statistics::Statistics;
pub use store::{Collection, Extent, Store};
