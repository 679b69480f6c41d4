//! From parts of windows to one program: quantities summed over each part, results packed side by side.
//!
//! A device leaves every slot outside its channels' blocks zero, so a result fills one frame of slots at the beginning of a row and is
//! zero elsewhere. Results are moved beside each other by rotations and added, one ciphertext for as many as fit a row.

use sotto_pack::Layout;
use sotto_program::{Constant, InputDeclaration, InputId, NodeId, Op, Program, ProgramBuilder, ProgramError};

use super::quantity::{Input, Quantity, frame};

/// Most results of one ciphertext: each one more adds its noise.
pub(crate) const MOST_FRAMES: usize = 64;

/// Windows whose sum is one result.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) inputs: Vec<Input>,
}

/// A program, and how many results an output holds.
pub(crate) struct Packed {
    pub(crate) program: Program,
    /// For each quantity, its outputs hold the parts in order, so many each.
    pub(crate) frames: usize,
    /// Outputs of each quantity.
    pub(crate) outputs: usize,
    /// Outputs whose results are all zero by their weights: the cloud would refuse to compute them. They hold some window, which is not
    /// read.
    pub(crate) zero: Vec<usize>,
}

/// Results that one ciphertext holds.
pub(crate) fn frames(layout: &Layout, packed: bool) -> usize {
    if !packed {
        return 1;
    }
    ((layout.columns() / frame(layout).min(layout.columns())) as usize).clamp(1, MOST_FRAMES)
}

/// The program for these parts, whose windows have one layout. Inputs are the parts' windows in order; outputs are quantity after
/// quantity.
pub(crate) fn program(
    layout: &Layout,
    parts: &[Part],
    quantities: &[Quantity],
    packed: bool,
) -> Result<Packed, ProgramError> {
    let mut builder = Builder::new(layout, parts);
    let frames = frames(layout, packed);
    let (mut outputs, mut zero) = (0, Vec::new());
    for (number, quantity) in quantities.iter().enumerate() {
        let results: Vec<Option<NodeId>> =
            (0..parts.len()).map(|part| builder.result(part, quantity)).collect();
        outputs = 0;
        for (chunk, results) in results.chunks(frames).enumerate() {
            let packed = builder.pack(results).unwrap_or_else(|| {
                zero.push(number * parts.len().div_ceil(frames) + chunk);
                builder.asked.read(builder.inputs[0][0])
            });
            builder.asked.output(format!("q{number}.{chunk}"), packed);
            outputs += 1;
        }
    }
    Ok(Packed { program: builder.asked.finish()?, frames, outputs, zero })
}

struct Builder<'p> {
    asked: ProgramBuilder,
    layout: &'p Layout,
    parts: &'p [Part],
    /// For each part, its inputs.
    inputs: Vec<Vec<InputId>>,
    /// The last vector of whole numbers: most windows of a group share theirs.
    last: Option<(Vec<i128>, NodeId)>,
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
        Self { asked, layout, parts, inputs, last: None }
    }

    fn nonzero(&mut self, values: Vec<i128>) -> Option<NodeId> {
        values.iter().any(|value| *value != 0).then(|| self.whole(values))
    }

    fn whole(&mut self, values: Vec<i128>) -> NodeId {
        if let Some((known, node)) = &self.last
            && *known == values
        {
            return *node;
        }
        let node = self.asked.constant(Constant::Integers(values.clone()));
        self.last = Some((values, node));
        node
    }

    /// A quantity summed over a part; None where it is zero whatever the readings are.
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
        // By halves: the depth of the additions stays small.
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

    fn term(&mut self, input: InputId, window: &Input, quantity: &Quantity) -> Option<NodeId> {
        let x = self.asked.read(input);
        Some(match quantity {
            Quantity::Sum => x,
            Quantity::Square => self.asked.mul(x, x),
            Quantity::Product(first, second) => {
                let beside = self.asked.rotate(x, self.blocks_between(*first, *second));
                self.asked.mul(x, beside)
            }
            Quantity::Joint(first, second) => return self.masked(x, window, *first, *second),
            Quantity::JointSquare(first, second) => {
                let masked = self.masked(x, window, *first, *second)?;
                self.asked.mul(x, masked)
            }
            Quantity::Weighted(weights) => {
                let weights = self.nonzero(window.slot_weights(weights))?;
                self.asked.mul(x, weights)
            }
            // The slots of other channels hold values of no use, which nobody reads.
            Quantity::Polynomial(_, coefficients) => return self.polynomial(x, coefficients),
            Quantity::Linear(terms) => {
                let first = terms.first().map_or(0, |(channel, _)| *channel);
                let weighted: Vec<NodeId> = terms
                    .iter()
                    .filter(|(_, factor)| *factor != 0.0)
                    .map(|(channel, factor)| {
                        let beside = match self.blocks_between(first, *channel) {
                            0 => x,
                            steps => self.asked.rotate(x, steps),
                        };
                        let factor = self.asked.real(*factor);
                        self.asked.mul(beside, factor)
                    })
                    .collect();
                return self.total(weighted);
            }
        })
    }

    /// A window without the readings that only one of two channels has; None where no time has both.
    fn masked(&mut self, x: NodeId, window: &Input, first: u16, second: u16) -> Option<NodeId> {
        if window.together(first, second) == Some(true) {
            return Some(x);
        }
        let mask = self.nonzero(window.mask(first, second))?;
        Some(self.asked.mul(x, mask))
    }

    /// Σ_{k ≥ 1} c_k · x^k, every power in the least depth.
    fn polynomial(&mut self, x: NodeId, coefficients: &[f64]) -> Option<NodeId> {
        let mut powers = vec![None, Some(x)];
        let mut terms = Vec::new();
        for (k, coefficient) in coefficients.iter().enumerate().skip(1).filter(|(_, c)| **c != 0.0) {
            let power = self.power(&mut powers, k);
            let factor = self.asked.real(*coefficient);
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
        let larger = k.next_power_of_two() / 2;
        let larger = if k.is_power_of_two() { k / 2 } else { larger };
        let (a, b) = (self.power(powers, larger), self.power(powers, k - larger));
        let power = self.asked.mul(a, b);
        powers[k] = Some(power);
        power
    }

    /// The rotation to the left that brings the second channel's block onto the first's.
    fn blocks_between(&self, first: u16, second: u16) -> i32 {
        (i32::from(second) - i32::from(first)) * self.layout.block() as i32
    }

    /// Results side by side: number k begins at slot k · frame. None where all are zero.
    fn pack(&mut self, results: &[Option<NodeId>]) -> Option<NodeId> {
        let mut shift = frame(self.layout) as i32;
        let mut level = results.to_vec();
        while level.len() > 1 {
            let pairs = level.chunks(2).map(<[Option<NodeId>]>::to_vec).collect::<Vec<_>>();
            level = pairs
                .into_iter()
                .map(|pair| match pair[..] {
                    [a, Some(b)] => {
                        let moved = self.asked.push(Op::Rotate(b, -shift));
                        Some(a.map_or(moved, |a| self.asked.add(a, moved)))
                    }
                    _ => pair[0],
                })
                .collect();
            shift *= 2;
        }
        level[0]
    }
}
