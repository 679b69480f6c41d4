//! The memory that the ciphertexts of a plan take, computed before the run.

use std::collections::BTreeSet;

use sotto_program::{Plan, Register, Step};
use sotto_rlwe::{Params, Plaintext, Shape};

use crate::step_rules::StepRules;

/// Ciphertexts of the operand's size that a look-up in a table holds: powers, and the sums of its leaves.
const HELD_BY_A_TABLE: u64 = 32;

/// Ciphertexts of the operand's size that a sign holds: the operand of a polynomial, its square and factors, a tensor
/// product, and buffers of key switches. Measured: 13 to 17 (`plan_memory` in conformance).
const HELD_BY_A_SIGN: u64 = 16;

/// The bytes of each register, and the peak when a plan runs in its order.
pub(crate) struct Memory {
    /// Bytes of each register: the inputs', then the steps'.
    pub(crate) registers: Vec<u64>,
    /// Peak bytes: ciphertexts that are still needed, and the plan's constants. The allocated memory may be an eighth
    /// more. Working memory of steps other than look-ups and signs, and buffers that a thread keeps, are not counted.
    pub(crate) peak: u64,
}

impl Memory {
    /// Computes the memory of a valid plan whose registers have these shapes.
    pub(crate) fn of<S: StepRules>(
        plan: &Plan,
        params: &Params<S>,
        shapes: &[Shape<S>],
        constants: &[Plaintext<S>],
    ) -> Self {
        let registers: Vec<u64> = shapes.iter().map(|shape| shape.bytes(params)).collect();
        let constants = constants.iter().map(|constant| size_of_val(constant.coefficients()) as u64).sum();
        let peak = peak(plan, &registers, constants);
        Self { registers, peak }
    }
}

/// Returns the registers that a step reads, without repetition.
pub(crate) fn operands(plan: &Plan, index: usize) -> BTreeSet<Register> {
    plan.steps[index].step.operands().collect()
}

/// Returns for each register the number of steps and outputs that need it. It is freed after the last of them.
pub(crate) fn needs(plan: &Plan) -> Vec<usize> {
    let mut needs = vec![0; plan.inputs.len() + plan.steps.len()];
    let read = (0..plan.steps.len()).flat_map(|index| operands(plan, index));
    let named = plan.outputs.iter().map(|output| output.register);
    read.chain(named).for_each(|register| needs[register.index()] += 1);
    needs
}

/// Returns the peak bytes in the plan's order. An input exists from the start and a result from its step on, both until
/// nothing needs them; an input that nothing needs stays. A register with several outputs is copied at the end.
fn peak(plan: &Plan, registers: &[u64], constants: u64) -> u64 {
    let mut needs = needs(plan);
    let mut live = constants + registers[..plan.inputs.len()].iter().sum::<u64>();
    let mut peak = live;
    for (index, step) in plan.steps.iter().enumerate() {
        live += registers[step.output.index()];
        let working = match step.step {
            Step::Table { of, .. } => HELD_BY_A_TABLE * registers[of.index()],
            Step::Sign { of, .. } => HELD_BY_A_SIGN * registers[of.index()],
            _ => 0,
        };
        peak = peak.max(live + working);
        for read in operands(plan, index) {
            needs[read.index()] -= 1;
            if needs[read.index()] == 0 {
                live -= registers[read.index()];
            }
        }
        if needs[step.output.index()] == 0 {
            live -= registers[step.output.index()];
        }
    }
    let copies = |(outputs, bytes): (&usize, &u64)| outputs.saturating_sub(1) as u64 * bytes;
    peak.max(live + needs.iter().zip(registers).map(copies).sum::<u64>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use sotto_program::{ConstantId, KeyNumber, PlanInput, PlanOutput, PlanStep, Predicted};

    /// Returns the peak of steps on two inputs of 10 and 20 bytes; each step comes with the bytes of its result.
    fn peak_of(steps: &[(Step, u64)], outputs: &[u32]) -> u64 {
        let input = |name: &str| PlanInput { name: name.into(), key: KeyNumber::ANSWER };
        let step = |(at, (step, _)): (usize, &(Step, u64))| PlanStep {
            step: *step,
            output: Register(2 + at as u32),
        };
        let output = |at: &u32| PlanOutput { name: format!("o{at}"), register: Register(*at), form: None };
        let plan = Plan {
            parameter_id: [0; 32],
            inputs: vec![input("x"), input("y")],
            constants: Vec::new(),
            steps: steps.iter().enumerate().map(step).collect(),
            outputs: outputs.iter().map(output).collect(),
            keys: Default::default(),
            predicted: Predicted::default(),
        };
        let registers: Vec<u64> = [10, 20].into_iter().chain(steps.iter().map(|(_, bytes)| *bytes)).collect();
        peak(&plan, &registers, 1)
    }

    #[test]
    fn what_is_needed_no_more_is_gone_and_the_rest_is_not() {
        let [x, y, a] = [0, 1, 2].map(Register);
        assert_eq!(peak_of(&[], &[0]), 31);
        assert_eq!(peak_of(&[(Step::Negate(x), 10), (Step::Negate(a), 10)], &[3]), 41, "one after the other");
        assert_eq!(peak_of(&[(Step::Negate(x), 10), (Step::Negate(x), 10)], &[2, 3]), 51, "side by side");
        assert_eq!(
            peak_of(&[(Step::Add(x, x), 10), (Step::Multiply(a, y), 30)], &[3]),
            61,
            "read twice, gone once"
        );
        assert_eq!(
            peak_of(&[(Step::Negate(x), 10), (Step::Negate(x), 5)], &[2]),
            46,
            "a result that nobody reads"
        );
        assert_eq!(peak_of(&[(Step::Negate(x), 100)], &[2, 2, 2]), 1 + 20 + 300, "copies of an output");
        let table = Step::Table { of: x, values: ConstantId(0), first: 0 };
        assert_eq!(peak_of(&[(table, 10)], &[2]), 41 + 32 * 10, "the powers of a look-up");
        let sign = Step::Sign { of: x, gap_bits: 4 };
        assert_eq!(peak_of(&[(sign, 5)], &[2]), 36 + 16 * 10, "the factors of a sign");
    }
}
