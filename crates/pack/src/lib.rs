//! Readings to slots and back.
//!
//! ```
//! use sotto_pack::{Channel, Encoding, Layout, Period, Reading, Window};
//!
//! let load = Channel { name: "load".into(), unit: "%".into(), minimum: 0.0, maximum: 100.0, ..Channel::default() };
//! let layout = Layout::smallest(vec![load], 3, 8, 2, Encoding::Integer { bits: 8 })?;
//! let start = 1_700_000_000_000;
//! let mut window = Window::new(layout, start, Period::from_milliseconds(1000))?;
//! // The reading of the second tick is missing.
//! for (at, value) in [(start, 0.0), (start + 2000, 100.0)] {
//!     window.push(&Reading { at, channel: 0, value })?;
//! }
//! let packed = window.close();
//! assert_eq!(packed.integers().map(|slots| &slots[..4]), Some(&[-127, 0, 127, 0][..]));
//! assert_eq!(packed.present, [2]);
//! # Ok::<(), sotto_pack::PackError>(())
//! ```
//!
//! - A [`Layout`] assigns a slot to each channel and tick, and defines how a value becomes a number there: a
//!   whole number ([`Quantiser`], for BFV and BGV) or one in −1 … 1 ([`Normaliser`], for CKKS).
//! - A [`Window`] collects [`Reading`]s and closes to a [`Packed`] vector of slots. [`unpack()`] and
//!   [`block_heads`] reverse this, and [`bounds`] bounds the error of answers from rounded readings.
//! - A [`DeviceProfile`] is the owner's configuration of a device, a [`WindowDescription`] the device's
//!   description of a window.
//!
//! # Features
//!
//! - `std` (default): the standard library in the dependencies. Without it the crate needs `alloc` only, with the same
//!   interface; time zones are those of the database in the program.
//! - `zones` (default): the plant's clock ([`Clock`]), with a database of time zones. Without it a profile's zone is kept and
//!   not checked.

#![cfg_attr(not(feature = "std"), no_std)]

#[macro_use]
extern crate alloc;

mod answer;
mod bins;
mod bits;
pub mod bounds;
#[cfg(feature = "zones")]
mod clock;
#[cfg(feature = "zones")]
mod cut;
mod decimal;
mod description;
mod earlier;
mod error;
mod formula;
mod kinds;
mod layout;
mod longest;
mod normalise;
mod packed;
mod period;
mod presence;
mod profile;
mod quantise;
mod range;
mod reading;
mod reason;
mod replaced;
mod replaces;
mod span;
mod steps;
mod sums;
mod unpack;
mod window;

pub use answer::NoAnswer;
pub use bins::{ChannelBins, MOST_BINS};
pub use bits::{MAX_BITS, MIN_BITS};
#[cfg(feature = "zones")]
pub use clock::{Clock, UnknownZone};
#[cfg(feature = "zones")]
pub use cut::{Cut, Grid};
pub use description::{DescriptionError, LARGEST_DESCRIPTION, WindowDescription};
pub use earlier::EarlierPlaces;
pub use error::{OutOfRange, PackError, RangeError};
pub use formula::{FORMULA_BYTES, Formula, FormulaError};
pub use kinds::{
    ANGLE_STEPS, Amount, Angle, Between, ChannelKind, Counter, Gauge, Increase, Increased, MOST_STATES,
    Rules, Several, State,
};
pub use layout::{Encoding, Layout, LayoutParts, MAX_TICKS};
pub use normalise::Normaliser;
pub use packed::{Packed, Slots};
pub use period::{Period, PeriodError};
pub use presence::{NotAPresence, Presence};
pub use profile::{
    Derived, DeviceProfile, LARGEST_PROFILE, MAX_STREAMS, MOST_CLOUD_KEYS, ProfileError, StreamProfile,
};
pub use quantise::Quantiser;
pub use reading::{Channel, NAME_BYTES, Reading, UNIT_BYTES};
pub use reason::{LeftOut, Reason};
pub use replaced::Replaced;
pub use replaces::{MOST_REPLACED, Replaces};
pub use span::Span;
pub use steps::{DIGIT_BITS, STEPS_OF_ONE, StepDigits};
pub use sums::{Digit, MOST_PARTS, MOST_SUM_TICKS, Placed, Quantity, SumsError, SumsPart};
pub use unpack::{block_heads, unpack};
pub use window::Window;
