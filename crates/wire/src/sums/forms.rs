//! The forms of the parts of a stream of sums, and parts as bytes.

use alloc::vec::Vec;

use sotto_pack::{Layout, SumsError, SumsPart};
use sotto_sums::{Form, FormError, PartError, Place};

use crate::error::WireError;

/// Facts of a stream of sums beside those of any stream.
#[derive(Clone, Debug)]
pub(crate) struct SumsForms {
    /// True if windows count the readings that were rounded.
    pub(super) rounded: bool,
    /// For each part its places.
    pub(super) places: Vec<PartPlaces>,
}

/// The places of a part.
#[derive(Clone, Debug)]
pub(super) struct PartPlaces {
    once: Vec<Place>,
    tick: Vec<Place>,
    counts: (usize, usize),
}

impl PartPlaces {
    pub(super) fn new(part: &SumsPart, layout: &Layout) -> Result<Self, WireError> {
        part.check(layout).map_err(refused)?;
        let (mut once, mut tick) = (Vec::new(), Vec::new());
        for placed in &part.quantities {
            let (least, most) = placed.range(layout).map_err(refused)?;
            let place = Place::new(placed.width.into(), least, most).map_err(form_refused)?;
            let to = if placed.quantity.is_once() { &mut once } else { &mut tick };
            to.extend(core::iter::repeat_n(place, placed.quantity.places()));
        }
        let places = Self { once, tick, counts: part.count_numbers(layout.channels().len()) };
        places.form(layout.ticks())?;
        Ok(places)
    }

    /// Returns the form of windows of up to `ticks` ticks.
    pub(super) fn form(&self, ticks: u32) -> Result<Form<'_>, WireError> {
        let (once, tick) = self.counts;
        // Both are below 2^22: lists have at most 65,535 items.
        Form::new(&self.once, &self.tick, once as u32, tick as u32, ticks).map_err(form_refused)
    }
}

/// Returns the refusal of parts that do not fit their channels.
pub(super) fn refused(error: SumsError) -> WireError {
    WireError::Value(match error {
        SumsError::Column => "a quantity names a column that the stream does not have",
        SumsError::Product => "a product names the lower column first, and two columns",
        SumsError::Bins => "a column has at most 1024 bins",
        SumsError::Edges => "the edges of bins ascend",
        SumsError::Order => "quantities that a window has once come before those of ticks",
        SumsError::Reasons => "a part counts readings left out for reasons that are not known here",
        SumsError::Range => {
            "the bits of a place, 1 to 60, do not tell all values of its quantity apart: widen it, or split the quantity in two"
        }
        SumsError::Parts => "a window of sums has 1 to 16 parts",
        SumsError::Ticks => "a window of sums has 1 to 65535 ticks",
        SumsError::Exponent => "the exponent of a power is 1 to 4",
    })
}

/// Returns the refusal of a part of a window or of a sum.
pub(crate) fn part_refused(error: PartError) -> WireError {
    match error {
        PartError::Length { expected, found } => {
            WireError::Length { expected: expected as u64, found: found as u64 }
        }
        PartError::Padding => WireError::Padding,
        PartError::Tag => WireError::Value("a tag is below 2^61 - 1"),
        PartError::Count => WireError::Value("a sum of counts has 64 bits, in as few bytes as it needs"),
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
