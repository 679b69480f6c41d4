//! CKKS (Cheon, Kim, Kim and Song, ePrint 2016/421; in RNS: ePrint 2018/931).

use std::sync::Arc;

use sotto_ring::{Complex, Eval, Poly, Ring, Rounding};
use zeroize::{Zeroize, Zeroizing};

use crate::error::{EncodeError, EvalError, ParameterError};
use crate::noise::Log2;
use crate::parameters::{ParameterSpec, Params, SchemeId};
use crate::plaintext::Plaintext;
use crate::scheme::{Scheme, pointwise_tensor};

/// The scheme CKKS: approximate real numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ckks {}

/// The message is scaled by Δ_l to this power: 1, or 2 in a product that has not been rescaled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScalePower(pub u32);

/// Tables of CKKS.
#[derive(Debug)]
pub struct Tables {
    /// Δ_l of each level.
    scales: Vec<f64>,
}

/// Coefficients stay below 2^62, so that they are exact in `i64`.
const COEFFICIENT_LIMIT: f64 = (1u64 << 62) as f64;

impl Params<Ckks> {
    /// Δ_l: the scale of a ciphertext of power 1 at this level.
    pub fn scale(&self, level: usize) -> f64 {
        self.tables().scales[level]
    }

    /// What a plaintext's message is multiplied by: Δ_l^power.
    fn scale_of(&self, plaintext: &Plaintext<Ckks>) -> f64 {
        self.scale(plaintext.level()).powi(plaintext.scaling().0 as i32)
    }

    /// Encodes one value at a scale of its own, to bring ciphertexts to another level's scale.
    pub(crate) fn encode_constant_at(
        &self,
        value: f64,
        scale: f64,
        level: usize,
    ) -> Result<Plaintext<Ckks>, EncodeError> {
        let exact = value * scale;
        if !exact.is_finite() || exact.abs() >= COEFFICIENT_LIMIT {
            return Err(EncodeError::OutOfRange { index: 0, limit: COEFFICIENT_LIMIT / scale });
        }
        let rounded = exact.round();
        let rounding = Log2::of((exact - rounded).abs() + exact.abs() * f64::EPSILON);
        Ok(Plaintext::from_coefficients(self, vec![rounded as i64], level, rounding))
    }

    fn check_level(&self, level: usize) -> Result<(), EncodeError> {
        let top = self.top_level();
        if level > top { Err(EncodeError::Level { level, top }) } else { Ok(()) }
    }
}

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
        // Every scale prime and every level's scale stays within a factor of 2 of Δ.
        let near = |x: f64| (x.log2() - spec.plain as f64).abs() <= 1.0;
        let scales = level_scales(spec);
        if !spec.data[1..].iter().all(|q| near(*q as f64)) || !scales.iter().all(|scale| near(*scale)) {
            return Err(ParameterError::Chain(
                "CKKS: every data prime but the first, and every level's scale, must be within a factor of 2 of the scale",
            ));
        }
        Ok(())
    }

    fn tables(spec: &ParameterSpec, _ring: &Arc<Ring>) -> Result<Tables, ParameterError> {
        let scales = level_scales(spec);
        Ok(Tables { scales })
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
        params.check_level(level)?;
        let slots = params.degree() / 2;
        if values.len() > slots {
            return Err(EncodeError::TooMany { given: values.len(), slots });
        }
        let scale = params.scale(level);
        let limit = COEFFICIENT_LIMIT / scale / 2.0;
        if let Some(index) = values.iter().position(|v| !v.is_finite() || v.abs() > limit) {
            return Err(EncodeError::OutOfRange { index, limit });
        }
        let mut padded = vec![Complex::default(); slots];
        for (slot, value) in padded.iter_mut().zip(values) {
            slot.re = value * scale;
        }
        let mut exact = Zeroizing::new(params.embedding().to_coefficients(&padded));
        padded.zeroize();
        let coefficients = exact.iter().map(|c| c.round() as i64).collect::<Vec<i64>>();
        for (e, c) in exact.iter_mut().zip(&coefficients) {
            *e -= *c as f64;
        }
        let off = Zeroizing::new(params.embedding().to_slots(&exact));
        // The transform itself is off by less than 2^-45 of its largest output.
        let transform = values.iter().fold(0.0, |m: f64, v| m.max(v.abs())) * scale / (1u64 << 45) as f64;
        let rounding = off.iter().map(|z| z.absolute()).fold(0.0, f64::max) + transform;
        Ok(Plaintext::from_coefficients(params, coefficients, level, Log2::of(rounding)))
    }

    fn encode_scalar(
        params: &Params<Self>,
        value: f64,
        level: usize,
    ) -> Result<Plaintext<Self>, EncodeError> {
        params.check_level(level)?;
        let scale = params.scale(level);
        let limit = COEFFICIENT_LIMIT / scale / 2.0;
        if !value.is_finite() || value.abs() > limit {
            return Err(EncodeError::OutOfRange { index: 0, limit });
        }
        params.encode_constant_at(value, scale, level)
    }

    fn decode_slots(params: &Params<Self>, plaintext: &Plaintext<Self>) -> Result<Vec<f64>, EncodeError> {
        let mut coefficients: Zeroizing<Vec<f64>> =
            Zeroizing::new(plaintext.coefficients().iter().map(|c| *c as f64).collect());
        coefficients.resize(params.degree(), 0.0);
        let scale = params.scale_of(plaintext);
        let slots = Zeroizing::new(params.embedding().to_slots(&coefficients));
        Ok(slots.iter().map(|z| z.re / scale).collect())
    }

    fn decode_scalar(params: &Params<Self>, plaintext: &Plaintext<Self>) -> f64 {
        // The constant coefficient is the mean of all slots.
        plaintext.coefficients().first().copied().unwrap_or(0) as f64 / params.scale_of(plaintext)
    }

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

    fn inject(
        params: &Params<Self>,
        plaintext: &Plaintext<Self>,
        level: usize,
        _scaling: ScalePower,
    ) -> Poly<Eval> {
        Poly::from_signed(params.ring(), params.limbs(level), plaintext.coefficients()).into_eval()
    }

    /// The centred phase from as many limbs as determine it: decryption has made sure that it is below 2^62.
    fn recover(
        params: &Params<Self>,
        phase: Poly<Eval>,
        level: usize,
        scaling: ScalePower,
    ) -> Plaintext<Self> {
        let mut limbs = params.limbs(level);
        let mut bits = 0.0;
        let needed = |i: &usize| {
            let more = bits < 64.0;
            bits += (params.modulus(*i).value() as f64).log2();
            more
        };
        limbs.end = limbs.start + limbs.clone().take_while(needed).count();
        let phase = Zeroizing::new(phase);
        let phase = Zeroizing::new(phase.restricted(limbs.clone()).into_coeff());
        let mut values = Zeroizing::new(vec![0i128; params.degree()]);
        let mut product = 1i128;
        for i in limbs {
            // Mixed radix (Garner): the next digit is (x − value)/product modulo q, centred.
            let q = params.modulus(i);
            let inverse = q
                .factor(q.invert_vartime((product % i128::from(q.value())) as u64).expect("distinct primes"));
            for (value, x) in values.iter_mut().zip(phase.limb(i)) {
                // Adding q·2^64 keeps the value's residue and makes it positive: |value| < 2^61·2^62, no branch on it.
                let positive = value.wrapping_add(i128::from(q.value()) << 64) as u128;
                let reduced = q.reduce_wide(positive);
                let digit = q.centre(q.multiply_factor(q.subtract(*x, reduced), inverse));
                *value += i128::from(digit) * product;
            }
            product *= i128::from(q.value());
        }
        let coefficients = values.iter().map(|v| *v as i64).collect();
        Plaintext::recovered(coefficients, level, scaling)
    }

    fn tensor(_params: &Params<Self>, _level: usize, a: &[Poly<Eval>], b: &[Poly<Eval>]) -> Vec<Poly<Eval>> {
        pointwise_tensor(a, b)
    }
}

/// Δ_l of every level: Δ_L = Δ, Δ_{l-1} = Δ_l²/q_l. Computed as deviations Δ_l/Δ − 1, which are tiny in the default chains, so
/// that f64 carries them exactly enough.
fn level_scales(spec: &ParameterSpec) -> Vec<f64> {
    let scale = (1u64 << spec.plain) as f64;
    let mut deviation = 0.0f64;
    let mut scales = vec![scale];
    for q in spec.data[1..].iter().rev() {
        let ratio = (i128::from(*q) - (1i128 << spec.plain)) as f64 / scale;
        deviation = (2.0 * deviation + deviation * deviation - ratio) / (1.0 + ratio);
        scales.push(scale * (1.0 + deviation));
    }
    scales.reverse();
    scales
}
