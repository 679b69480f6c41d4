//! Aggregate functions: sums of windows, as the cloud makes them. No cryptography is here: additions are those of `sotto-sums`,
//! frames those of `sotto-wire`.

mod answer;
mod bodies;
mod function;
mod group;
mod groups;
mod shape;
mod state;
mod streams;

use std::sync::Arc;

use datafusion::logical_expr::AggregateUDF;

pub use answer::Asked;
pub(crate) use answer::{AnswerFunction, NAME};
use function::Function;

/// Returns the function that answers a request.
pub(crate) fn answer_function(asked: Asked) -> AnswerFunction {
    AnswerFunction::new(asked)
}

/// Returns the aggregate functions of the lake.
#[must_use]
pub fn functions() -> Vec<Arc<AggregateUDF>> {
    [Function::sum(), Function::weighted_sum()].map(|function| Arc::new(AggregateUDF::from(function))).into()
}
