//! Translates the protocol's programs to ours.

use std::collections::BTreeSet;

use sotto_harness::protocol::{self, Node, Values};
use sotto_program::{Constant, NodeId, Op, Plan, Program, ProgramBuilder, Step};

use crate::error::EngineError;

/// A program of ours, with a rotation in place of each row swap.
///
/// Our programs have no row swap, but our plans do, and its shape equals a rotation's. So a swap is requested as a
/// rotation by a step that the program does not use, planned like one, and replaced in the plan.
#[derive(Clone, Debug)]
pub struct Translated {
    /// The request in our terms.
    pub program: Program,
    /// The step that stands for a row swap, if the program has one.
    swap: Option<i32>,
}

impl Translated {
    /// Replaces the stand-in rotations of a plan by row swaps.
    pub fn restore_swaps(&self, plan: &mut Plan) {
        let Some(swap) = self.swap else { return };
        for step in &mut plan.steps {
            if let Step::Rotate(of, steps) = step.step
                && steps == swap
            {
                step.step = Step::SwapRows(of);
            }
        }
        plan.keys = plan.keys_needed();
    }
}

/// Translates a program of the protocol, over slots of `columns` columns.
///
/// # Errors
/// `Request` if the program has no counterpart of ours, `Program` if ours is invalid.
pub fn translate(program: &protocol::Program, columns: usize) -> Result<Translated, EngineError> {
    let swap = swap_step(program, columns)?;
    let mut asked = ProgramBuilder::new();
    let inputs: Vec<_> = program
        .magnitudes
        .iter()
        .enumerate()
        .map(|(index, magnitude)| asked.declare(format!("i{index}"), *magnitude))
        .collect();
    let mut public = Vec::with_capacity(program.nodes.len());
    for node in &program.nodes {
        let at = |operand: usize| NodeId(u32::try_from(operand).unwrap_or(u32::MAX));
        public.push(matches!(node, Node::Constant { .. }));
        let op = match node {
            Node::Input { index } => {
                let missing = || EngineError::Request(format!("input {index} has no magnitude"));
                Op::Input(*inputs.get(*index).ok_or_else(missing)?)
            }
            Node::Constant { values } => {
                asked.constant(constant(values));
                continue;
            }
            Node::Add { a, b } => Op::Add(at(*a), at(*b)),
            Node::Sub { a, b } => Op::Sub(at(*a), at(*b)),
            Node::Mul { a, b } => Op::Mul(at(*a), at(*b)),
            Node::Neg { a } => Op::Neg(at(*a)),
            Node::Rotate { a, steps } => Op::Rotate(at(*a), *steps),
            Node::SwapRows { a } if public.get(*a) == Some(&true) => return Err(EngineError::Unsupported),
            Node::SwapRows { a } => Op::Rotate(at(*a), swap.unwrap_or_default()),
        };
        asked.push(op);
    }
    for (number, output) in program.outputs.iter().enumerate() {
        asked.output(format!("o{number}"), NodeId(u32::try_from(*output).unwrap_or(u32::MAX)));
    }
    Ok(Translated { program: asked.finish()?, swap })
}

fn constant(values: &Values) -> Constant {
    match values {
        Values::Integers(values) => {
            Constant::Integers(values.iter().map(|value| i128::from(*value)).collect())
        }
        Values::Reals(values) => Constant::Reals(values.clone()),
    }
}

/// Returns a step to the left that no rotation of the program uses. None if the program swaps no rows.
fn swap_step(program: &protocol::Program, columns: usize) -> Result<Option<i32>, EngineError> {
    if !program.nodes.iter().any(|node| matches!(node, Node::SwapRows { .. })) {
        return Ok(None);
    }
    let columns = i32::try_from(columns).unwrap_or(i32::MAX);
    let taken: BTreeSet<i32> = program
        .nodes
        .iter()
        .filter_map(|node| if let Node::Rotate { steps, .. } = node { Some(steps) } else { None })
        .map(|steps| steps.rem_euclid(columns))
        .collect();
    let free = (1..columns).rev().find(|step| !taken.contains(step));
    let none = || EngineError::Request("a program with a row swap cannot use every rotation step".to_owned());
    free.map(Some).ok_or_else(none)
}
