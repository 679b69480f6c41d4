//! A plan under construction: its steps, and the shape of every register.

use std::collections::HashMap;

use sotto_program::{ConstantId, KeyNumber, PlainConstant, PlanStep, Register, Step};
use sotto_ring::Wiped;
use sotto_rlwe::{EvalError, Kept, Log2, Origin, Params, Plaintext, Shape};

use super::slot_errors::{Registers, SlotErrors};
use crate::check::{follow, looked_up};
use crate::constants::{Constants, Public};
use crate::step_rules::StepRules;

/// Collects steps, follows shapes with the evaluator's rules, and writes equal steps once.
pub(crate) struct Builder<'p, S: StepRules> {
    params: &'p Params<S>,
    inputs: usize,
    shapes: Vec<Shape<S>>,
    keys: Vec<KeyNumber>,
    steps: Vec<PlanStep>,
    known: HashMap<Step, Register>,
    constants: Vec<PlainConstant>,
    plaintexts: Vec<Plaintext<S>>,
    encoded: HashMap<(usize, Vec<u64>), ConstantId>,
    tables: Vec<ConstantId>,
}

impl<'p, S: StepRules> Builder<'p, S> {
    pub(super) fn new(params: &'p Params<S>, inputs: Vec<(KeyNumber, Shape<S>)>) -> Self {
        let (keys, shapes): (Vec<_>, Vec<_>) = inputs.into_iter().unzip();
        Self {
            params,
            inputs: keys.len(),
            shapes,
            keys,
            steps: Vec::new(),
            known: HashMap::new(),
            constants: Vec::new(),
            plaintexts: Vec::new(),
            encoded: HashMap::new(),
            tables: Vec::new(),
        }
    }

    /// Returns the parameters.
    pub(super) fn params(&self) -> &'p Params<S> {
        self.params
    }

    pub(super) fn shape(&self, register: Register) -> &Shape<S> {
        &self.shapes[register.index()]
    }

    /// Appends a step, or returns the register of an equal earlier step.
    ///
    /// # Errors
    /// [`EvalError`] if the step is not allowed on the shapes of its operands.
    pub(super) fn push(&mut self, step: Step) -> Result<Register, EvalError> {
        if let Some(register) = self.known.get(&step) {
            return Ok(*register);
        }
        let constants = Constants { said: &self.constants, encoded: &self.plaintexts };
        let shape = self.shape_after(&step, constants)?;
        let output = Register((self.inputs + self.steps.len()) as u32);
        self.shapes.push(shape);
        self.keys.push(match step {
            Step::SwitchKey(_) => KeyNumber::ANSWER,
            _ => step.operands().next().map_or(KeyNumber::ANSWER, |of| self.keys[of.index()]),
        });
        self.steps.push(PlanStep { step, output });
        self.known.insert(step, output);
        Ok(output)
    }

    /// Brings a register to a lower level without changing its message.
    ///
    /// # Errors
    /// [`EvalError`] if the register cannot be brought to this level.
    pub(super) fn lower(&mut self, mut of: Register, level: usize) -> Result<Register, EvalError> {
        while self.shape(of).level > level {
            of = self.push(S::towards(of, level))?;
        }
        Ok(of)
    }

    /// Returns the shape after a step. Look-ups of alike operands in one table have alike shapes, and are followed once; so
    /// are signs.
    fn shape_after(&self, step: &Step, constants: Constants<'_, S>) -> Result<Shape<S>, EvalError> {
        match looked_up(step, &self.steps, &self.shapes) {
            Some(output) => Ok(*self.shape(output)),
            None => follow(self.params, step, &self.shapes, constants),
        }
    }

    /// Adds a table of whole numbers, or returns an equal earlier one.
    pub(super) fn table(&mut self, values: Vec<i64>) -> ConstantId {
        let known = self.tables.iter().find(|id| self.constants[id.0 as usize].coefficients == values);
        if let Some(id) = known {
            return *id;
        }
        let id = ConstantId(self.constants.len() as u32);
        self.plaintexts.push(Plaintext::from_coefficients(self.params, Wiped::copy(&values), 0, Log2::ZERO));
        self.constants.push(PlainConstant { coefficients: values, level: 0, power: 1 });
        self.tables.push(id);
        id
    }

    /// Returns the register under the answer's key. Switches a foreign one, at most once.
    pub(super) fn under_answers_key(&mut self, of: Register) -> Result<Register, EvalError> {
        if self.keys[of.index()].is_foreign() { self.push(Step::SwitchKey(of)) } else { Ok(of) }
    }

    /// Brings two registers under one key: unchanged if their keys are equal, else both under the answer's key.
    pub(super) fn under_one_key(
        &mut self,
        a: Register,
        b: Register,
    ) -> Result<(Register, Register), EvalError> {
        if self.keys[a.index()] == self.keys[b.index()] {
            return Ok((a, b));
        }
        Ok((self.under_answers_key(a)?, self.under_answers_key(b)?))
    }

    /// Encodes a constant for a level, or returns an equal earlier one.
    pub(super) fn constant(&mut self, value: &Public, level: usize) -> Result<ConstantId, EvalError> {
        let key = (level, value.0.iter().map(|v| v.to_bits()).collect());
        if let Some(id) = self.encoded.get(&key) {
            return Ok(*id);
        }
        let plain = S::encode(self.params, &value.0, level)?;
        let used = plain.coefficients().iter().rposition(|c| *c != 0).map_or(1, |last| last + 1);
        let coefficients = plain.coefficients()[..used.min(plain.coefficients().len())].to_vec();
        let id = ConstantId(self.constants.len() as u32);
        self.constants.push(PlainConstant { coefficients, level: level as u8, power: 1 });
        self.plaintexts.push(plain);
        self.encoded.insert(key, id);
        Ok(id)
    }

    /// Returns bounds on the slot errors of all registers, for inputs of this origin, expanded if
    /// `kept` is given.
    pub(super) fn slot_errors(&self, origin: Origin, kept: Option<Kept>) -> SlotErrors {
        let mut errors = SlotErrors::new(self.params, self.inputs, origin, kept);
        self.follow_errors(&mut errors, 0);
        errors
    }

    /// Adds the errors of the steps from number `from` on.
    pub(super) fn follow_errors(&self, errors: &mut SlotErrors, from: usize) {
        let steps = self.steps[from..].iter().map(|step| step.step);
        let plain = |id: ConstantId| self.plaintexts.get(id.0 as usize).map(Plaintext::size);
        let registers = Registers { shapes: &self.shapes, keys: &self.keys };
        errors.follow(self.params, steps, &registers, plain);
    }

    /// Returns the shapes of all registers.
    pub(super) fn shapes(&self) -> &[Shape<S>] {
        &self.shapes
    }

    /// Returns the number of steps so far.
    pub(super) fn steps(&self) -> usize {
        self.steps.len()
    }

    pub(super) fn lowest_level(&self) -> usize {
        self.shapes.iter().map(|s| s.level).min().unwrap_or(self.params.top_level())
    }

    pub(super) fn into_parts(self) -> (Vec<PlainConstant>, Vec<PlanStep>) {
        (self.constants, self.steps)
    }
}
