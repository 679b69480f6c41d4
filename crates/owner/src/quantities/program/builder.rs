//! The operations of a program on windows: quantities summed over parts, placed side by side in outputs.

use sotto_pack::{Layout, StepDigits};
use sotto_program::{Constant, InputDeclaration, InputId, NodeId, Op, Program, ProgramBuilder, ProgramError};
use sotto_runtime::Merged;

use crate::quantities::part::Part;
use crate::quantities::quantity::{Beyond, Input, Quantity, frame, kept, stride};

/// A program in the making.
pub(super) struct Builder<'p> {
    asked: ProgramBuilder,
    layout: &'p Layout,
    degree: usize,
    parts: &'p [Part],
    /// The inputs of each part.
    inputs: Vec<Vec<InputId>>,
    /// The last vector of whole numbers. Most windows of a group use the same one.
    last: Option<(Vec<i128>, NodeId)>,
    /// The slots to which the factors of polynomials and linear combinations are limited, from the first on. None: all.
    first: Option<usize>,
    /// Number of outputs declared.
    count: usize,
    /// Outputs of compact windows that share one ciphertext.
    merged: Vec<Merged>,
}

impl<'p> Builder<'p> {
    pub(super) fn new(layout: &'p Layout, degree: usize, parts: &'p [Part]) -> Self {
        let mut asked = ProgramBuilder::new();
        let mut number = 0;
        let mut declare = |_: &Input| {
            number += 1;
            let InputDeclaration { name, magnitude, .. } =
                InputDeclaration::new(format!("w{number}"), layout.magnitude());
            asked.declare(name, magnitude)
        };
        let inputs = parts.iter().map(|part| part.inputs.iter().map(&mut declare).collect()).collect();
        let (last, first, count, merged) = (None, None, 0, Vec::new());
        Self { asked, layout, degree, parts, inputs, last, first, count, merged }
    }

    /// Returns the program, if it has an output, and the outputs that share ciphertexts.
    pub(super) fn finish(self) -> Result<(Option<Program>, Vec<Merged>), ProgramError> {
        let program = if self.count > 0 { Some(self.asked.finish()?) } else { None };
        Ok((program, self.merged))
    }

    /// Returns a quantity summed over each part; None where it is zero for any windows.
    pub(super) fn results(&mut self, quantity: &Quantity) -> Vec<Option<NodeId>> {
        // A comparison of several results puts their first frames side by side.
        self.first = match quantity {
            Quantity::Beyond(_) if self.parts.len() > 1 => Some(stride(self.layout, self.degree)),
            _ => None,
        };
        (0..self.parts.len()).map(|part| self.result(part, quantity)).collect()
    }

    /// Declares the output of some results of a quantity. Returns its number, of merged outputs for compact windows that
    /// are not compared; None if all results are zero for any windows.
    pub(super) fn output(
        &mut self,
        quantity: &Quantity,
        name: String,
        results: &[Option<NodeId>],
    ) -> Option<usize> {
        let together = match quantity {
            Quantity::Beyond(beyond) => self.beyond(results, beyond, stride(self.layout, self.degree)),
            _ if kept(self.layout, self.degree).is_some() => return self.merge(name, results),
            _ => self.pack(results),
        };
        together.map(|together| self.declare(name, together))
    }

    /// Declares an output and returns its number.
    fn declare(&mut self, name: String, node: NodeId) -> usize {
        self.asked.output(name, node);
        self.count += 1;
        self.count - 1
    }

    /// Declares an output for each result, which share one ciphertext. Returns the number of the merged output.
    fn merge(&mut self, name: String, results: &[Option<NodeId>]) -> Option<usize> {
        let mut together = Merged { name, outputs: Vec::new() };
        for (power, result) in (0..).zip(results) {
            let Some(result) = result else { continue };
            let output = self.declare(format!("{}.{power}", together.name), *result);
            together.outputs.push((output, power));
        }
        if together.outputs.is_empty() {
            return None;
        }
        self.merged.push(together);
        Some(self.merged.len() - 1)
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
            Quantity::Counts(_) | Quantity::Held(..) => return None,
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
