//! Builds one program from parts of windows: quantities summed over each part, results packed side by side.
//!
//! A device leaves every slot outside its channels' blocks zero, so a result fills one frame of slots at the start of a
//! row and is zero elsewhere. Rotations move results beside each other, and they are added: one ciphertext holds as
//! many as fit a row. Results of compact windows repeat their frame until the row is full, so their coefficients are
//! placed side by side instead; results that go on to a comparison are placed side by side in slots.

mod builder;

use sotto_pack::{Encoding, Layout};
use sotto_program::{Program, ProgramError};
use sotto_rlwe::Kept;
use sotto_runtime::Merged;

use super::part::Part;
use super::quantity::{Quantity, kept, stride};
use crate::open::Contents;
use builder::Builder;

/// Largest number of results in one ciphertext. Each adds its noise.
pub(crate) const MOST_FRAMES: usize = 64;

/// Like [`MOST_FRAMES`], for comparisons of whole steps, which leave little room.
const MOST_COMPARED_FRAMES: usize = 16;

/// Like [`MOST_FRAMES`], for comparisons of reals.
pub(crate) const MOST_BEYOND_FRAMES: usize = 16;

/// A program, with the positions of its results.
pub(crate) struct Packed {
    /// None if every result is zero for any windows.
    pub(crate) program: Option<Program>,
    /// Number of parts whose results one output holds.
    pub(crate) frames: usize,
    /// Results of compact windows that share one ciphertext; empty if each output of the program has its own.
    pub(crate) merged: Vec<Merged>,
    /// The place of each part's results among the decoded numbers of an output, in strides.
    places: ResultOrder,
    /// For each quantity, its outputs in the order of the parts. None if all results of an output are zero for any
    /// windows.
    pub(crate) outputs: Vec<Vec<Option<usize>>>,
}

/// The order of results in an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ResultOrder {
    /// The first result is first.
    Ascending,
    /// Each result is one place to the left of the one before, around a row of this many.
    Descending(usize),
}

impl Packed {
    /// Returns the place of a part's results in its output, in strides.
    pub(crate) fn place(&self, part: usize) -> usize {
        match self.places {
            ResultOrder::Ascending => part,
            ResultOrder::Descending(row) => (row - part % row) % row,
        }
    }

    /// Returns true if results of compact windows are in slots, one window after another.
    pub(crate) fn in_slots(&self) -> bool {
        matches!(self.places, ResultOrder::Descending(_))
    }

    /// Returns the decoded slots of output `index` that the owner reads: the ticks of the quantity's channel, for each
    /// part in the output.
    pub(crate) fn read(
        &self,
        index: usize,
        parts: &[Part],
        quantities: &[Quantity],
        contents: Contents,
        degree: usize,
    ) -> Vec<usize> {
        let values = match contents {
            Contents::Parts { values, .. } => values,
            Contents::Slots(_) => match parts.first().map(Part::layout) {
                Some(layout) => stride(layout, degree),
                None => return Vec::new(),
            },
        };
        let mut slots = Vec::new();
        for (quantity, outputs) in quantities.iter().zip(&self.outputs) {
            let Some(chunk) = outputs.iter().position(|output| *output == Some(index)) else { continue };
            let Some(channel) = quantity.channel() else { continue };
            for (place, part) in parts.iter().skip(chunk * self.frames).take(self.frames).enumerate() {
                let layout = part.layout();
                let of_part = (0..layout.ticks()).filter_map(|tick| layout.slot(channel, tick));
                slots.extend(of_part.map(|slot| self.place(place) * values + slot));
            }
        }
        slots
    }
}

/// Returns the number of results that one ciphertext of this degree holds.
pub(crate) fn frames(layout: &Layout, degree: usize, packed: bool) -> usize {
    if !packed {
        return 1;
    }
    let whole = || stride(layout, degree).min(layout.columns() as usize);
    let columns = kept(layout, degree).map_or_else(whole, Kept::values);
    let compared = kept(layout, degree).is_some() && layout.encoding() == Encoding::Resolution;
    (degree / 2 / columns).clamp(1, if compared { MOST_COMPARED_FRAMES } else { MOST_FRAMES })
}

/// Builds the program for these parts, whose windows must have one layout. Its inputs are the parts' windows in order.
pub(crate) fn program(
    layout: &Layout,
    degree: usize,
    parts: &[Part],
    quantities: &[Quantity],
    packed: bool,
) -> Result<Packed, ProgramError> {
    let compared = quantities.iter().any(|quantity| matches!(quantity, Quantity::Beyond(_)));
    let frames = frames(layout, degree, packed);
    let frames = if compared { frames.min(MOST_BEYOND_FRAMES) } else { frames };
    let places = match kept(layout, degree) {
        Some(kept) if compared => ResultOrder::Descending(degree / 2 / kept.values()),
        _ => ResultOrder::Ascending,
    };
    let mut builder = Builder::new(layout, degree, parts);
    let mut outputs = Vec::with_capacity(quantities.len());
    for (number, quantity) in quantities.iter().enumerate() {
        let results = builder.results(quantity);
        let chunks = results.chunks(frames).enumerate();
        let output = |(chunk, results)| builder.output(quantity, format!("q{number}.{chunk}"), results);
        outputs.push(chunks.map(output).collect());
    }
    let (program, merged) = builder.finish()?;
    Ok(Packed { program, frames, merged, places, outputs })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantities::part::typical;
    use crate::quantities::quantity::Beyond;
    use sotto_pack::{Channel, Cut, Period, Span};
    use sotto_program::clear::run_real;
    use sotto_program::{Op, SlotShape, slot_magnitudes};

    #[test]
    fn compared_windows_stand_side_by_side() {
        let channel = |name: &str| Channel {
            name: name.into(),
            unit: String::new(),
            minimum: -1.0,
            maximum: 1.0,
            resolution: None,
            ..Channel::default()
        };
        let (degree, ticks) = (64, 3);
        let channels = vec![channel("wind"), channel("sun")];
        let layout = Layout::smallest(channels, ticks, 8, 1, Encoding::Real).expect("a layout");
        let cut = Cut::new(Span::Day, Period::from_milliseconds(1), ticks);
        let reals = |seed: usize, slot: usize| ((seed * 37 + slot * 23) % 41) as f64 / 20.5 - 1.0;
        for (of, limit) in [
            (Quantity::Linear(vec![(0, 0.75), (1, -0.25)]), 0.125),
            (Quantity::Polynomial(1, vec![0.0, 0.5, 0.0, -0.5]), -0.0625),
        ] {
            let quantity = Quantity::Beyond(Beyond { of: Box::new(of.clone()), limit, gap_bits: 4 });
            for count in 1..=4 {
                let parts = vec![typical(&layout, &cut, 1, &quantity); count];
                let packed = program(&layout, degree, &parts, std::slice::from_ref(&quantity), true)
                    .expect("a program");
                let program = packed.program.as_ref().expect("a program");
                let columns = (degree / 2) as u32;
                // Compact windows repeat their values.
                let repeated =
                    |part: usize| (0..degree / 2).map(|slot| reals(part, slot % 8)).collect::<Vec<f64>>();
                let inputs: Vec<Vec<f64>> = (0..count).map(repeated).collect();
                let shape = SlotShape { rows: 1, columns };
                let outputs = run_real(program, &inputs, shape).expect("an answer");
                assert_eq!((outputs.len(), packed.outputs[0].len(), packed.in_slots()), (1, 1, true));
                for part in 0..count {
                    for tick in 0..ticks {
                        let at = |channel| reals(part, layout.slot(channel, tick).expect("a slot"));
                        let value = match of {
                            Quantity::Linear(_) => 0.75 * at(0) - 0.25 * at(1),
                            _ => 0.5 * at(1) - 0.5 * at(1).powi(3),
                        };
                        let channel = of.channel().expect("a channel");
                        let slot = packed.place(part) * 8 + layout.slot(channel, tick).expect("a slot");
                        assert_eq!(
                            outputs[0][slot],
                            (value - limit).signum(),
                            "{count} {part} {tick}: {value}"
                        );
                    }
                }
                // Every operand of a sign is within ±1.
                let bounds = slot_magnitudes(program, shape).expect("bounds");
                let signs = program.nodes().filter_map(|(_, op)| match op {
                    Op::Sign { of, .. } => Some(bounds[of.index()]),
                    _ => None,
                });
                assert!(signs.into_iter().all(|bound| bound <= 1.0 + 1e-12));
            }
        }
    }
}
