//! Sums of exported windows that another engine added up: a database, a data frame, a cluster.
//!
//! An export has a column of whole numbers for each place and two for each tag. Any engine adds them, and tells of the windows
//! only the smallest number, the largest one and how many there are. The logs tell which windows those are; their tags decide if
//! the sum is theirs. Rows of `sotto-lake` have the frame of an answer, which names its windows.

mod named;
mod open;
mod row;
mod streams;

pub(crate) use open::opened;
pub use open::{OpenedChannel, OpenedSums, Within};
pub use row::{SumCell, SummedColumns, SummedRow, SummedRowError};
