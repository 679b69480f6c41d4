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

use sotto_sums::{FormError, PartError};

use crate::error::WireError;

/// Returns the refusal of a part of a window or of a sum.
fn part_refused(error: PartError) -> WireError {
    match error {
        PartError::Length { expected, found } => {
            WireError::Length { expected: expected as u64, found: found as u64 }
        }
        PartError::Padding => WireError::Padding,
        PartError::Tag => WireError::Value("a tag is below 2^61 - 1"),
        PartError::Ticks { .. } => WireError::Value("a window has more ticks than its stream allows"),
    }
}

/// Returns the refusal of a form.
fn form_refused(error: FormError) -> WireError {
    WireError::Value(match error {
        FormError::Width => "a place of a stream of sums has 1 to 60 bits; split a wider quantity in two",
        FormError::Range => "the bits of a place do not tell all values of its quantity apart",
        FormError::Places => "a part of a window has 1 to 65536 places",
        FormError::Counts => "a part of a window has at most 65536 counts",
    })
}
