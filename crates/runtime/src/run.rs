//! Runs a plan: in its order on one thread, or on several threads, each step as soon as its operands exist.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sotto_program::{Plan, Register};
use sotto_ring::{Scratch, parallel};
use sotto_rlwe::{Ciphertext, EvalError, EvaluationKeys, Evaluator, KeyId, Plaintext, Shape};

use crate::check::{Checked, checked};
use crate::constants::Constants;
use crate::error::RunError;
use crate::execute::execute;
use crate::memory::{needs, operands};
use crate::order::Order;
use crate::step_rules::StepRules;
use crate::threads::Threads;

/// Checks a plan and runs it: see [`run_on`](crate::run_on).
pub(crate) fn execute_plan<S: StepRules>(
    threads: &Threads,
    plan: &Plan,
    evaluator: &Evaluator<S>,
    inputs: Vec<Ciphertext<S>>,
    keys: &EvaluationKeys<S>,
    most_bytes: u64,
) -> Result<Vec<Ciphertext<S>>, RunError> {
    let given: Vec<(KeyId, Shape<S>)> = inputs.iter().map(|c| (c.key(), *c.shape())).collect();
    let Checked { constants, memory, .. } = checked(plan, evaluator.params(), &given, keys, most_bytes)?;
    let order = Order::new(memory.registers[plan.inputs.len()..].to_vec(), most_bytes - memory.peak);
    let execution = Execution::new(plan, evaluator, &constants, keys, inputs, order);
    threads.scope(|scope| match scope {
        Some(scope) => execution.start(scope),
        None => {
            let mut scratch = Scratch::new();
            for index in 0..plan.steps.len() {
                execution.step(index, &mut scratch);
            }
        }
    });
    execution.return_scratches(threads);
    execution.outputs()
}

/// Number of polynomials at the top level that a scratch pool keeps for later steps: more than any step needs.
const SPARE: usize = 32;

/// A run in progress.
struct Execution<'a, S: StepRules> {
    plan: &'a Plan,
    evaluator: &'a Evaluator<S>,
    constants: &'a [Plaintext<S>],
    keys: &'a EvaluationKeys<S>,
    registers: Vec<Mutex<Option<Arc<Ciphertext<S>>>>>,
    /// Number of steps and outputs that still need each register.
    needed: Vec<AtomicUsize>,
    /// Steps that read each register.
    readers: Vec<Vec<usize>>,
    /// Number of registers that each step still waits for.
    waiting: Vec<AtomicUsize>,
    /// The steps that may start.
    order: Mutex<Order>,
    /// Number of steps that are queued or running.
    under_way: AtomicUsize,
    /// Largest number of words that a scratch pool keeps.
    most_spare: usize,
    /// Scratch pools that no step uses at the moment.
    scratches: Mutex<Vec<Scratch>>,
    /// The first refused step, in the plan's order.
    refused: Mutex<Option<(usize, EvalError)>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'a, S: StepRules> Execution<'a, S> {
    fn new(
        plan: &'a Plan,
        evaluator: &'a Evaluator<S>,
        constants: &'a [Plaintext<S>],
        keys: &'a EvaluationKeys<S>,
        inputs: Vec<Ciphertext<S>>,
        mut order: Order,
    ) -> Self {
        let given = inputs.len();
        let count = given + plan.steps.len();
        let mut readers = vec![Vec::new(); count];
        let mut waiting = Vec::with_capacity(plan.steps.len());
        for index in 0..plan.steps.len() {
            let operands = operands(plan, index);
            operands.iter().for_each(|register| readers[register.index()].push(index));
            let steps = operands.iter().filter(|register| register.index() >= given).count();
            waiting.push(AtomicUsize::new(steps));
            if steps == 0 {
                order.ready(index);
            }
        }
        let needed = needs(plan).into_iter().map(AtomicUsize::new).collect();
        let registers = inputs
            .into_iter()
            .map(|input| Some(Arc::new(input)))
            .chain(std::iter::repeat_with(|| None))
            .take(count)
            .map(Mutex::new)
            .collect();
        let params = evaluator.params();
        let most_spare = SPARE * params.limbs(params.top_level()).len() * params.degree();
        let (under_way, scratches, refused) = (AtomicUsize::new(0), Mutex::new(Vec::new()), Mutex::new(None));
        Self {
            plan,
            evaluator,
            constants,
            keys,
            registers,
            needed,
            readers,
            waiting,
            order: Mutex::new(order),
            under_way,
            most_spare,
            scratches,
            refused,
        }
    }

    /// Starts every step that may start.
    fn start<'scope>(&'scope self, scope: &rayon::Scope<'scope>) {
        let next = || locked(&self.order).start();
        while let Some(index) = next() {
            self.spawn(scope, index);
        }
    }

    /// Runs a step on a thread of the pool, then starts the steps that became ready. Whole steps have precedence; if
    /// fewer steps than threads are under way, the threads share the loops over limbs.
    fn spawn<'scope>(&'scope self, scope: &rayon::Scope<'scope>, index: usize) {
        self.under_way.fetch_add(1, Ordering::Relaxed);
        scope.spawn(move |scope| {
            let mut scratch = locked(&self.scratches).pop().unwrap_or_default();
            let few = self.under_way.load(Ordering::Relaxed) < rayon::current_num_threads();
            parallel::shared(few, || self.step(index, &mut scratch));
            locked(&self.scratches).push(scratch);
            self.under_way.fetch_sub(1, Ordering::Relaxed);
            let readers = &self.readers[self.plan.steps[index].output.index()];
            let waited = |reader: &&usize| self.waiting[**reader].fetch_sub(1, Ordering::AcqRel) == 1;
            {
                let mut order = locked(&self.order);
                readers.iter().filter(waited).for_each(|reader| order.ready(*reader));
                order.ended(index);
            }
            self.start(scope);
        });
    }

    /// Runs a step whose operands exist. Does nothing if an earlier step was refused.
    fn step(&self, index: usize, scratch: &mut Scratch) {
        let refuse = |error| {
            let mut refused = locked(&self.refused);
            if refused.as_ref().is_none_or(|(first, _)| index < *first) {
                *refused = Some((index, error));
            }
        };
        if locked(&self.refused).as_ref().is_some_and(|(first, _)| *first < index) {
            return;
        }
        let step = &self.plan.steps[index];
        let read: Vec<(Register, Arc<Ciphertext<S>>)> = operands(self.plan, index)
            .into_iter()
            .filter_map(|register| Some((register, locked(&self.registers[register.index()]).clone()?)))
            .collect();
        let at = |register: Register| {
            let found = read.iter().find(|(of, _)| *of == register);
            found.map(|(_, operand)| &**operand).ok_or(EvalError::MissingRegister { register: register.0 })
        };
        let constants = Constants { said: &self.plan.constants, encoded: self.constants };
        match execute(self.evaluator, &step.step, at, constants, self.keys, scratch) {
            Ok(result) => {
                let result = self.evaluator.fitted(result, scratch);
                *locked(&self.registers[step.output.index()]) = Some(Arc::new(result));
            }
            Err(error) => refuse(error),
        }
        // Free registers that are no longer needed; later steps reuse their memory.
        let reads: Vec<Register> = read.into_iter().map(|(register, _)| register).collect();
        for register in reads {
            if self.needed[register.index()].fetch_sub(1, Ordering::AcqRel) == 1 {
                self.free(register, scratch);
            }
        }
        if self.needed[step.output.index()].load(Ordering::Acquire) == 0 {
            self.free(step.output, scratch);
        }
    }

    fn free(&self, register: Register, scratch: &mut Scratch) {
        let spent = locked(&self.registers[register.index()]).take();
        if let Some(spent) = spent.and_then(Arc::into_inner) {
            self.evaluator.recycle(spent, scratch);
            scratch.keep_at_most(self.most_spare);
        }
        if let Some(step) = register.index().checked_sub(self.plan.inputs.len()) {
            locked(&self.order).gone(step);
        }
    }

    /// Makes the computing threads drop the scratch pools: each thread keeps the dropped buffers for its next run. If
    /// the caller dropped them, they would stay with a thread that does not compute.
    fn return_scratches(&self, threads: &Threads) {
        let scratches = Mutex::new(core::mem::take(&mut *locked(&self.scratches)));
        let share = locked(&scratches).len().div_ceil(threads.count());
        threads.later(move || {
            let mut scratches = locked(&scratches);
            let rest = scratches.len().saturating_sub(share);
            let own = scratches.split_off(rest);
            drop(scratches);
            drop(own);
        });
    }

    /// Returns the outputs in the plan's order.
    fn outputs(self) -> Result<Vec<Ciphertext<S>>, RunError> {
        if let Some((index, error)) = locked(&self.refused).take() {
            return Err(RunError::Step { index, step: self.plan.steps[index].step.name(), error });
        }
        let missing = || RunError::Inputs { expected: self.plan.inputs.len(), found: 0 };
        // A register is copied only if several outputs name it.
        let output = |register: Register| {
            let mut place = locked(&self.registers[register.index()]);
            match self.needed[register.index()].fetch_sub(1, Ordering::Relaxed) {
                1 => place.take().map(Arc::unwrap_or_clone),
                _ => place.as_deref().cloned(),
            }
        };
        let outputs = self.plan.outputs.iter().map(|named| {
            let ciphertext = output(named.register).ok_or_else(missing)?;
            if ciphertext.is_transparent() {
                return Err(RunError::Transparent { output: named.name.clone() });
            }
            Ok(ciphertext)
        });
        outputs.collect()
    }
}
