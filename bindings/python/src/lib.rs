//! The compiled part of the Python package `sotto`: contexts, keys, vectors and plans of the crate `sotto-he`, and
//! plants of `sotto-owner`. The Python part makes arrays and data frames of them. The submodules `rlwe` and `paillier`
//! are the layers below.

mod array;
mod call;
mod context;
mod error;
mod flags;
mod formula;
mod keys;
mod packed;
mod paillier;
mod plan;
#[cfg(feature = "cloud")]
mod plant;
mod rlwe;
mod schemes;
mod secret_file;
mod trail;
mod vector;

use pyo3::prelude::*;

// Without `gil_used`, an interpreter without the lock would turn it on. Sound, because every class is frozen or borrows
// its state at run time.
#[pymodule(gil_used = false)]
mod _native {
    use super::*;

    #[pymodule_export]
    use super::array::Array;
    #[pymodule_export]
    use super::flags::{FlagPlan, Flags};
    #[pymodule_export]
    use super::formula::{Formula, FormulaBuilder};
    #[pymodule_export]
    use super::keys::{Public, Secret};
    #[pymodule_export]
    use super::paillier::module as paillier;
    #[pymodule_export]
    use super::plan::Plan;
    #[cfg(feature = "cloud")]
    #[pymodule_export]
    use super::plant::Plant;
    #[pymodule_export]
    use super::rlwe::module as rlwe;
    #[pymodule_export]
    use super::schemes::Context;
    #[pymodule_export]
    use super::vector::Vector;

    /// Adds the version. Lists the submodules among the loaded modules, so that they can be imported by name.
    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        let loaded = module.py().import("sys")?.getattr("modules")?;
        for name in ["paillier", "rlwe"] {
            let (path, part) = (format!("sotto._native.{name}"), module.getattr(name)?);
            part.setattr("__name__", &path)?;
            loaded.set_item(path, part)?;
        }
        Ok(())
    }
}
