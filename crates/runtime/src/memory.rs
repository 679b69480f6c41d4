//! How much memory the ciphertexts of a plan take, known before anything is computed.

use sotto_program::{Plan, Register};
use sotto_rlwe::{Params, Plaintext, Shape};

use crate::manage::Managed;

/// Bytes of each register, and the most that are there at once when a plan runs in its order.
pub(crate) struct Memory {
    /// Bytes of each register: the inputs', then the steps'.
    pub(crate) registers: Vec<u64>,
    /// Most bytes at once: ciphertexts that are still needed, and the plan's constants. What is held may be an eighth more; what a
    /// step computes in, and what a thread keeps for the next one, is not counted.
    pub(crate) peak: u64,
}

impl Memory {
    /// Of a valid plan whose registers have these shapes.
    pub(crate) fn of<S: Managed>(
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

/// The most at once in the plan's order: an input is there from the beginning, a result from its step on, both until the last step
/// that reads them; what no step reads stays, if it is an input or an output. A register with several outputs is copied in the end.
fn peak(plan: &Plan, registers: &[u64], constants: u64) -> u64 {
    let mut last_read: Vec<Option<usize>> = vec![None; registers.len()];
    for (index, step) in plan.steps.iter().enumerate() {
        step.step.operands().for_each(|operand| last_read[operand.index()] = Some(index));
    }
    let mut kept = vec![false; registers.len()];
    let mut copies = 0;
    for output in plan.outputs.iter().map(|output| output.register.index()) {
        if core::mem::replace(&mut kept[output], true) {
            copies += registers[output];
        }
    }
    let mut live = constants + registers[..plan.inputs.len()].iter().sum::<u64>();
    let mut peak = live;
    for (index, step) in plan.steps.iter().enumerate() {
        live += registers[step.output.index()];
        peak = peak.max(live);
        let mut free = |register: Register| live -= registers[register.index()];
        let mut operands: Vec<Register> = step.step.operands().collect();
        operands.dedup();
        let done =
            |register: &Register| last_read[register.index()] == Some(index) && !kept[register.index()];
        operands.into_iter().filter(done).for_each(&mut free);
        if last_read[step.output.index()].is_none() && !kept[step.output.index()] {
            free(step.output);
        }
    }
    peak.max(live + copies)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sotto_program::{KeyNumber, PlanInput, PlanOutput, PlanStep, Predicted, Step};

    /// Steps on two inputs of 10 and 20 bytes, with what comes out of each step.
    fn peak_of(steps: &[(Step, u64)], outputs: &[u32]) -> u64 {
        let input = |name: &str| PlanInput { name: name.into(), key: KeyNumber::ANSWER };
        let step = |(at, (step, _)): (usize, &(Step, u64))| PlanStep {
            step: *step,
            output: Register(2 + at as u32),
        };
        let output = |at: &u32| PlanOutput { name: format!("o{at}"), register: Register(*at) };
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
    }
}
