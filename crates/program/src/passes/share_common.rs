//! The pass that shares equal nodes.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::Rewrite;
use crate::{ConstantId, NodeId, Op, Program};

/// Shares equal constants and equal operations on equal nodes. `a + b` equals `b + a`, and `a · b` equals `b · a`.
#[must_use]
pub fn share_common(program: &Program) -> Program {
    let mut first_constant: BTreeMap<(bool, Vec<i128>), ConstantId> = BTreeMap::new();
    let same: Vec<ConstantId> = program
        .constants()
        .iter()
        .enumerate()
        .map(|(index, constant)| *first_constant.entry(constant.key()).or_insert(ConstantId::at(index)))
        .collect();

    let mut rewrite = Rewrite::of(program.parts());
    let mut first: BTreeMap<Op, NodeId> = BTreeMap::new();
    for op in program.ops() {
        let op = match rewrite.moved(*op) {
            Op::Constant(id) => Op::Constant(same[id.index()]),
            op => op,
        };
        let key = match op {
            Op::Add(a, b) if b < a => Op::Add(b, a),
            Op::Mul(a, b) if b < a => Op::Mul(b, a),
            op => op,
        };
        let stands_for = *first.entry(key).or_insert_with(|| rewrite.push(op));
        rewrite.stands_for.push(stands_for);
    }
    Program::from_pass(rewrite.finish(program.parts()))
}
