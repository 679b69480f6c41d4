//! The frame: header, payload, digest.
//!
//! `"sott" ‖ version u8 ‖ kind u8 ‖ 0 u16 ‖ payload length u64 ‖ payload ‖ BLAKE3 of all before`, little-endian.

use alloc::string::ToString;
use alloc::vec::Vec;
use core::fmt;

use crate::error::WireError;
use crate::reader::Reader;

/// Length of the digest at the end of every frame.
pub const DIGEST_BYTES: usize = 32;
const MAGIC: [u8; 4] = *b"sott";
const VERSION: u8 = 1;
/// Bytes before a frame's payload.
pub(crate) const HEADER: usize = 16;
/// Bytes of a frame in addition to its payload.
pub const FRAME_OVERHEAD: usize = HEADER + DIGEST_BYTES;

/// The kind of object that a frame holds.
///
/// ```
/// use sotto_rlwe::{Bfv, Params};
/// use sotto_wire::{Kind, frame_kind, write_parameters};
///
/// let params = Params::<Bfv>::default_chain(4096, 65_537)?;
/// let kind = frame_kind(&write_parameters(params.spec()))?;
/// assert_eq!(kind, Kind::Parameters);
/// assert_eq!(Kind::KeptWindow.to_string(), "a window with its stream's header");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// The numbers that define a parameter set.
    Parameters = 1,
    /// A ciphertext.
    Ciphertext = 2,
    /// A public key.
    PublicKey = 3,
    /// Evaluation keys.
    EvaluationKeys = 4,
    /// A plan.
    Plan = 5,
    /// A signed envelope around a ciphertext.
    Envelope = 6,
    /// A public key whose mask is written out, made by another library.
    ExpandedPublicKey = 7,
    /// Evaluation keys whose masks are written out.
    ExpandedEvaluationKeys = 8,
    /// A public key of Paillier's scheme.
    PaillierPublicKey = 9,
    /// Ciphertexts of Paillier's scheme under one key.
    PaillierCiphertexts = 10,
    /// A public key of ElGamal's scheme.
    ElGamalPublicKey = 11,
    /// Ciphertexts of ElGamal's scheme under one key.
    ElGamalCiphertexts = 12,
    /// A public key of ElGamal's scheme on Ristretto.
    RistrettoPublicKey = 13,
    /// Ciphertexts of ElGamal's scheme on Ristretto under one key.
    RistrettoCiphertexts = 14,
    /// A batch of requests to the re-encryption agent.
    ExchangeRequest = 15,
    /// A batch of the re-encryption agent's responses.
    ExchangeResponse = 16,
    /// A device's request for the position of a stream.
    PositionRequest = 17,
    /// An envelope without its ciphertext.
    SignedHeader = 18,
    /// A window's compact ciphertext.
    CompactCiphertext = 19,
    /// Sums of compact ciphertexts.
    CompactSums = 20,
    /// The description of a stream of compact windows.
    StreamHeader = 21,
    /// A window of a stream without its coefficients.
    SignedWindow = 22,
    /// A window of a stream, with the stream's header.
    KeptWindow = 23,
    /// A compact ciphertext of slots: some coefficients of each limb.
    CompactSlots = 24,
    /// A window of slots: a fresh compact ciphertext whose seed follows from a name.
    SlotsWindow = 25,
    /// Sums of the windows of a fleet under one mask.
    FleetSums = 26,
    /// An answer ciphertext whose coefficients are rounded to few bits.
    ReducedCiphertext = 27,
    /// The size and root of the log of a stream.
    StreamHead = 28,
    /// The cloud's signed statement of some work.
    Transcript = 29,
    /// An encrypted vector of the facade: its public facts and its ciphertexts.
    Vector = 30,
    /// Parameters, public key and evaluation keys of an owner.
    OwnerKeys = 31,
}

impl Kind {
    fn from_number(number: u8) -> Option<Self> {
        [
            Self::Parameters,
            Self::Ciphertext,
            Self::PublicKey,
            Self::EvaluationKeys,
            Self::Plan,
            Self::Envelope,
            Self::ExpandedPublicKey,
            Self::ExpandedEvaluationKeys,
            Self::PaillierPublicKey,
            Self::PaillierCiphertexts,
            Self::ElGamalPublicKey,
            Self::ElGamalCiphertexts,
            Self::RistrettoPublicKey,
            Self::RistrettoCiphertexts,
            Self::ExchangeRequest,
            Self::ExchangeResponse,
            Self::PositionRequest,
            Self::SignedHeader,
            Self::CompactCiphertext,
            Self::CompactSums,
            Self::StreamHeader,
            Self::SignedWindow,
            Self::KeptWindow,
            Self::CompactSlots,
            Self::SlotsWindow,
            Self::FleetSums,
            Self::ReducedCiphertext,
            Self::StreamHead,
            Self::Transcript,
            Self::Vector,
            Self::OwnerKeys,
        ]
        .into_iter()
        .find(|k| *k as u8 == number)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Parameters => "parameters",
            Self::Ciphertext => "a ciphertext",
            Self::PublicKey => "a public key",
            Self::EvaluationKeys => "evaluation keys",
            Self::Plan => "a plan",
            Self::Envelope => "an envelope",
            Self::ExpandedPublicKey => "a public key written out",
            Self::ExpandedEvaluationKeys => "evaluation keys written out",
            Self::PaillierPublicKey => "a public key of Paillier's",
            Self::PaillierCiphertexts => "ciphertexts of Paillier's",
            Self::ElGamalPublicKey => "a public key of ElGamal's",
            Self::ElGamalCiphertexts => "ciphertexts of ElGamal's",
            Self::RistrettoPublicKey => "a public key on Ristretto",
            Self::RistrettoCiphertexts => "ciphertexts on Ristretto",
            Self::ExchangeRequest => "a batch for the re-encryption agent",
            Self::ExchangeResponse => "a batch from the re-encryption agent",
            Self::PositionRequest => "a question for a stream's position",
            Self::SignedHeader => "a signed header",
            Self::CompactCiphertext => "a compact ciphertext",
            Self::CompactSums => "sums of compact ciphertexts",
            Self::StreamHeader => "the header of a stream",
            Self::SignedWindow => "a signed window without its coefficients",
            Self::KeptWindow => "a window with its stream's header",
            Self::CompactSlots => "a compact ciphertext of slots",
            Self::SlotsWindow => "a window of slots",
            Self::FleetSums => "sums of a fleet",
            Self::ReducedCiphertext => "a reduced ciphertext",
            Self::StreamHead => "the head of a stream's log",
            Self::Transcript => "a transcript",
            Self::Vector => "an encrypted vector",
            Self::OwnerKeys => "an owner's public keys",
        })
    }
}

/// Returns a frame. `payload` appends the payload to the buffer; `payload_bytes` is the capacity to reserve.
pub(crate) fn write(kind: Kind, payload_bytes: usize, payload: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::with_capacity(payload_bytes + FRAME_OVERHEAD);
    begin(&mut out, kind, 0);
    payload(&mut out);
    let length = (out.len() - HEADER) as u64;
    out[8..HEADER].copy_from_slice(&length.to_le_bytes());
    let digest = blake3::hash(&out);
    out.extend_from_slice(digest.as_bytes());
    out
}

/// Appends the header of a frame with a payload of this length.
pub(crate) fn begin(out: &mut Vec<u8>, kind: Kind, payload_bytes: u64) {
    out.extend_from_slice(&MAGIC);
    out.extend_from_slice(&[VERSION, kind as u8, 0, 0]);
    out.extend_from_slice(&payload_bytes.to_le_bytes());
}

/// Returns the kind and the payload's length that the first bytes declare. Checks nothing else.
///
/// # Errors
/// [`WireError`] if the first bytes are not a frame's header.
pub(crate) fn start(bytes: &[u8]) -> Result<(Kind, u64), WireError> {
    let kind = frame_kind(bytes)?;
    let mut length = [0; 8];
    length.copy_from_slice(&bytes[8..HEADER]);
    Ok((kind, u64::from_le_bytes(length)))
}

/// Checks a frame of one kind and at most `limit` bytes, and returns a reader of its payload.
pub(crate) fn open(bytes: &[u8], kind: Kind, limit: u64) -> Result<Reader<'_>, WireError> {
    let found = bytes.len() as u64;
    if found > limit {
        return Err(WireError::TooLarge { limit, found });
    }
    let payload = check_header(bytes, kind)?;
    let expected = payload.saturating_add(FRAME_OVERHEAD as u64);
    if expected > limit {
        return Err(WireError::TooLarge { limit, found: expected });
    }
    if found < expected {
        return Err(WireError::Truncated { expected, found });
    }
    if found > expected {
        return Err(WireError::Trailing { extra: found - expected });
    }
    let (body, digest) = bytes.split_at(bytes.len() - DIGEST_BYTES);
    if blake3::hash(body).as_bytes() != digest {
        return Err(WireError::Digest);
    }
    Ok(Reader::new(&body[HEADER..]))
}

fn check_header(bytes: &[u8], kind: Kind) -> Result<u64, WireError> {
    if bytes.len() < FRAME_OVERHEAD {
        return Err(WireError::Truncated { expected: FRAME_OVERHEAD as u64, found: bytes.len() as u64 });
    }
    let (found, length) = start(bytes)?;
    if found != kind {
        return Err(WireError::Kind { expected: kind, found: found.to_string() });
    }
    Ok(length)
}

/// Returns the kind of frame that the bytes declare. Checks the header only.
///
/// # Errors
/// [`WireError::Magic`], [`WireError::Version`], [`WireError::Padding`] or [`WireError::Value`] if the header is
/// invalid.
pub fn frame_kind(bytes: &[u8]) -> Result<Kind, WireError> {
    if bytes.len() < HEADER || bytes[..4] != MAGIC {
        return Err(WireError::Magic);
    }
    if bytes[4] != VERSION {
        return Err(WireError::Version(bytes[4]));
    }
    if bytes[6..8] != [0, 0] {
        return Err(WireError::Padding);
    }
    Kind::from_number(bytes[5]).ok_or(WireError::Value("this kind of frame is not known"))
}

/// Checks a frame's digest and length, and returns the digest.
///
/// # Errors
/// [`WireError`] if the bytes are not exactly one valid frame.
pub fn whole_frame_digest(bytes: &[u8]) -> Result<[u8; DIGEST_BYTES], WireError> {
    let kind = frame_kind(bytes)?;
    open(bytes, kind, u64::MAX)?;
    frame_digest(bytes)
}

/// Returns the digest that ends a frame, unchecked.
///
/// # Errors
/// [`WireError::Truncated`] if the bytes are shorter than a digest.
pub fn frame_digest(bytes: &[u8]) -> Result<[u8; DIGEST_BYTES], WireError> {
    let too_short = WireError::Truncated { expected: FRAME_OVERHEAD as u64, found: bytes.len() as u64 };
    let start = bytes.len().checked_sub(DIGEST_BYTES).ok_or(too_short)?;
    let mut digest = [0; DIGEST_BYTES];
    digest.copy_from_slice(&bytes[start..]);
    Ok(digest)
}
