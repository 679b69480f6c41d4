//! Plaintexts: coefficients modulo t (BFV, BGV), or a transformed polynomial of a level (CKKS).

use sotto_ring::{Eval, Modulus, Poly, Wiped};
use sotto_rlwe::{Bfv, Bgv, Ckks, Log2, Params, Plaintext, Scheme};
use zeroize::Zeroizing;

use crate::chain::Chain;
use crate::convention::{Convention, PlaintextWords, Plaintexts, unscaled};
use crate::error::SealError;
use crate::header::{self, Writing};
use crate::parameters::ParmsId;
use crate::reader::Reader;
use crate::version::Version;
use crate::words::{self, ARRAY, Layout, array, parms_id, write_array};

/// Bytes before the words: `parms_id`, number of coefficients, scale.
pub(crate) const FIELDS: usize = 32 + 8 + 8;

/// Reads a plaintext: coefficients modulo t (BFV, BGV), or a transformed polynomial of a level (CKKS), whose
/// rounding is assumed to be at most 1/2 a coefficient.
///
/// # Errors
/// [`SealError`] for bytes that are not a plaintext of these parameters.
///
/// ```
/// use sotto_rlwe::{Bfv, Params, Scheme};
/// use sotto_seal::{Chain, Writing, read_plaintext, write_plaintext};
///
/// let params = Params::<Bfv>::default_chain(4096, 65537)?;
/// let chain = Chain::new(&params)?;
/// let temperatures = Bfv::encode_slots(&params, &[71, -4], params.top_level())?;
/// let file = write_plaintext(&temperatures, &chain, Writing::default())?;
/// let read = read_plaintext(&file, &chain)?;
/// assert_eq!(Bfv::decode_slots(&params, &read)?[..2], [71, -4]);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub fn read_plaintext<S: Convention>(bytes: &[u8], chain: &Chain<S>) -> Result<Plaintext<S>, SealError> {
    header::read(bytes, largest(chain), |_, reader| {
        let (id, count, scale) = (parms_id(reader)?, reader.u64()?, reader.f64()?);
        S::plaintext(chain, id, count, scale, reader)
    })
}

fn largest<S: Convention>(chain: &Chain<S>) -> u64 {
    (FIELDS + ARRAY + 8 * chain.params().degree() * chain.params().key_limbs().len()) as u64
}

/// Writes a plaintext of these parameters. The file is not protected.
///
/// # Errors
/// [`SealError::ParmsId`] for a plaintext of other parameters.
pub fn write_plaintext<S: Convention>(
    plaintext: &Plaintext<S>,
    chain: &Chain<S>,
    writing: Writing,
) -> Result<Zeroizing<Vec<u8>>, SealError> {
    if plaintext.params() != chain.params() {
        return Err(SealError::ParmsId);
    }
    let PlaintextWords { id, scale, words } = S::plaintext_words(chain, plaintext);
    let mut members = Zeroizing::new(Vec::with_capacity(FIELDS + ARRAY + 8 * words.len()));
    members.extend_from_slice(&id.0);
    members.extend_from_slice(&(words.len() as u64).to_le_bytes());
    members.extend_from_slice(&scale.to_le_bytes());
    write_array(&mut members, Version::PORTABLE, words.len());
    words.iter().for_each(|word| members.extend_from_slice(&word.to_le_bytes()));
    Ok(Zeroizing::new(header::close(&members, Version::PORTABLE, writing.compression)))
}

macro_rules! integers {
    ($($scheme:ty),*) => {$(
        impl Plaintexts for $scheme {
            fn plaintext(
                chain: &Chain<Self>,
                id: ParmsId,
                count: u64,
                scale: f64,
                members: &mut Reader<'_>,
            ) -> Result<Plaintext<Self>, SealError> {
                integers(chain.params(), id, count, scale, members)
            }

            fn plaintext_words(chain: &Chain<Self>, plaintext: &Plaintext<Self>) -> PlaintextWords {
                residues(chain.params(), plaintext)
            }
        }
    )*};
}
integers!(Bfv, Bgv);

impl Plaintexts for Ckks {
    fn plaintext(
        chain: &Chain<Self>,
        id: ParmsId,
        count: u64,
        scale: f64,
        members: &mut Reader<'_>,
    ) -> Result<Plaintext<Self>, SealError> {
        let params = chain.params();
        let level = chain.level(id)?;
        let (power, deviation) = Self::scaling(params, level, scale, 1)?;
        if power != Self::fresh_scaling() {
            return Err(SealError::Value("a plaintext has the scale of its level, not a power of it"));
        }
        let layout = Layout::new(params, chain.level_order(level));
        let poly = words::single(members, &layout, count)?;
        let recovered = Self::recover(params, &poly, level, power);
        let coefficients = Wiped::copy(recovered.coefficients());
        let again = Zeroizing::new(signed(params, level, &coefficients));
        if *again != *poly {
            return Err(SealError::Value("a coefficient of the plaintext has more than 62 bits"));
        }
        let exact = params.norms().bound.any_rounding;
        // Twice the larger instead of the sum: the norm depends on a secret, and the logarithm of a sum is
        // looked up in tables.
        let off = recovered.norm() * Log2::of(deviation);
        let rounding = if deviation == 0.0 { exact } else { Log2(f64::max(exact.0, off.0) + 1.0) };
        Ok(Plaintext::from_coefficients(params, coefficients, level, rounding))
    }

    fn plaintext_words(chain: &Chain<Self>, plaintext: &Plaintext<Self>) -> PlaintextWords {
        let (params, level) = (chain.params(), plaintext.level());
        let poly = Zeroizing::new(signed(params, level, plaintext.coefficients()));
        let words = chain.level_order(level).into_iter().flat_map(|limb| poly.limb(limb).iter().copied());
        let (scale, _) = Self::scale_and_factor(params, level, plaintext.scaling());
        PlaintextWords { id: chain.parms_id(level), scale, words: Zeroizing::new(words.collect()) }
    }
}

fn signed(params: &Params<Ckks>, level: usize, coefficients: &[i64]) -> Poly<Eval> {
    Poly::from_signed(params.ring(), params.limbs(level), coefficients).into_eval()
}

fn plain_modulus<S: Scheme>(params: &Params<S>) -> Result<Modulus, SealError> {
    Modulus::new(params.plain_modulus()).map_err(|_| SealError::Value("the plain modulus is out of range"))
}

/// Reads a plaintext of BFV or BGV: coefficients modulo t; trailing zeros may be missing.
fn integers<S: Scheme>(
    params: &Params<S>,
    id: ParmsId,
    count: u64,
    scale: f64,
    members: &mut Reader<'_>,
) -> Result<Plaintext<S>, SealError> {
    debug_assert!(S::EXACT, "a scheme of integers");
    if id != ParmsId::ZERO {
        return Err(SealError::Value(
            "the plaintext was transformed for products: save it as it was encoded",
        ));
    }
    unscaled(scale)?;
    let degree = params.degree() as u64;
    let (found, mut words) = array(members, degree)?;
    if found != count {
        return Err(SealError::Length { expected: count, found });
    }
    members.finish()?;
    let t = plain_modulus(params)?;
    let mut coefficients = Zeroizing::new(Vec::with_capacity(found as usize));
    let mut outside = false;
    for _ in 0..found {
        let word = words.u64()?;
        outside |= word >= t.value();
        coefficients.push(t.centre(t.reduce(word)));
    }
    if outside {
        return Err(SealError::Residue { modulus: t.value() });
    }
    let coefficients = core::mem::take(&mut *coefficients);
    Ok(Plaintext::from_coefficients(params, coefficients, params.top_level(), Log2::ZERO))
}

fn residues<S: Scheme>(params: &Params<S>, plaintext: &Plaintext<S>) -> PlaintextWords {
    let t = params.plain_modulus() as i64;
    let words = plaintext.coefficients().iter().map(|c| c.rem_euclid(t) as u64);
    PlaintextWords { id: ParmsId::ZERO, scale: 1.0, words: Zeroizing::new(words.collect()) }
}
