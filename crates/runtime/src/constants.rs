//! Public values of a program and their encoding.

use sotto_circuits::Table;
use sotto_program::{
    ConstantId, NodeId, Op, PlainConstant, Program, ProgramError, ProgramParts, SlotShape, clear, limits,
};
use sotto_rlwe::{EncodeError, EvalError, Params, Plaintext, Scheme};

use crate::step_rules::StepRules;

/// A public value: one for all slots, or one per slot.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Public(pub(crate) Vec<f64>);

impl Public {
    /// Returns the value of all slots, if it is a single one.
    pub(crate) fn scalar(&self) -> Option<f64> {
        if let [value] = self.0.as_slice() { Some(*value) } else { None }
    }

    /// Returns the negative.
    pub(crate) fn negated(&self) -> Self {
        Self(self.0.iter().map(|v| -v).collect())
    }
}

/// Returns the value of every public node that an encrypted node reads, computed by the clear backend. Integers modulo
/// t are centred.
pub(crate) fn public_values(
    program: &Program,
    shape: SlotShape,
    modulus: Option<u64>,
) -> Result<Vec<Option<Public>>, clear::ClearError> {
    let encrypted = program.encrypted();
    let mut needed: Vec<NodeId> = program
        .nodes()
        .filter(|(id, _)| encrypted[id.index()])
        .flat_map(|(_, op)| op.operands().collect::<Vec<_>>())
        .filter(|id| !encrypted[id.index()])
        .collect();
    needed.sort_unstable();
    needed.dedup();
    let mut values = vec![None; program.ops().len()];
    for chunk in needed.chunks(limits::OUTPUTS) {
        let outputs = chunk.iter().map(|id| (format!("n{}", id.0), *id)).collect();
        let part = with_outputs(program, outputs).map_err(clear::ClearError::Shape)?;
        for (id, all) in chunk.iter().zip(run(&part, shape, modulus)?) {
            let same = all.windows(2).all(|pair| pair[0].to_bits() == pair[1].to_bits());
            values[id.index()] = Some(Public(if same { all[..1].to_vec() } else { all }));
        }
    }
    Ok(values)
}

fn with_outputs(program: &Program, outputs: Vec<(String, NodeId)>) -> Result<Program, ProgramError> {
    Program::new(ProgramParts { outputs, ..program.clone().into_parts() })
}

fn run(
    program: &Program,
    shape: SlotShape,
    modulus: Option<u64>,
) -> Result<Vec<Vec<f64>>, clear::ClearError> {
    let Some(t) = modulus else {
        return clear::run_real(program, &vec![Vec::new(); program.inputs().len()], shape);
    };
    let centred = |value: i128| {
        let t = i128::from(t);
        (if 2 * value >= t { value - t } else { value }) as f64
    };
    let outputs = clear::run_integer(program, &vec![Vec::new(); program.inputs().len()], shape, Some(t))?;
    Ok(outputs.into_iter().map(|values| values.into_iter().map(centred).collect()).collect())
}

/// The constants of a plan: as it says them, and as plaintexts.
pub(crate) struct Constants<'c, S: StepRules> {
    pub(crate) said: &'c [PlainConstant],
    pub(crate) encoded: &'c [Plaintext<S>],
}

impl<S: StepRules> Clone for Constants<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: StepRules> Copy for Constants<'_, S> {}

impl<S: StepRules> Constants<'_, S> {
    /// Returns the table of a step.
    pub(crate) fn table(&self, values: ConstantId, first: i32) -> Result<Table, EvalError> {
        let values = self.said.get(values.index()).map(|constant| constant.coefficients.clone());
        Table::new(first.into(), values.unwrap_or_default())
            .map_err(|_| EvalError::Unsupported { operation: "table", scheme: S::ID })
    }
}

/// Encodes integers below 2^53: a single one as a scalar, several in slots.
pub(crate) fn encode_integers<S: StepRules + Scheme<Value = i64>>(
    params: &Params<S>,
    values: &[f64],
    level: usize,
) -> Result<Plaintext<S>, EncodeError> {
    if let Some(index) = values.iter().position(|v| v.abs() >= (1u64 << 53) as f64 || v.fract() != 0.0) {
        return Err(EncodeError::OutOfRange { index, limit: (1u64 << 53) as f64 });
    }
    let integers: Vec<i64> = values.iter().map(|v| *v as i64).collect();
    match integers.as_slice() {
        [value] => S::encode_scalar(params, *value, level),
        values => S::encode_slots(params, values, level),
    }
}

/// Returns true if a node is public.
pub(crate) fn is_public(encrypted: &[bool], id: NodeId) -> bool {
    !encrypted[id.index()]
}

/// Returns both operands of a binary operation; None for other operations.
pub(crate) fn pair(op: Op) -> Option<(NodeId, NodeId)> {
    match op {
        Op::Add(a, b) | Op::Sub(a, b) | Op::Mul(a, b) => Some((a, b)),
        _ => None,
    }
}
