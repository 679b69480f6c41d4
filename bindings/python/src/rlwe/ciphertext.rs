//! Ciphertexts.

use std::sync::OnceLock;

use numpy::{IntoPyArray as _, PyArray3, PyArrayMethods as _};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sotto_rlwe::{
    Ciphertext as Expanded, Expected, Params, Scheme, Shape as RustShape, map_any, map_same, of_any_scheme,
    try_map_any, with_any,
};
use sotto_wire::{AnyCiphertext, Arrived};

use super::error::{OrRefuse as _, other_parameters};
use super::parameters::Parameters;
use super::scheme::AnyParams;
use super::shape::Shape;
use crate::error::named;

/// A ciphertext as it was made: with a seed in place of its mask, or whole.
pub(crate) struct Body<S: Scheme> {
    made: AnyCiphertext<S>,
    /// The mask is expanded when it is first needed.
    expanded: OnceLock<Expanded<S>>,
}

impl<S: Scheme> Body<S> {
    pub(crate) fn whole(&self) -> &Expanded<S> {
        match &self.made {
            AnyCiphertext::Expanded(ciphertext) => ciphertext,
            AnyCiphertext::Seeded(seeded) => self.expanded.get_or_init(|| seeded.expand()),
        }
    }

    fn params(&self) -> &Params<S> {
        match &self.made {
            AnyCiphertext::Expanded(ciphertext) => ciphertext.params(),
            AnyCiphertext::Seeded(seeded) => &seeded.params,
        }
    }

    fn shape(&self) -> &RustShape<S> {
        match &self.made {
            AnyCiphertext::Expanded(ciphertext) => ciphertext.shape(),
            AnyCiphertext::Seeded(seeded) => &seeded.shape,
        }
    }

    fn expect(&self, shape: RustShape<S>) -> Result<Self, sotto_rlwe::Unexpected> {
        let whole = self.whole();
        let (parameters, key) = (whole.params().id(), whole.key());
        whole.clone().expect(&Expected { parameters, key, shape, reduction: None }).map(Self::from)
    }
}

impl<S: Scheme> From<AnyCiphertext<S>> for Body<S> {
    fn from(made: AnyCiphertext<S>) -> Self {
        Self { made, expanded: OnceLock::new() }
    }
}

impl<S: Scheme> From<Expanded<S>> for Body<S> {
    fn from(ciphertext: Expanded<S>) -> Self {
        AnyCiphertext::Expanded(ciphertext).into()
    }
}

/// Returns a ciphertext with the shape that its bytes claim.
fn claimed<S: Scheme>(read: Arrived<AnyCiphertext<S>>) -> Body<S> {
    read.with_claimed_shape().into()
}

pub(crate) type AnyBody = of_any_scheme!(Body);

/// An encrypted plaintext.
#[pyclass(frozen, module = "sotto.rlwe")]
pub(crate) struct Ciphertext {
    pub(crate) body: AnyBody,
    /// True if the shape is a claim of the sender of its bytes, or of bytes that it was computed from.
    pub(crate) claimed: bool,
}

impl Ciphertext {
    pub(crate) fn new(body: AnyBody) -> Self {
        Self { body, claimed: false }
    }
}

#[pymethods]
impl Ciphertext {
    /// Reads the bytes of `to_bytes`.
    ///
    /// Everything but the residues is a claim of their sender: evaluators compute on the ciphertext, and
    /// `SecretKey.decrypt` refuses it and its results until `expect` compared one with the shape of the computation.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, parameters: &Parameters, data: &[u8]) -> PyResult<Self> {
        let read: Result<AnyBody, sotto_wire::WireError> = py
            .detach(|| try_map_any!(&parameters.0, params => AnyCiphertext::read(data, params).map(claimed)));
        Ok(Self { body: read.or_refuse(py)?, claimed: true })
    }

    /// Writes the ciphertext. One that a secret key encrypted has half the bytes: a seed stands for its mask.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let bytes = py.detach(|| with_any!(&self.body, body => body.made.write()));
        PyBytes::new(py, &bytes)
    }

    fn __bytes__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.to_bytes(py)
    }

    /// Compares a ciphertext from bytes with the shape that the computation gives, and returns it with that shape.
    ///
    /// Raises `NotTrusted` if level, components or scaling differ, or if the claimed noise is larger.
    fn expect(&self, py: Python<'_>, shape: &Shape) -> PyResult<Self> {
        if self.params() != shape.params {
            return Err(other_parameters(py));
        }
        let expected =
            map_same!((&self.body, &shape.shape), (body, shape) => body.expect(*shape).or_refuse(py)?);
        expected.map(Self::new).ok_or_else(|| other_parameters(py))
    }

    /// Returns the ciphertext with the shape that its bytes claim. Decrypt it only if its sender is trusted: a false
    /// noise bound makes decrypted values show something of the secret key.
    fn with_claimed_shape(&self) -> Self {
        Self::new(map_any!(&self.body, body => body.made.clone().into()))
    }

    /// True if the shape is only claimed: see `from_bytes`.
    #[getter]
    fn is_claimed(&self) -> bool {
        self.claimed
    }

    /// True if a seed stands for the mask.
    #[getter]
    fn is_seeded(&self) -> bool {
        with_any!(&self.body, body => matches!(body.made, AnyCiphertext::Seeded(_)))
    }

    /// The parameter set that it was encrypted with.
    #[getter]
    fn parameters(&self) -> Parameters {
        Parameters(self.params())
    }

    /// The public name of the key that decrypts it, in hexadecimal.
    #[getter]
    fn key_id(&self) -> String {
        with_any!(&self.body, body => match &body.made {
            AnyCiphertext::Expanded(ciphertext) => ciphertext.key().to_string(),
            AnyCiphertext::Seeded(seeded) => seeded.key.to_string(),
        })
    }

    /// Level, components, scaling and noise.
    #[getter]
    pub(crate) fn shape(&self) -> Shape {
        Shape { params: self.params(), shape: map_any!(&self.body, body => *body.shape()) }
    }

    /// The level: `shape.level`.
    #[getter]
    fn level(&self) -> usize {
        with_any!(&self.body, body => body.shape().level)
    }

    /// Components, 2 or 3: `shape.components`.
    #[getter]
    fn components(&self) -> usize {
        with_any!(&self.body, body => body.shape().components)
    }

    /// Bits between the noise bound and the decryption limit: `shape.room_bits`.
    #[getter]
    fn room_bits(&self) -> f64 {
        self.shape().room_bits()
    }

    /// Returns the residues in evaluation form as uint64, of shape (components, level + 1, n). The order of the last
    /// axis is bit-reversed: docs/math/conventions.md.
    fn residues<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray3<u64>>> {
        let (residues, shape) = py.detach(|| with_any!(&self.body, body => residues(body.whole())));
        residues.into_pyarray(py).reshape(shape)
    }

    fn __repr__(&self) -> String {
        let shape = self.shape();
        format!(
            "Ciphertext({}, level {}, {} components, room {:.1} bits{})",
            with_any!(&self.body, body => body.params().scheme().name()),
            shape.level(),
            shape.components(),
            shape.room_bits(),
            if self.claimed { ", claimed" } else { "" }
        )
    }
}

impl Ciphertext {
    pub(crate) fn params(&self) -> AnyParams {
        map_any!(&self.body, body => body.params().clone())
    }

    /// Refuses a ciphertext whose shape is only claimed.
    pub(crate) fn trusted(&self, py: Python<'_>) -> PyResult<&AnyBody> {
        if self.claimed {
            let message = "the shape of this ciphertext is a claim of its sender: compare it with the shape of the \
                           computation by expect(shape), or call with_claimed_shape() if the sender is trusted";
            return Err(named(py, "NotTrusted", message.into()));
        }
        Ok(&self.body)
    }
}

/// Copies all residues, and returns their shape.
fn residues<S: Scheme>(ciphertext: &Expanded<S>) -> (Vec<u64>, [usize; 3]) {
    let limbs = ciphertext.params().limbs(ciphertext.level());
    let components = ciphertext.components();
    let shape = [components.len(), limbs.len(), ciphertext.params().degree()];
    let mut residues = Vec::with_capacity(shape.iter().product());
    for component in components {
        limbs.clone().for_each(|limb| residues.extend_from_slice(component.limb(limb)));
    }
    (residues, shape)
}
