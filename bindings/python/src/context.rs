//! Parameters of one scheme.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyList;
use sotto::{Bfv, Ckks, DeviceSecret, secure_rng};
use sotto_keys::KeyFile;
use zeroize::Zeroizing;

use crate::call::detached;
use crate::error::{OrRaise as _, file, mixed_kinds};
use crate::flags::{FlagPlan, Flags};
use crate::keys::{Public, PublicKeys, Secret, SecretKeys};
use crate::plan::{Plan, Plans};
use crate::schemes::{Context, Schemes, each};
use crate::vector::{Values, Vector};

#[pymethods]
impl Context {
    /// Chooses parameters for real numbers (CKKS): by depth and a largest error, as a share of the range; or the chain of a
    /// degree and a scale in bits.
    #[staticmethod]
    #[pyo3(signature = (depth, public_inputs, error_within=None, chain=None))]
    fn reals(
        py: Python<'_>,
        depth: usize,
        public_inputs: bool,
        error_within: Option<f64>,
        chain: Option<(usize, u32)>,
    ) -> PyResult<Self> {
        let mut builder = sotto::Context::<Ckks>::builder().depth(depth).values_within(1.0);
        if public_inputs {
            builder = builder.public_inputs();
        }
        if let Some(share) = error_within {
            builder = builder.relative_error_within(share);
        }
        if let Some((degree, bits)) = chain {
            builder = builder.degree(degree).scale(bits);
        }
        Ok(Self(Schemes::Reals(detached(py, || builder.build())?)))
    }

    /// Chooses parameters for whole numbers (BFV) whose results stay within a bound.
    #[staticmethod]
    fn integers(
        py: Python<'_>,
        depth: usize,
        values_within: f64,
        results_within: f64,
        public_inputs: bool,
    ) -> PyResult<Self> {
        let builder = sotto::Context::<Bfv>::builder().depth(depth);
        let mut builder = builder.values_within(values_within).results_within(results_within);
        if public_inputs {
            builder = builder.public_inputs();
        }
        Ok(Self(Schemes::Integers(detached(py, || builder.build())?)))
    }

    /// Chooses parameters for real numbers with room for `depth` products and then a comparison with this gap.
    #[staticmethod]
    fn reals_to_compare(py: Python<'_>, depth: usize, gap: f64, public_inputs: bool) -> PyResult<Self> {
        let mut builder = sotto::Context::<Ckks>::builder().values_within(1.0);
        if public_inputs {
            builder = builder.public_inputs();
        }
        let computation = |inputs: &[sotto::Encrypted<Ckks>]| {
            let mut values = inputs[0].clone();
            for _ in 0..depth {
                values = values.square()?;
            }
            // The unit of a vector is the power of two from its bound on. So noise weighs most where the bound is half of
            // the unit, and slots are largest where a limit is as large as the bound.
            values.greater_than(1.0, gap)?;
            Ok(values.with_magnitude(0.5).greater_than(f64::EPSILON, gap)?.into_vector())
        };
        Ok(Self(Schemes::Reals(detached(py, || builder.build_for(&[1], computation))?)))
    }

    /// Chooses parameters for comparisons of whole numbers of a range, and sums of the flags within a bound.
    #[staticmethod]
    fn integers_to_compare(
        py: Python<'_>,
        first: i64,
        last: i64,
        results_within: Option<f64>,
        public_inputs: bool,
    ) -> PyResult<Self> {
        let mut builder = sotto::Context::<Bfv>::builder().range(first..=last);
        if let Some(bound) = results_within {
            builder = builder.results_within(bound);
        }
        if public_inputs {
            builder = builder.public_inputs();
        }
        Ok(Self(Schemes::Integers(detached(py, || builder.build())?)))
    }

    /// Makes the keys that follow from a device secret, or from a new one.
    #[pyo3(signature = (secret=None))]
    fn keys(&self, py: Python<'_>, secret: Option<&Secret>) -> PyResult<(Secret, Public)> {
        let mut rng = secure_rng().map_err(Into::into).or_raise(py)?;
        let device = match secret {
            Some(other) => other.device(),
            None => DeviceSecret::generate(&mut rng),
        };
        self.keys_of(py, device)
    }

    /// Reads a device secret from a key file, and makes its keys.
    #[pyo3(signature = (path, passphrase=None))]
    fn keys_from(
        &self,
        py: Python<'_>,
        path: PathBuf,
        passphrase: Option<&str>,
    ) -> PyResult<(Secret, Public)> {
        let bytes: Zeroizing<[u8; 32]> =
            KeyFile::Device.read(&path, passphrase).map_err(|error| file(&error))?;
        self.keys_of(py, DeviceSecret::from_bytes(&bytes))
    }

    /// Runs a computation dry. `computation` gets one vector for each length, and returns a list of vectors.
    fn plan(
        &self,
        py: Python<'_>,
        lengths: Vec<usize>,
        computation: Bound<'_, PyAny>,
    ) -> PyResult<Vec<Plan>> {
        let mut failed = None;
        let plans = match &self.0 {
            Schemes::Reals(context) => {
                let run = |inputs: &[_]| {
                    called(py, &computation, inputs, Values::Reals, vector(reals), &mut failed)
                };
                context.plan_all(&lengths, run).map(|plans| plans.into_iter().map(Plans::Reals).collect())
            }
            Schemes::Integers(context) => {
                let run = |inputs: &[_]| {
                    called(py, &computation, inputs, Values::Integers, vector(integers), &mut failed)
                };
                context.plan_all(&lengths, run).map(|plans| plans.into_iter().map(Plans::Integers).collect())
            }
        };
        match failed {
            Some(error) => Err(error),
            None => plans.or_raise(py).map(|plans: Vec<Plans>| plans.into_iter().map(Plan).collect()),
        }
    }

    /// Runs a computation that ends with flags dry, as `plan`. `computation` returns a list of flags.
    fn plan_flags(
        &self,
        py: Python<'_>,
        lengths: Vec<usize>,
        computation: Bound<'_, PyAny>,
    ) -> PyResult<Vec<FlagPlan>> {
        let Schemes::Reals(context) = &self.0 else { return Err(mixed_kinds()) };
        let mut failed = None;
        let plans = context.plan_all_flags(&lengths, |inputs| {
            called(py, &computation, inputs, Values::Reals, flags, &mut failed)
        });
        match failed {
            Some(error) => Err(error),
            None => plans.or_raise(py).map(|plans| plans.into_iter().map(FlagPlan).collect()),
        }
    }

    /// The scheme's name.
    #[getter]
    fn scheme(&self) -> &'static str {
        match self.0 {
            Schemes::Reals(_) => "CKKS",
            Schemes::Integers(_) => "BFV",
        }
    }

    /// The degree of the ring, n.
    #[getter]
    fn degree(&self) -> usize {
        each!(Schemes, &self.0, context => context.params().degree())
    }

    /// Values that one ciphertext holds.
    #[getter]
    fn slots(&self) -> usize {
        each!(Schemes, &self.0, context => context.slots())
    }

    fn __repr__(&self) -> String {
        each!(Schemes, &self.0, context => context.to_string())
    }
}

impl Context {
    fn keys_of(&self, py: Python<'_>, device: DeviceSecret) -> PyResult<(Secret, Public)> {
        let mut rng = secure_rng().map_err(Into::into).or_raise(py)?;
        let made = detached(py, || match &self.0 {
            Schemes::Reals(context) => context
                .keys_of(device, &mut rng)
                .map(|(secret, public)| (SecretKeys::Reals(secret), PublicKeys::Reals(public))),
            Schemes::Integers(context) => context
                .keys_of(device, &mut rng)
                .map(|(secret, public)| (SecretKeys::Integers(secret), PublicKeys::Integers(public))),
        });
        made.map(|(secret, public)| (Secret(secret), Public(public)))
    }
}

/// Calls the Python function of a dry run. An exception is kept in `failed`.
fn called<S: sotto::Arithmetic, T>(
    py: Python<'_>,
    computation: &Bound<'_, PyAny>,
    inputs: &[sotto::Encrypted<S>],
    wrap: impl Fn(sotto::Encrypted<S>) -> Values,
    unwrap: impl Fn(Bound<'_, PyAny>) -> PyResult<T>,
    failed: &mut Option<PyErr>,
) -> sotto::Result<Vec<T>> {
    let run = || -> PyResult<Vec<T>> {
        let inputs = inputs.iter().map(|input| Vector(wrap(input.clone())));
        let inputs = PyList::new(
            py,
            inputs.collect::<Vec<_>>().into_iter().map(|v| Py::new(py, v)).collect::<PyResult<Vec<_>>>()?,
        )?;
        let outputs = computation.call1((inputs,))?;
        let outputs = outputs.try_iter()?;
        outputs.map(|item| unwrap(item?)).collect()
    };
    run().map_err(|error| {
        *failed = Some(error);
        sotto::Error::DryRun
    })
}

/// Returns a function that takes the vector of one kind out of a Python object.
fn vector<T>(kind: impl Fn(&Values) -> Option<T>) -> impl Fn(Bound<'_, PyAny>) -> PyResult<T> {
    move |item| {
        let vector = item.cast_into::<Vector>().map_err(PyErr::from)?;
        kind(&vector.get().0).ok_or_else(mixed_kinds)
    }
}

fn flags(item: Bound<'_, PyAny>) -> PyResult<sotto::Flags> {
    Ok(item.cast_into::<Flags>().map_err(PyErr::from)?.get().flags.clone())
}

fn reals(values: &Values) -> Option<sotto::Encrypted<Ckks>> {
    match values {
        Values::Reals(vector) => Some(vector.clone()),
        Values::Integers(_) => None,
    }
}

fn integers(values: &Values) -> Option<sotto::Encrypted<Bfv>> {
    match values {
        Values::Integers(vector) => Some(vector.clone()),
        Values::Reals(_) => None,
    }
}
