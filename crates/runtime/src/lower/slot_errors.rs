//! Bounds on the errors of a CKKS plan's registers, derived from the randomness that its steps add ([`ErrorRules`]). They
//! are for the owner, who knows the plan.

use sotto_circuits::{ErrorRules, Errors, Event, KeyUse};
use sotto_program::{ConstantId, KeyNumber, Register, Step};
use sotto_rlwe::{Kept, Log2, Origin, Params, PlainSize, Shape};

use crate::step_rules::StepRules;

/// The errors of all registers of a plan under construction.
pub(super) struct SlotErrors {
    /// None for exact schemes, whose slots have no error.
    rules: Option<ErrorRules>,
    all: Vec<Errors>,
}

/// The shapes and key numbers of all registers.
pub(super) struct Registers<'a, S: StepRules> {
    pub(super) shapes: &'a [Shape<S>],
    pub(super) keys: &'a [KeyNumber],
}

impl SlotErrors {
    /// Starts with the errors of `inputs` inputs of this origin, expanded if `kept` is given.
    pub(super) fn new<S: StepRules>(
        params: &Params<S>,
        inputs: usize,
        origin: Origin,
        kept: Option<Kept>,
    ) -> Self {
        let Some(rules) = ErrorRules::new(params) else { return Self { rules: None, all: Vec::new() } };
        let expansion = kept.and_then(|kept| params.expansion_steps(kept).ok()).unwrap_or_default();
        // Inputs may be the same ciphertext twice.
        let fresh = || rules.fresh(origin, Event::new(), 0, None);
        let all = (0..inputs).map(|_| expanded(&rules, fresh(), params, &expansion)).collect();
        Self { rules: Some(rules), all }
    }

    /// Follows the steps that write the next registers. `plain` returns the sizes of constants.
    pub(super) fn follow<S: StepRules>(
        &mut self,
        params: &Params<S>,
        steps: impl Iterator<Item = Step>,
        registers: &Registers<'_, S>,
        plain: impl Fn(ConstantId) -> Option<PlainSize>,
    ) {
        let Some(rules) = &self.rules else { return };
        for step in steps {
            let shape = &registers.shapes[self.all.len()];
            let errors = after(rules, params, &step, &self.all, shape, registers, &plain);
            self.all.push(errors);
        }
    }

    /// Returns a bound on the error of a register's slots, or of its parts of `read` values. At most the shape's bound;
    /// 0 for exact schemes.
    pub(super) fn bound<S: StepRules>(
        &self,
        params: &Params<S>,
        register: Register,
        shape: &Shape<S>,
        read: Option<usize>,
    ) -> f64 {
        match &self.rules {
            Some(rules) => rules.slot_error(params, &self.all[register.index()], shape, read),
            None => shape.slot_error(params),
        }
    }

    /// Like [`bound`](Self::bound), for a register after the step that brings it to a lower level, where its shape is
    /// `lowered`.
    pub(super) fn lowered<S: StepRules>(
        &self,
        params: &Params<S>,
        of: Register,
        shapes: &[Shape<S>],
        lowered: &Shape<S>,
        read: Option<usize>,
    ) -> f64 {
        let Some(rules) = &self.rules else { return lowered.slot_error(params) };
        let mut errors = self.all[of.index()].clone();
        rules.lower(params, &mut errors, &shapes[of.index()], lowered);
        rules.slot_error(params, &errors, lowered, read)
    }
}

/// Returns the error of the next register, which `step` writes and whose shape is `shape`.
fn after<S: StepRules>(
    rules: &ErrorRules,
    params: &Params<S>,
    step: &Step,
    all: &[Errors],
    shape: &Shape<S>,
    &Registers { shapes, keys }: &Registers<'_, S>,
    plain: impl Fn(ConstantId) -> Option<PlainSize>,
) -> Errors {
    let of = step.operands().next().map_or(0, Register::index);
    let unknown = PlainSize { norm: Log2(f64::INFINITY), rms: Log2(f64::INFINITY), rounding: Log2::ZERO };
    let mut errors = all.get(of).cloned().unwrap_or_default();
    match *step {
        Step::Add(_, b) => rules.add(&mut errors, &all[b.index()]),
        Step::Sub(_, b) => rules.subtract(&mut errors, &all[b.index()]),
        Step::Negate(_) => rules.negate(&mut errors),
        Step::MultiplyMonomial(..) => rules.multiply_monomial(&mut errors),
        Step::AddPlain(_, constant) => {
            let rounding = plain(constant).map_or(unknown.norm, |size| size.rounding);
            rules.add_plain(&mut errors, PlainSize { rounding, ..unknown });
        }
        Step::MultiplyPlain(_, constant) => {
            rules.multiply_plain(&mut errors, &shapes[of], plain(constant).unwrap_or(unknown));
        }
        Step::MultiplyScalar(_, scalar) => rules.multiply_integer(&mut errors, scalar),
        Step::Multiply(a, b) => {
            let [a, b] = [a, b].map(|of| (&all[of.index()], &shapes[of.index()]));
            errors = rules.product(a, b);
        }
        Step::Relinearise(_) => rules.switch(params, &mut errors, shape.level, KeyUse::Relinearisation),
        Step::Rotate(_, by) => {
            rules.rotate(&mut errors, by);
            rules.switch(params, &mut errors, shape.level, KeyUse::Rotation(by));
        }
        Step::SwapRows(_) => {
            rules.rotate(&mut errors, 0);
            rules.switch(params, &mut errors, shape.level, KeyUse::Rows);
        }
        Step::SwitchKey(_) => {
            let key = keys.get(of).copied().unwrap_or(KeyNumber::ANSWER);
            rules.switch(params, &mut errors, shape.level, KeyUse::Transfer(u32::from(key.0)));
        }
        Step::DropModulus { count, .. } => {
            let before = &shapes[of];
            for dropped in 0..usize::from(count) {
                rules.drop_prime(params, &mut errors, before.level - dropped, before.components);
            }
        }
        Step::MatchScale { .. } => rules.lower(params, &mut errors, &shapes[of], shape),
        // Corrections of factors use the evaluator's bound; only exact schemes look up tables.
        Step::MatchFactor { .. } | Step::Table { .. } => errors = rules.unknown(shape, &errors),
        Step::Sign { .. } => rules.circuit(&mut errors, shape),
    }
    errors
}

/// Returns the error of an input after expansion. It is divided by 2^(number of rotations). Each step rotates or conjugates
/// it, which keeps absolute values, adds the result to it, and adds the noise of one key switch.
fn expanded<S: StepRules>(
    rules: &ErrorRules,
    mut errors: Errors,
    params: &Params<S>,
    steps: &[i32],
) -> Errors {
    let rotations = steps.iter().filter(|step| **step != 0).count();
    rules.divide(&mut errors, 1 << rotations);
    for step in steps {
        let mut moved = errors.clone();
        rules.rotate(&mut moved, *step);
        let key = if *step == 0 { KeyUse::Rows } else { KeyUse::Rotation(*step) };
        rules.switch(params, &mut moved, params.top_level(), key);
        rules.add(&mut errors, &moved);
    }
    errors
}
