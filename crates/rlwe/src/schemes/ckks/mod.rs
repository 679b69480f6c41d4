//! CKKS (Cheon, Kim, Kim and Song, ePrint 2016/421; in RNS: ePrint 2018/931).

mod embedding;
mod levels;
mod matching;
mod noise;

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Range;

#[cfg(not(feature = "std"))]
use num_traits::Float as _;
use sotto_ring::{Eval, Poly, Ring, Rounding, Scratch, Wiped, words_mut};

use crate::error::{EncodeError, EvalError, ParameterError};
use crate::injection::Injection;
use crate::lean::{LeanEncoding, LeanInjection, SlotValues};
use crate::parameters::{DoubleDouble, ParameterSpec, Params, ScaleRatio, SchemeId};
use crate::plaintext::Plaintext;
use crate::scheme::{Lowering, Scheme};
use crate::shape::Shape;

/// The scheme CKKS: approximate real numbers.
///
/// ```
/// use sotto_rlwe::{Ckks, Params, Scheme};
///
/// let params = Params::<Ckks>::default_chain(4096, 0)?;
/// assert_eq!(Ckks::slot_shape(&params), Some((1, 2048)));
/// let plaintext = Ckks::encode_slots(&params, &[21.5, -19.8], params.top_level())?;
/// let values = Ckks::decode_slots(&params, &plaintext)?;
/// assert!((values[1] + 19.8).abs() < 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ckks {}

/// The power of Δ_l by which the message is scaled: 1, or 2 in a product that has not been rescaled.
///
/// ```
/// use sotto_rlwe::{Ckks, Origin, Params, ScalePower, Shape};
///
/// let params = Params::<Ckks>::default_chain(4096, 0)?;
/// let fresh = Shape::fresh(&params, Origin::SecretKey, 1.0)?;
/// let product = fresh.multiply(&params, &fresh)?;
/// assert_eq!((fresh.scaling, product.scaling), (ScalePower(1), ScalePower(2)));
/// // A rescale brings it back to the first power.
/// assert_eq!(product.drop_prime(&params)?.scaling, ScalePower(1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScalePower(pub u32);

/// Tables of CKKS.
///
/// Example: [`Ckks`]
#[derive(Debug)]
pub struct Tables {
    /// Δ_l/Δ of each level.
    pub(super) ratios: Vec<ScaleRatio>,
    /// Δ_l of each level.
    pub(super) scales: Vec<DoubleDouble>,
}

/// Largest |log2| of the ratio of a level's scale to Δ.
const SCALE_TOLERANCE: f64 = 0.01;
const OFF_SCALE: ParameterError = ParameterError::Chain(
    "CKKS: every level's scale must be within 2^±0.01 of the top level's: choose the primes top down, each near Δ_l²/Δ",
);

impl Scheme for Ckks {
    const ID: SchemeId = SchemeId::Ckks;
    type Value = f64;
    type Scaling = ScalePower;
    type Tables = Tables;
    type Noise = Self;

    fn check(spec: &ParameterSpec) -> Result<(), ParameterError> {
        let first = spec.data.first().map_or(0.0, |q| (*q as f64).log2());
        if !(10..=60).contains(&spec.plain) || spec.plain as f64 > first {
            return Err(ParameterError::Scale(spec.plain));
        }
        level_ratios(spec).map(|_| ()).ok_or(OFF_SCALE)
    }

    fn tables(spec: &ParameterSpec, _ring: &Arc<Ring>) -> Result<Tables, ParameterError> {
        let ratios = level_ratios(spec).ok_or(OFF_SCALE)?;
        let delta = (1u64 << spec.plain) as f64;
        let scale = |ratio: &ScaleRatio| {
            let DoubleDouble { high, low } = ratio.double_double();
            DoubleDouble { high: high * delta, low: low * delta }
        };
        Ok(Tables { scales: ratios.iter().map(scale).collect(), ratios })
    }

    fn rounding(_spec: &ParameterSpec) -> Result<Rounding, ParameterError> {
        Ok(Rounding::Nearest)
    }

    fn error_factor(_params: &Params<Self>) -> u64 {
        1
    }

    fn slot_shape(params: &Params<Self>) -> Option<(usize, usize)> {
        Some((1, params.degree() / 2))
    }

    fn encode_slots(
        params: &Params<Self>,
        values: &[f64],
        level: usize,
    ) -> Result<Plaintext<Self>, EncodeError> {
        params.encode_real(values, level)
    }

    fn encode_coefficients(
        params: &Params<Self>,
        values: &[f64],
        level: usize,
    ) -> Result<Plaintext<Self>, EncodeError> {
        params.encode_real_coefficients(values, level)
    }

    fn decode_slots(params: &Params<Self>, plaintext: &Plaintext<Self>) -> Result<Vec<f64>, EncodeError> {
        Ok(params.embedding().to_real_slots(plaintext.coefficients(), params.scale_of(plaintext)))
    }

    fn decode_coefficients(params: &Params<Self>, plaintext: &Plaintext<Self>) -> Vec<f64> {
        let scale = params.scale_of(plaintext);
        let mut values: Vec<f64> = plaintext.coefficients().iter().map(|c| *c as f64 / scale).collect();
        values.resize(params.degree(), 0.0);
        values
    }

    fn decode_scalar(params: &Params<Self>, plaintext: &Plaintext<Self>) -> f64 {
        // The constant coefficient equals the mean of all slots.
        plaintext.coefficients().first().copied().unwrap_or(0) as f64 / params.scale_of(plaintext)
    }

    const ANY_LEVEL: bool = false;

    fn fresh_scaling() -> ScalePower {
        ScalePower(1)
    }

    fn multiply_scaling(_params: &Params<Self>, a: ScalePower, b: ScalePower) -> ScalePower {
        ScalePower(a.0.saturating_add(b.0))
    }

    fn multiply_plain_scaling(a: ScalePower) -> ScalePower {
        ScalePower(a.0.saturating_add(1))
    }

    fn drop_scaling(_params: &Params<Self>, _level: usize, a: ScalePower) -> Result<ScalePower, EvalError> {
        if a.0 == 2 { Ok(ScalePower(1)) } else { Err(EvalError::ScalePower { power: a.0 }) }
    }

    fn scaling_is_valid(_params: &Params<Self>, a: ScalePower) -> bool {
        (1..=4).contains(&a.0)
    }

    fn scaling_number(a: ScalePower) -> u64 {
        u64::from(a.0)
    }

    fn scaling_from_number(number: u64) -> ScalePower {
        ScalePower(u32::try_from(number).unwrap_or(u32::MAX))
    }

    fn message(
        _params: &Params<Self>,
        plaintext: &Plaintext<Self>,
        _level: usize,
        _scaling: ScalePower,
    ) -> (Wiped<i64>, u64) {
        (Wiped::copy(plaintext.coefficients()), u64::MAX)
    }

    /// Recovers the centred phase in mixed radix (Garner): digit j is ((x − d_0)/q_0 − d_1)/q_1 … modulo q_j, centred.
    fn recover(
        params: &Params<Self>,
        phase: &Poly<Eval>,
        level: usize,
        scaling: ScalePower,
    ) -> Plaintext<Self> {
        let (ring, degree) = (params.ring(), params.degree());
        let (kernels, limbs) = (ring.kernels(), determining(params, phase.limbs()));
        let mut scratch = Scratch::new();
        let mut lifted = scratch.rows(limbs.len().min(2) - 1, degree);
        let mut digits: Vec<Wiped<i64>> = Vec::with_capacity(limbs.len());
        for i in limbs.clone() {
            let (q, mut digit) = (params.modulus(i), Wiped::zeros(degree));
            let rest = words_mut(&mut digit);
            (kernels.ntt_inverse_from)(ring.table(i), rest, phase.limb(i), ring.table(i).inverse_scale(1));
            for (earlier, digit) in limbs.clone().zip(digits.iter()) {
                let radix = q.reduce(params.modulus(earlier).value());
                let inverse = q.factor(q.invert_vartime(radix).expect("distinct primes"));
                let lifted = lifted.row_mut(0);
                (kernels.from_signed)(q, lifted, digit);
                (kernels.subtract_scale)(q, rest, lifted, inverse);
            }
            (kernels.centre)(q, rest);
            digits.push(digit);
        }
        // d_0 + q_0·(d_1 + q_1·(…)): the result is below 2^62, so computing modulo 2^64 is right.
        let mut coefficients = digits.pop().expect("a level has limbs");
        for (i, digit) in limbs.rev().skip(1).zip(digits.iter().rev()) {
            (kernels.horner)(&mut coefficients, params.modulus(i).value() as i64, digit);
        }
        Plaintext::recovered(params, coefficients, level, scaling)
    }

    fn lowering(
        params: &Params<Self>,
        shape: &Shape<Self>,
        level: usize,
    ) -> Result<Lowering<Self>, EvalError> {
        match_constant(params, shape, level).map(Lowering::Rescale)
    }
}

impl LeanEncoding for Ckks {
    fn lean_injection(
        spec: &ParameterSpec,
        values: SlotValues<'_>,
        largest: f64,
    ) -> Result<LeanInjection, EncodeError> {
        let injection = Injection::of_values(embedding::lean_coefficients(spec, values, largest)?, u64::MAX);
        Ok(LeanInjection { injection, error_factor: 1, divisor: 1 })
    }
}

/// Returns the factor of [`Lowering::Rescale`]: Δ_level·q_{level+1}/Δ of the shape's level, encoded for level + 1.
fn match_constant(
    params: &Params<Ckks>,
    shape: &Shape<Ckks>,
    level: usize,
) -> Result<Plaintext<Ckks>, EvalError> {
    if shape.scaling != ScalePower(1) {
        return Err(EvalError::ScalePower { power: shape.scaling.0 });
    }
    Ok(params.encode_scale_match(shape.level, level)?)
}

/// Returns enough limbs to determine a message below 2^62, a bound that decryption has checked.
fn determining(params: &Params<Ckks>, mut limbs: Range<usize>) -> Range<usize> {
    let mut bits = 0.0;
    let needed = |i: &usize| {
        let more = bits < 64.0;
        bits += (params.modulus(*i).value() as f64).log2();
        more
    };
    limbs.end = limbs.start + limbs.clone().take_while(needed).count();
    limbs
}

/// Returns Δ_l/Δ of every level, lowest first: Δ_L = Δ, Δ_{l-1} = Δ_l²/q_l. Returns None if a ratio leaves 2^±0.01.
fn level_ratios(spec: &ParameterSpec) -> Option<Vec<ScaleRatio>> {
    let mut ratios = vec![ScaleRatio::ONE];
    for q in spec.data[1..].iter().rev() {
        let below = ratios.last()?.below(*q, spec.plain as u32)?;
        if below.log2().abs() > SCALE_TOLERANCE {
            return None;
        }
        ratios.push(below);
    }
    ratios.reverse();
    Some(ratios)
}
