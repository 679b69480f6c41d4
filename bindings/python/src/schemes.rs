//! The scheme of parameters, keys, vectors and plans: real numbers or whole numbers.

use pyo3::prelude::*;
use sotto::{Bfv, Ckks};

/// The scheme of a context: real numbers or whole numbers.
#[derive(Clone)]
pub(crate) enum Schemes {
    Reals(sotto::Context<Ckks>),
    Integers(sotto::Context<Bfv>),
}

/// Parameters: which numbers, how deep.
#[pyclass(frozen, module = "sotto._native")]
pub(crate) struct Context(pub(crate) Schemes);

/// Calls the same code for either scheme.
macro_rules! each {
    ($kinds:ident, $on:expr, $inner:ident => $result:expr) => {
        match $on {
            $kinds::Reals($inner) => $result,
            $kinds::Integers($inner) => $result,
        }
    };
}
pub(crate) use each;
