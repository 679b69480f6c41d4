//! Batches of requests to the re-encryption agent, and of its responses.
//!
//! `batch id 16 ‖ Paillier key id 16 ‖ bytes of its ciphertexts u16 ‖ ElGamal key id 16 ‖ bytes of its ciphertexts u16
//! ‖ count u32 ‖ a code each ‖ bodies`. ElGamal's fields are zero if no code of the batch involves ElGamal.
//!
//! The codes determine the length of the bodies, which is checked before a ciphertext is read. A body consists of its
//! ciphertexts; the body of a conversion starts with its encoding, `bits u8 ‖ factors u8`.

use alloc::vec::Vec;
use core::fmt;

use sotto_partial::encoding::Complement;
use sotto_partial::recrypt::{LARGEST_BATCH, Request, Response};
use sotto_partial::{KeyId, PartialError, elgamal, paillier};

use crate::error::WireError;
use crate::frame::{self, FRAME_OVERHEAD};
use crate::kind::Kind;
use crate::partial::{expect_key, read_key_id};
use crate::reader::Reader;

const HEAD: usize = 16 + 2 * (16 + 2) + 4;

/// The name of a batch, drawn at random by the caller. It is an idempotency key: a repeated batch gets the same answer.
///
/// Example: [`UnreadRequests`]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BatchId(pub [u8; 16]);

impl fmt::Display for BatchId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// The public keys of one re-encryption agent.
///
/// Example: [`UnreadRequests`]
#[derive(Clone, Copy)]
pub struct ExchangeKeys<'k> {
    /// Paillier's key.
    pub paillier: &'k paillier::PublicKey,
    /// ElGamal's key, if the agent has one.
    pub elgamal: Option<&'k elgamal::PublicKey>,
}

/// A code of a batch: the length of its body, and if it involves ElGamal's key.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Code {
    number: u8,
    /// Bytes of the encoding.
    encoding: usize,
    paillier: usize,
    elgamal: usize,
    concerns_elgamal: bool,
}

impl Code {
    const PRODUCT: Self = Self::new(1, 0, 2, 0, false);
    const TO_ELGAMAL: Self = Self::new(2, 2, 1, 0, true);
    const TO_PAILLIER: Self = Self::new(3, 2, 0, 1, true);
    const PAILLIER: Self = Self::new(1, 0, 1, 0, false);
    const ELGAMAL: Self = Self::new(2, 0, 0, 1, true);

    const REQUESTS: &'static [Self] = &[Self::PRODUCT, Self::TO_ELGAMAL, Self::TO_PAILLIER];
    const RESPONSES: &'static [Self] = &[Self::PAILLIER, Self::ELGAMAL];

    const fn new(
        number: u8,
        encoding: usize,
        paillier: usize,
        elgamal: usize,
        concerns_elgamal: bool,
    ) -> Self {
        Self { number, encoding, paillier, elgamal, concerns_elgamal }
    }

    fn find(codes: &[Self], number: u8) -> Result<Self, WireError> {
        let found = codes.iter().find(|code| code.number == number);
        found.copied().ok_or(WireError::Value("a code of this batch is not known"))
    }
}

/// Returns the frame of a batch of requests to the agent.
///
/// # Errors
/// [`WireError::Key`] if a ciphertext is under another key, [`WireError::Value`] if ElGamal's key is needed and
/// missing, [`WireError::TooLarge`] if there are more than [`LARGEST_BATCH`] requests.
pub fn write_exchange_request(
    batch: BatchId,
    keys: ExchangeKeys<'_>,
    requests: &[Request],
) -> Result<Vec<u8>, WireError> {
    write(Kind::ExchangeRequest, batch, keys, requests, |request| match request {
        Request::Product(a, b) => (Code::PRODUCT, [Some(Part::Paillier(a)), Some(Part::Paillier(b))]),
        Request::ToElGamal(a, code) => {
            (Code::TO_ELGAMAL, [Some(Part::Encoding(*code)), Some(Part::Paillier(a))])
        }
        Request::ToPaillier(a, code) => {
            (Code::TO_PAILLIER, [Some(Part::Encoding(*code)), Some(Part::ElGamal(a))])
        }
    })
}

/// Returns the frame of a batch of the agent's responses.
///
/// # Errors
/// Those of [`write_exchange_request`].
pub fn write_exchange_response(
    batch: BatchId,
    keys: ExchangeKeys<'_>,
    responses: &[Response],
) -> Result<Vec<u8>, WireError> {
    write(Kind::ExchangeResponse, batch, keys, responses, |response| match response {
        Response::Paillier(a) => (Code::PAILLIER, [Some(Part::Paillier(a)), None]),
        Response::ElGamal(a) => (Code::ELGAMAL, [Some(Part::ElGamal(a)), None]),
    })
}

/// Returns the length in bytes of the longest possible batch of requests under these keys: [`LARGEST_BATCH`] requests
/// of the longest kind.
pub fn longest_exchange_request(keys: ExchangeKeys<'_>) -> u64 {
    let keys = Keys { paillier: keys.paillier, elgamal: keys.elgamal };
    let longest = Code::REQUESTS.iter().map(|code| keys.length(*code)).max().unwrap_or(0);
    (FRAME_OVERHEAD + HEAD + LARGEST_BATCH * (1 + longest)) as u64
}

/// A batch of requests whose digest, keys and lengths are checked and whose ciphertexts are still bytes. A service can
/// count the requests before it does any work.
///
/// ```
/// use sotto_partial::recrypt::Request;
/// use sotto_wire::{BatchId, ExchangeKeys, UnreadRequests};
/// use sotto_wire::{longest_exchange_request, write_exchange_request};
/// # use sotto_keys::partial::paillier::SecretKey;
/// # let mut rng = sotto_ring::secure_rng()?;
/// # let paillier = SecretKey::generate(2048, Default::default(), &mut rng)?.public_key()?;
///
/// let keys = ExchangeKeys { paillier: &paillier, elgamal: None };
/// let load = paillier.encrypt(&paillier.signed(3), &mut rng)?;
/// let price = paillier.encrypt(&paillier.signed(4), &mut rng)?;
/// let bytes = write_exchange_request(BatchId([7; 16]), keys, &[Request::Product(load, price)])?;
/// // The agent counts the requests before it reads a ciphertext.
/// let unread = UnreadRequests::open(&bytes, longest_exchange_request(keys), keys)?;
/// assert_eq!((unread.batch(), unread.counts()), (BatchId([7; 16]), [1, 0, 0]));
/// assert!(matches!(unread.read()?[..], [Request::Product(_, _)]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct UnreadRequests<'b, 'k> {
    batch: BatchId,
    codes: &'b [u8],
    parts: Parts<'b, 'k>,
}

impl<'b, 'k> UnreadRequests<'b, 'k> {
    /// Checks a frame of at most `limit` bytes.
    ///
    /// # Errors
    /// [`WireError`] if the frame is invalid, names other keys, or has a wrong length.
    pub fn open(bytes: &'b [u8], limit: u64, keys: ExchangeKeys<'k>) -> Result<Self, WireError> {
        let (batch, codes, parts) = head(bytes, Kind::ExchangeRequest, limit, keys, Code::REQUESTS)?;
        Ok(Self { batch, codes, parts })
    }

    /// Returns the batch's name.
    pub fn batch(&self) -> BatchId {
        self.batch
    }

    /// Returns the numbers of products, of conversions to ElGamal and of conversions to Paillier.
    pub fn counts(&self) -> [u64; 3] {
        [Code::PRODUCT, Code::TO_ELGAMAL, Code::TO_PAILLIER]
            .map(|code| self.codes.iter().filter(|number| **number == code.number).count() as u64)
    }

    /// Reads the requests and checks every ciphertext by its scheme's rules.
    ///
    /// # Errors
    /// [`WireError`] if an encoding or a ciphertext is invalid.
    pub fn read(self) -> Result<Vec<Request>, WireError> {
        bodies(self.codes, self.parts, Code::REQUESTS, |code, parts| {
            Ok(match code {
                Code::PRODUCT => Request::Product(parts.paillier()?, parts.paillier()?),
                Code::TO_ELGAMAL => {
                    let encoding = parts.encoding()?;
                    Request::ToElGamal(parts.paillier()?, encoding)
                }
                _ => {
                    let encoding = parts.encoding()?;
                    Request::ToPaillier(parts.elgamal()?, encoding)
                }
            })
        })
    }
}

/// Reads a batch of requests from a frame of at most `limit` bytes and checks every ciphertext by its scheme's rules.
///
/// # Errors
/// [`WireError`] if the frame, an encoding or a ciphertext is invalid.
pub fn read_exchange_request(
    bytes: &[u8],
    limit: u64,
    keys: ExchangeKeys<'_>,
) -> Result<(BatchId, Vec<Request>), WireError> {
    let unread = UnreadRequests::open(bytes, limit, keys)?;
    Ok((unread.batch, unread.read()?))
}

/// Reads a batch of responses from a frame of at most `limit` bytes and checks every ciphertext by its scheme's rules.
///
/// # Errors
/// [`WireError`] if the frame or a ciphertext is invalid.
pub fn read_exchange_response(
    bytes: &[u8],
    limit: u64,
    keys: ExchangeKeys<'_>,
) -> Result<(BatchId, Vec<Response>), WireError> {
    let (batch, codes, parts) = head(bytes, Kind::ExchangeResponse, limit, keys, Code::RESPONSES)?;
    let responses = bodies(codes, parts, Code::RESPONSES, |code, parts| {
        Ok(match code {
            Code::PAILLIER => Response::Paillier(parts.paillier()?),
            _ => Response::ElGamal(parts.elgamal()?),
        })
    })?;
    Ok((batch, responses))
}

/// Returns the name of the batch in a frame of requests or responses. Checks only the frame.
///
/// # Errors
/// [`WireError`] if the frame is invalid.
pub fn batch_id(bytes: &[u8], limit: u64) -> Result<BatchId, WireError> {
    let (kind, _) = frame::start(bytes)?;
    let kind = if kind == Kind::ExchangeResponse { kind } else { Kind::ExchangeRequest };
    Ok(BatchId(frame::open(bytes, kind, limit)?.array()?))
}

/// Refuses a count above [`LARGEST_BATCH`].
fn checked_count(count: usize) -> Result<usize, WireError> {
    if count <= LARGEST_BATCH {
        Ok(count)
    } else {
        Err(WireError::TooLarge { limit: LARGEST_BATCH as u64, found: count as u64 })
    }
}

enum Part<'c> {
    Encoding(Complement),
    Paillier(&'c paillier::Ciphertext),
    ElGamal(&'c elgamal::Ciphertext),
}

fn write<T>(
    kind: Kind,
    batch: BatchId,
    keys: ExchangeKeys<'_>,
    all: &[T],
    parts: impl Fn(&T) -> (Code, [Option<Part<'_>>; 2]),
) -> Result<Vec<u8>, WireError> {
    let count = checked_count(all.len())?;
    let with_elgamal = all.iter().any(|one| parts(one).0.concerns_elgamal);
    let keys = Keys::new(keys, with_elgamal)?;
    for part in all.iter().flat_map(|one| parts(one).1).flatten() {
        match part {
            Part::Encoding(_) => {}
            Part::Paillier(part) => expect_key(keys.paillier.id(), part.key())?,
            Part::ElGamal(part) => expect_key(keys.elgamal()?.id(), part.key())?,
        }
    }
    let length: usize = all.iter().map(|one| keys.length(parts(one).0)).sum();
    Ok(frame::write(kind, HEAD + count + length, |out| {
        out.extend_from_slice(&batch.0);
        for (name, one) in keys.fields() {
            out.extend_from_slice(&name.0);
            out.extend_from_slice(&(one as u16).to_le_bytes());
        }
        out.extend_from_slice(&(count as u32).to_le_bytes());
        out.extend(all.iter().map(|one| parts(one).0.number));
        for part in all.iter().flat_map(|one| parts(one).1).flatten() {
            match (part, keys.elgamal) {
                // Both fit a byte: bits ≤ 64, and bits · factors² is below the 3,072 bits of the largest group.
                (Part::Encoding(code), _) => out.extend([code.bits() as u8, code.factors() as u8]),
                (Part::Paillier(part), _) => out.extend_from_slice(&keys.paillier.write(part)),
                (Part::ElGamal(part), Some(key)) => out.extend_from_slice(&key.write_ciphertext(part)),
                // Refused by `Keys::elgamal` above.
                (Part::ElGamal(_), None) => {}
            }
        }
    }))
}

/// Checks a frame up to its bodies. Returns the batch's name, its codes, and a reader of the bodies.
fn head<'b, 'k>(
    bytes: &'b [u8],
    kind: Kind,
    limit: u64,
    keys: ExchangeKeys<'k>,
    known: &[Code],
) -> Result<(BatchId, &'b [u8], Parts<'b, 'k>), WireError> {
    let mut reader = frame::open(bytes, kind, limit)?;
    let batch = BatchId(reader.array()?);
    read_key_id(&mut reader, keys.paillier.id())?;
    if usize::from(reader.u16()?) != keys.paillier.ciphertext_bytes() {
        return Err(WireError::Value("ciphertexts of this key have another length"));
    }
    let (name, one) = (KeyId(reader.array()?), usize::from(reader.u16()?));
    let count = checked_count(reader.u32()? as usize)?;
    let codes = reader.take(count)?;
    let (mut length, mut with_elgamal) = (0, false);
    let all = Keys::new(keys, keys.elgamal.is_some())?;
    for number in codes {
        let code = Code::find(known, *number)?;
        with_elgamal |= code.concerns_elgamal;
        length += all.length(code);
    }
    // The encoding is canonical: ElGamal's key is named exactly if a code involves it.
    let keys = Keys::new(keys, with_elgamal)?;
    let [_, (expected, expected_one)] = keys.fields();
    expect_key(expected, name)?;
    if one != expected_one {
        return Err(WireError::Value("ciphertexts of this key have another length"));
    }
    reader.expect_left(length)?;
    Ok((batch, codes, Parts { reader, keys }))
}

fn bodies<T>(
    codes: &[u8],
    mut parts: Parts<'_, '_>,
    known: &[Code],
    make: impl Fn(Code, &mut Parts<'_, '_>) -> Result<T, WireError>,
) -> Result<Vec<T>, WireError> {
    let mut out = Vec::with_capacity(codes.len());
    for number in codes {
        out.push(make(Code::find(known, *number)?, &mut parts)?);
    }
    Ok(out)
}

/// The keys that a batch involves.
struct Keys<'k> {
    paillier: &'k paillier::PublicKey,
    elgamal: Option<&'k elgamal::PublicKey>,
}

impl<'k> Keys<'k> {
    fn new(keys: ExchangeKeys<'k>, with_elgamal: bool) -> Result<Self, WireError> {
        let keys = Self { paillier: keys.paillier, elgamal: keys.elgamal.filter(|_| with_elgamal) };
        if with_elgamal {
            keys.elgamal()?;
        }
        Ok(keys)
    }

    fn elgamal(&self) -> Result<&'k elgamal::PublicKey, WireError> {
        self.elgamal.ok_or(WireError::Value("the agent has no key of ElGamal's"))
    }

    /// Returns the length in bytes of the body that belongs to a code.
    fn length(&self, code: Code) -> usize {
        let elgamal = self.elgamal.map_or(0, elgamal::PublicKey::ciphertext_bytes);
        code.encoding + code.paillier * self.paillier.ciphertext_bytes() + code.elgamal * elgamal
    }

    /// Returns the id and the ciphertext length in bytes of both keys; zeros for a missing ElGamal key.
    fn fields(&self) -> [(KeyId, usize); 2] {
        let elgamal = self.elgamal.map(|key| (key.id(), key.ciphertext_bytes()));
        [(self.paillier.id(), self.paillier.ciphertext_bytes()), elgamal.unwrap_or((KeyId([0; 16]), 0))]
    }
}

/// A reader of the encodings and ciphertexts of a batch, one after the other.
struct Parts<'b, 'k> {
    reader: Reader<'b>,
    keys: Keys<'k>,
}

impl Parts<'_, '_> {
    /// Reads an encoding whose numbers fit the group of ElGamal's key.
    fn encoding(&mut self) -> Result<Complement, WireError> {
        let (bits, factors) = (u32::from(self.reader.u8()?), u32::from(self.reader.u8()?));
        Ok(Complement::new(bits, factors, self.keys.elgamal()?.group().name().bits() - 2)?)
    }

    fn paillier(&mut self) -> Result<paillier::Ciphertext, WireError> {
        let key = self.keys.paillier;
        self.next(key.ciphertext_bytes(), |bytes| key.read(bytes))
    }

    fn elgamal(&mut self) -> Result<elgamal::Ciphertext, WireError> {
        let key = self.keys.elgamal()?;
        self.next(key.ciphertext_bytes(), |bytes| key.read_ciphertext(bytes))
    }

    fn next<C>(
        &mut self,
        length: usize,
        read: impl Fn(&[u8]) -> Result<C, PartialError>,
    ) -> Result<C, WireError> {
        Ok(read(self.reader.take(length)?)?)
    }
}
