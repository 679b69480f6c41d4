//! Validation of a plan without parameters.

use alloc::collections::BTreeSet;
use alloc::string::String;

use super::{Plan, PlanError, Register, Step, key_check};
use crate::{ConstantId, is_name, limits, text};

fn at_most(what: &'static str, count: usize, limit: usize) -> Result<(), PlanError> {
    if count > limit { Err(PlanError::TooMany { what, count, limit }) } else { Ok(()) }
}

fn names<'a>(what: &'static str, all: impl Iterator<Item = &'a String>) -> Result<(), PlanError> {
    let mut seen = BTreeSet::new();
    for name in all {
        if !is_name(name) {
            return Err(PlanError::Name { what, name: text::excerpt(name) });
        }
        if !seen.insert(name) {
            return Err(PlanError::DuplicateName { what, name: name.clone() });
        }
    }
    if seen.is_empty() { Err(PlanError::None { what }) } else { Ok(()) }
}

pub(super) fn plan(plan: &Plan) -> Result<(), PlanError> {
    at_most("inputs", plan.inputs.len(), limits::INPUTS)?;
    at_most("constants", plan.constants.len(), limits::PLAN_CONSTANTS)?;
    at_most("steps", plan.steps.len(), limits::STEPS)?;
    at_most("outputs", plan.outputs.len(), limits::OUTPUTS)?;
    names("input", plan.inputs.iter().map(|input| &input.name))?;
    names("output", plan.outputs.iter().map(|output| &output.name))?;
    constants(plan)?;

    // Number of components of each register written so far.
    let mut components = vec![2; plan.inputs.len()];
    for (index, written) in plan.steps.iter().enumerate() {
        let expected = plan.register_of_step(index);
        if written.output != expected {
            return Err(PlanError::Output { step: index, expected, found: written.output });
        }
        components.push(step(plan, index, &written.step, &components)?);
    }
    for output in &plan.outputs {
        let Some(components) = components.get(output.register.index()) else {
            return Err(PlanError::MissingOutput { name: output.name.clone(), register: output.register });
        };
        if output.form.is_some_and(|form| !form.is_valid() || *components != 2) {
            return Err(PlanError::OutputForm { name: output.name.clone() });
        }
    }
    key_check::check(plan)?;
    if plan.keys != plan.keys_needed() {
        return Err(PlanError::Keys);
    }
    if plan.predicted.noise_bits_left.is_finite() { Ok(()) } else { Err(PlanError::Predicted) }
}

fn constants(plan: &Plan) -> Result<(), PlanError> {
    let mut total = 0;
    for (index, constant) in plan.constants.iter().enumerate() {
        let coefficients = constant.coefficients.len();
        if !(1..=limits::COEFFICIENTS).contains(&coefficients) {
            return Err(PlanError::Constant { constant: ConstantId::at(index), coefficients });
        }
        total += coefficients; // at most 4096 · 131072
    }
    at_most("coefficients of constants", total, limits::TOTAL_COEFFICIENTS)
}

/// Checks a step against the registers before it. Returns the number of components of its result.
fn step(plan: &Plan, index: usize, step: &Step, components: &[u8]) -> Result<u8, PlanError> {
    let of = |register: Register| {
        let known = components.get(register.index()).copied();
        known.ok_or(PlanError::Operand { step: index, register })
    };
    let exactly = |expected: u8, register: Register| {
        let found = of(register)?;
        if found == expected {
            Ok(())
        } else {
            Err(PlanError::Components { step: index, register, expected, found })
        }
    };
    let amount = |possible: bool, by: i64| {
        if possible { Ok(()) } else { Err(PlanError::Amount { step: index, what: step.name(), by }) }
    };
    if let Some(constant) = step.constant()
        && constant.index() >= plan.constants.len()
    {
        return Err(PlanError::MissingConstant { step: index, constant });
    }
    match *step {
        Step::Add(a, b) | Step::Sub(a, b) => Ok(of(a)?.max(of(b)?)),
        Step::Negate(a)
        | Step::AddPlain(a, _)
        | Step::MultiplyPlain(a, _)
        | Step::MultiplyScalar(a, _)
        | Step::MatchScale { of: a, .. } => of(a),
        Step::Multiply(a, b) => exactly(2, a).and_then(|()| exactly(2, b)).map(|()| 3),
        Step::Relinearise(a) => exactly(3, a).map(|()| 2),
        Step::DropModulus { of: a, count } => amount(count > 0, i64::from(count)).and_then(|()| of(a)),
        Step::MatchFactor { of: a, scalar } => amount(scalar != 0, scalar).and_then(|()| of(a)),
        Step::MultiplyMonomial(a, power) => {
            amount((1..limits::COEFFICIENTS).contains(&(power as usize)), i64::from(power))?;
            of(a)
        }
        Step::Rotate(a, by) => {
            amount((1..=limits::ROTATION).contains(&by.unsigned_abs()), i64::from(by))?;
            exactly(2, a).map(|()| 2)
        }
        Step::SwapRows(a) | Step::SwitchKey(a) => exactly(2, a).map(|()| 2),
        Step::Table { of: a, values, .. } => {
            let count = plan.constants[values.index()].coefficients.len();
            let possible = u32::try_from(count).is_ok_and(|count| limits::TABLE.contains(&count));
            amount(possible, count as i64)?;
            exactly(2, a).map(|()| 2)
        }
        Step::Sign { of: a, gap_bits } => {
            amount(limits::GAP_BITS.contains(&gap_bits), gap_bits.into())?;
            exactly(2, a).map(|()| 2)
        }
    }
}
