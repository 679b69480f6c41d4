//! Runs one operation on ciphertexts or on the shapes of a dry run.

use sotto_circuits::{CircuitError, Machine, Outline, Tally};
use sotto_rlwe::{EvaluationKeys, KeyId, Params, Shape};
use std::sync::{Arc, PoisonError};

use super::{Body, Encrypted};
use crate::error::{Error, Result};
use crate::scheme::Arithmetic;
use crate::watch::Steps;

/// An operation on the parts of its operands, written once for every machine.
pub(crate) trait Operation<S: Arithmetic> {
    /// Computes the parts of the result.
    fn run<M: Machine<Value = S::Value>>(&self, machine: &mut M, operands: Operands<'_, M>) -> Outcome<M>;
}

/// The parts of each operand.
pub(crate) type Operands<'o, M> = &'o [&'o [<M as Machine>::Vector]];

/// The parts of a result.
pub(crate) type Outcome<M> = Result<Vec<<M as Machine>::Vector>, CircuitError>;

/// Computes the body of the result.
pub(crate) fn run<S: Arithmetic>(operands: &[&Encrypted<S>], work: &impl Operation<S>) -> Result<Body<S>> {
    let context = &operands[0].context;
    if operands.iter().any(|operand| operand.context != *context) {
        return Err(Error::Mixed);
    }
    let degree = context.params().degree();
    let refused = |error| Error::of_circuit(error, degree, S::EXACT);
    match &operands[0].body {
        Body::Dry { tally, .. } => {
            let all = operands.iter().map(|operand| match &operand.body {
                Body::Dry { parts, .. } => Ok(parts.as_slice()),
                Body::Real { .. } => Err(Error::Mixed),
            });
            let all = all.collect::<Result<Vec<_>>>()?;
            let mut machine = Outline::new(context.params());
            let parts = work.run(&mut machine, &all).map_err(refused)?;
            *tally.lock().unwrap_or_else(PoisonError::into_inner) += machine.tally();
            Ok(Body::Dry { parts, tally: Arc::clone(tally) })
        }
        Body::Real { .. } => {
            let (mut keys, mut claimed) = (None, false);
            let mut all = Vec::with_capacity(operands.len());
            for operand in operands {
                let Body::Real { parts, keys: held, claimed: claim } = &operand.body else {
                    return Err(Error::Mixed);
                };
                keys = keys.or(held.as_ref());
                claimed |= claim;
                all.push(parts.as_slice());
            }
            let none;
            let evaluation = match keys {
                Some(public) => public.evaluation_keys(),
                None => {
                    none = EvaluationKeys::empty(context.params(), key_of(&all));
                    &none
                }
            };
            let steps = Steps::of(|| outline(operands, work).map_or(0, |(_, tally)| tally.operations()));
            let watch = || steps.step();
            let machine = sotto_circuits::Encrypted::new(&context.0.evaluator, evaluation);
            let mut machine = machine.watched_by(&watch);
            let parts = work.run(&mut machine, &all).map_err(|error| match (keys, error) {
                (None, CircuitError::MissingKeys { .. }) => Error::NoKeys,
                (None, CircuitError::Eval(sotto_rlwe::EvalError::MissingKey(_))) => Error::NoKeys,
                (_, error) => refused(error),
            })?;
            Ok(Body::Real { parts, keys: keys.cloned(), claimed })
        }
    }
}

fn key_of<S: Arithmetic>(parts: &[&[sotto_rlwe::Ciphertext<S>]]) -> KeyId {
    parts.iter().flat_map(|parts| parts.iter()).next().map_or(KeyId([0; 16]), sotto_rlwe::Ciphertext::key)
}

/// Refuses what [`run`] would refuse, without computing.
pub(crate) fn check<S: Arithmetic>(operands: &[&Encrypted<S>], work: &impl Operation<S>) -> Result<()> {
    let params = operands[0].context.params();
    outline(operands, work)?.0.iter().try_for_each(|shape| decodes(params, shape))
}

/// Returns the shapes of the result, and the operations that lead to it, without computing.
pub(crate) fn outline<S: Arithmetic>(
    operands: &[&Encrypted<S>],
    work: &impl Operation<S>,
) -> Result<(Vec<Shape<S>>, Tally)> {
    let params = operands[0].context.params();
    let shapes: Vec<_> = operands.iter().map(|operand| operand.shapes()).collect();
    let all: Vec<_> = shapes.iter().map(Vec::as_slice).collect();
    let mut machine = Outline::new(params);
    let parts =
        work.run(&mut machine, &all).map_err(|error| Error::of_circuit(error, params.degree(), S::EXACT))?;
    Ok((parts, machine.tally().clone()))
}

/// Refuses a shape whose scaled message decryption could not decode: CKKS decodes 62 bits.
pub(crate) fn decodes<S: Arithmetic>(params: &Params<S>, shape: &Shape<S>) -> Result<()> {
    let bits = (shape.noise.message + shape.noise.error).0;
    if S::EXACT || bits <= MOST_BITS {
        return Ok(());
    }
    let reason = format!("the scaled values may take {bits:.0} bits, and {MOST_BITS} can be decoded");
    Err(Error::Depth { degree: params.degree(), reason })
}

const MOST_BITS: f64 = 62.0;
