//! Streams of sums without a lattice: header, parts, answer. docs/concepts/wire.md has the layout.

mod answer;
mod blocks;
mod forms;
mod header;
mod names;
mod next;
mod parts;
mod quantity;
mod table;

pub use answer::{MOST_SUMS, PartSum, SumsAnswer};
pub use blocks::SumBlocks;
pub(crate) use forms::{SumsForms, part_refused};
pub use header::{SUMS_WINDOW_OVERHEAD, SumsStream};
pub use names::WindowNames;
pub(crate) use next::{parse_next, write_next};
pub use table::{NotAColumn, TableBits, TableColumn, table_row, table_sum};
