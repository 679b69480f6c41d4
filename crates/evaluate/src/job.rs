//! Jobs: running a plan on frames.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use sotto_program::{Plan, PlanOutput};
use sotto_rlwe::{Ciphertext, EvalError, EvaluationKeys, Evaluator, Params};
use sotto_runtime::{Managed, RunError, Threads};
use sotto_wire::{AnyCiphertext, Body, WireError};

use crate::input::Input;

/// The result of a job.
///
/// Example: [`job`]
#[derive(Clone, Debug)]
pub struct Evaluated {
    /// The outputs' frames, in the plan's order.
    pub outputs: Vec<Vec<u8>>,
    /// Number of runs of each operation.
    pub counters: BTreeMap<&'static str, u64>,
    /// Time of evaluation, without reading and writing frames.
    pub time: Duration,
}

/// The reason why a job failed.
///
/// Example: [`job`]
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum JobError<E> {
    /// The caller could not provide a ciphertext.
    #[error("an input is not there")]
    Source(E),
    /// An input is not a ciphertext of the parameters.
    #[error("an input cannot be read: {0}")]
    Input(WireError),
    /// These keys cannot expand an input.
    #[error("an input cannot be expanded: {0}")]
    Expand(EvalError),
    /// A step cannot run.
    #[error(transparent)]
    Run(RunError),
}

/// Runs a plan on its inputs, in order, with at most `most_bytes` bytes of ciphertexts in memory.
///
/// # Errors
/// [`JobError`] if an input cannot be read or expanded, or the plan cannot run.
///
/// ```
/// use sotto_evaluate::{Evaluated, JobError, job};
/// use sotto_program::{ParseOptions, parse};
/// use sotto_rlwe::{Bfv, EvaluationKeys, KeyId, Origin, Params};
/// use sotto_runtime::{Encoding, RlweTarget, Threads};
///
/// let params = Params::<Bfv>::default_chain(4096, 65_537)?;
/// let options = ParseOptions { undeclared: Some(300.0), ..ParseOptions::default() };
/// let program = parse("boiler + pump", &options)?.program;
/// let (encoding, origin) = (Encoding::Slots, Origin::PublicKey);
/// let target = RlweTarget { params: params.clone(), encoding, origin, kept: None, may_wrap: false };
/// let plan = target.lower_with_shapes(&program)?.plan;
/// let keys = EvaluationKeys::empty(&params, KeyId([1; 16]));
/// // The store has lost the envelope of an input.
/// let mut inputs = [Err("no such envelope")].into_iter();
/// let done: Result<Evaluated, _> = job(&params, &plan, &mut inputs, &keys, &Threads::one(), 1 << 24);
/// assert!(matches!(done, Err(JobError::Source("no such envelope"))));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn job<S: Managed, E: Send>(
    params: &Params<S>,
    plan: &Plan,
    bodies: &mut dyn Iterator<Item = Result<Body, E>>,
    keys: &EvaluationKeys<S>,
    threads: &Threads,
    most_bytes: u64,
) -> Result<Evaluated, JobError<E>> {
    let evaluator = Evaluator::new(params);
    let mut inputs: Vec<Ciphertext<S>> = Vec::with_capacity(plan.inputs.len());
    let (mut bytes, mut time) = (0, Duration::ZERO);
    // Few at a time, so that not all are in memory beside their expansions.
    loop {
        let some: Vec<Result<Body, E>> = (&mut *bodies).take(2 * threads.count()).collect();
        if some.is_empty() {
            break;
        }
        let read = threads
            .map(some, |body| Input::of(params, &body.map_err(JobError::Source)?).map_err(JobError::Input));
        let read = read.into_iter().collect::<Result<Vec<_>, JobError<E>>>()?;
        let start = Instant::now();
        let read = threads.map(read, |input| input.expanded(&evaluator, keys));
        let read = read.into_iter().collect::<Result<Vec<_>, EvalError>>().map_err(JobError::Expand)?;
        time += start.elapsed();
        bytes += read.iter().map(|input| input.shape().bytes(params)).sum::<u64>();
        if bytes > most_bytes {
            return Err(JobError::Run(RunError::Memory { needed: bytes, most: most_bytes }));
        }
        inputs.extend(read);
    }
    let start = Instant::now();
    let outputs = sotto_runtime::run_on(threads, plan, &evaluator, inputs, keys, most_bytes);
    let outputs = outputs.map_err(JobError::Run)?;
    time += start.elapsed();
    let outputs = plan.outputs.iter().zip(outputs).collect();
    let outputs = threads.map(outputs, |(named, output)| leaving(named, output));
    let outputs = outputs.into_iter().collect::<Result<_, RunError>>().map_err(JobError::Run)?;
    Ok(Evaluated { outputs, counters: evaluator.counters().totals(), time })
}

/// Returns the frame of an output, reduced if the plan requires it.
fn leaving<S: Managed>(named: &PlanOutput, output: Ciphertext<S>) -> Result<Vec<u8>, RunError> {
    let Some(reduction) = sotto_runtime::reduction(named) else {
        return Ok(AnyCiphertext::Expanded(output).write());
    };
    let refused = |error| RunError::Output { output: named.name.clone(), error };
    output.reduce(reduction).map(|reduced| sotto_wire::write_reduced(&reduced)).map_err(refused)
}
