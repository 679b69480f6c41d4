//! The differences between SEAL's conventions and ours, by scheme: the form of ciphertexts, and the meaning
//! of scales and correction factors. `plaintext` says how plaintexts are stored.

use sotto_rlwe::{Bfv, Bgv, Ckks, Log2, Params, Plaintext, ScalePower, Scheme};
use zeroize::Zeroizing;

use crate::chain::Chain;
use crate::error::SealError;
use crate::header::Writing;
use crate::parameters::ParmsId;
use crate::reader::Reader;
use crate::version::Version;
use crate::words::WordForm;

/// Maximum relative deviation of a CKKS scale from its level's. The deviation becomes part of the error
/// bound.
const LARGEST_DEVIATION: f64 = 1.0 / 1024.0;

/// A scheme that SEAL has too.
///
/// ```
/// use sotto_rlwe::{Ckks, Params};
/// use sotto_seal::{Chain, Convention};
///
/// /// Returns true if SEAL stores ciphertexts of this chain as ours are stored, in Eval form.
/// fn same_form<S: Convention>(_: &Chain<S>) -> bool {
///     S::TRANSFORMED
/// }
/// let params = Params::<Ckks>::default_chain(4096, 0)?;
/// assert!(same_form(&Chain::new(&params)?));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub trait Convention: Scheme + Plaintexts {
    /// True if SEAL's ciphertexts are in Eval form, as all of ours are.
    const TRANSFORMED: bool;

    /// Returns our scaling of a ciphertext or plaintext at a level, and the relative deviation of its scale.
    ///
    /// # Errors
    /// [`SealError`] for a scale or correction factor that the scheme does not have at this level.
    fn scaling(
        params: &Params<Self>,
        level: usize,
        scale: f64,
        factor: u64,
    ) -> Result<(Self::Scaling, f64), SealError>;

    /// Returns SEAL's scale and correction factor.
    fn scale_and_factor(params: &Params<Self>, level: usize, scaling: Self::Scaling) -> (f64, u64);

    /// Returns the version under which a ciphertext is written.
    ///
    /// # Errors
    /// [`SealError::Unwritable`] if the scheme needs a SEAL version that `_writing` does not name.
    fn ciphertext_version(_writing: Writing) -> Result<Version, SealError> {
        Ok(Version::PORTABLE)
    }

    /// Returns the additional rounding error of SEAL's encryption over ours, as a canonical norm.
    fn coarser_rounding(_params: &Params<Self>) -> Log2 {
        Log2::ZERO
    }
}

/// The storage of a scheme's plaintexts.
///
/// Example: [`read_plaintext`](crate::read_plaintext)
pub trait Plaintexts: Scheme {
    /// Reads a plaintext from `count` words.
    ///
    /// # Errors
    /// [`SealError`] for words that are not a plaintext of these parameters.
    fn plaintext(
        chain: &Chain<Self>,
        id: ParmsId,
        count: u64,
        scale: f64,
        members: &mut Reader<'_>,
    ) -> Result<Plaintext<Self>, SealError>;

    /// Returns the stored words of a plaintext.
    fn plaintext_words(chain: &Chain<Self>, plaintext: &Plaintext<Self>) -> PlaintextWords;
}

/// SEAL's fields of a plaintext.
///
/// Example: [`read_plaintext`](crate::read_plaintext)
pub struct PlaintextWords {
    pub(crate) id: ParmsId,
    pub(crate) scale: f64,
    pub(crate) words: Zeroizing<Vec<u64>>,
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

    /// SEAL adds floor((Q·m + floor((t + 1)/2))/t), up to 1/(2t) more than the error of 1/2 from rounding to
    /// nearest.
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

    /// SEAL 4.0 stores ciphertexts as coefficients, and loads a file of version 3 without checking its form.
    fn ciphertext_version(writing: Writing) -> Result<Version, SealError> {
        match writing.seal_4_minor {
            Some(0) => Err(SealError::Unwritable(
                "SEAL 4.0 holds BGV ciphertexts as coefficients, and transformed ones are written: read it with SEAL 4.1 or later",
            )),
            Some(minor) => Ok(Version::four(minor)),
            None => Err(SealError::Unwritable(
                "BGV ciphertexts are written for one minor version of SEAL 4, from 4.1 on: say which minor version will read it",
            )),
        }
    }
}

impl Convention for Ckks {
    const TRANSFORMED: bool = true;

    /// SEAL's scale is any number; ours is a power of the level's scale.
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
        let scale = rescaled(params, level);
        ((1..scaling.0).fold(scale, |product, _| product * scale), 1)
    }
}

/// Returns a level's scale in SEAL's own arithmetic: a product and a rescale a level, each rounded to `f64`.
/// It is not the `f64` nearest to the exact scale, but SEAL's own ciphertexts have it, and SEAL adds only
/// ciphertexts of equal scale.
fn rescaled(params: &Params<Ckks>, level: usize) -> f64 {
    let top = params.top_level();
    let dropped = (level + 1..=top).rev().map(|level| params.data_prime(level) as f64);
    dropped.fold(params.scale(top), |scale, q| scale * scale / q)
}

/// Checks the scale of BFV and BGV objects: it is 1, which means none.
pub(crate) fn unscaled(scale: f64) -> Result<(), SealError> {
    if scale == 1.0 { Ok(()) } else { Err(SealError::Value("only CKKS has scales")) }
}
