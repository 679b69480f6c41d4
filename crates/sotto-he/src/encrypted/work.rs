//! Runs one operation on ciphertexts or on the shapes of a dry run, and follows the errors.

use sotto_circuits::{CircuitError, Errors, Machine, Outline, Tally, Tracked, Tracking};
use sotto_rlwe::{EvaluationKeys, KeyId, Params, Shape};
use std::sync::{Arc, PoisonError};

use super::Encrypted;
use super::body::{Body, assumed_errors, slot_errors};
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
                Body::Dry { parts, errors, .. } => Ok((parts.as_slice(), errors.as_slice())),
                Body::Real { .. } => Err(Error::Mixed),
            });
            let all = all.collect::<Result<Vec<_>>>()?;
            let mut machine = Tracking::new(Outline::new(context.params()));
            let parts = tracked(&mut machine, &all, work).map_err(refused)?;
            *tally.lock().unwrap_or_else(PoisonError::into_inner) += machine.machine().tally();
            let (parts, errors) = parts.into_iter().map(|part| machine.into_parts(part)).unzip();
            Ok(Body::Dry { parts, errors, tally: Arc::clone(tally) })
        }
        Body::Real { .. } => {
            let (mut keys, mut claimed) = (None, false);
            let mut all = Vec::with_capacity(operands.len());
            for operand in operands {
                let Body::Real { parts, errors, keys: held, claimed: claim } = &operand.body else {
                    return Err(Error::Mixed);
                };
                keys = keys.or(held.as_ref());
                claimed |= claim;
                all.push((parts.as_slice(), errors.as_slice()));
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
            let mut machine = Tracking::new(machine.watched_by(&watch));
            let parts = tracked(&mut machine, &all, work).map_err(|error| match (keys, error) {
                (None, CircuitError::MissingKeys { .. }) => Error::NoKeys,
                (None, CircuitError::Eval(sotto_rlwe::EvalError::MissingKey(_))) => Error::NoKeys,
                (_, error) => refused(error),
            })?;
            let (parts, errors) = parts.into_iter().map(|part| machine.into_parts(part)).unzip();
            Ok(Body::Real { parts, errors, keys: keys.cloned(), claimed })
        }
    }
}

/// Runs an operation on a machine that follows the errors of parts.
fn tracked<'a, S, M, O>(
    machine: &mut M,
    operands: &[(&'a [O], &[Errors])],
    work: &impl Operation<S>,
) -> Outcome<M>
where
    S: Arithmetic,
    M: Machine<Value = S::Value, Vector = Tracked<'a, O>>,
{
    let beside = |(parts, errors): &(&'a [O], &[Errors])| -> Vec<_> {
        parts.iter().zip(*errors).map(|(part, errors)| Tracked::new(part, errors.clone())).collect()
    };
    // An operand that stands twice stays one: its product is a square.
    let place = |at: usize| {
        let same = |other: &usize| core::ptr::eq(operands[*other].0, operands[at].0);
        (0..at).find(same).unwrap_or(at)
    };
    let places: Vec<usize> = (0..operands.len()).map(place).collect();
    let own: Vec<Vec<_>> = places
        .iter()
        .enumerate()
        .map(|(at, place)| if at == *place { beside(&operands[at]) } else { Vec::new() })
        .collect();
    let all: Vec<_> = places.iter().map(|place| own[*place].as_slice()).collect();
    work.run(machine, &all)
}

fn key_of<S: Arithmetic>(operands: &[(&[sotto_rlwe::Ciphertext<S>], &[Errors])]) -> KeyId {
    operands
        .iter()
        .flat_map(|(parts, _)| parts.iter())
        .next()
        .map_or(KeyId([0; 16]), sotto_rlwe::Ciphertext::key)
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

/// Returns the shapes of a result of `len` values, and the largest error of its slots, to compare ways to compute it: the
/// error depends on the operands' shapes alone and is no bound ([`assumed_errors`]).
pub(crate) fn assumed_error<S: Arithmetic>(
    operands: &[&Encrypted<S>],
    work: &impl Operation<S>,
    len: usize,
) -> Result<(Vec<Shape<S>>, f64)> {
    let context = &operands[0].context;
    let params = context.params();
    let shapes: Vec<_> = operands.iter().map(|operand| operand.shapes()).collect();
    let errors: Vec<_> = shapes.iter().map(|shapes| assumed_errors(context, shapes)).collect();
    let all: Vec<_> =
        shapes.iter().zip(&errors).map(|(shapes, errors)| (shapes.as_slice(), errors.as_slice())).collect();
    let mut machine = Tracking::new(Outline::new(params));
    let parts = tracked(&mut machine, &all, work)
        .map_err(|error| Error::of_circuit(error, params.degree(), S::EXACT))?;
    parts.iter().try_for_each(|part| decodes(params, part))?;
    let (shapes, errors): (Vec<_>, Vec<_>) = parts.into_iter().map(|part| machine.into_parts(part)).unzip();
    let error = slot_errors(context, len, &shapes, &errors).into_iter().fold(0.0, f64::max);
    Ok((shapes, error))
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
