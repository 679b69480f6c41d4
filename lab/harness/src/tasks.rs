//! The paper's three tasks for schemes with both sums and products ("Comprehensive Performance Analysis of Homomorphic
//! Cryptosystems for Practical Data Processing", section V): a small expression, a weighted sum, linear regression on
//! points that arrive one by one.

use crate::protocol::{Node, Program, Task, Values};

/// The prefix of tasks among the operations.
pub const PREFIX: &str = "task_";
/// Terms of the weighted sum.
const TERMS: i64 = 20;
/// The largest weight and the largest reading: 14 bits with sign, so that any sum is below 2^31 and fits moduli of 32
/// bits, the longest that OpenFHE's BGV decodes correctly.
const LARGEST_TERM: f64 = 8191.0;
/// Points of the regression.
const POINTS: i64 = 10;
/// The largest coordinate: 12 bits with sign.
const LARGEST_COORDINATE: f64 = 2047.0;

impl Task {
    /// Returns the task that an operation names. None if it names none. For schemes of reals, inputs are divided by the
    /// largest declared input: every answer is then a sum of products of two, and lies in −`n`² … `n`² for sums over n
    /// terms.
    pub fn named(operation: &str, reals: bool) -> Option<Self> {
        let unit = |largest: f64| if reals { largest } else { 1.0 };
        let mut task = match operation {
            "task_expression" => Self::expression(unit(6.0)),
            "task_weighted_sum" | "task_weighted_sum_encrypted" => Self::weighted_sum(unit(LARGEST_TERM)),
            "task_regression" => Self::regression(unit(LARGEST_COORDINATE)),
            _ => return None,
        };
        if !reals {
            let whole = |values: &mut Values| {
                *values = Values::Integers(values.reals().into_iter().map(|value| value as i64).collect());
            };
            task.inputs.iter_mut().for_each(whole);
            whole(&mut task.answers);
        }
        task.encrypted = operation.ends_with("_encrypted");
        Some(task)
    }

    /// Returns the task (2 + 3)·(4 − 6).
    fn expression(unit: f64) -> Self {
        let mut asked = ProgramMaker::default();
        let [a, b, c, d] = [2.0, 3.0, 4.0, 6.0].map(|most| asked.input(most / unit));
        let (sum, difference) = (asked.push(Node::Add { a, b }), asked.push(Node::Sub { a: c, b: d }));
        let product = asked.push(Node::Mul { a: sum, b: difference });
        let values = [2.0, 3.0, 4.0, 6.0].map(|value| value / unit).to_vec();
        Self::new(vec![asked.giving(vec![product])], vec![values], 0)
    }

    /// Returns the task Σ w·x with both factors encrypted.
    fn weighted_sum(unit: f64) -> Self {
        let mut asked = ProgramMaker::default();
        let pairs: Vec<[usize; 2]> =
            (0..TERMS).map(|_| [(); 2].map(|()| asked.input(LARGEST_TERM / unit))).collect();
        let mut products = pairs.into_iter().map(|[a, b]| asked.push(Node::Mul { a, b })).collect::<Vec<_>>();
        let first = products.remove(0);
        let sum = products.into_iter().fold(first, |a, b| asked.push(Node::Add { a, b }));
        let values = (0..TERMS).flat_map(|term| [term * 801 - 8000, 8190 - term * 777]);
        let values = values.map(|value| value as f64 / unit).collect();
        Self::new(vec![asked.giving(vec![sum])], vec![values], 0)
    }

    /// Returns the task that updates, after each point (x, y) but the first, the slope's numerator n·Σxy − Σx·Σy and
    /// denominator n·Σx² − (Σx)². The sums are kept encrypted; the owner divides.
    fn regression(unit: f64) -> Self {
        let values = (1..=POINTS).map(|at| [at * 37, at * 37 * 3 / 2 - 17 + at % 3]);
        let inputs = values.map(|point| point.map(|value| value as f64 / unit).to_vec()).collect();
        Self::new((1..=POINTS).map(|n| point(n, LARGEST_COORDINATE / unit)).collect(), inputs, 4)
    }

    /// Makes a task; computes its answers in the clear.
    fn new(programs: Vec<Program>, inputs: Vec<Vec<f64>>, kept: usize) -> Self {
        let mut outputs: Vec<f64> = Vec::new();
        for (program, new) in programs.iter().zip(&inputs) {
            let before: Vec<f64> = outputs.iter().take(kept).chain(new).copied().collect();
            outputs = clear(program, &before);
        }
        let answers = Values::Reals(outputs.split_off(kept));
        let inputs = inputs.into_iter().map(Values::Reals).collect();
        Self { programs, inputs, kept, answers, encrypted: false }
    }

    /// Returns all programs joined to one, with every answer of each, and its inputs: the same operations, for engines
    /// that cannot pass ciphertexts from program to program. The last outputs are `answers`.
    pub fn whole(&self) -> (Program, Vec<Values>) {
        let mut all = Program::default();
        let mut kept: Vec<usize> = Vec::new();
        for program in &self.programs {
            let taken = all.magnitudes.len();
            all.magnitudes.extend(&program.magnitudes[kept.len()..]);
            let mut places: Vec<usize> = Vec::with_capacity(program.nodes.len());
            for node in &program.nodes {
                if let Node::Input { index } = node
                    && let Some(before) = kept.get(*index)
                {
                    places.push(*before);
                    continue;
                }
                places.push(all.nodes.len());
                all.nodes.push(moved(node, &places, |index| taken + index - kept.len()));
            }
            let outputs: Vec<usize> = program.outputs.iter().map(|output| places[*output]).collect();
            all.outputs.extend(&outputs[self.kept..]);
            kept = outputs[..self.kept].to_vec();
        }
        let one = |values: &Values| match values {
            Values::Integers(values) => values.iter().map(|v| Values::Integers(vec![*v])).collect::<Vec<_>>(),
            Values::Reals(values) => values.iter().map(|v| Values::Reals(vec![*v])).collect(),
        };
        (all, self.inputs.iter().flat_map(one).collect())
    }
}

/// Returns the program at point n. The first program has no earlier sums and no slope: a single point has none, and xy
/// − x·y would be a ciphertext of zeros, which SEAL refuses.
fn point(n: i64, most: f64) -> Program {
    let mut asked = ProgramMaker::default();
    let before = (n - 1) as f64;
    let sums = if n == 1 {
        Vec::new()
    } else {
        [most, most, most * most, most * most].map(|one| asked.input(before * one)).to_vec()
    };
    let (x, y) = (asked.input(most), asked.input(most));
    let (xy, xx) = (asked.push(Node::Mul { a: x, b: y }), asked.push(Node::Mul { a: x, b: x }));
    let mut total = [x, y, xy, xx];
    for (total, sum) in total.iter_mut().zip(sums) {
        *total = asked.push(Node::Add { a: sum, b: *total });
    }
    if n == 1 {
        return asked.giving(total.to_vec());
    }
    let [sx, sy, sxy, sxx] = total;
    let count = asked.push(Node::Constant { values: Values::Integers(vec![n]) });
    let [numerator, denominator] = [(sxy, sy), (sxx, sx)].map(|(scaled, other)| {
        let scaled = asked.push(Node::Mul { a: scaled, b: count });
        let product = asked.push(Node::Mul { a: sx, b: other });
        asked.push(Node::Sub { a: scaled, b: product })
    });
    asked.giving([&total[..], &[numerator, denominator]].concat())
}

/// A program under construction.
#[derive(Default)]
struct ProgramMaker(Program);

impl ProgramMaker {
    fn input(&mut self, magnitude: f64) -> usize {
        self.0.magnitudes.push(magnitude);
        self.push(Node::Input { index: self.0.magnitudes.len() - 1 })
    }

    fn push(&mut self, node: Node) -> usize {
        self.0.nodes.push(node);
        self.0.nodes.len() - 1
    }

    fn giving(mut self, outputs: Vec<usize>) -> Program {
        self.0.outputs = outputs;
        self.0
    }
}

/// Returns a task's node with its operands and its input renumbered.
fn moved(node: &Node, places: &[usize], input: impl Fn(usize) -> usize) -> Node {
    match node {
        Node::Input { index } => Node::Input { index: input(*index) },
        Node::Add { a, b } => Node::Add { a: places[*a], b: places[*b] },
        Node::Sub { a, b } => Node::Sub { a: places[*a], b: places[*b] },
        Node::Mul { a, b } => Node::Mul { a: places[*a], b: places[*b] },
        other => other.clone(),
    }
}

/// Returns a task program's outputs for single numbers: it has neither slots nor rotations, and all values are below
/// 2^53.
fn clear(program: &Program, inputs: &[f64]) -> Vec<f64> {
    let mut values: Vec<f64> = Vec::with_capacity(program.nodes.len());
    for node in &program.nodes {
        values.push(match node {
            Node::Input { index } => inputs[*index],
            Node::Constant { values } => values.reals().first().copied().unwrap_or_default(),
            Node::Add { a, b } => values[*a] + values[*b],
            Node::Sub { a, b } => values[*a] - values[*b],
            Node::Mul { a, b } => values[*a] * values[*b],
            Node::Neg { a } => -values[*a],
            Node::Rotate { a, .. } | Node::SwapRows { a } => values[*a],
        });
    }
    program.outputs.iter().map(|output| values[*output]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::OPERATIONS;

    #[test]
    fn answers_are_those_of_arithmetic() {
        let answers = |name: &str| Task::named(name, false).expect(name).answers;
        assert_eq!(answers("task_expression"), Values::Integers(vec![-10]));
        let terms = (0..20).map(|i| (i * 801 - 8000) * (8190 - i * 777));
        assert_eq!(answers("task_weighted_sum"), Values::Integers(vec![terms.sum()]));
        let points: Vec<(i64, i64)> = (1..=10).map(|i| (37 * i, 37 * i * 3 / 2 - 17 + i % 3)).collect();
        let sum = |f: fn(&(i64, i64)) -> i64| points.iter().map(f).sum::<i64>();
        let (sx, sy, sxy, sxx) = (sum(|p| p.0), sum(|p| p.1), sum(|p| p.0 * p.1), sum(|p| p.0 * p.0));
        assert_eq!(
            answers("task_regression"),
            Values::Integers(vec![10 * sxy - sx * sy, 10 * sxx - sx * sx])
        );
        assert_eq!(Task::named("add", false), None);
    }

    #[test]
    fn the_whole_gives_the_last_answers_last_and_reals_are_small() {
        for name in OPERATIONS.into_iter().filter(|name| name.starts_with(PREFIX)) {
            for reals in [false, true] {
                let task = Task::named(name, reals).expect(name);
                let (program, inputs) = task.whole();
                let inputs: Vec<f64> = inputs.iter().flat_map(Values::reals).collect();
                assert_eq!(inputs.len(), program.magnitudes.len());
                let declared = inputs.iter().zip(&program.magnitudes).all(|(v, most)| v.abs() <= *most);
                assert!(declared && (!reals || program.magnitudes.iter().all(|most| *most <= 1.0)), "{name}");
                let (found, expected) = (clear(&program, &inputs), task.answers.reals());
                assert_eq!(found[found.len() - expected.len()..], expected, "{name}");
            }
        }
        let regression = Task::named("task_regression", false).expect("a task");
        assert_eq!(regression.whole().0.magnitudes.len(), 20, "sums are not inputs of the whole");
        assert_eq!(regression.whole().0.outputs.len(), 18, "two after each point but the first");
    }
}
