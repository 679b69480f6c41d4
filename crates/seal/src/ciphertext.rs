//! Reads and writes ciphertexts.

use sotto_ring::{Eval, Poly};
use sotto_rlwe::{Ciphertext, KeyId, Log2, Noise, NoiseRules, Origin, Params, Shape};

use crate::chain::Chain;
use crate::convention::{Convention, form};
use crate::error::SealError;
use crate::header::{self, Header, Writing};
use crate::parameters::ParmsId;
use crate::reader::Reader;
use crate::version::Version;
use crate::words::{ARRAY, Layout, SEED_INFO, array, parms_id, write_array};

/// Bytes before the words, without the correction factor: `parms_id`, form, components, n, primes, scale.
const FIELDS: usize = 32 + 1 + 8 + 8 + 8 + 8;
const FACTOR: usize = 8;
/// Maximum components: ours have two, or three after a product.
const MOST_COMPONENTS: u64 = 3;

/// A claim on the noise of a ciphertext that SEAL wrote, as SEAL's files do not state it. The reader of the
/// file makes the claim; a wrong one makes our bounds wrong.
///
/// ```
/// use sotto_rlwe::{Ckks, Origin, Params, Scheme};
/// use sotto_seal::{Chain, Claim, Writing, read_ciphertext, write_ciphertext};
/// # use sotto_keys::{DeviceSecret, SecretKey};
///
/// let params = Params::<Ckks>::default_chain(4096, 0)?;
/// let chain = Chain::new(&params)?;
/// # let mut rng = sotto_ring::secure_rng()?;
/// # let key = SecretKey::derive(&DeviceSecret::generate(&mut rng), &params);
/// # let load = Ckks::encode_slots(&params, &[0.25, 0.5], params.top_level())?;
/// # let ciphertext = key.encrypt(&load, &mut rng)?.expand();
/// let file = write_ciphertext(&ciphertext, &chain, Writing::default())?;
/// let fresh = Claim::Fresh { origin: Origin::SecretKey, magnitude: 1.0 };
/// let computed = Claim::Values { magnitude: 1.0, error: 0.001 }; // no claim on how it was made
/// for claim in [fresh, computed] {
///     assert!(read_ciphertext(&file, &chain, key.id(), claim).is_ok());
/// }
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Claim {
    /// Encrypted at the top level without later operations, of values declared to be at most `magnitude`
    /// (CKKS).
    Fresh {
        /// The key that encrypted it.
        origin: Origin,
        /// The largest |value| for CKKS. BFV and BGV take any message; the bound ignores this number.
        magnitude: f64,
    },
    /// A result of operations: at most this noise, as [`Shape`] computes it for the same operations.
    Bounded(Noise),
    /// CKKS: values of at most `magnitude`, each off by at most `error`.
    Values {
        /// The largest |value|.
        magnitude: f64,
        /// The largest error of a slot.
        error: f64,
    },
    /// BFV and BGV: decrypts correctly. No operation that adds noise is allowed.
    Decryptable,
}

impl Claim {
    /// Checks the claim's numbers, which may come from outside.
    fn check_numbers(self) -> Result<(), SealError> {
        let (magnitude, error) = match self {
            Self::Fresh { magnitude, .. } => (magnitude, 1.0),
            Self::Values { magnitude, error } => (magnitude, error),
            Self::Bounded(_) | Self::Decryptable => return Ok(()),
        };
        if !magnitude.is_finite() || magnitude < 0.0 {
            return Err(SealError::Value(
                "the magnitude is not a finite number of 0 or more: give the largest |value|",
            ));
        }
        if !error.is_finite() || error <= 0.0 {
            return Err(SealError::Value(
                "the error is not a finite number above 0: give the largest error of a value; CKKS values are never exact",
            ));
        }
        Ok(())
    }

    fn noise<S: Convention>(
        self,
        params: &Params<S>,
        level: usize,
        components: usize,
        scaling: S::Scaling,
        scale: f64,
    ) -> Result<Noise, SealError> {
        self.check_numbers()?;
        match self {
            Self::Fresh { origin, magnitude } => {
                if level != params.top_level() || components != 2 {
                    return Err(SealError::Level(
                        "a fresh ciphertext is at the top level and has two components; say what is known of the noise of this one",
                    ));
                }
                // A power of the scale or a correction factor is not covered by a fresh ciphertext's bound.
                if scaling != S::fresh_scaling() {
                    return Err(SealError::Value(
                        "a fresh ciphertext has the scale of its level and no correction factor; say what is known of the noise of this one",
                    ));
                }
                let Noise { message, error } = Shape::<S>::fresh(params, origin, magnitude)?.noise;
                Ok(Noise { message, error: error + S::coarser_rounding(params) })
            }
            Self::Bounded(noise) => Ok(noise),
            Self::Values { magnitude, error } if !S::EXACT => {
                let scaled = |value: f64| Log2(value.log2() + scale.log2());
                Ok(Noise { message: scaled(magnitude), error: scaled(error) })
            }
            Self::Decryptable if S::EXACT => {
                let none = S::Noise::fresh(params, Origin::SecretKey, 1.0);
                let noise: Noise = none;
                // The error that leaves no room.
                let room = S::Noise::room(params, level, Noise { error: Log2(0.0), ..noise });
                Ok(Noise { error: Log2(room), ..noise })
            }
            Self::Values { .. } => Err(SealError::Value("only CKKS has errors of values")),
            Self::Decryptable => {
                Err(SealError::Value("CKKS: say how large the values are and how far they may be off"))
            }
        }
    }
}

/// Returns the shape of a ciphertext that SEAL encrypted at the top level without later operations, of values
/// declared to be at most `magnitude` (CKKS). For readers who expect exactly this shape and do not trust the
/// claim in the bytes.
///
/// # Errors
/// [`SealError`] if `magnitude` is not a finite number of at least 0, or too large for the parameters.
pub fn fresh_shape<S: Convention>(
    params: &Params<S>,
    origin: Origin,
    magnitude: f64,
) -> Result<Shape<S>, SealError> {
    let (level, scaling) = (params.top_level(), S::fresh_scaling());
    let noise = Claim::Fresh { origin, magnitude }.noise(params, level, 2, scaling, 1.0)?;
    Ok(Shape::bounded(level, 2, scaling, noise))
}

/// The fields of a ciphertext or public key before its words.
#[derive(Debug)]
pub(crate) struct Fields {
    pub(crate) id: ParmsId,
    pub(crate) transformed: bool,
    pub(crate) components: u64,
    pub(crate) scale: f64,
    pub(crate) factor: u64,
}

impl Fields {
    /// Reads the fields. `limbs` returns the number of primes of the level with this name.
    fn parse(
        reader: &mut Reader<'_>,
        version: Version,
        degree: usize,
        limbs: impl FnOnce(ParmsId) -> Result<usize, SealError>,
    ) -> Result<Self, SealError> {
        let id = parms_id(reader)?;
        let transformed = match reader.u8()? {
            0 => false,
            1 => true,
            _ => return Err(SealError::Value("the form is neither 0 nor 1")),
        };
        let components = reader.u64()?;
        reader.expect(degree as u64)?;
        reader.expect(limbs(id)? as u64)?;
        let scale = reader.f64()?;
        let factor = if version.has_factor() { reader.u64()? } else { 1 };
        if !(2..=MOST_COMPONENTS).contains(&components) {
            return Err(SealError::Value(
                "the ciphertext does not have two or three components: relinearise it before it is saved",
            ));
        }
        Ok(Self { id, transformed, components, scale, factor })
    }

    fn write(&self, out: &mut Vec<u8>, version: Version, degree: usize, limbs: usize) {
        out.extend_from_slice(&self.id.0);
        out.push(u8::from(self.transformed));
        for number in [self.components, degree as u64, limbs as u64] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        out.extend_from_slice(&self.scale.to_le_bytes());
        if version.has_factor() {
            out.extend_from_slice(&self.factor.to_le_bytes());
        }
    }
}

/// Reads the fields and components of a ciphertext's members. Expands a seed.
pub(crate) fn parse<S: Convention>(
    members: &mut Reader<'_>,
    version: Version,
    chain: &Chain<S>,
    order: impl Fn(ParmsId) -> Result<Vec<usize>, SealError>,
) -> Result<(Fields, Vec<Poly<Eval>>), SealError> {
    let params = chain.params();
    let fields = Fields::parse(members, version, params.degree(), |id| order(id).map(|o| o.len()))?;
    let layout = Layout::new(params, order(fields.id)?);
    let form = form(fields.transformed);
    let (one, all) = (layout.words() as u64, layout.words() as u64 * fields.components);
    let (count, mut words) = array(members, all)?;
    let seeded = fields.components == 2 && count == one;
    if !seeded && count != all {
        return Err(SealError::Length { expected: all, found: count });
    }
    let written = if seeded { 1 } else { fields.components };
    let mut components =
        (0..written).map(|_| layout.poly(&mut words, form)).collect::<Result<Vec<_>, _>>()?;
    words.finish()?;
    if seeded {
        components.push(layout.seeded(members, form)?);
    }
    members.finish()?;
    Ok((fields, components))
}

/// Returns the maximum bytes of the members of a ciphertext or public key.
pub(crate) fn largest(degree: usize, limbs: usize, components: usize) -> usize {
    FIELDS + FACTOR + ARRAY + 8 * degree * limbs * components + SEED_INFO
}

/// Reads a ciphertext under a key with a claim on its noise. Refuses a transparent one: its mask is zero, so
/// that anybody could read it.
///
/// # Errors
/// [`SealError`] for bytes that are not a ciphertext of these parameters, or a claim that leaves no room for
/// decryption.
pub fn read_ciphertext<S: Convention>(
    bytes: &[u8],
    chain: &Chain<S>,
    key: KeyId,
    claim: Claim,
) -> Result<Ciphertext<S>, SealError> {
    let params = chain.params();
    let limbs = params.top_level() + 1;
    let limit = largest(params.degree(), limbs, MOST_COMPONENTS as usize) as u64;
    let order = |id| chain.level(id).map(|level| chain.level_order(level));
    let (fields, components) =
        header::read(bytes, limit, |version, members| parse(members, version, chain, order))?;
    if !fields.transformed && !S::EXACT {
        return Err(SealError::Value("CKKS ciphertexts are transformed, and this one is not"));
    }
    if components[1..].iter().all(Poly::is_zero) {
        return Err(SealError::Value("the ciphertext is transparent: its mask is zero"));
    }
    let level = chain.level(fields.id)?;
    let (scaling, deviation) = S::scaling(params, level, fields.scale, fields.factor)?;
    let mut noise = claim.noise(params, level, components.len(), scaling, fields.scale)?;
    if deviation > 0.0 {
        let off = Log2::of(deviation);
        noise =
            Noise { message: noise.message + noise.message * off, error: noise.error + noise.message * off };
    }
    let shape = Shape::bounded(level, components.len(), scaling, noise);
    let room = shape.room(params);
    if room.is_nan() || room < 0.0 {
        return Err(SealError::Claim(sotto_rlwe::EvalError::Noise { over: -room }));
    }
    Ok(Ciphertext::from_parts(params, key, shape, components))
}

/// Writes a ciphertext.
///
/// # Errors
/// [`SealError::ParmsId`] for a ciphertext of other parameters. [`SealError::Unwritable`] for a BGV
/// ciphertext if `writing` names no minor version of SEAL 4, or 4.0: from SEAL 4.1 on, BGV ciphertexts are in
/// Eval form and have a correction factor.
pub fn write_ciphertext<S: Convention>(
    ciphertext: &Ciphertext<S>,
    chain: &Chain<S>,
    writing: Writing,
) -> Result<Vec<u8>, SealError> {
    if ciphertext.params() != chain.params() {
        return Err(SealError::ParmsId);
    }
    let level = ciphertext.level();
    let (scale, factor) = S::scale_and_factor(chain.params(), level, ciphertext.shape().scaling);
    let version = S::ciphertext_version(writing)?;
    let fields = Fields {
        id: chain.parms_id(level),
        transformed: S::TRANSFORMED,
        components: ciphertext.components().len() as u64,
        scale,
        factor,
    };
    let members = compose(&fields, version, chain, chain.level_order(level), ciphertext.components());
    Ok(header::close(&members, version, writing.compression))
}

/// Returns the members of a ciphertext or public key.
pub(crate) fn compose<S: Convention>(
    fields: &Fields,
    version: Version,
    chain: &Chain<S>,
    order: Vec<usize>,
    components: &[Poly<Eval>],
) -> Vec<u8> {
    let (degree, limbs) = (chain.params().degree(), order.len());
    let layout = Layout::new(chain.params(), order);
    let mut out = Vec::with_capacity(largest(degree, limbs, components.len()));
    fields.write(&mut out, version, degree, limbs);
    write_array(&mut out, version, layout.words() * components.len());
    components.iter().for_each(|c| layout.write(&mut out, c, form(fields.transformed)));
    out
}

/// Reads a nested ciphertext: a public key within keys.
pub(crate) fn nested<S: Convention>(
    reader: &mut Reader<'_>,
    chain: &Chain<S>,
    order: impl Fn(ParmsId) -> Result<Vec<usize>, SealError>,
) -> Result<(Fields, Vec<Poly<Eval>>), SealError> {
    let (header, mut members) = Header::nested(reader)?;
    parse(&mut members, header.version, chain, order)
}
