//! Checks a plan and runs it.

use sotto_program::{PlainConstant, Plan, Register, Step};
use sotto_ring::Scratch;
use sotto_rlwe::{
    Addend, Ciphertext, EvalError, EvaluationKeys, Evaluator, KeyId, Log2, Multiplier, Params, Plaintext,
    Shape,
};

use crate::error::RunError;
use crate::input_keys;
use crate::manage::Managed;

/// Follows shapes only: validates the plan, its parameters, constants, keys, levels and noise, for inputs under these keys and
/// of these shapes. The answer is under the key that `keys` belong to. Gives the outputs' shapes. Nothing is computed.
pub fn check<S: Managed>(
    plan: &Plan,
    params: &Params<S>,
    inputs: &[(KeyId, Shape<S>)],
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
    inputs: &[(KeyId, Shape<S>)],
    keys: &EvaluationKeys<S>,
) -> Result<Checked<S>, RunError> {
    plan.validate()?;
    if plan.parameter_id != params.id().0 {
        return Err(RunError::Parameters);
    }
    if plan.inputs.len() != inputs.len() {
        return Err(RunError::Inputs { expected: plan.inputs.len(), found: inputs.len() });
    }
    let bound = input_keys::bind(plan, keys.key, inputs.iter().map(|(key, _)| *key))?;
    let register_keys = plan.register_keys();
    let key_of = |register: Register| bound[register_keys[register.index()].index()];
    let constants = constants(plan, params)?;
    let mut shapes: Vec<Shape<S>> = inputs.iter().map(|(_, shape)| *shape).collect();
    for (index, step) in plan.steps.iter().enumerate() {
        let refused = |error| RunError::Step { index, step: step.step.name(), error };
        key_for(&step.step, keys, key_of).map_err(refused)?;
        shapes.push(follow(params, &step.step, &shapes, &constants).map_err(refused)?);
    }
    let outputs = plan.outputs.iter().map(|output| shapes[output.register.index()]).collect();
    Ok(Checked { outputs, constants })
}

/// Whether the key that a step takes is there, given the secret key of each register.
fn key_for<S: Managed>(
    step: &Step,
    keys: &EvaluationKeys<S>,
    key_of: impl Fn(Register) -> KeyId,
) -> Result<(), EvalError> {
    let missing = |what: String| Err(EvalError::MissingKey(what));
    match step {
        Step::Relinearise(_) if keys.relinearisation.is_none() => missing("relinearisation key".into()),
        Step::Rotate(_, steps) if !keys.can_rotate(*steps) => {
            missing(format!("Galois key of the rotation by {steps}"))
        }
        Step::SwapRows(_) if !keys.can_rotate(0) => missing("Galois key of the row swap".into()),
        Step::SwitchKey(a) if !keys.transfers.contains_key(&key_of(*a)) => {
            missing(format!("transfer key from {} to {}", key_of(*a), keys.key))
        }
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
    let shape = |register: Register| &shapes[register.index()];
    let size = |constant: sotto_program::ConstantId| {
        let plain = &constants[constant.index()];
        (plain.level(), plain.size())
    };
    match *step {
        Step::Add(a, b) if a == b => shape(a).double(params),
        Step::Add(a, b) | Step::Sub(a, b) => shape(a).add(params, shape(b)),
        Step::Negate(a) => Ok(*shape(a)),
        Step::AddPlain(a, c) => {
            let (level, size) = size(c);
            shape(a).add_plain(params, (level, S::addend_scaling(shape(a).scaling)), size)
        }
        Step::MultiplyPlain(a, c) => {
            let (level, size) = size(c);
            shape(a).multiply_plain(params, level, size)
        }
        Step::MultiplyScalar(a, scalar) => shape(a).multiply_scalar(params, scalar),
        Step::Multiply(a, b) if a == b => shape(a).square(params),
        Step::Multiply(a, b) => shape(a).multiply(params, shape(b)),
        Step::Relinearise(a) => shape(a).relinearise(params),
        Step::DropModulus { of, count } => {
            (0..count).try_fold(*shape(of), |shape, _| shape.drop_prime(params))
        }
        Step::Rotate(a, steps) => shape(a).rotate(params, steps),
        Step::SwapRows(a) => shape(a).rotate(params, 0),
        Step::SwitchKey(a) => shape(a).switch_key(params),
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
    let given: Vec<(KeyId, Shape<S>)> = inputs.iter().map(|c| (c.key(), *c.shape())).collect();
    let constants = checked(plan, params, &given, keys)?.constants;
    let last_use = last_uses(plan);
    let mut registers: Vec<Option<Ciphertext<S>>> = inputs.into_iter().map(Some).collect();
    // Registers that are no longer needed give their memory to those that come.
    let mut scratch = Scratch::new();
    for (index, step) in plan.steps.iter().enumerate() {
        let refused = |error| RunError::Step { index, step: step.step.name(), error };
        let result = execute(evaluator, &step.step, &registers, &constants, keys, &mut scratch);
        registers.push(Some(result.map_err(refused)?));
        for register in step.step.operands().chain([step.output]) {
            if last_use[register.index()] == Some(index)
                && let Some(spent) = registers[register.index()].take()
            {
                evaluator.recycle(spent, &mut scratch);
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
    scratch: &mut Scratch,
) -> Result<Ciphertext<S>, EvalError> {
    let params = evaluator.params();
    let at = |register: Register| {
        registers[register.index()].as_ref().ok_or(EvalError::MissingRegister { register: register.0 })
    };
    // What is done in place is done to a copy of the first operand.
    let of = match *step {
        Step::Multiply(a, b) => return evaluator.multiply_with(at(a)?, at(b)?, scratch),
        Step::Rotate(a, steps) => return evaluator.rotate_with(at(a)?, steps, keys, scratch),
        Step::SwapRows(a) => return evaluator.swap_rows_with(at(a)?, keys, scratch),
        Step::SwitchKey(a) => return evaluator.switch_key_with(at(a)?, keys, scratch),
        Step::MatchScale { of, .. } | Step::MatchFactor { of, .. } => {
            return S::run_own(evaluator, step, at(of)?);
        }
        Step::Add(a, _)
        | Step::Sub(a, _)
        | Step::Negate(a)
        | Step::AddPlain(a, _)
        | Step::MultiplyPlain(a, _)
        | Step::MultiplyScalar(a, _)
        | Step::Relinearise(a)
        | Step::DropModulus { of: a, .. } => at(a)?,
    };
    let mut result = evaluator.copy_with(of, scratch);
    match *step {
        Step::Add(_, b) => evaluator.add_assign(&mut result, at(b)?, scratch)?,
        Step::Sub(_, b) => evaluator.subtract_assign(&mut result, at(b)?, scratch)?,
        Step::Negate(_) => evaluator.negate_assign(&mut result)?,
        Step::AddPlain(_, c) => {
            let (plain, scaling) = (&constants[c.index()], S::addend_scaling(of.shape().scaling));
            evaluator.add_plain_assign(&mut result, &Addend::new(params, plain, plain.level(), scaling))?;
        }
        Step::MultiplyPlain(_, c) => {
            let plain = &constants[c.index()];
            evaluator.multiply_plain_assign(&mut result, &Multiplier::new(params, plain, plain.level()))?;
        }
        Step::MultiplyScalar(_, scalar) => evaluator.multiply_scalar_assign(&mut result, scalar)?,
        Step::Relinearise(_) => evaluator.relinearise_assign(&mut result, keys, scratch)?,
        Step::DropModulus { count, .. } => {
            (0..count).try_for_each(|_| evaluator.drop_modulus_assign(&mut result, scratch))?;
        }
        // Returned above.
        _ => {}
    }
    Ok(result)
}
