//! Compact ciphertexts of slots as bytes: only the coefficients of each limb that carry a message.

use alloc::vec::Vec;

use sotto_ring::{SEED_BYTES, Seed};
use sotto_rlwe::{Compact, Kept, KeyId, Origin, ParameterId, Params, Scheme, Shape};

use crate::arrived::Arrived;
use crate::bits::{pack, unpack};
use crate::ciphertext::{CiphertextHeader, FOLDED_PLACES, HEADER, WHOLE_PLACES, write_header};
use crate::error::WireError;
use crate::frame::{self, FRAME_OVERHEAD};
use crate::hash::derived;
use crate::kind::Kind;
use crate::mask::MaskName;
use crate::reader::Reader;

/// Bytes of a [`SlotsWindow`]'s payload before its residues.
const WINDOW_HEADER: usize = 32 + 16 + 4 + MaskName::BYTES + SEED_BYTES;
/// The largest frame of a [`SlotsWindow`]: 64 MiB, in bytes.
const LARGEST_SLOTS_WINDOW: u64 = 64 << 20;
const SEED_CONTEXT: &str = "sotto slots mask v1";
/// Windows hold values normalised to −1 … 1.
const MAGNITUDE: f64 = 1.0;

/// A window of slots: a fresh compact ciphertext of values of at most 1, whose seed is derived from the name of its
/// mask.
///
/// Its noise bound follows from the parameters, so it is not sent.
///
/// ```
/// use sotto_keys::{DeviceSecret, SecretKey};
/// use sotto_rlwe::{Ckks, Kept, Params};
/// use sotto_wire::{MaskName, SlotsWindow, mask_seed};
/// # let mut rng = sotto_ring::secure_rng()?;
/// # let params = Params::<Ckks>::default_chain(8192, 0)?;
/// # let key = SecretKey::derive(&DeviceSecret::generate(&mut rng), &params);
///
/// // Four readings, normalised to −1 … 1.
/// let plain = params.encode_folded(&[0.5, -0.25, 0.0, 1.0], 1.0, params.top_level())?;
/// let mask = MaskName { salt: [3; 12], sequence: 7 };
/// let seed = mask_seed(key.id(), "boiler", &mask);
/// let compact = key.encrypt_under(&plain, seed, &mut rng)?.compact(Kept::Folded(4))?;
/// let window = SlotsWindow::of(&compact, mask);
/// let received = SlotsWindow::read(&window.write())?;
/// assert_eq!(received.compact(&params)?.limbs(), compact.limbs());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlotsWindow {
    /// The ciphertext's parameters.
    pub parameters: ParameterId,
    /// The key that decrypts it.
    pub key: KeyId,
    /// The coefficients that are sent.
    pub kept: Kept,
    /// Never used twice under the key.
    pub mask: MaskName,
    /// The seed of the mask: [`mask_seed`] of the mask's name.
    pub seed: Seed,
    /// The residues, packed limb by limb.
    pub body: Vec<u8>,
}

/// Returns the seed of a window's mask: the first 24 bytes of BLAKE3-derive_key("sotto slots mask v1", key id 16 ‖ salt
/// 12 ‖ sequence number 8 ‖ the stream's name).
///
/// It is public and the same for device, cloud and owner. A mask's name must never be used twice.
#[must_use]
pub fn mask_seed(key: KeyId, stream: &str, mask: &MaskName) -> Seed {
    let named = [&key.0[..], &mask.salt, &mask.sequence.to_le_bytes(), stream.as_bytes()];
    let mut seed = [0; SEED_BYTES];
    seed.copy_from_slice(&derived(SEED_CONTEXT, named)[..SEED_BYTES]);
    Seed(seed)
}

/// Returns the length in bytes of the residues at `places` places.
fn residue_bytes<S: Scheme>(params: &Params<S>, places: usize) -> usize {
    let bytes = |limb: usize| (places * params.modulus(limb).bits() as usize).div_ceil(8);
    params.limbs(params.top_level()).map(bytes).sum()
}

fn write_residues<S: Scheme>(compact: &Compact<S>, out: &mut Vec<u8>) {
    let params = compact.params();
    for (limb, residues) in params.limbs(compact.shape().level).zip(compact.limbs()) {
        pack(out, residues, params.modulus(limb).bits());
    }
}

/// Reads the residues of all limbs of a fresh ciphertext. The caller has checked the number of bytes.
fn read_residues<S: Scheme>(
    reader: &mut Reader<'_>,
    params: &Params<S>,
    places: usize,
) -> Result<Vec<Vec<u64>>, WireError> {
    let limb = |limb: usize| {
        let modulus = params.modulus(limb);
        let mut residues = vec![0; places];
        let packed = reader.take((places * modulus.bits() as usize).div_ceil(8))?;
        if unpack(packed, modulus, &mut residues)? { Err(WireError::Residue { limb }) } else { Ok(residues) }
    };
    params.limbs(params.top_level()).map(limb).collect()
}

fn representation(kept: Kept) -> u8 {
    match kept {
        Kept::Whole(_) => WHOLE_PLACES,
        Kept::Folded(_) => FOLDED_PLACES,
    }
}

fn kept(representation: u8, places: usize) -> Kept {
    if representation == FOLDED_PLACES { Kept::Folded(places) } else { Kept::Whole(places) }
}

/// Returns 2^`log2`; refuses more than 2^20, which exceeds every degree.
fn places(log2: u8) -> Result<usize, WireError> {
    if log2 > 20 {
        return Err(WireError::Value("a compact ciphertext has at most as many places as the degree"));
    }
    Ok(1 << log2)
}

fn not_of_parameters<E>(_: E) -> WireError {
    WireError::Value("the places of a compact ciphertext are not its parameters'")
}

/// Returns the length in bytes of the frame of a compact ciphertext with `places` places.
pub fn compact_bytes<S: Scheme>(params: &Params<S>, places: usize) -> usize {
    FRAME_OVERHEAD + HEADER + 1 + SEED_BYTES + residue_bytes(params, places)
}

/// Returns the frame of a compact ciphertext.
pub fn write_compact<S: Scheme>(compact: &Compact<S>) -> Vec<u8> {
    let (params, kept) = (compact.params(), compact.kept());
    frame::write(Kind::CompactSlots, compact_bytes(params, kept.places()) - FRAME_OVERHEAD, |out| {
        write_header(params, compact.key(), compact.shape(), representation(kept), out);
        out.push(kept.places().ilog2() as u8);
        out.extend_from_slice(&compact.seed().0);
        write_residues(compact, out);
    })
}

/// Reads a compact ciphertext of these parameters. Checks the length before it allocates. The shape is the sender's
/// claim.
///
/// # Errors
/// [`WireError`] if the bytes are not a frame of a compact ciphertext of these parameters.
pub fn read_compact<S: Scheme>(bytes: &[u8], params: &Params<S>) -> Result<Arrived<Compact<S>>, WireError> {
    parse_compact(frame::open(bytes, Kind::CompactSlots, limit(params))?, params)
}

/// Reads a frame whose digest was checked, like [`read_compact`].
pub(crate) fn read_compact_checked<S: Scheme>(
    bytes: &[u8],
    params: &Params<S>,
) -> Result<Arrived<Compact<S>>, WireError> {
    parse_compact(frame::payload(bytes, Kind::CompactSlots, limit(params))?, params)
}

/// Returns the length in bytes of the longest frame of a compact ciphertext.
fn limit<S: Scheme>(params: &Params<S>) -> u64 {
    compact_bytes(params, params.degree()) as u64
}

fn parse_compact<S: Scheme>(
    mut reader: Reader<'_>,
    params: &Params<S>,
) -> Result<Arrived<Compact<S>>, WireError> {
    let header = CiphertextHeader::parse(&mut reader, Kind::CompactSlots)?;
    let shape = header.shape(params)?;
    let places = places(reader.u8()?)?;
    reader.expect_left(compact_bytes(params, places) - FRAME_OVERHEAD - HEADER - 1)?;
    let seed = Seed(reader.array()?);
    let limbs = read_residues(&mut reader, params, places)?;
    let kept = kept(header.representation, places);
    let compact = Compact::from_parts(params, header.key, shape, seed, kept, limbs);
    compact.map(Arrived::new).map_err(not_of_parameters)
}

impl SlotsWindow {
    /// Makes a window of a compact ciphertext that was encrypted under the mask of this name.
    #[must_use]
    pub fn of<S: Scheme>(compact: &Compact<S>, mask: MaskName) -> Self {
        let mut body = Vec::with_capacity(residue_bytes(compact.params(), compact.kept().places()));
        write_residues(compact, &mut body);
        let (parameters, key, kept, seed) =
            (compact.params().id(), compact.key(), compact.kept(), *compact.seed());
        Self { parameters, key, kept, mask, seed, body }
    }

    /// Returns the length in bytes of a window's residues.
    #[must_use]
    pub fn body_bytes<S: Scheme>(params: &Params<S>, kept: Kept) -> usize {
        residue_bytes(params, kept.places())
    }

    /// Returns the length in bytes of a window's frame.
    #[must_use]
    pub fn frame_bytes<S: Scheme>(params: &Params<S>, kept: Kept) -> usize {
        FRAME_OVERHEAD + WINDOW_HEADER + Self::body_bytes(params, kept)
    }

    /// Returns the compact ciphertext, with the noise bound of a fresh one.
    ///
    /// # Errors
    /// [`WireError`] if the window has other parameters, another length, or a residue that is not below its prime.
    pub fn compact<S: Scheme>(&self, params: &Params<S>) -> Result<Compact<S>, WireError> {
        if self.parameters != params.id() {
            return Err(WireError::Parameters { expected: params.id(), found: self.parameters });
        }
        let places = self.kept.places();
        let mut reader = Reader::new(&self.body);
        if places > params.degree() {
            return Err(not_of_parameters(places));
        }
        reader.expect_left(residue_bytes(params, places))?;
        let limbs = read_residues(&mut reader, params, places)?;
        let halves = if matches!(self.kept, Kept::Folded(_)) { 2.0 } else { 1.0 };
        let shape = Shape::fresh(params, Origin::SecretKey, MAGNITUDE / halves).map_err(not_of_parameters)?;
        Compact::from_parts(params, self.key, shape, self.seed, self.kept, limbs).map_err(not_of_parameters)
    }

    /// Returns the frame.
    #[must_use]
    pub fn write(&self) -> Vec<u8> {
        frame::write(Kind::SlotsWindow, self.payload_bytes(), |out| self.write_payload(out))
    }

    pub(crate) fn payload_bytes(&self) -> usize {
        WINDOW_HEADER + self.body.len()
    }

    pub(crate) fn write_payload(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.parameters.0);
        out.extend_from_slice(&self.key.0);
        out.extend_from_slice(&[representation(self.kept), self.kept.places().ilog2() as u8, 0, 0]);
        self.mask.write(out);
        out.extend_from_slice(&self.seed.0);
        out.extend_from_slice(&self.body);
    }

    /// Reads a frame. [`SlotsWindow::compact`] checks the body against the parameters.
    ///
    /// # Errors
    /// [`WireError`] if the bytes are not a frame of a window of slots.
    pub fn read(bytes: &[u8]) -> Result<Self, WireError> {
        let mut reader = frame::open(bytes, Kind::SlotsWindow, LARGEST_SLOTS_WINDOW)?;
        let (parameters, key) = (reader.parameter_id()?, reader.key_id()?);
        let [representation, log2, first, second] = reader.array()?;
        if !(WHOLE_PLACES..=FOLDED_PLACES).contains(&representation) {
            return Err(WireError::Value("the representation is not known"));
        }
        if (first, second) != (0, 0) {
            return Err(WireError::Padding);
        }
        let kept = kept(representation, places(log2)?);
        let mask = MaskName::parse(&mut reader)?;
        let seed = Seed(reader.array()?);
        Ok(Self { parameters, key, kept, mask, seed, body: reader.take(reader.left())?.to_vec() })
    }
}
