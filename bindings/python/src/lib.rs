//! The compiled part of the Python package `sotto`: contexts, keys, vectors and plans of the crate `sotto-he`, and
//! plants of `sotto-owner`. The Python part makes arrays and data frames of them.

mod call;
mod context;
mod error;
mod formula;
mod keys;
mod plan;
#[cfg(feature = "cloud")]
mod plant;
mod vector;

use pyo3::prelude::*;

#[pymodule]
mod _native {
    #[pymodule_export]
    use super::context::Context;
    #[pymodule_export]
    use super::formula::{Formula, FormulaBuilder};
    #[pymodule_export]
    use super::keys::{Public, Secret};
    #[pymodule_export]
    use super::plan::Plan;
    #[cfg(feature = "cloud")]
    #[pymodule_export]
    use super::plant::Plant;
    #[pymodule_export]
    use super::vector::Vector;
}
