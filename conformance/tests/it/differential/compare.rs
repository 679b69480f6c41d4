//! Runs programs in three ways and compares the answers slot for slot.

use std::time::{Duration, Instant};

use sotto_engine::{EngineError, Session};
use sotto_harness::protocol::{Node, Program, Request, Values, Verified, Verify};
use sotto_harness::{Installed, LabError, Process};

use crate::differential::clear::{Ring as _, run};
use crate::differential::parameter_sets::ParameterSet;
use crate::differential::random::program;
use crate::differential::tally::{Tally, shown};
use crate::differential::values::{Choices, Comparable};

/// Largest bound of a program, as a part of its largest slot. A looser bound shows too little: the program is drawn
/// again.
const VAGUE: f64 = 0.05;
/// Time limit for one answer.
const LIMIT: Duration = Duration::from_secs(120);

/// Runs `count` programs over the parameter sets; fails if any answer is wrong.
pub(crate) fn compare<S: Comparable>(installed: &Installed, parameter_sets: &[ParameterSet], count: usize) {
    let start = Instant::now();
    let mut tally = Tally::default();
    let mut engine = Process::start(installed, LIMIT).unwrap_or_else(|error| panic!("{error}"));
    let mut left = count;
    for (index, set) in parameter_sets.iter().enumerate() {
        let here = if index + 1 == parameter_sets.len() {
            left
        } else {
            (count * set.of_ten).div_ceil(10).min(left)
        };
        left -= here;
        if here > 0 {
            run_on::<S>(&mut engine, (index, set), here, &mut tally);
        }
    }
    tally.report::<S>(&installed.name, start.elapsed());
    assert!(tally.faults.is_empty(), "{}", tally.faults.join("\n"));
}

fn run_on<S: Comparable>(
    engine: &mut Process,
    (index, set): (usize, &ParameterSet),
    count: usize,
    tally: &mut Tally,
) {
    let request = set.request(S::ID);
    let mut session = Session::<S>::prepare(&request, [index as u8 + 1; 32]).unwrap();
    let primes = session.primes();
    engine.prepare(&set.request_to_other(S::ID, &primes)).unwrap_or_else(|error| panic!("{error}"));
    let shape = session.slot_shape().unwrap();
    let zero = S::Value::default();
    for number in 0..count {
        let mut choices = Choices::of(index, number);
        let (asked, lowered, clear) = loop {
            let depth = choices.below(primes.data.len() + 2);
            let most = (set.operations(), depth);
            let asked =
                program::<S>(&mut choices, set.plain_modulus, shape.slots(), &request.rotations, most);
            let lowered = match session.plan(&asked.program) {
                Ok(lowered) => lowered,
                Err(EngineError::Lower(_)) => {
                    tally.refused += 1;
                    continue;
                }
                Err(error) => panic!("program {number} of set {index}: {error}"),
            };
            let on = |inputs: &[Values]| {
                clear::<S>(&asked.program, inputs, set, (shape.rows as usize, shape.slots()))
            };
            let values = on(&asked.inputs);
            let bounds = lowered.outputs.iter().map(|output| output.slot_error);
            let vague = asked.program.outputs.iter().zip(bounds).any(|(output, bound)| {
                bound > VAGUE * values[*output].iter().map(|v| S::distance(*v, zero)).fold(0.0, f64::max)
            });
            if !vague && !has_transparent::<S>(&asked.program, &values, &on(&asked.others)) {
                break (asked, lowered, values);
            }
        };
        let verify = Verify { program: asked.program.clone(), inputs: asked.inputs.clone() };
        let sent = engine.send(&Request::Verify(verify));
        let ours = session.run(&lowered, &asked.program, &asked.inputs);
        let theirs: Result<Verified, LabError> = sent.and_then(|()| engine.receive());
        tally.count(&asked.program);
        let bounds = ours.as_ref().map_or_else(|_| Vec::new(), |ours| ours.bounds.clone());
        let mut judge = |who: usize, name: &str, answer: Result<Verified, String>| {
            let fault = match answer {
                Err(error) => Some(error),
                Ok(answer) => tally.judge::<S>(who, &answer.outputs, &bounds, &asked.program, &clear),
            };
            if let Some(fault) = fault {
                let shown = shown(&asked.program);
                let set = set.degree;
                tally.faults.push(format!("{name}, n = {set}, program {number}: {fault}\n  {shown}"));
            }
        };
        judge(0, "sotto", ours.map_err(|error| error.to_string()));
        judge(1, "other", theirs.map_err(|error| error.to_string()));
    }
}

/// Returns the values of all nodes for these inputs.
fn clear<S: Comparable>(
    program: &Program,
    inputs: &[Values],
    set: &ParameterSet,
    (rows, slots): (usize, usize),
) -> Vec<Vec<S::Value>> {
    let ring = S::clear(set.plain_modulus);
    let input = |values: &Values| {
        let mut values = ring.constant(values);
        values.resize(slots, S::Value::default());
        values
    };
    let inputs: Vec<_> = inputs.iter().map(input).collect();
    run(&ring, program, &inputs, rows)
}

/// Returns true if an encrypted value does not depend on the inputs, like x − x + 1: its ciphertext can be read without
/// a key, and SEAL refuses to make it.
fn has_transparent<S: Comparable>(
    program: &Program,
    values: &[Vec<S::Value>],
    others: &[Vec<S::Value>],
) -> bool {
    // Reals differ by the rounding of the sums.
    let same = |(a, b): (&S::Value, &S::Value)| S::distance(*a, *b) < 1e-9;
    let encrypted = program.nodes.iter().zip(values.iter().zip(others));
    encrypted
        .filter(|(node, _)| !matches!(node, Node::Constant { .. }))
        .any(|(_, (values, others))| values.iter().zip(others).all(same))
}
