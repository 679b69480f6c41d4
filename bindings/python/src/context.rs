//! Parameters of one scheme.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyList;
use sotto::keys::{KeyFile, Protection};
use sotto::{Bfv, Ckks, DeviceSecret, secure_rng};
use zeroize::Zeroizing;

use crate::call::detached;
use crate::error::{OrRaise as _, file, mixed_kinds};
use crate::keys::{Public, PublicKeys, Secret, SecretKeys};
use crate::plan::{Plan, Plans};
use crate::vector::{Values, Vector};

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

#[pymethods]
impl Context {
    /// Chooses parameters for real numbers (CKKS).
    #[staticmethod]
    fn reals(py: Python<'_>, depth: usize, public_inputs: bool) -> PyResult<Self> {
        let mut builder = sotto::Context::<Ckks>::builder().depth(depth).values_within(1.0);
        if public_inputs {
            builder = builder.public_inputs();
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
                let run = |inputs: &[_]| called(py, &computation, inputs, Values::Reals, reals, &mut failed);
                context.plan_all(&lengths, run).map(|plans| plans.into_iter().map(Plans::Reals).collect())
            }
            Schemes::Integers(context) => {
                let run =
                    |inputs: &[_]| called(py, &computation, inputs, Values::Integers, integers, &mut failed);
                context.plan_all(&lengths, run).map(|plans| plans.into_iter().map(Plans::Integers).collect())
            }
        };
        match failed {
            Some(error) => Err(error),
            None => plans.or_raise(py).map(|plans: Vec<Plans>| plans.into_iter().map(Plan).collect()),
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

/// Writes a device secret to a new file with mode 0600.
pub(crate) fn write_secret(
    secret: &DeviceSecret,
    path: &std::path::Path,
    passphrase: Option<&str>,
    py: Python<'_>,
) -> PyResult<()> {
    let mut rng = secure_rng().map_err(Into::into).or_raise(py)?;
    let protection = passphrase.map_or(Protection::FileMode, Protection::Passphrase);
    let bytes = secret.expose_secret_bytes();
    py.detach(|| KeyFile::Device.write(path, bytes, &protection, &mut rng)).map_err(|error| file(&error))
}

/// Calls the Python function of a dry run. An exception is kept in `failed`.
fn called<S: sotto::Arithmetic>(
    py: Python<'_>,
    computation: &Bound<'_, PyAny>,
    inputs: &[sotto::Encrypted<S>],
    wrap: impl Fn(sotto::Encrypted<S>) -> Values,
    unwrap: impl Fn(&Values) -> Option<sotto::Encrypted<S>>,
    failed: &mut Option<PyErr>,
) -> sotto::Result<Vec<sotto::Encrypted<S>>> {
    let run = || -> PyResult<Vec<sotto::Encrypted<S>>> {
        let inputs = inputs.iter().map(|input| Vector(wrap(input.clone())));
        let inputs = PyList::new(
            py,
            inputs.collect::<Vec<_>>().into_iter().map(|v| Py::new(py, v)).collect::<PyResult<Vec<_>>>()?,
        )?;
        let outputs = computation.call1((inputs,))?;
        let outputs = outputs.try_iter()?;
        let output = |item: PyResult<Bound<'_, PyAny>>| {
            let vector = item?.cast_into::<Vector>().map_err(PyErr::from)?;
            unwrap(&vector.get().0).ok_or_else(mixed_kinds)
        };
        outputs.map(output).collect()
    };
    run().map_err(|error| {
        *failed = Some(error);
        sotto::Error::DryRun
    })
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
