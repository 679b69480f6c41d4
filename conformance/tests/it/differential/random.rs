//! Random programs.

use sotto_harness::protocol::{Node, Program, Values};

use crate::differential::values::{Choices, Comparable};

/// A program and its inputs.
pub(crate) struct Asked {
    pub(crate) program: Program,
    pub(crate) inputs: Vec<Values>,
    /// Other inputs, which show the nodes that do not depend on inputs.
    pub(crate) others: Vec<Values>,
}

/// Returns a random program of at most so many operations. At most `depth` products with ciphertexts or vectors follow
/// one another.
pub(crate) fn program<S: Comparable>(
    choices: &mut Choices,
    plain_modulus: Option<u64>,
    slots: usize,
    rotations: &[i32],
    (operations, depth): (usize, usize),
) -> Asked {
    let mut making =
        Making { nodes: Vec::new(), depths: Vec::new(), encrypted: Vec::new(), unread: Vec::new() };
    let (mut magnitudes, mut inputs, mut others) = (Vec::new(), Vec::new(), Vec::new());
    for index in 0..1 + choices.below(3) {
        let (magnitude, values) = S::input(choices, plain_modulus, slots);
        magnitudes.push(magnitude);
        inputs.push(values);
        others.push(S::input(choices, plain_modulus, slots).1);
        making.push(Node::Input { index }, 0);
    }
    for _ in 0..3 + choices.below(operations - 2) {
        let a = making.operand(choices);
        let b = if choices.chance(4) { a } else { making.operand(choices) };
        let (both, one) = (1 + making.depths[a].max(making.depths[b]), 1 + making.depths[a]);
        match choices.below(18) {
            0 | 1 => making.push(Node::Add { a, b }, both - 1),
            2 | 3 if a != b => making.push(Node::Sub { a, b }, both - 1),
            4 => making.push(Node::Neg { a }, one - 1),
            5..=8 if both <= depth => making.push(Node::Mul { a, b }, both),
            9 | 10 => {
                let steps = rotations[choices.below(rotations.len())];
                making.push(Node::Rotate { a, steps }, one - 1);
            }
            11 => making.push(Node::SwapRows { a }, one - 1),
            kind @ 12..=14 => {
                let values = if choices.chance(2) {
                    S::scalar(choices, plain_modulus)
                } else {
                    S::vector(choices, plain_modulus, slots)
                };
                let c = making.constant(values);
                let node = match kind {
                    12 => Node::Add { a: c, b: a },
                    13 => Node::Sub { a, b: c },
                    _ => Node::Sub { a: c, b: a },
                };
                making.push(node, one - 1);
            }
            15 | 16 if one <= depth => {
                let c = making.constant(S::vector(choices, plain_modulus, slots));
                making.push(Node::Mul { a, b: c }, one);
            }
            17 if one <= depth => {
                let c = making.constant(S::scalar(choices, plain_modulus));
                making.push(Node::Mul { a: c, b: a }, one);
            }
            _ => {}
        }
    }
    let mut outputs = vec![making.gather(choices)];
    if choices.chance(4) {
        outputs.push(making.operand(choices));
    }
    Asked { program: making.finish(magnitudes, outputs), inputs, others }
}

struct Making {
    nodes: Vec<Node>,
    depths: Vec<usize>,
    encrypted: Vec<usize>,
    unread: Vec<usize>,
}

impl Making {
    fn push(&mut self, node: Node, depth: usize) {
        self.unread.retain(|unread| operands(&node).iter().flatten().all(|read| read != unread));
        self.encrypted.push(self.nodes.len());
        self.unread.push(self.nodes.len());
        self.nodes.push(node);
        self.depths.push(depth);
    }

    fn constant(&mut self, values: Values) -> usize {
        self.nodes.push(Node::Constant { values });
        self.depths.push(0);
        self.nodes.len() - 1
    }

    /// Picks an encrypted node, preferably one that no other node reads yet, so that few nodes are useless.
    fn operand(&self, choices: &mut Choices) -> usize {
        if self.unread.is_empty() || choices.chance(3) {
            self.encrypted[choices.below(self.encrypted.len())]
        } else {
            self.unread[choices.below(self.unread.len())]
        }
    }

    /// Adds and subtracts all nodes that no other node reads yet: the result needs them all.
    fn gather(&mut self, choices: &mut Choices) -> usize {
        while let [a, b, ..] = *self.unread {
            let depth = self.depths[a].max(self.depths[b]);
            self.push(if choices.chance(2) { Node::Add { a, b } } else { Node::Sub { a, b } }, depth);
        }
        self.encrypted[self.encrypted.len() - 1]
    }

    /// Removes the nodes that no output needs; other engines would compute them.
    fn finish(self, magnitudes: Vec<f64>, outputs: Vec<usize>) -> Program {
        let mut needed = vec![false; self.nodes.len()];
        outputs.iter().for_each(|output| needed[*output] = true);
        for (index, node) in
            self.nodes.iter().enumerate().rev().filter(|(_, n)| !matches!(n, Node::Input { .. }))
        {
            if needed[index] {
                operands(node).into_iter().flatten().for_each(|operand| needed[operand] = true);
            }
        }
        let mut moved = vec![0; self.nodes.len()];
        let mut nodes = Vec::new();
        for (index, node) in self.nodes.into_iter().enumerate().filter(|(index, _)| needed[*index]) {
            moved[index] = nodes.len();
            nodes.push(renumbered(node, &moved));
        }
        let outputs = outputs.into_iter().map(|output| moved[output]).collect();
        Program { magnitudes, nodes, outputs }
    }
}

fn operands(node: &Node) -> [Option<usize>; 2] {
    match *node {
        Node::Input { .. } | Node::Constant { .. } => [None, None],
        Node::Neg { a } | Node::Rotate { a, .. } | Node::SwapRows { a } => [Some(a), None],
        Node::Add { a, b } | Node::Sub { a, b } | Node::Mul { a, b } => [Some(a), Some(b)],
    }
}

fn renumbered(node: Node, moved: &[usize]) -> Node {
    match node {
        Node::Input { .. } | Node::Constant { .. } => node,
        Node::Neg { a } => Node::Neg { a: moved[a] },
        Node::Rotate { a, steps } => Node::Rotate { a: moved[a], steps },
        Node::SwapRows { a } => Node::SwapRows { a: moved[a] },
        Node::Add { a, b } => Node::Add { a: moved[a], b: moved[b] },
        Node::Sub { a, b } => Node::Sub { a: moved[a], b: moved[b] },
        Node::Mul { a, b } => Node::Mul { a: moved[a], b: moved[b] },
    }
}
