//! Ciphertexts as bytes, with their mask written out or as a seed.

use alloc::string::ToString;
use alloc::vec::Vec;

use sotto_ring::{SEED_BYTES, Seed};
use sotto_rlwe::{
    Ciphertext, Expected, KeyId, Log2, Noise, ParameterId, Params, Scheme, Seeded, Shape, Unexpected,
};

use crate::arrived::Arrived;
use crate::bits::{packed_bytes, read_poly, write_poly};
use crate::error::WireError;
use crate::frame::{self, FRAME_OVERHEAD};
use crate::kind::Kind;
use crate::reader::Reader;

/// Bytes of a ciphertext's header at the start of the payload.
pub(crate) const HEADER: usize = 32 + 16 + 4 + 8 + 8 + 8;
const COEFF_FORM: u8 = 0;
const EVAL_FORM: u8 = 1;
const WRITTEN_OUT: u8 = 0;
pub(crate) const SEEDED: u8 = 1;
pub(crate) const WHOLE_PLACES: u8 = 2;
pub(crate) const FOLDED_PLACES: u8 = 3;
pub(crate) const REDUCED: u8 = 4;

/// The header of a ciphertext's frame.
///
/// Example: [`AnyCiphertext`]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CiphertextHeader {
    /// The parameters that it was encrypted with.
    pub parameters: ParameterId,
    /// The key that decrypts it.
    pub key: KeyId,
    /// True if a seed replaces the mask.
    pub seeded: bool,
    /// True if the frame holds only some of the coefficients.
    pub compact: bool,
    pub(crate) representation: u8,
    level: u8,
    components: u8,
    scaling: u64,
    message: f64,
    error: f64,
}

/// No field is NaN: readers refuse it.
impl Eq for CiphertextHeader {}

/// A ciphertext with a seed for its mask, or with its mask written out.
///
/// ```
/// use sotto_keys::{DeviceSecret, SecretKey};
/// use sotto_rlwe::{Bfv, Params, Scheme};
/// use sotto_wire::{AnyCiphertext, CiphertextHeader, expanded_bytes, seeded_bytes};
/// # let mut rng = sotto_ring::secure_rng()?;
/// # let params = Params::<Bfv>::default_chain(4096, 65_537)?;
/// # let key = SecretKey::derive(&DeviceSecret::generate(&mut rng), &params);
///
/// let plain = Bfv::encode_slots(&params, &[215, 198], params.top_level())?;
/// let fresh = AnyCiphertext::Seeded(key.encrypt(&plain, &mut rng)?);
/// let bytes = fresh.write();
/// let header: CiphertextHeader = CiphertextHeader::read(&bytes, 1 << 20)?;
/// assert!(header.seeded && header.key == key.id());
/// // The seed halves the size.
/// assert_eq!(bytes.len(), seeded_bytes(&params));
/// let expanded = AnyCiphertext::Expanded(fresh.expand()).write();
/// assert_eq!(expanded.len(), expanded_bytes(&params, params.top_level(), 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub enum AnyCiphertext<S: Scheme> {
    /// Fresh, encrypted with the secret key; a seed replaces the mask.
    Seeded(Seeded<S>),
    /// With its mask written out.
    Expanded(Ciphertext<S>),
}

/// Returns the length in bytes of a seeded ciphertext's frame.
pub fn seeded_bytes<S: Scheme>(params: &Params<S>) -> usize {
    let limbs = params.limbs(params.top_level());
    FRAME_OVERHEAD + HEADER + SEED_BYTES + packed_bytes(params.ring(), limbs)
}

/// Returns the length in bytes of a written-out ciphertext's frame.
pub fn expanded_bytes<S: Scheme>(params: &Params<S>, level: usize, components: usize) -> usize {
    FRAME_OVERHEAD + HEADER + components * packed_bytes(params.ring(), params.limbs(level))
}

impl CiphertextHeader {
    /// Reads the header from the frame of a ciphertext, compact or not, after checking the frame's digest. `limit` is
    /// the largest frame allowed, in bytes.
    ///
    /// # Errors
    /// [`WireError`] if the frame or its header is invalid.
    pub fn read(bytes: &[u8], limit: u64) -> Result<Self, WireError> {
        let kind = match frame::frame_kind(bytes)? {
            Kind::CompactSlots => Kind::CompactSlots,
            _ => Kind::Ciphertext,
        };
        Self::parse(&mut frame::open(bytes, kind, limit)?, kind)
    }

    /// Reads the header from the first bytes of a frame, before its end and digest have arrived. Also returns the
    /// payload's declared length.
    pub(crate) fn of_preamble(bytes: &[u8]) -> Result<(Self, u64), WireError> {
        let (found, length) = frame::start(bytes)?;
        if found != Kind::Ciphertext {
            return Err(WireError::Kind { expected: Kind::Ciphertext, found: found.to_string() });
        }
        Ok((Self::parse(&mut Reader::new(&bytes[frame::HEADER..]), Kind::Ciphertext)?, length))
    }

    pub(crate) fn parse(reader: &mut Reader<'_>, kind: Kind) -> Result<Self, WireError> {
        let (parameters, key) = (reader.parameter_id()?, reader.key_id()?);
        let [form, representation, level, components] = reader.array()?;
        let compact = kind == Kind::CompactSlots;
        let (expected, known) = match kind {
            Kind::CompactSlots => (COEFF_FORM, WHOLE_PLACES..=FOLDED_PLACES),
            Kind::ReducedCiphertext => (COEFF_FORM, REDUCED..=REDUCED),
            _ => (EVAL_FORM, WRITTEN_OUT..=SEEDED),
        };
        if form != expected {
            return Err(WireError::Value(
                "ciphertexts travel in evaluation form, compact and reduced ones in coefficients",
            ));
        }
        if !known.contains(&representation) {
            return Err(WireError::Value("the representation is not known"));
        }
        let (scaling, message, error) = (reader.u64()?, reader.f64()?, reader.f64()?);
        if message == f64::INFINITY || !error.is_finite() {
            return Err(WireError::Value("a noise bound is not finite"));
        }
        let seeded = representation != WRITTEN_OUT && representation != REDUCED;
        Ok(Self {
            parameters,
            key,
            seeded,
            compact,
            representation,
            level,
            components,
            scaling,
            message,
            error,
        })
    }

    pub(crate) fn shape<S: Scheme>(&self, params: &Params<S>) -> Result<Shape<S>, WireError> {
        if self.parameters != params.id() {
            return Err(WireError::Parameters { expected: params.id(), found: self.parameters });
        }
        let (level, components) = (usize::from(self.level), usize::from(self.components));
        if level > params.top_level() || !(2..=3).contains(&components) {
            return Err(WireError::Value("these parameters have no such level or number of components"));
        }
        if self.seeded && (level != params.top_level() || components != 2) {
            return Err(WireError::Value(
                "a seeded ciphertext is fresh: at the top level, with two components",
            ));
        }
        let scaling = S::scaling_from_number(self.scaling);
        if !S::scaling_is_valid(params, scaling) || S::scaling_number(scaling) != self.scaling {
            return Err(WireError::Value("the scale or plaintext factor cannot occur"));
        }
        let noise = Noise { message: Log2(self.message), error: Log2(self.error) };
        let shape = Shape::bounded(level, components, scaling, noise);
        if shape.room(params) < 0.0 {
            return Err(WireError::Value("the noise bound passes the decryption limit"));
        }
        Ok(shape)
    }
}

fn write<S: Scheme>(
    params: &Params<S>,
    key: KeyId,
    shape: &Shape<S>,
    representation: u8,
    bytes: usize,
    residues: impl FnOnce(&mut Vec<u8>),
) -> Vec<u8> {
    frame::write(Kind::Ciphertext, bytes, |out| {
        write_header(params, key, shape, representation, out);
        residues(out);
    })
}

/// Appends a ciphertext's header.
pub(crate) fn write_header<S: Scheme>(
    params: &Params<S>,
    key: KeyId,
    shape: &Shape<S>,
    representation: u8,
    out: &mut Vec<u8>,
) {
    let form = if representation >= WHOLE_PLACES { COEFF_FORM } else { EVAL_FORM };
    out.extend_from_slice(&params.id().0);
    out.extend_from_slice(&key.0);
    out.extend_from_slice(&[form, representation, shape.level as u8, shape.components as u8]);
    out.extend_from_slice(&S::scaling_number(shape.scaling).to_le_bytes());
    out.extend_from_slice(&shape.noise.message.0.to_le_bytes());
    out.extend_from_slice(&shape.noise.error.0.to_le_bytes());
}

/// Returns the length in bytes of the longest frame.
fn limit<S: Scheme>(params: &Params<S>) -> u64 {
    expanded_bytes(params, params.top_level(), 3) as u64
}

impl<S: Scheme> AnyCiphertext<S> {
    /// Reads a ciphertext of these parameters. Checks the length before it allocates. The shape is the sender's claim.
    ///
    /// # Errors
    /// [`WireError`] if the bytes are not the frame of a ciphertext of these parameters.
    pub fn read(bytes: &[u8], params: &Params<S>) -> Result<Arrived<Self>, WireError> {
        Self::parse(frame::open(bytes, Kind::Ciphertext, limit(params))?, params)
    }

    /// Reads a frame whose digest was checked, like [`AnyCiphertext::read`].
    pub(crate) fn read_checked(bytes: &[u8], params: &Params<S>) -> Result<Arrived<Self>, WireError> {
        Self::parse(frame::payload(bytes, Kind::Ciphertext, limit(params))?, params)
    }

    fn parse(mut reader: Reader<'_>, params: &Params<S>) -> Result<Arrived<Self>, WireError> {
        let header = CiphertextHeader::parse(&mut reader, Kind::Ciphertext)?;
        let shape = header.shape(params)?;
        let (ring, limbs) = (params.ring(), params.limbs(shape.level));
        let one = packed_bytes(ring, limbs.clone());
        if header.seeded {
            reader.expect_left(SEED_BYTES + one)?;
            let seed = Seed(reader.array()?);
            let body = read_poly(&mut reader, ring, limbs)?;
            let seeded = Seeded { params: params.clone(), key: header.key, shape, body, seed };
            return Ok(Arrived::new(Self::Seeded(seeded)));
        }
        reader.expect_left(shape.components * one)?;
        let components: Vec<_> = (0..shape.components)
            .map(|_| read_poly(&mut reader, ring, limbs.clone()))
            .collect::<Result<_, _>>()?;
        let ciphertext = Ciphertext::from_parts(params, header.key, shape, components);
        if ciphertext.is_transparent() {
            return Err(WireError::Value("the ciphertext is transparent: its mask is zero"));
        }
        Ok(Arrived::new(Self::Expanded(ciphertext)))
    }

    /// Returns the ciphertext's frame.
    pub fn write(&self) -> Vec<u8> {
        match self {
            Self::Seeded(c) => write(&c.params, c.key, &c.shape, SEEDED, seeded_bytes(&c.params), |out| {
                out.extend_from_slice(&c.seed.0);
                write_poly(out, &c.body);
            }),
            Self::Expanded(c) => {
                let bytes = expanded_bytes(c.params(), c.level(), c.components().len());
                write(c.params(), c.key(), c.shape(), WRITTEN_OUT, bytes, |out| {
                    c.components().iter().for_each(|p| write_poly(out, p));
                })
            }
        }
    }

    /// Returns the ciphertext with its mask written out.
    pub fn expand(self) -> Ciphertext<S> {
        match self {
            Self::Seeded(c) => c.expand(),
            Self::Expanded(c) => c,
        }
    }
}

impl<S: Scheme> Arrived<AnyCiphertext<S>> {
    /// Returns the ciphertext with the plan's shape.
    ///
    /// # Errors
    /// [`Unexpected`] names the first difference, in the order key, parameters, level, components, scaling, noise
    /// bound, form.
    pub fn expect(self, expected: &Expected<S>) -> Result<Ciphertext<S>, Unexpected> {
        expected.check_form(None)?;
        self.with_claimed_shape().expand().expect(expected)
    }
}
