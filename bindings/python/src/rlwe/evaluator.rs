//! The evaluator.

use std::collections::BTreeMap;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use sotto_circuits::row_steps;
use sotto_ring::Scratch;
use sotto_rlwe::{
    Addend as RustAddend, Ciphertext as Whole, EvalError, EvaluationKeys as RustKeys,
    Evaluator as RustEvaluator, Multiplier as RustMultiplier, OfAnyScheme, Scheme, map_any, map_same,
    try_map_same, with_any,
};

use super::ciphertext::{AnyBody, Ciphertext};
use super::error::{OrRefuse as _, mixed, other_parameters};
use super::keys::EvaluationKeys;
use super::parameters::Parameters;
use super::plaintext::{Addend, Multiplier, Plaintext};
use super::scheme::{AnyEvaluator, AnyParams};

/// Computes on ciphertexts without a secret. Threads may share one.
#[pyclass(frozen, module = "sotto.rlwe")]
pub(crate) struct Evaluator(AnyEvaluator);

/// A plaintext, or one prepared for sums.
#[derive(FromPyObject)]
enum Summand<'py> {
    Prepared(Bound<'py, Addend>),
    Plain(Bound<'py, Plaintext>),
}

/// A plaintext, or one prepared for products.
#[derive(FromPyObject)]
enum PlainFactor<'py> {
    Prepared(Bound<'py, Multiplier>),
    Plain(Bound<'py, Plaintext>),
}

/// Evaluates an expression for objects of one scheme without holding the interpreter.
macro_rules! run {
    ($py:ident, $claimed:expr, ($($on:expr),+), ($($x:pat),+) => $result:expr) => {{
        let done: Option<Result<AnyBody, EvalError>> = $py.detach(
            || try_map_same!(($($on),+), ($($x),+) => $result.map(Into::into)),
        );
        let body = done.ok_or_else(|| mixed($py))?.or_refuse($py)?;
        Ok(Ciphertext { body, claimed: $claimed })
    }};
}

#[pymethods]
impl Evaluator {
    #[new]
    fn new(parameters: &Parameters) -> Self {
        Self(map_any!(&parameters.0, params => RustEvaluator::new(params)))
    }

    /// The parameter set that operands must have.
    #[getter]
    fn parameters(&self) -> Parameters {
        Parameters(map_any!(&self.0, evaluator => evaluator.params().clone()))
    }

    /// How often each operation ran so far.
    #[getter]
    fn operations(&self) -> BTreeMap<&'static str, u64> {
        with_any!(&self.0, evaluator => evaluator.counters().totals())
    }

    /// Returns a + b. Level, scaling and key must be equal.
    fn add(&self, py: Python<'_>, a: &Ciphertext, b: &Ciphertext) -> PyResult<Ciphertext> {
        run!(py, a.claimed || b.claimed, (&self.0, &a.body, &b.body), (e, a, b) => e.add(a.whole(), b.whole()))
    }

    /// Returns a − b. Level, scaling and key must be equal.
    fn subtract(&self, py: Python<'_>, a: &Ciphertext, b: &Ciphertext) -> PyResult<Ciphertext> {
        run!(py, a.claimed || b.claimed, (&self.0, &a.body, &b.body),
            (e, a, b) => e.subtract(a.whole(), b.whole()))
    }

    /// Returns −a.
    fn negate(&self, py: Python<'_>, a: &Ciphertext) -> PyResult<Ciphertext> {
        run!(py, a.claimed, (&self.0, &a.body), (e, a) => e.negate(a.whole()))
    }

    /// Prepares a plaintext for sums with ciphertexts of one level and scaling, those of `like`.
    fn prepare_addend(&self, py: Python<'_>, plaintext: &Plaintext, like: &Ciphertext) -> PyResult<Addend> {
        self.belongs(py, plaintext, like)?;
        let made = py
            .detach(|| map_same!((&self.0, &plaintext.0, &like.body), (e, p, c) => addend(e, p, c.whole())));
        let prepared = made.ok_or_else(|| mixed(py))?;
        Ok(Addend { prepared, params: plaintext.params() })
    }

    /// Prepares a plaintext for products with ciphertexts of one level, that of `like`.
    fn prepare_multiplier(
        &self,
        py: Python<'_>,
        plaintext: &Plaintext,
        like: &Ciphertext,
    ) -> PyResult<Multiplier> {
        self.belongs(py, plaintext, like)?;
        let made = py.detach(
            || map_same!((&self.0, &plaintext.0, &like.body), (e, p, c) => multiplier(e, p, c.whole())),
        );
        let prepared = made.ok_or_else(|| mixed(py))?;
        Ok(Multiplier { prepared, params: plaintext.params() })
    }

    /// Returns a + b for a plaintext b, prepared or not. A CKKS plaintext must be encoded for a's level.
    fn add_plain(&self, py: Python<'_>, a: &Ciphertext, b: Summand<'_>) -> PyResult<Ciphertext> {
        match b {
            Summand::Prepared(b) => {
                let b = b.get();
                self.prepared_here(py, &b.params)?;
                run!(py, a.claimed, (&self.0, &a.body, &b.prepared), (e, a, b) => e.add_plain(a.whole(), b))
            }
            Summand::Plain(b) => {
                let b = self.prepare_addend(py, b.get(), a)?;
                run!(py, a.claimed, (&self.0, &a.body, &b.prepared), (e, a, b) => e.add_plain(a.whole(), b))
            }
        }
    }

    /// Returns a·b for a plaintext b, prepared or not. A CKKS plaintext must be encoded for a's level; the product's
    /// scale is a power higher.
    fn multiply_plain(&self, py: Python<'_>, a: &Ciphertext, b: PlainFactor<'_>) -> PyResult<Ciphertext> {
        match b {
            PlainFactor::Prepared(b) => {
                let b = b.get();
                self.prepared_here(py, &b.params)?;
                run!(py, a.claimed, (&self.0, &a.body, &b.prepared), (e, a, b) => e.multiply_plain(a.whole(), b))
            }
            PlainFactor::Plain(b) => {
                let b = self.prepare_multiplier(py, b.get(), a)?;
                run!(py, a.claimed, (&self.0, &a.body, &b.prepared), (e, a, b) => e.multiply_plain(a.whole(), b))
            }
        }
    }

    /// Returns a·scalar for an integer; the scaling stays.
    fn multiply_scalar(&self, py: Python<'_>, a: &Ciphertext, scalar: i64) -> PyResult<Ciphertext> {
        run!(py, a.claimed, (&self.0, &a.body), (e, a) => e.multiply_scalar(a.whole(), scalar))
    }

    /// Returns a·b with three components: relinearise it before the next product or rotation.
    fn multiply(&self, py: Python<'_>, a: &Ciphertext, b: &Ciphertext) -> PyResult<Ciphertext> {
        run!(py, a.claimed || b.claimed, (&self.0, &a.body, &b.body),
            (e, a, b) => e.multiply(a.whole(), b.whole()))
    }

    /// Returns a² with three components; cheaper than a product of two.
    fn square(&self, py: Python<'_>, a: &Ciphertext) -> PyResult<Ciphertext> {
        run!(py, a.claimed, (&self.0, &a.body), (e, a) => e.square(a.whole()))
    }

    /// Brings a product from three components to two.
    fn relinearise(&self, py: Python<'_>, a: &Ciphertext, keys: &EvaluationKeys) -> PyResult<Ciphertext> {
        run!(py, a.claimed, (&self.0, &a.body, &keys.0), (e, a, keys) => e.relinearise(a.whole(), keys))
    }

    /// Rotates each row left by `step`, right if negative.
    fn rotate(
        &self,
        py: Python<'_>,
        a: &Ciphertext,
        step: i32,
        keys: &EvaluationKeys,
    ) -> PyResult<Ciphertext> {
        run!(py, a.claimed, (&self.0, &a.body, &keys.0), (e, a, keys) => e.rotate(a.whole(), step, keys))
    }

    /// Swaps the two rows of slots (BFV, BGV); conjugates the slots (CKKS).
    fn swap_rows(&self, py: Python<'_>, a: &Ciphertext, keys: &EvaluationKeys) -> PyResult<Ciphertext> {
        run!(py, a.claimed, (&self.0, &a.body, &keys.0), (e, a, keys) => e.swap_rows(a.whole(), keys))
    }

    /// Returns in every slot the sum of all slots. Needs the rotations of `Parameters.sum_steps`.
    fn sum_slots(&self, py: Python<'_>, a: &Ciphertext, keys: &EvaluationKeys) -> PyResult<Ciphertext> {
        run!(py, a.claimed, (&self.0, &a.body, &keys.0), (e, a, keys) => sum_slots(e, a.whole(), keys))
    }

    /// Drops the last prime: rescales a CKKS product, switches the modulus of BFV and BGV.
    fn drop_modulus(&self, py: Python<'_>, a: &Ciphertext) -> PyResult<Ciphertext> {
        run!(py, a.claimed, (&self.0, &a.body), (e, a) => e.drop_modulus(a.whole()))
    }

    /// Returns the same message at a lower level. In CKKS also at that level's scale.
    fn lower(&self, py: Python<'_>, a: &Ciphertext, level: usize) -> PyResult<Ciphertext> {
        run!(py, a.claimed, (&self.0, &a.body), (e, a) => e.lower(a.whole(), level))
    }

    /// BGV: multiplies message and factor by an integer, so that two ciphertexts of different factors can be added.
    fn match_factor(&self, py: Python<'_>, a: &Ciphertext, scalar: i64) -> PyResult<Ciphertext> {
        let (OfAnyScheme::Bgv(e), OfAnyScheme::Bgv(body)) = (&self.0, &a.body) else {
            return Err(PyTypeError::new_err("only BGV ciphertexts have factors"));
        };
        let matched = py.detach(|| e.match_factor(body.whole(), scalar)).or_refuse(py)?;
        Ok(Ciphertext { body: OfAnyScheme::Bgv(matched.into()), claimed: a.claimed })
    }
}

impl Evaluator {
    fn prepared_here(&self, py: Python<'_>, params: &AnyParams) -> PyResult<()> {
        if *params == self.parameters().0 { Ok(()) } else { Err(other_parameters(py)) }
    }

    fn belongs(&self, py: Python<'_>, plaintext: &Plaintext, like: &Ciphertext) -> PyResult<()> {
        let params = self.parameters().0;
        let fits = plaintext.is_of(&params) && like.params() == params;
        if fits { Ok(()) } else { Err(other_parameters(py)) }
    }
}

fn addend<S: Scheme>(
    evaluator: &RustEvaluator<S>,
    plaintext: &sotto_rlwe::Plaintext<S>,
    like: &Whole<S>,
) -> RustAddend<S> {
    RustAddend::new(evaluator.params(), plaintext, like.level(), like.shape().scaling)
}

fn multiplier<S: Scheme>(
    evaluator: &RustEvaluator<S>,
    plaintext: &sotto_rlwe::Plaintext<S>,
    like: &Whole<S>,
) -> RustMultiplier<S> {
    RustMultiplier::new(evaluator.params(), plaintext, like.level())
}

/// Doubles the summed neighbours until a row is whole, then adds the other row.
fn sum_slots<S: Scheme>(
    evaluator: &RustEvaluator<S>,
    a: &Whole<S>,
    keys: &RustKeys<S>,
) -> Result<Whole<S>, EvalError> {
    let params = evaluator.params();
    let none =
        EvalError::Unsupported { operation: "sum over slots: the plain modulus has none", scheme: S::ID };
    let (rows, columns) = S::slot_shape(params).ok_or(none)?;
    let mut scratch = Scratch::new();
    let mut sum = a.clone();
    for step in row_steps(columns) {
        let moved = evaluator.rotate_with(&sum, step, keys, &mut scratch)?;
        evaluator.add_assign(&mut sum, &moved, &mut scratch)?;
        evaluator.recycle(moved, &mut scratch);
    }
    if rows == 2 {
        let other = evaluator.swap_rows_with(&sum, keys, &mut scratch)?;
        evaluator.add_assign(&mut sum, &other, &mut scratch)?;
    }
    Ok(sum)
}
