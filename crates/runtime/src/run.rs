//! Checks a plan and runs it.

use sotto_program::{PlainConstant, Plan, Step};
use sotto_rlwe::{
    Addend, Ciphertext, EvalError, EvaluationKeys, Evaluator, Log2, Multiplier, Params, Plaintext, Shape,
};

use crate::error::RunError;
use crate::manage::Managed;

/// Follows shapes only: validates the plan, its parameters, constants, keys, levels and noise. Gives the outputs' shapes.
/// Nothing is computed.
pub fn check<S: Managed>(
    plan: &Plan,
    params: &Params<S>,
    inputs: &[Shape<S>],
    keys: &EvaluationKeys<S>,
) -> Result<Vec<Shape<S>>, RunError> {
    checked(plan, params, inputs, keys).map(|checked| checked.outputs)
}

/// What a check leaves for the run.
struct Checked<S: Managed> {
    outputs: Vec<Shape<S>>,
    constants: Vec<Plaintext<S>>,
}

fn checked<S: Managed>(
    plan: &Plan,
    params: &Params<S>,
    inputs: &[Shape<S>],
    keys: &EvaluationKeys<S>,
) -> Result<Checked<S>, RunError> {
    plan.validate()?;
    if plan.parameter_id != params.id().0 {
        return Err(RunError::Parameters);
    }
    if plan.inputs.len() != inputs.len() {
        return Err(RunError::Inputs { expected: plan.inputs.len(), found: inputs.len() });
    }
    let constants = constants(plan, params)?;
    let mut shapes = inputs.to_vec();
    for (index, step) in plan.steps.iter().enumerate() {
        let refused = |error| RunError::Step { index, step: step.step.name(), error };
        key_for(&step.step, keys).map_err(refused)?;
        shapes.push(follow(params, &step.step, &shapes, &constants).map_err(refused)?);
    }
    let outputs = plan.outputs.iter().map(|output| shapes[output.register.index()]).collect();
    Ok(Checked { outputs, constants })
}

fn key_for<S: Managed>(step: &Step, keys: &EvaluationKeys<S>) -> Result<(), EvalError> {
    let missing = |what: String| Err(EvalError::MissingKey(what));
    match step {
        Step::Relinearise(_) if keys.relinearisation.is_none() => missing("relinearisation key".into()),
        Step::Rotate(_, steps) if !keys.can_rotate(*steps) => {
            missing(format!("Galois key of the rotation by {steps}"))
        }
        Step::SwapRows(_) if !keys.can_rotate(0) => missing("Galois key of the row swap".into()),
        _ => Ok(()),
    }
}

/// The plan's constants as plaintexts, exactly as they are written.
fn constants<S: Managed>(plan: &Plan, params: &Params<S>) -> Result<Vec<Plaintext<S>>, RunError> {
    let constant = |(index, constant): (usize, &PlainConstant)| {
        let refuse = |reason| Err(RunError::Constant { index, reason });
        let level = usize::from(constant.level);
        if constant.coefficients.len() > params.degree() {
            return refuse("more coefficients than the degree");
        }
        if level > params.top_level() {
            return refuse("no such level");
        }
        if constant.power != 1 {
            return refuse("constants are encoded at the first power of their level's scale");
        }
        let largest = constant.coefficients.iter().map(|c| c.unsigned_abs()).max().unwrap_or(0);
        if S::EXACT && largest > params.plain_modulus() {
            return refuse("a coefficient passes the plain modulus");
        }
        if largest >> 62 != 0 {
            return refuse("a coefficient passes 2^62");
        }
        Ok(Plaintext::from_coefficients(params, constant.coefficients.clone(), level, Log2::ZERO))
    };
    plan.constants.iter().enumerate().map(constant).collect()
}

/// The shape that a step gives.
pub(crate) fn follow<S: Managed>(
    params: &Params<S>,
    step: &Step,
    shapes: &[Shape<S>],
    constants: &[Plaintext<S>],
) -> Result<Shape<S>, EvalError> {
    let shape = |register: sotto_program::Register| &shapes[register.index()];
    let size = |constant: sotto_program::ConstantId| {
        let plain = &constants[constant.index()];
        (plain.level(), (plain.norm(), plain.rounding()))
    };
    match *step {
        Step::Add(a, b) | Step::Sub(a, b) => shape(a).add(params, shape(b)),
        Step::Negate(a) => Ok(*shape(a)),
        Step::AddPlain(a, c) => {
            let (level, bounds) = size(c);
            shape(a).add_plain(params, (level, S::addend_scaling(shape(a).scaling)), bounds)
        }
        Step::MultiplyPlain(a, c) => {
            let (level, bounds) = size(c);
            shape(a).multiply_plain(params, level, bounds)
        }
        Step::MultiplyScalar(a, scalar) => shape(a).multiply_scalar(params, scalar),
        Step::Multiply(a, b) => shape(a).multiply(params, shape(b)),
        Step::Relinearise(a) => shape(a).relinearise(params),
        Step::DropModulus { of, count } => {
            (0..count).try_fold(*shape(of), |shape, _| shape.drop_prime(params))
        }
        Step::Rotate(a, steps) => shape(a).rotate(params, steps),
        Step::SwapRows(a) => shape(a).rotate(params, 0),
        Step::MatchScale { of, .. } | Step::MatchFactor { of, .. } => S::follow_own(params, step, shape(of)),
    }
}

/// Checks the plan and runs it; outputs in the plan's order.
pub fn run<S: Managed>(
    plan: &Plan,
    evaluator: &Evaluator<S>,
    inputs: Vec<Ciphertext<S>>,
    keys: &EvaluationKeys<S>,
) -> Result<Vec<Ciphertext<S>>, RunError> {
    let params = evaluator.params();
    let shapes: Vec<Shape<S>> = inputs.iter().map(|c| *c.shape()).collect();
    let constants = checked(plan, params, &shapes, keys)?.constants;
    let last_use = last_uses(plan);
    let mut registers: Vec<Option<Ciphertext<S>>> = inputs.into_iter().map(Some).collect();
    for (index, step) in plan.steps.iter().enumerate() {
        let refused = |error| RunError::Step { index, step: step.step.name(), error };
        let result = execute(evaluator, &step.step, &registers, &constants, keys).map_err(refused)?;
        registers.push(Some(result));
        for register in step.step.operands().chain([step.output]) {
            if last_use[register.index()] == Some(index) {
                registers[register.index()] = None;
            }
        }
    }
    let missing = || RunError::Inputs { expected: plan.inputs.len(), found: 0 };
    plan.outputs.iter().map(|output| registers[output.register.index()].clone().ok_or_else(missing)).collect()
}

/// The step after which each register is no longer needed: the one that reads it last, or writes it where nobody reads it. None
/// for outputs, which stay.
fn last_uses(plan: &Plan) -> Vec<Option<usize>> {
    let mut last = vec![None; plan.inputs.len() + plan.steps.len()];
    for (index, step) in plan.steps.iter().enumerate() {
        step.step.operands().chain([step.output]).for_each(|register| last[register.index()] = Some(index));
    }
    plan.outputs.iter().for_each(|output| last[output.register.index()] = None);
    last
}

fn execute<S: Managed>(
    evaluator: &Evaluator<S>,
    step: &Step,
    registers: &[Option<Ciphertext<S>>],
    constants: &[Plaintext<S>],
    keys: &EvaluationKeys<S>,
) -> Result<Ciphertext<S>, EvalError> {
    let params = evaluator.params();
    let at = |register: sotto_program::Register| {
        registers[register.index()].as_ref().ok_or(EvalError::MissingRegister { register: register.0 })
    };
    match *step {
        Step::Add(a, b) => evaluator.add(at(a)?, at(b)?),
        Step::Sub(a, b) => evaluator.subtract(at(a)?, at(b)?),
        Step::Negate(a) => evaluator.negate(at(a)?),
        Step::AddPlain(a, c) => {
            let (a, plain) = (at(a)?, &constants[c.index()]);
            evaluator.add_plain(
                a,
                &Addend::new(params, plain, plain.level(), S::addend_scaling(a.shape().scaling)),
            )
        }
        Step::MultiplyPlain(a, c) => {
            let plain = &constants[c.index()];
            evaluator.multiply_plain(at(a)?, &Multiplier::new(params, plain, plain.level()))
        }
        Step::MultiplyScalar(a, scalar) => evaluator.multiply_scalar(at(a)?, scalar),
        Step::Multiply(a, b) => evaluator.multiply(at(a)?, at(b)?),
        Step::Relinearise(a) => evaluator.relinearise(at(a)?, keys),
        Step::DropModulus { of, count } => {
            let mut result = evaluator.drop_modulus(at(of)?)?;
            for _ in 1..count {
                result = evaluator.drop_modulus(&result)?;
            }
            Ok(result)
        }
        Step::Rotate(a, steps) => evaluator.rotate(at(a)?, steps, keys),
        Step::SwapRows(a) => evaluator.swap_rows(at(a)?, keys),
        Step::MatchScale { of, .. } | Step::MatchFactor { of, .. } => S::run_own(evaluator, step, at(of)?),
    }
}
