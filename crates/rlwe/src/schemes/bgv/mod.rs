//! BGV (Brakerski, Gentry and Vaikuntanathan, ePrint 2011/277): message in the low bits.

mod levels;
mod matching;
mod noise;

use alloc::sync::Arc;
use alloc::vec::Vec;

use sotto_ring::{Conversion, Eval, Modulus, Poly, Ring, Rounding, Scratch, Target, Wiped, words_mut};

use crate::error::{EncodeError, EvalError, ParameterError};
use crate::injection::Injection;
use crate::lean::{LeanEncoding, LeanInjection, SlotValues};
use crate::parameters::{ParameterSpec, Params, SchemeId};
use crate::plaintext::Plaintext;
use crate::scheme::Scheme;
use crate::schemes::integer::{IntegerEncoder, check_plain_modulus, integer_encoding, lean_residues};

/// The scheme BGV: integers modulo t.
///
/// ```
/// use sotto_rlwe::{Bgv, Origin, Params, Scheme, Shape};
///
/// let params = Params::<Bgv>::default_chain(4096, 65_537)?;
/// assert_eq!(Bgv::error_factor(&params), 65_537);
/// // A dropped prime changes the factor modulo t by which the message is multiplied.
/// let fresh = Shape::fresh(&params, Origin::SecretKey, 1.0)?;
/// assert_eq!(fresh.scaling, 1);
/// assert_ne!(fresh.drop_prime(&params)?.scaling, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bgv {}

/// Tables of BGV.
///
/// Example: [`Bgv`]
#[derive(Debug)]
pub struct Tables {
    encoder: IntegerEncoder,
    /// Conversions from the limbs of each level to t.
    to_plain: Vec<Conversion>,
}

impl Bgv {
    /// Returns factor·scalar modulo t, or None if the scalar is not invertible.
    pub(crate) fn multiply_factor(params: &Params<Self>, factor: u64, scalar: i64) -> Option<u64> {
        let t = &params.tables().encoder.modulus;
        let scalar = t.from_signed(scalar);
        t.invert_vartime(scalar).map(|_| t.multiply(factor, scalar))
    }
}

impl Scheme for Bgv {
    const ID: SchemeId = SchemeId::Bgv;
    type Value = i64;
    /// The factor modulo t by which the message is multiplied.
    type Scaling = u64;
    type Tables = Tables;
    type Noise = Self;

    fn check(spec: &ParameterSpec) -> Result<(), ParameterError> {
        check_plain_modulus(spec)
    }

    fn tables(spec: &ParameterSpec, ring: &Arc<Ring>) -> Result<Tables, ParameterError> {
        let encoder = IntegerEncoder::new(spec, ring.target())?;
        let special = spec.special.len();
        let to_plain = (0..spec.data.len())
            .map(|level| Conversion::new(&ring.moduli(special..special + level + 1), &[encoder.modulus]))
            .collect();
        Ok(Tables { encoder, to_plain })
    }

    fn rounding(spec: &ParameterSpec) -> Result<Rounding, ParameterError> {
        let refused = |_| ParameterError::PlainModulus { value: spec.plain, reason: "is out of range" };
        Ok(Rounding::CongruentMod(Modulus::new(spec.plain).map_err(refused)?))
    }

    fn error_factor(params: &Params<Self>) -> u64 {
        params.plain_modulus()
    }

    integer_encoding!();

    fn fresh_scaling() -> u64 {
        1
    }

    fn multiply_scaling(params: &Params<Self>, a: u64, b: u64) -> u64 {
        params.tables().encoder.modulus.multiply(a, b)
    }

    fn multiply_plain_scaling(a: u64) -> u64 {
        a
    }

    fn drop_scaling(params: &Params<Self>, level: usize, a: u64) -> Result<u64, EvalError> {
        let t = &params.tables().encoder.modulus;
        let inverse = t.invert_vartime(params.data_prime(level)).ok_or(EvalError::NoLevel { level })?;
        Ok(t.multiply(a, inverse))
    }

    fn scaling_is_valid(params: &Params<Self>, a: u64) -> bool {
        let t = &params.tables().encoder.modulus;
        a < t.value() && t.invert_vartime(a).is_some()
    }

    fn scaling_number(a: u64) -> u64 {
        a
    }

    fn scaling_from_number(number: u64) -> u64 {
        number
    }

    /// Returns factor·m, centred.
    fn message(
        params: &Params<Self>,
        plaintext: &Plaintext<Self>,
        _level: usize,
        factor: u64,
    ) -> (Wiped<i64>, u64) {
        let encoder = &params.tables().encoder;
        (encoder.centred_multiple(plaintext.coefficients(), factor), params.plain_modulus() / 2)
    }

    fn recover(params: &Params<Self>, phase: &Poly<Eval>, level: usize, factor: u64) -> Plaintext<Self> {
        let (ring, conversion) = (params.ring(), &params.tables().to_plain[phase.limbs().len() - 1]);
        let limbs = phase.limbs().map(|i| (ring.table(i), phase.limb(i)));
        let mut scratch = Scratch::new();
        let quotients = conversion.prepare_eval(ring.kernels(), limbs, &mut scratch);
        let t = &params.tables().encoder.modulus;
        let inverse = t.invert_vartime(factor).expect("a ciphertext's factor is invertible");
        let mut coefficients = Wiped::zeros(params.degree());
        conversion.write_centred(ring.kernels(), &quotients, 0, inverse, &mut coefficients);
        Plaintext::recovered(params, coefficients, level, Self::fresh_scaling())
    }
}

impl LeanEncoding for Bgv {
    fn lean_injection(
        spec: &ParameterSpec,
        values: SlotValues<'_>,
        _largest: f64,
    ) -> Result<LeanInjection, EncodeError> {
        let (t, mut coefficients) = lean_residues(spec, values)?;
        (Target::best().kernels.centre)(&t, words_mut(&mut coefficients));
        let injection = Injection::of_values(coefficients, t.value() / 2);
        Ok(LeanInjection { injection, error_factor: t.value(), divisor: 1 })
    }
}
