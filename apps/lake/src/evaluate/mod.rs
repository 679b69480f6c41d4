//! Aggregate functions over whole ciphertexts: plans of the owner, and sums under one key. No cryptography is here: it is that of
//! `sotto-evaluate`, which the cloud runs as well.

mod evaluations;
mod function;
mod gather;
mod inputs;
mod plan;
mod reader;
mod scheme;
mod switched;

use std::sync::Arc;

use datafusion::logical_expr::AggregateUDF;

pub use evaluations::{Evaluations, LARGEST_JOB};
use function::Function;

/// Returns the functions over ciphertexts of a store.
#[must_use]
pub fn functions(evaluations: &Arc<Evaluations>) -> Vec<Arc<AggregateUDF>> {
    let of = |function| Arc::new(AggregateUDF::from(function));
    vec![of(Function::plan(evaluations)), of(Function::switched_sum(evaluations))]
}
