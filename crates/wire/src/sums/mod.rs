//! Streams of sums without a lattice: header, window, answer. docs/concepts/wire.md has the layout.

mod answer;
mod codec;
mod column;
mod group;
mod head;
mod header;
mod names;
mod next;
mod part;
mod public;
mod quantity;
mod signed;
mod window;

pub use answer::{PartSum, SumsAnswer};
pub use column::{SumsColumn, TickPeriod};
pub use group::SumsGroup;
pub use head::{PadName, SumsHead};
pub use header::{LARGEST_SUMS_HEADER, MOST_STREAM_PARTS, SumsHeader, SumsStream};
pub use names::WindowNames;
pub use part::{Placed, SumsPart};
pub use quantity::{Digit, Quantity};
pub use signed::SignedSums;
pub use window::{SUMS_WINDOW_OVERHEAD, SumsWindow, sums_tag};
