//! The walk over a program, node by node.

use sotto_program::{
    LowerError, NodeId, Op, PlanOutput, Program, Register, SlotShape, Step, clear, magnitudes,
    slot_magnitudes,
};
use sotto_rlwe::{EvalError, Params, small_integer};

use super::builder::Builder;
use super::levels;
use super::merge::{Merged, merge};
use crate::constants::{Public, is_public, pair, public_values};
use crate::step_rules::{BEYOND_ONE, StepRules};

/// Lowers every encrypted node. Returns the outputs, merged if requested, before they are brought down.
pub(super) fn walk<S: StepRules>(
    builder: &mut Builder<'_, S>,
    program: &Program,
    shape: SlotShape,
    merged: &[Merged],
) -> Result<Vec<PlanOutput>, LowerError> {
    let modulus = S::EXACT.then(|| builder.params().plain_modulus());
    let values = public_values(program, shape, modulus).map_err(clear_refused)?;
    let encrypted = program.encrypted();
    if !S::EXACT {
        signs_within_range(program, shape)?;
    }
    let mut registers: Vec<Option<Register>> = vec![None; program.ops().len()];
    for (id, op) in program.nodes() {
        if is_public(&encrypted, id) {
            continue;
        }
        let register = node(builder, op, &registers, &values, &encrypted, shape)
            .map_err(|error| refused(&error, id, program, builder.params()))?;
        registers[id.index()] = Some(register);
    }
    let output = |(name, id): &(String, NodeId)| {
        let public = || LowerError::NotSupported {
            what: format!("the output {name}, which reads no encrypted input"),
            instead: "it can be computed in the clear".into(),
        };
        let register = registers[id.index()].ok_or_else(public)?;
        let register = builder
            .under_answers_key(register)
            .map_err(|error| refused(&error, *id, program, builder.params()))?;
        Ok(PlanOutput { name: name.clone(), register, form: None })
    };
    let outputs = program.outputs().iter().map(output).collect::<Result<Vec<_>, LowerError>>()?;
    if merged.is_empty() {
        return Ok(outputs);
    }
    let all: Result<_, _> = merged.iter().map(|merged| merge(builder, &outputs, merged)).collect();
    all.map_err(|error| refused(&error, last(program), program, builder.params()))
}

/// Refuses a sign of slots that may lie beyond ±1.
fn signs_within_range(program: &Program, shape: SlotShape) -> Result<(), LowerError> {
    let operands = || {
        program.nodes().filter_map(|(sign, op)| match op {
            Op::Sign { of, .. } => Some((sign, of)),
            _ => None,
        })
    };
    if operands().next().is_none() {
        return Ok(());
    }
    let beyond = |largest: Vec<f64>| {
        let mut all = operands().map(|(sign, of)| (sign, largest[of.index()]));
        all.find(|(_, largest)| *largest > 1.0 + BEYOND_ONE)
    };
    // Bounds by slot take longer, and are smaller where windows stand side by side.
    if beyond(magnitudes(program)).is_none() {
        return Ok(());
    }
    let Some((sign, largest)) = beyond(slot_magnitudes(program, shape)?) else { return Ok(()) };
    Err(LowerError::NotSupported {
        what: format!("at node {} the sign of values up to ±{largest:e}", sign.0),
        instead: "scale the operand to within ±1, or declare smaller inputs".into(),
    })
}

/// Returns the node of the last output.
pub(super) fn last(program: &Program) -> NodeId {
    program.outputs().last().map_or(NodeId(0), |(_, id)| *id)
}

fn node<S: StepRules>(
    builder: &mut Builder<'_, S>,
    op: Op,
    registers: &[Option<Register>],
    values: &[Option<Public>],
    encrypted: &[bool],
    shape: SlotShape,
) -> Result<Register, EvalError> {
    let at = |id: NodeId| registers[id.index()].ok_or(EvalError::MissingRegister { register: id.0 });
    let value = |id: NodeId| values[id.index()].as_ref().ok_or(EvalError::MissingRegister { register: id.0 });
    if let Some((a, b)) = pair(op) {
        return match (op, is_public(encrypted, a), is_public(encrypted, b)) {
            (Op::Mul(..), true, _) => times_public(builder, at(b)?, value(a)?),
            (Op::Mul(..), _, true) => times_public(builder, at(a)?, value(b)?),
            (Op::Mul(..), ..) => product(builder, at(a)?, at(b)?),
            (Op::Add(..), true, _) => plus_public(builder, at(b)?, value(a)?),
            (Op::Add(..), _, true) => plus_public(builder, at(a)?, value(b)?),
            (Op::Sub(..), _, true) => plus_public(builder, at(a)?, &value(b)?.negated()),
            (Op::Sub(..), true, _) => {
                let negated = builder.push(Step::Negate(at(b)?))?;
                plus_public(builder, negated, value(a)?)
            }
            (Op::Sub(..), ..) => {
                if at(a)? == at(b)? {
                    return Err(EvalError::Transparent);
                }
                let (left, right) = builder.under_one_key(at(a)?, at(b)?)?;
                let (left, right) = levels::before_sum(builder, left, right)?;
                builder.push(Step::Sub(left, right))
            }
            _ => {
                let (left, right) = builder.under_one_key(at(a)?, at(b)?)?;
                let (left, right) = levels::before_sum(builder, left, right)?;
                builder.push(Step::Add(left, right))
            }
        };
    }
    match op {
        Op::Input(id) => Ok(Register(id.0)),
        Op::Neg(a) => builder.push(Step::Negate(at(a)?)),
        Op::Rotate(a, steps) => {
            let columns = shape.columns as i32;
            match steps.rem_euclid(columns) {
                0 => at(a),
                // Rotate by the signed steps that were asked for, so that equal requests share a key.
                left => {
                    let by = if steps < 0 { left - columns } else { left };
                    let of = builder.under_answers_key(at(a)?)?;
                    builder.push(Step::Rotate(of, by))
                }
            }
        }
        Op::Table { of, values, first, count } => {
            let of = builder.under_answers_key(at(of)?)?;
            let Public(table) = value(values)?;
            let place = |place: usize| table.get(place).or(table.first()).copied().unwrap_or_default() as i64;
            let values = builder.table((0..count as usize).map(place).collect());
            builder.push(Step::Table { of, values, first })
        }
        Op::Sign { of, gap_bits } => {
            let of = builder.under_answers_key(at(of)?)?;
            builder.push(Step::Sign { of, gap_bits })
        }
        Op::Sum { .. } | Op::Constant(_) | Op::Add(..) | Op::Sub(..) | Op::Mul(..) => {
            // Unreachable: sums were expanded, constants are public, and pairs were handled above.
            Err(EvalError::MissingRegister { register: 0 })
        }
    }
}

fn product<S: StepRules>(
    builder: &mut Builder<'_, S>,
    a: Register,
    b: Register,
) -> Result<Register, EvalError> {
    let (a, b) = (builder.under_answers_key(a)?, builder.under_answers_key(b)?);
    let (a, b) = levels::before_product(builder, a, b)?;
    let tensor = builder.push(Step::Multiply(a, b))?;
    let relinearised = builder.push(Step::Relinearise(tensor))?;
    levels::after_product(builder, relinearised)
}

fn times_public<S: StepRules>(
    builder: &mut Builder<'_, S>,
    a: Register,
    value: &Public,
) -> Result<Register, EvalError> {
    if value.0.iter().all(|v| *v == 0.0) {
        return Err(EvalError::Transparent);
    }
    if let Some(scalar) = value.scalar().and_then(small_integer) {
        return builder.push(Step::MultiplyScalar(a, scalar));
    }
    let constant = builder.constant(value, builder.shape(a).level)?;
    let product = builder.push(Step::MultiplyPlain(a, constant))?;
    levels::after_product(builder, product)
}

fn plus_public<S: StepRules>(
    builder: &mut Builder<'_, S>,
    a: Register,
    value: &Public,
) -> Result<Register, EvalError> {
    let constant = builder.constant(value, builder.shape(a).level)?;
    builder.push(Step::AddPlain(a, constant))
}

fn clear_refused(error: clear::ClearError) -> LowerError {
    match error {
        clear::ClearError::Shape(error) => LowerError::Invalid(error),
        other => LowerError::NotSupported { what: other.to_string(), instead: "use CKKS for reals".into() },
    }
}

/// Translates a refusal of the evaluator to one of the planner.
pub(super) fn refused<S: StepRules>(
    error: &EvalError,
    at: NodeId,
    program: &Program,
    params: &Params<S>,
) -> LowerError {
    match error {
        EvalError::Noise { over } if !S::EXACT => LowerError::TooLarge {
            largest: magnitudes(program).get(at.index()).copied().unwrap_or(f64::INFINITY),
            declared: program.inputs().iter().map(|input| input.magnitude).fold(0.0, f64::max),
            bits_over: over.ceil(),
        },
        EvalError::Noise { over } => LowerError::NoiseExceeded { at, bits_over: *over },
        EvalError::Coarse { bits } => LowerError::Coarse { at, bits_over: *bits },
        EvalError::NoLevel { .. } => LowerError::TooDeep {
            levels_needed: program.depth().any,
            levels_available: params.top_level() as u32,
        },
        EvalError::NoSpecialPrime => LowerError::NotSupported {
            what: format!("a product, a rotation or a switch of keys at n = {}", params.degree()),
            instead: "take n of 4096 or more".into(),
        },
        other => LowerError::NotSupported { what: other.to_string(), instead: "change the program".into() },
    }
}
