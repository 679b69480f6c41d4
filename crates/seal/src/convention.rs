//! Where SEAL's conventions differ from ours, scheme by scheme: the form in which ciphertexts rest, what a scale or a
//! correction factor means. How plaintexts are held is in `plaintext`.

use sotto_rlwe::{Bfv, Bgv, Ckks, Log2, Params, ScalePower, Scheme};

use crate::error::SealError;
use crate::plaintext::Plaintexts;
use crate::words::WordForm;

/// How far a CKKS scale may be from its level's, as a fraction of it: what it is off by becomes part of the error bound.
const LARGEST_DEVIATION: f64 = 1.0 / 1024.0;

/// A scheme whose objects SEAL has as well.
pub trait Convention: Scheme + Plaintexts {
    /// Whether SEAL's ciphertexts rest in Eval form, as all of ours do.
    const TRANSFORMED: bool;

    /// Our scaling of a ciphertext or plaintext at a level, and by what fraction its scale is off.
    fn scaling(
        params: &Params<Self>,
        level: usize,
        scale: f64,
        factor: u64,
    ) -> Result<(Self::Scaling, f64), SealError>;

    /// SEAL's scale and correction factor.
    fn scale_and_factor(params: &Params<Self>, level: usize, scaling: Self::Scaling) -> (f64, u64);

    /// What SEAL's encryption rounds more coarsely than ours, as a canonical norm.
    fn coarser_rounding(_params: &Params<Self>) -> Log2 {
        Log2::ZERO
    }
}

pub(crate) fn form(transformed: bool) -> WordForm {
    if transformed { WordForm::Transformed } else { WordForm::Coefficients }
}

impl Convention for Bfv {
    const TRANSFORMED: bool = false;

    fn scaling(_: &Params<Self>, _: usize, scale: f64, factor: u64) -> Result<((), f64), SealError> {
        if factor != 1 {
            return Err(SealError::Value("BFV has no correction factor"));
        }
        unscaled(scale).map(|()| ((), 0.0))
    }

    fn scale_and_factor(_: &Params<Self>, _: usize, (): ()) -> (f64, u64) {
        (1.0, 1)
    }

    /// floor((Q·m + floor((t + 1)/2))/t) is up to 1/(2t) beyond the half that rounding to the nearest leaves.
    fn coarser_rounding(params: &Params<Self>) -> Log2 {
        Log2::of(params.degree() as f64 / (2.0 * params.plain_modulus() as f64))
    }
}

impl Convention for Bgv {
    const TRANSFORMED: bool = true;

    fn scaling(params: &Params<Self>, _: usize, scale: f64, factor: u64) -> Result<(u64, f64), SealError> {
        unscaled(scale)?;
        if factor == 0 || !Self::scaling_is_valid(params, factor) {
            return Err(SealError::Value("the correction factor is not invertible modulo the plain modulus"));
        }
        Ok((factor, 0.0))
    }

    fn scale_and_factor(_: &Params<Self>, _: usize, factor: u64) -> (f64, u64) {
        (1.0, factor)
    }
}

impl Convention for Ckks {
    const TRANSFORMED: bool = true;

    /// SEAL's scale is any number; ours is a power of the level's.
    fn scaling(
        params: &Params<Self>,
        level: usize,
        scale: f64,
        factor: u64,
    ) -> Result<(ScalePower, f64), SealError> {
        if factor != 1 {
            return Err(SealError::Value("CKKS has no correction factor"));
        }
        if !scale.is_normal() || scale < 0.0 {
            return Err(SealError::Value("the scale is not a positive number"));
        }
        let base = params.scale(level);
        let power = (scale.log2() / base.log2()).round().clamp(1.0, 4.0) as i32;
        let (expected, deviation) = (base.powi(power), (scale / base.powi(power) - 1.0).abs());
        if deviation.is_nan() || deviation > LARGEST_DEVIATION {
            return Err(SealError::Scale { found: scale.log2(), expected: expected.log2(), level });
        }
        Ok((ScalePower(power as u32), deviation))
    }

    fn scale_and_factor(params: &Params<Self>, level: usize, scaling: ScalePower) -> (f64, u64) {
        (params.scale(level).powi(scaling.0 as i32), 1)
    }
}

/// BFV and BGV: a scale of 1, which says that there is none.
pub(crate) fn unscaled(scale: f64) -> Result<(), SealError> {
    if scale == 1.0 { Ok(()) } else { Err(SealError::Value("only CKKS has scales")) }
}
