//! Parts of the windows of a stream of sums.

use alloc::vec::Vec;

use sotto_pack::Reason;
use sotto_sums::{Form, Place};

use super::codec::{form_refused, read_count, write_count};
use super::column::SumsColumn;
use super::quantity::{Digit, Quantity};
use crate::error::WireError;
use crate::reader::Reader;

/// A quantity in a part: the share of its values that the places hold, and the bits of each.
///
/// Example: [`SumsHeader`](crate::SumsHeader)
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The quantity.
    pub quantity: Quantity,
    /// The share of its values.
    pub digit: Digit,
    /// Bits of a place, 1 to 60.
    pub width: u8,
}

/// A part of a window: quantities that are asked for together, under one tag.
///
/// The places follow the order of the quantities: first those that a window has once, then tick after tick. Its counts
/// are 1 for the window; one for each quantity that stands once: the readings of a column in bins, 1 where an extreme
/// has a reading; the readings left out, for each column the first `reasons` of [`Reason::ALL`]; then, tick after tick,
/// 1 for each quantity whose reading is there.
///
/// Example: [`SumsHeader`](crate::SumsHeader)
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SumsPart {
    /// The quantities; those that stand once come first.
    pub quantities: Vec<Placed>,
    /// The number of reasons by which readings left out are counted: the first of [`Reason::ALL`], 0 for none.
    pub reasons: u8,
}

/// The places of a part.
#[derive(Clone, Debug)]
pub(super) struct PartPlaces {
    once: Vec<Place>,
    tick: Vec<Place>,
}

impl PartPlaces {
    pub(super) fn new(part: &SumsPart, columns: &[SumsColumn], ticks: u32) -> Result<Self, WireError> {
        let quantities = &part.quantities;
        if quantities.windows(2).any(|pair| !pair[0].quantity.is_once() && pair[1].quantity.is_once()) {
            return Err(WireError::Value("quantities that a window has once come before those of ticks"));
        }
        if usize::from(part.reasons) > Reason::ALL.len() {
            return Err(WireError::Value(
                "a part counts readings left out for reasons that are not known here",
            ));
        }
        let (mut once, mut tick) = (Vec::new(), Vec::new());
        for Placed { quantity, digit, width } in quantities {
            quantity.check()?;
            let (least, most) = quantity.range(*digit, columns, ticks)?;
            let place = Place::new((*width).into(), least, most).map_err(form_refused)?;
            let to = if quantity.is_once() { &mut once } else { &mut tick };
            to.extend(core::iter::repeat_n(place, quantity.places()));
        }
        let places = Self { once, tick };
        places.form(part, columns.len(), ticks)?;
        Ok(places)
    }

    /// Returns the form of windows of up to `ticks` ticks of a stream with this many columns.
    pub(super) fn form(&self, part: &SumsPart, columns: usize, ticks: u32) -> Result<Form<'_>, WireError> {
        let once = part.quantities.iter().filter(|placed| placed.quantity.is_once()).count();
        let counts_once = 1 + once + columns * usize::from(part.reasons);
        // Both are below 2^22: lists have at most 65,535 items.
        Form::new(&self.once, &self.tick, counts_once as u32, self.tick.len() as u32, ticks)
            .map_err(form_refused)
    }
}

impl SumsPart {
    pub(super) fn write(&self, out: &mut Vec<u8>) -> Result<(), WireError> {
        out.push(self.reasons);
        write_count(out, self.quantities.len())?;
        for Placed { quantity, digit, width } in &self.quantities {
            quantity.write(out)?;
            out.extend_from_slice(&[digit.number(), *width]);
        }
        Ok(())
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, WireError> {
        let placed = |reader: &mut Reader<'_>| {
            let quantity = Quantity::read(reader)?;
            Ok::<_, WireError>(Placed {
                quantity,
                digit: Digit::from_number(reader.u8()?)?,
                width: reader.u8()?,
            })
        };
        let reasons = reader.u8()?;
        // A quantity takes at least 5 bytes.
        let quantities = read_count(reader, 5)?.map(|_| placed(reader)).collect::<Result<_, _>>()?;
        Ok(Self { quantities, reasons })
    }
}
