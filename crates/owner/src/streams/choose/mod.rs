//! The choice of parameters for a stream: the scheme, n and modulus with the fewest bytes per window that satisfy the
//! noise bound for all questions of the stream.

mod best;
mod chosen;
mod compared;
mod day;
mod exact;
mod held;
mod judge;
mod precision;
mod readings;
mod real;
mod report;
mod steps;
mod sums;
mod ways;
mod worst;

pub use best::choose;
pub(crate) use best::{choose_with, fits};
pub use chosen::{Alternative, Chosen};
pub(crate) use chosen::{MOST_COMPARED, MOST_WINDOWS};
pub(crate) use compared::carried_gap;
pub use held::HeldReport;
pub use precision::{REAL_ERROR, SHARED_ERROR, real_error};
pub use report::{SHOWN_WINDOWS, StreamReport, stream_report};
pub use sums::SUMMED_WINDOWS;
pub(in crate::streams) use sums::windows_of_sums;
pub(crate) use sums::{SUM_HEAD_BYTES, bins_of, capacity, fits as sums_fit, holds};
pub use ways::Way;
pub(crate) use worst::{largest_result, worst};
