//! The streams that questions need, and their parameters.

mod choose;
mod coefficients;
mod demand;
mod fineness;
mod kind;
mod layout;
mod needs;
mod of_device;
mod predict;
mod price;
mod split;
mod wishes;

pub use choose::{
    Alternative, Chosen, HeldReport, REAL_ERROR, SHARED_ERROR, SHOWN_WINDOWS, SUMMED_WINDOWS, StreamReport,
    Way, choose, real_error, stream_report,
};
pub(crate) use choose::{
    MOST_COMPARED, MOST_WINDOWS, SUM_HEAD_BYTES, bins_of, capacity, carried_gap, choose_with, fits, holds,
    largest_result, sums_fit,
};
pub(crate) use coefficients::shifted;
pub(crate) use demand::of_calls;
pub use fineness::{USUAL_GAP_BITS, can_compare_in_cloud};
pub(crate) use fineness::{span_of, too_precise};
pub use kind::Kind;
pub(crate) use layout::layout_of;
pub use needs::{Needs, StreamNeeds};
pub(crate) use of_device::{of_device, of_device_with};
pub(crate) use predict::{HELD_FOR_A_COMPARISON, HELD_FOR_A_WINDOW, expanded_bytes};
pub use predict::{beyond, measured_report, seconds_a_window};
pub use price::{Change, ChannelChange, ChannelPrice, Price};
pub use wishes::Wishes;
