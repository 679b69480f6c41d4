//! Shapes: facts of ciphertexts that are known without their data.

use pyo3::prelude::*;
use sotto_rlwe::{
    OfAnyScheme, Origin, Plaintext as RustPlaintext, Scheme, Shape as RustShape, map_any, map_same, with_same,
};

use super::encoder::positive;
use super::error::{OrRefuse as _, mixed, other_parameters};
use super::parameters::Parameters;
use super::plaintext::Plaintext;
use super::scheme::{AnyParams, AnyShape};

/// The shape of a ciphertext: level, components, scaling and noise. Follows a computation without keys or ciphertexts.
#[pyclass(frozen, module = "sotto.rlwe")]
pub(crate) struct Shape {
    pub(crate) params: AnyParams,
    pub(crate) shape: AnyShape,
}

/// Evaluates an expression on shape and parameters.
macro_rules! on {
    ($self:expr, ($shape:ident, $params:ident) => $result:expr) => {
        with_same!((&$self.shape, &$self.params), ($shape, $params) => $result)
            .expect("a shape has parameters of its scheme")
    };
}

/// Evaluates an expression for a new shape.
macro_rules! next {
    ($self:ident, $py:ident, ($shape:ident, $params:ident) => $result:expr) => {{
        let shape = map_same!((&$self.shape, &$self.params), ($shape, $params) => $result.or_refuse($py)?)
            .expect("a shape has parameters of its scheme");
        Ok(Self { params: $self.params.clone(), shape })
    }};
}

/// Evaluates an expression for a new shape from two.
macro_rules! joined {
    ($self:ident, $other:ident, $py:ident, ($a:ident, $params:ident, $b:ident) => $result:expr) => {{
        if $self.params != $other.params {
            return Err(other_parameters($py));
        }
        let shape = map_same!(
            (&$self.shape, &$self.params, &$other.shape),
            ($a, $params, $b) => $result.or_refuse($py)?
        );
        let shape = shape.ok_or_else(|| mixed($py))?;
        Ok(Self { params: $self.params.clone(), shape })
    }};
}

/// Evaluates an expression for a new shape from a shape and a plaintext.
macro_rules! with_plain {
    ($self:ident, $plaintext:ident, $py:ident, ($a:ident, $params:ident, $b:ident) => $result:expr) => {{
        if !$plaintext.is_of(&$self.params) {
            return Err(other_parameters($py));
        }
        let shape = map_same!(
            (&$self.shape, &$self.params, &$plaintext.0),
            ($a, $params, $b) => $result.or_refuse($py)?
        );
        let shape = shape.ok_or_else(|| mixed($py))?;
        Ok(Self { params: $self.params.clone(), shape })
    }};
}

/// Returns the level and the scaling for which the evaluator prepares a plaintext.
fn prepared<S: Scheme>(shape: &RustShape<S>, plaintext: &RustPlaintext<S>) -> (usize, S::Scaling) {
    if S::ANY_LEVEL { (shape.level, shape.scaling) } else { (plaintext.level(), plaintext.scaling()) }
}

#[pymethods]
impl Shape {
    /// Returns the shape of a fresh ciphertext. `by_public_key`: encrypted with the public key, which has more noise.
    /// `magnitude`: the declared bound on absolute values (CKKS).
    #[staticmethod]
    #[pyo3(signature = (parameters, *, by_public_key=false, magnitude=1.0))]
    fn fresh(py: Python<'_>, parameters: &Parameters, by_public_key: bool, magnitude: f64) -> PyResult<Self> {
        let magnitude = positive(py, magnitude)?;
        let origin = if by_public_key { Origin::PublicKey } else { Origin::SecretKey };
        let shape = map_any!(&parameters.0, params => {
            RustShape::fresh(params, origin, magnitude).or_refuse(py)?
        });
        Ok(Self { params: parameters.0.clone(), shape })
    }

    /// The parameter set that it is followed on.
    #[getter]
    fn parameters(&self) -> Parameters {
        Parameters(self.params.clone())
    }

    /// The level: a ciphertext has the data primes q_0 to q_level.
    #[getter]
    pub(crate) fn level(&self) -> usize {
        on!(self, (shape, _params) => shape.level)
    }

    /// Components: 2, or 3 after a product.
    #[getter]
    pub(crate) fn components(&self) -> usize {
        on!(self, (shape, _params) => shape.components)
    }

    /// BGV: the factor modulo t by which the message is multiplied; None in BFV and CKKS.
    #[getter]
    pub(crate) fn factor(&self) -> Option<u64> {
        if let OfAnyScheme::Bgv(shape) = &self.shape { Some(shape.scaling) } else { None }
    }

    /// CKKS: the power of the level's scale, 2 in a product that was not rescaled; None in BFV and BGV.
    #[getter]
    pub(crate) fn scale_power(&self) -> Option<u32> {
        self.shape.real().map(|shape| shape.scaling.0)
    }

    /// CKKS: the scale of the message; None in BFV and BGV.
    #[getter]
    pub(crate) fn scale(&self) -> Option<f64> {
        let (shape, params) = (self.shape.real()?, self.params.real()?);
        Some(params.scale(shape.level).powi(shape.scaling.0 as i32))
    }

    /// log2 of the bound on the noise, as a canonical norm. Only this bound decides.
    #[getter]
    pub(crate) fn noise_bits(&self) -> f64 {
        on!(self, (shape, _params) => shape.noise.error.0)
    }

    /// log2 of the noise on average. For display.
    #[getter]
    pub(crate) fn estimated_noise_bits(&self) -> f64 {
        on!(self, (shape, params) => shape.estimated(params).error.0)
    }

    /// Bits between the noise bound and the decryption limit. An operation that would make it negative is refused.
    #[getter]
    pub(crate) fn room_bits(&self) -> f64 {
        on!(self, (shape, params) => shape.room(params))
    }

    /// Bits between the noise and the decryption limit on average. For display.
    #[getter]
    pub(crate) fn estimated_room_bits(&self) -> f64 {
        on!(self, (shape, params) => shape.estimated_room(params))
    }

    /// A bound on the error of every decoded slot; 0 in BFV and BGV.
    #[getter]
    pub(crate) fn slot_error(&self) -> f64 {
        on!(self, (shape, params) => shape.slot_error(params))
    }

    /// The expected error of the worst decoded slot. For display.
    #[getter]
    pub(crate) fn estimated_slot_error(&self) -> f64 {
        on!(self, (shape, params) => shape.estimated_slot_error(params))
    }

    /// Bytes of the ciphertext in memory.
    #[getter]
    pub(crate) fn nbytes(&self) -> u64 {
        on!(self, (shape, params) => shape.bytes(params))
    }

    /// Returns the shape of a sum or difference.
    fn add(&self, py: Python<'_>, other: &Self) -> PyResult<Self> {
        joined!(self, other, py, (a, params, b) => a.add(params, b))
    }

    /// Returns the shape of a product, with three components.
    fn multiply(&self, py: Python<'_>, other: &Self) -> PyResult<Self> {
        joined!(self, other, py, (a, params, b) => a.multiply(params, b))
    }

    /// Returns the shape of the product with itself.
    fn square(&self, py: Python<'_>) -> PyResult<Self> {
        next!(self, py, (a, params) => a.square(params))
    }

    /// Returns the shape after relinearisation to two components.
    fn relinearise(&self, py: Python<'_>) -> PyResult<Self> {
        next!(self, py, (a, params) => a.relinearise(params))
    }

    /// Returns the shape after a rotation; step 0 is the row swap or the conjugation.
    fn rotate(&self, py: Python<'_>, step: i32) -> PyResult<Self> {
        next!(self, py, (a, params) => a.rotate(params, step))
    }

    /// Returns the shape without the last prime.
    fn drop_modulus(&self, py: Python<'_>) -> PyResult<Self> {
        next!(self, py, (a, params) => a.drop_prime(params))
    }

    /// Returns the shape of the same message at a lower level.
    fn lower(&self, py: Python<'_>, level: usize) -> PyResult<Self> {
        next!(self, py, (a, params) => a.lower(params, level))
    }

    /// Returns the shape of a product with an integer.
    fn multiply_scalar(&self, py: Python<'_>, scalar: i64) -> PyResult<Self> {
        next!(self, py, (a, params) => a.multiply_scalar(params, scalar))
    }

    /// Returns the shape of a sum with a plaintext.
    fn add_plain(&self, py: Python<'_>, plaintext: &Plaintext) -> PyResult<Self> {
        with_plain!(self, plaintext, py, (a, params, b) => {
            let (level, scaling) = prepared(a, b);
            a.add_plain(params, level, scaling, b.size())
        })
    }

    /// Returns the shape of a product with a plaintext.
    fn multiply_plain(&self, py: Python<'_>, plaintext: &Plaintext) -> PyResult<Self> {
        with_plain!(self, plaintext, py, (a, params, b) => a.multiply_plain(params, prepared(a, b).0, b.size()))
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.params == other.params
            && with_same!((&self.shape, &other.shape), (a, b) => a == b).unwrap_or(false)
    }

    fn __repr__(&self) -> String {
        format!(
            "Shape(level {}, {} components, room {:.1} bits)",
            self.level(),
            self.components(),
            self.room_bits()
        )
    }
}
