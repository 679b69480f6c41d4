//! Builds one program from parts of windows: quantities summed over each part, results packed side by side.
//!
//! A device leaves every slot outside its channels' blocks zero, so a result fills one frame of slots at the start of a
//! row and is zero elsewhere. Rotations move results beside each other, and they are added: one ciphertext holds as
//! many as fit a row. Results of compact windows repeat their frame until the row is full, so their coefficients are
//! placed side by side instead; results that go on to a comparison are placed side by side in slots.

use sotto_pack::{Encoding, Layout, StepDigits};
use sotto_program::{Constant, InputDeclaration, InputId, NodeId, Op, Program, ProgramBuilder, ProgramError};
use sotto_rlwe::Kept;
use sotto_runtime::Merged;

use super::part::Part;
use super::quantity::{Beyond, Input, Quantity, frame, kept, stride};
use crate::open::Contents;

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
    places: Places,
    /// For each quantity, its outputs in the order of the parts. None if all results of an output are zero for any
    /// windows.
    pub(crate) outputs: Vec<Vec<Option<usize>>>,
}

/// The order of results in an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Places {
    /// The first result is first.
    Ascending,
    /// Each result is one place to the left of the one before, around a row of this many.
    Descending(usize),
}

impl Packed {
    /// Returns the place of a part's results in its output, in strides.
    pub(crate) fn place(&self, part: usize) -> usize {
        match self.places {
            Places::Ascending => part,
            Places::Descending(row) => (row - part % row) % row,
        }
    }

    /// Returns true if results of compact windows are in slots, one window after another.
    pub(crate) fn in_slots(&self) -> bool {
        matches!(self.places, Places::Descending(_))
    }

    /// Returns the decoded slots of output `index` that the owner reads: the ticks of the quantity's channel, for each
    /// part in the output.
    pub(crate) fn read(
        &self,
        index: usize,
        (parts, quantities): (&[Part], &[Quantity]),
        (contents, degree): (Contents, usize),
    ) -> Vec<usize> {
        let values = match contents {
            Contents::Parts { values, .. } => values,
            Contents::Slots(_) => match parts.first().map(|part| &part.inputs[0].window.layout) {
                Some(layout) => stride(layout, degree),
                None => return Vec::new(),
            },
        };
        let mut slots = Vec::new();
        for (quantity, outputs) in quantities.iter().zip(&self.outputs) {
            let Some(chunk) = outputs.iter().position(|output| *output == Some(index)) else { continue };
            let Some(channel) = quantity.channel() else { continue };
            for (place, part) in parts.iter().skip(chunk * self.frames).take(self.frames).enumerate() {
                let layout = &part.inputs[0].window.layout;
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
    (layout, degree): (&Layout, usize),
    parts: &[Part],
    quantities: &[Quantity],
    packed: bool,
) -> Result<Packed, ProgramError> {
    let mut builder = Builder::new(layout, parts);
    let (frames, compact) = (frames(layout, degree, packed), kept(layout, degree).is_some());
    let compared = quantities.iter().any(|quantity| matches!(quantity, Quantity::Beyond(_)));
    let frames = if compared { frames.min(MOST_BEYOND_FRAMES) } else { frames };
    let places = match kept(layout, degree) {
        Some(kept) if compared => Places::Descending(degree / 2 / kept.values()),
        _ => Places::Ascending,
    };
    let (mut outputs, mut merged) = (Vec::with_capacity(quantities.len()), Vec::new());
    let mut count = 0;
    for (number, quantity) in quantities.iter().enumerate() {
        // A comparison of several results puts their first frames side by side.
        builder.first = match quantity {
            Quantity::Beyond(_) if parts.len() > 1 => Some(stride(layout, degree)),
            _ => None,
        };
        let results: Vec<Option<NodeId>> =
            (0..parts.len()).map(|part| builder.result(part, quantity)).collect();
        let mut of_quantity = Vec::new();
        for (chunk, results) in results.chunks(frames).enumerate() {
            let name = format!("q{number}.{chunk}");
            if let Quantity::Beyond(beyond) = quantity {
                of_quantity.push(builder.beyond(results, beyond, stride(layout, degree)).map(|sign| {
                    builder.asked.output(name, sign);
                    count += 1;
                    count - 1
                }));
                continue;
            }
            if !compact {
                of_quantity.push(builder.pack(results).map(|packed| {
                    builder.asked.output(name, packed);
                    count += 1;
                    count - 1
                }));
                continue;
            }
            let mut together = Merged { name, outputs: Vec::new() };
            for (power, result) in (0..).zip(results) {
                let Some(result) = result else { continue };
                builder.asked.output(format!("{}.{power}", together.name), *result);
                together.outputs.push((count, power));
                count += 1;
            }
            if together.outputs.is_empty() {
                of_quantity.push(None);
            } else {
                of_quantity.push(Some(merged.len()));
                merged.push(together);
            }
        }
        outputs.push(of_quantity);
    }
    let program = if count > 0 { Some(builder.asked.finish()?) } else { None };
    Ok(Packed { program, frames, merged, places, outputs })
}

struct Builder<'p> {
    asked: ProgramBuilder,
    layout: &'p Layout,
    parts: &'p [Part],
    /// The inputs of each part.
    inputs: Vec<Vec<InputId>>,
    /// The last vector of whole numbers. Most windows of a group use the same one.
    last: Option<(Vec<i128>, NodeId)>,
    /// The slots to which the factors of polynomials and linear combinations are limited, from the first on. None: all.
    first: Option<usize>,
}

impl<'p> Builder<'p> {
    fn new(layout: &'p Layout, parts: &'p [Part]) -> Self {
        let mut asked = ProgramBuilder::new();
        let mut number = 0;
        let mut declare = |_: &Input| {
            number += 1;
            let InputDeclaration { name, magnitude, .. } =
                InputDeclaration::new(format!("w{number}"), layout.magnitude());
            asked.declare(name, magnitude)
        };
        let inputs = parts.iter().map(|part| part.inputs.iter().map(&mut declare).collect()).collect();
        Self { asked, layout, parts, inputs, last: None, first: None }
    }

    /// Returns a constant vector of whole numbers; None if all are zero.
    fn whole(&mut self, values: Vec<i128>) -> Option<NodeId> {
        if values.iter().all(|value| *value == 0) {
            return None;
        }
        if let Some((known, node)) = &self.last
            && *known == values
        {
            return Some(*node);
        }
        let node = self.asked.constant(Constant::Integers(values.clone()));
        self.last = Some((values, node));
        Some(node)
    }

    /// Returns a quantity summed over a part; None if it is zero for any windows.
    fn result(&mut self, part: usize, quantity: &Quantity) -> Option<NodeId> {
        let inputs = self.inputs[part].clone();
        let windows = &self.parts[part].inputs;
        let terms: Vec<NodeId> = inputs
            .iter()
            .zip(windows)
            .filter_map(|(input, window)| self.term(*input, window, quantity))
            .collect();
        self.total(terms)
    }

    fn total(&mut self, mut terms: Vec<NodeId>) -> Option<NodeId> {
        // Added in pairs, so that the depth of additions stays small.
        while terms.len() > 1 {
            let pairs = terms.chunks(2).map(<[NodeId]>::to_vec).collect::<Vec<_>>();
            terms = pairs
                .into_iter()
                .map(|pair| match pair[..] {
                    [a, b] => self.asked.add(a, b),
                    _ => pair[0],
                })
                .collect();
        }
        terms.first().copied()
    }

    /// Returns a window's part of a quantity; None if a public factor makes it zero.
    fn term(&mut self, input: InputId, window: &Input, quantity: &Quantity) -> Option<NodeId> {
        let x = self.asked.read(input);
        Some(match quantity {
            Quantity::Sum => x,
            Quantity::AtLeast(channel, first) => return self.at_least(x, *channel, *first),
            Quantity::Beyond(beyond) => return self.term(input, window, &beyond.scaled().0),
            // Only compact windows hold counts.
            Quantity::Counts(_) => return None,
            Quantity::Square => self.asked.mul(x, x),
            Quantity::Product(first, second) => {
                let beside = self.asked.rotate(x, self.blocks_between(*first, *second));
                self.asked.mul(x, beside)
            }
            Quantity::Joint(first, second) => self.masked(x, window, *first, *second)?,
            Quantity::JointSquare(first, second) => {
                let masked = self.masked(x, window, *first, *second)?;
                self.asked.mul(x, masked)
            }
            Quantity::Weighted(weights) => {
                let weights = self.whole(window.slot_weights(weights))?;
                self.asked.mul(x, weights)
            }
            // The slots of other channels hold meaningless values that nobody reads.
            Quantity::Polynomial(_, coefficients) => return self.polynomial(x, coefficients),
            Quantity::Linear(terms) => {
                let first = terms.first().map_or(0, |(channel, _)| *channel);
                let mut weighted = Vec::with_capacity(terms.len());
                for (channel, factor) in terms.iter().filter(|(_, factor)| *factor != 0.0) {
                    let beside = match self.blocks_between(first, *channel) {
                        0 => x,
                        steps => self.asked.rotate(x, steps),
                    };
                    let factor = self.factor(*factor);
                    weighted.push(self.asked.mul(beside, factor));
                }
                return self.total(weighted);
            }
        })
    }

    /// Returns a window without the readings that only one of two channels has; None if no reading is left.
    fn masked(&mut self, x: NodeId, window: &Input, first: u16, second: u16) -> Option<NodeId> {
        if window.together(first, second) == Some(true) {
            return Some(x);
        }
        let mask = self.whole(window.mask(first, second))?;
        Some(self.asked.mul(x, mask))
    }

    /// Returns 1 where a channel's reading is the quantised number `first` or above, and 0 elsewhere; None if the
    /// channel's range does not contain `first`. Slots of other channels hold meaningless values that nobody reads.
    fn at_least(&mut self, x: NodeId, channel: u16, first: i64) -> Option<NodeId> {
        let step = first - StepDigits::lowest(self.layout, channel)?;
        let digits = StepDigits::of(self.layout)?;
        let last = digits.largest();
        let whether =
            |holds: &dyn Fn(i64) -> bool| (0..=last).map(|digit| i128::from(holds(digit))).collect();
        let (high, low) = match digits.split(step)[..] {
            [high, low] if low > 0 => (high, low),
            // Every lower digit will do.
            [high, ..] => return Some(self.asked.table(x, 0, whether(&|digit| digit >= high))),
            [] => return None,
        };
        // [h > high] + [h = high] · [l ≥ low], in the slots of the higher digits h.
        let equal = self.asked.table(x, 0, whether(&|digit| digit == high));
        let from = self.asked.table(x, 0, whether(&|digit| digit >= low));
        let beside = self.asked.rotate(from, self.layout.columns() as i32);
        let both = self.asked.mul(equal, beside);
        if high == last {
            return Some(both);
        }
        let above = self.asked.table(x, 0, whether(&|digit| digit > high));
        Some(self.asked.add(above, both))
    }

    /// Returns the signs of results less the limit. Each result has its values in the first `values` slots: they are placed
    /// side by side, each to the left of the one before, by the rotations of the expansion. Other slots hold the sign of
    /// the limit. Returns None if all results are zero for any windows.
    fn beyond(&mut self, results: &[Option<NodeId>], beyond: &Beyond, values: usize) -> Option<NodeId> {
        let mut level = results.to_vec();
        let mut shift = values as i32;
        while level.len() > 1 {
            let pair = |pair: &[Option<NodeId>]| {
                let second = pair.get(1).copied().flatten();
                let moved = second.map(|second| self.asked.rotate(second, shift));
                match (pair[0], moved) {
                    (Some(a), Some(b)) => Some(self.asked.add(a, b)),
                    (a, b) => a.or(b),
                }
            };
            level = level.chunks(2).map(pair).collect();
            shift *= 2;
        }
        let together = level.first().copied().flatten()?;
        let limit = self.asked.real(beyond.scaled().1);
        let difference = self.asked.sub(together, limit);
        Some(self.asked.sign(difference, beyond.gap_bits))
    }

    /// Returns a public factor, in all slots or in the first ones.
    fn factor(&mut self, factor: f64) -> NodeId {
        match self.first {
            None => self.asked.real(factor),
            Some(first) => self.asked.constant(Constant::Reals(vec![factor; first])),
        }
    }

    /// Returns Σ_{k ≥ 1} c_k · x^k with the least depth for each power; None if all these coefficients are zero.
    fn polynomial(&mut self, x: NodeId, coefficients: &[f64]) -> Option<NodeId> {
        let mut powers = vec![None, Some(x)];
        let mut terms = Vec::new();
        for (k, coefficient) in coefficients.iter().enumerate().skip(1).filter(|(_, c)| **c != 0.0) {
            let power = self.power(&mut powers, k);
            let factor = self.factor(*coefficient);
            terms.push(self.asked.mul(power, factor));
        }
        self.total(terms)
    }

    fn power(&mut self, powers: &mut Vec<Option<NodeId>>, k: usize) -> NodeId {
        if powers.len() <= k {
            powers.resize(k + 1, None);
        }
        if let Some(power) = powers[k] {
            return power;
        }
        let larger = if k.is_power_of_two() { k / 2 } else { k.next_power_of_two() / 2 };
        let (a, b) = (self.power(powers, larger), self.power(powers, k - larger));
        let power = self.asked.mul(a, b);
        powers[k] = Some(power);
        power
    }

    /// Returns the rotation to the left that moves the second channel's block onto the first's.
    fn blocks_between(&self, first: u16, second: u16) -> i32 {
        (i32::from(second) - i32::from(first)) * self.layout.block() as i32
    }

    /// Places results side by side: number k starts at slot k · frame. Returns None if all are zero.
    fn pack(&mut self, results: &[Option<NodeId>]) -> Option<NodeId> {
        let mut shift = frame(self.layout) as i32;
        let mut level = results.to_vec();
        while level.len() > 1 {
            let pairs = level.chunks(2).map(<[Option<NodeId>]>::to_vec).collect::<Vec<_>>();
            level = pairs
                .into_iter()
                .map(|pair| {
                    let second = pair.get(1).copied().flatten();
                    let moved = second.map(|second| self.asked.push(Op::Rotate(second, -shift)));
                    match (pair[0], moved) {
                        (Some(a), Some(b)) => Some(self.asked.add(a, b)),
                        (a, b) => a.or(b),
                    }
                })
                .collect();
            shift *= 2;
        }
        level.first().copied().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantities::part::typical;
    use sotto_pack::{Channel, Cut, Span};
    use sotto_program::clear::run_real;
    use sotto_program::{SlotShape, slot_magnitudes};

    #[test]
    fn compared_windows_stand_side_by_side() {
        let channel = |name: &str| Channel {
            name: name.into(),
            unit: String::new(),
            minimum: -1.0,
            maximum: 1.0,
            resolution: None,
        };
        let (degree, ticks) = (64, 3);
        let channels = vec![channel("wind"), channel("sun")];
        let layout = Layout::smallest(channels, ticks, 8, 1, Encoding::Real).expect("a layout");
        let cut = Cut { span: Span::Day, period: 1, ticks };
        let reals = |seed: usize, slot: usize| ((seed * 37 + slot * 23) % 41) as f64 / 20.5 - 1.0;
        for (of, limit) in [
            (Quantity::Linear(vec![(0, 0.75), (1, -0.25)]), 0.125),
            (Quantity::Polynomial(1, vec![0.0, 0.5, 0.0, -0.5]), -0.0625),
        ] {
            let quantity = Quantity::Beyond(Beyond { of: Box::new(of.clone()), limit, gap_bits: 4 });
            for count in 1..=4 {
                let parts = vec![typical(&layout, &cut, 1, &quantity); count];
                let packed = program((&layout, degree), &parts, std::slice::from_ref(&quantity), true)
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
