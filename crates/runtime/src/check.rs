//! Checks of a plan that follow shapes and compute nothing.

use sotto_program::{OutputForm, PlainConstant, Plan, PlanOutput, PlanStep, Register, Step};
use sotto_ring::Wiped;
use sotto_rlwe::{
    Automorphism, EvalError, EvaluationKeys, KeyId, Log2, Params, Plaintext, Reduction, Selection, Shape,
};

use crate::constants::Constants;
use crate::error::RunError;
use crate::input_keys;
use crate::memory::Memory;
use crate::step_rules::StepRules;

/// Results of a check that the run uses.
pub(crate) struct Checked<S: StepRules> {
    pub(crate) outputs: Vec<Shape<S>>,
    pub(crate) constants: Vec<Plaintext<S>>,
    pub(crate) memory: Memory,
}

pub(crate) fn checked<S: StepRules>(
    plan: &Plan,
    params: &Params<S>,
    inputs: &[(KeyId, Shape<S>)],
    keys: &EvaluationKeys<S>,
    most_bytes: u64,
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
    let both = Constants { said: &plan.constants, encoded: &constants };
    let mut shapes: Vec<Shape<S>> = inputs.iter().map(|(_, shape)| *shape).collect();
    for (index, step) in plan.steps.iter().enumerate() {
        let refused = |error| RunError::Step { index, step: step.step.name(), error };
        key_for(&step.step, keys, key_of).map_err(refused)?;
        shapes.push(match looked_up(&step.step, &plan.steps[..index], &shapes) {
            Some(output) => shapes[output.index()],
            None => follow(params, &step.step, &shapes, both).map_err(refused)?,
        });
    }
    let memory = Memory::of(plan, params, &shapes, &constants);
    if memory.peak > most_bytes {
        return Err(RunError::Memory { needed: memory.peak, most: most_bytes });
    }
    let outputs = plan.outputs.iter().map(|output| {
        let shape = shapes[output.register.index()];
        let Some(reduction) = reduction(output) else { return Ok(shape) };
        let refused = |error| RunError::Output { output: output.name.clone(), error };
        shape.reduced(params, reduction).map_err(refused)
    });
    let outputs = outputs.collect::<Result<_, _>>()?;
    Ok(Checked { outputs, constants, memory })
}

/// Returns the reduction of an output; None if the output is a whole ciphertext.
pub fn reduction(output: &PlanOutput) -> Option<Reduction> {
    output.form.map(|OutputForm { width, spacing, count }| Reduction {
        width: width.into(),
        selection: Selection { spacing: spacing as usize, count: count as usize },
    })
}

/// Checks that the evaluation key of a step exists, given the secret key of each register.
fn key_for<S: StepRules>(
    step: &Step,
    keys: &EvaluationKeys<S>,
    key_of: impl Fn(Register) -> KeyId,
) -> Result<(), EvalError> {
    let missing = |what: String| Err(EvalError::MissingKey(what));
    let galois_key = |of: Automorphism| match keys.can_rotate(of) {
        true => Ok(()),
        false => Err(EvalError::missing_galois_key(of)),
    };
    match step {
        Step::Relinearise(_) | Step::Table { .. } | Step::Sign { .. } if keys.relinearisation.is_none() => {
            missing("relinearisation key".into())
        }
        Step::Rotate(_, steps) => galois_key(Automorphism::Rotation(*steps)),
        Step::SwapRows(_) => galois_key(Automorphism::SwapRows),
        Step::SwitchKey(a) if !keys.transfers.contains_key(&key_of(*a)) => {
            missing(format!("transfer key from {} to {}", key_of(*a), keys.key))
        }
        _ => Ok(()),
    }
}

/// Converts the plan's constants to plaintexts, without any rounding.
fn constants<S: StepRules>(plan: &Plan, params: &Params<S>) -> Result<Vec<Plaintext<S>>, RunError> {
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
        Ok(Plaintext::from_coefficients(params, Wiped::copy(&constant.coefficients), level, Log2::ZERO))
    };
    plan.constants.iter().enumerate().map(constant).collect()
}

/// Returns the register of an earlier look-up in the same table, or sign with the same gap, whose operand has an equal
/// shape: its result has the shape of this step's result. Following one takes as long as a hundred other steps.
pub(crate) fn looked_up<S: StepRules>(
    step: &Step,
    earlier: &[PlanStep],
    shapes: &[Shape<S>],
) -> Option<Register> {
    if !matches!(step, Step::Table { .. } | Step::Sign { .. }) {
        return None;
    }
    let alike = |a: Register, b: Register| {
        let (a, b) = (&shapes[a.index()], &shapes[b.index()]);
        (a.level, a.components, a.scaling) == (b.level, b.components, b.scaling)
            && (&a.noise, &a.estimate) == (&b.noise, &b.estimate)
    };
    let same = earlier.iter().find(|written| match (*step, written.step) {
        (Step::Table { of, values, first }, Step::Table { of: known, values: table, first: begin }) => {
            (values, first) == (table, begin) && alike(of, known)
        }
        (Step::Sign { of, gap_bits }, Step::Sign { of: known, gap_bits: gap }) => {
            gap_bits == gap && alike(of, known)
        }
        _ => false,
    });
    same.map(|written| written.output)
}

/// Returns the shape of a step's result.
pub(crate) fn follow<S: StepRules>(
    params: &Params<S>,
    step: &Step,
    shapes: &[Shape<S>],
    constants: Constants<'_, S>,
) -> Result<Shape<S>, EvalError> {
    let shape = |register: Register| &shapes[register.index()];
    let size = |constant: sotto_program::ConstantId| {
        let plain = &constants.encoded[constant.index()];
        (plain.level(), plain.size())
    };
    match *step {
        Step::Add(a, b) if a == b => shape(a).double(params),
        Step::Add(a, b) | Step::Sub(a, b) => shape(a).add(params, shape(b)),
        Step::Negate(a) => Ok(*shape(a)),
        Step::MultiplyMonomial(a, power) => shape(a).multiply_monomial(params, power as usize),
        Step::AddPlain(a, c) => {
            let (level, size) = size(c);
            shape(a).add_plain(params, level, S::addend_scaling(shape(a).scaling), size)
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
        Step::Table { of, values, first } => {
            S::follow_table(params, &constants.table(values, first)?, shape(of))
        }
        Step::Sign { of, gap_bits } => S::follow_sign(params, gap_bits, shape(of)),
        Step::MatchScale { of, .. } | Step::MatchFactor { of, .. } => S::follow_own(params, step, shape(of)),
    }
}
