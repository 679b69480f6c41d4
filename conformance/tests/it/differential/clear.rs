//! An evaluator in the clear for programs of the line protocol, written independently of our clear backend.

use sotto_harness::protocol::{Node, Program};

/// Numbers for programs.
pub(crate) trait Ring<N> {
    fn add(&self, a: N, b: N) -> N;
    fn negate(&self, a: N) -> N;
    fn multiply(&self, a: N, b: N) -> N;
    /// Returns the slots of a constant or an input.
    fn constant(&self, values: &sotto_harness::protocol::Values) -> Vec<N>;
}

/// Runs a program on whole slots in `rows` rows; returns the slots of every node, constants included. With one row a
/// row swap changes nothing, as conjugation does not change reals.
pub(crate) fn run<N: Copy + Default>(
    ring: &impl Ring<N>,
    program: &Program,
    inputs: &[Vec<N>],
    rows: usize,
) -> Vec<Vec<N>> {
    let slots = inputs[0].len();
    let columns = slots / rows;
    let mut nodes: Vec<Vec<N>> = Vec::with_capacity(program.nodes.len());
    for node in &program.nodes {
        let zipped = |a: &usize, b: &usize, with: &dyn Fn(N, N) -> N| -> Vec<N> {
            nodes[*a].iter().zip(&nodes[*b]).map(|(a, b)| with(*a, *b)).collect()
        };
        let value = match node {
            Node::Input { index } => inputs[*index].clone(),
            Node::Constant { values } => spread(ring.constant(values), slots),
            Node::Add { a, b } => zipped(a, b, &|a, b| ring.add(a, b)),
            Node::Sub { a, b } => zipped(a, b, &|a, b| ring.add(a, ring.negate(b))),
            Node::Mul { a, b } => zipped(a, b, &|a, b| ring.multiply(a, b)),
            Node::Neg { a } => nodes[*a].iter().map(|a| ring.negate(*a)).collect(),
            Node::Rotate { a, steps } => {
                let from = |slot: usize| {
                    let column = (slot % columns) as i64 + i64::from(*steps);
                    slot / columns * columns + column.rem_euclid(columns as i64) as usize
                };
                (0..slots).map(|slot| nodes[*a][from(slot)]).collect()
            }
            Node::SwapRows { a } => (0..slots).map(|slot| nodes[*a][(slot + columns) % slots]).collect(),
        };
        nodes.push(value);
    }
    nodes
}

fn spread<N: Copy + Default>(mut values: Vec<N>, slots: usize) -> Vec<N> {
    let fill = if let [one] = values.as_slice() { *one } else { N::default() };
    values.resize(slots, fill);
    values
}
