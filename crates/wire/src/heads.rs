//! The heads of a stream's windows, for the device that signed them and has lost its record of them.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::error::WireError;
use crate::frame;
use crate::kind::Kind;
use crate::reader::{Reader, varint_bytes, write_name, write_varint};
use crate::signature::{self, SIGNATURE_BYTES};
use crate::signed::SignedHeader;
use crate::stream::StreamHeader;
use crate::window::stream_tag;

const SIGNATURE_CONTEXT: &[u8] = b"sotto heads v1";
/// Length in bytes of the longest frame of a [`HeadsRequest`].
pub const LARGEST_HEADS_REQUEST: u64 = 1024;
/// Length in bytes of the longest frame of [`Heads`]: 1 MiB.
pub const LARGEST_HEADS: u64 = 1 << 20;
/// Largest number of heads in a frame. A head read takes up to 16 KiB.
pub const MOST_HEADS: usize = 1000;
const OTHER_STREAMS: WireError =
    WireError::Value("the headers of streams are those of the heads, each once, in the order of their heads");

/// A device's signed request for the heads of its windows of a stream, from a sequence number on.
///
/// ```
/// use sotto_keys::SigningIdentity;
/// use sotto_wire::HeadsRequest;
/// # let device = SigningIdentity::generate(&mut sotto_ring::secure_rng()?);
///
/// // The device lost its spool: which windows of this stream did it send?
/// let asked_at = 1_795_000_000_000;
/// let request = HeadsRequest::sign("cellar", "boiler", 0, asked_at, |message| device.sign(message))?;
/// let received = HeadsRequest::read(&request.write()?)?;
/// received.verify(&device.verifying_key())?;
/// assert_eq!((received.stream.as_str(), received.from), ("boiler", 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeadsRequest {
    /// The device's name.
    pub device: String,
    /// The stream's name.
    pub stream: String,
    /// The smallest sequence number wanted.
    pub from: u64,
    /// The time of the request by the device's clock, in milliseconds since 1970.
    pub asked_at: i64,
    signature: [u8; SIGNATURE_BYTES],
}

impl HeadsRequest {
    /// Signs a request.
    ///
    /// # Errors
    /// [`WireError::Value`] if a name is invalid.
    pub fn sign(
        device: &str,
        stream: &str,
        from: u64,
        asked_at: i64,
        sign: impl FnOnce(&[u8]) -> [u8; SIGNATURE_BYTES],
    ) -> Result<Self, WireError> {
        let (device, stream, signature) = (device.to_owned(), stream.to_owned(), [0; SIGNATURE_BYTES]);
        let unsigned = Self { device, stream, from, asked_at, signature };
        let signature = sign(&unsigned.signed_message()?);
        Ok(Self { signature, ..unsigned })
    }

    /// Returns the frame.
    ///
    /// # Errors
    /// [`WireError::Value`] if a name is invalid.
    pub fn write(&self) -> Result<Vec<u8>, WireError> {
        let fields = self.fields()?;
        Ok(frame::write(Kind::HeadsRequest, fields.len() + SIGNATURE_BYTES, |out| {
            out.extend_from_slice(&fields);
            out.extend_from_slice(&self.signature);
        }))
    }

    /// Reads a frame of at most [`LARGEST_HEADS_REQUEST`] bytes. Does not check the signature: see
    /// [`HeadsRequest::verify`].
    ///
    /// # Errors
    /// [`WireError`] if the bytes are not a frame of a request for heads.
    pub fn read(bytes: &[u8]) -> Result<Self, WireError> {
        let mut reader = frame::open(bytes, Kind::HeadsRequest, LARGEST_HEADS_REQUEST)?;
        let (device, stream) = (reader.name()?, reader.name()?);
        let (from, asked_at) = (reader.u64()?, reader.i64()?);
        let signature = reader.array()?;
        reader.finish()?;
        Ok(Self { device, stream, from, asked_at, signature })
    }

    /// Checks the signature against a device's Ed25519 verifying key.
    ///
    /// # Errors
    /// [`WireError::Signature`] if the signature is not valid under the key.
    pub fn verify(&self, verifying_key: &[u8; 32]) -> Result<(), WireError> {
        signature::verify(&self.signed_message()?, &self.signature, verifying_key)
    }

    fn fields(&self) -> Result<Vec<u8>, WireError> {
        let mut out = Vec::with_capacity(160);
        write_name(&mut out, &self.device)?;
        write_name(&mut out, &self.stream)?;
        out.extend_from_slice(&self.from.to_le_bytes());
        out.extend_from_slice(&self.asked_at.to_le_bytes());
        Ok(out)
    }

    fn signed_message(&self) -> Result<Vec<u8>, WireError> {
        Ok([SIGNATURE_CONTEXT, &self.fields()?].concat())
    }
}

/// Heads of a stream's windows, in ascending order of their sequence numbers. Headers of streams, which every head of
/// version 2 needs, stand once.
///
/// ```
/// use sotto_wire::Heads;
///
/// let none = Heads { heads: Vec::new(), more: false };
/// assert_eq!(Heads::read(&none.write())?, none);
/// # Ok::<(), sotto_wire::WireError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heads {
    /// The signed headers. Nobody has checked their signatures.
    pub heads: Vec<SignedHeader>,
    /// True if windows with higher numbers follow.
    pub more: bool,
}

impl Heads {
    /// Returns the frame.
    #[must_use]
    pub fn write(&self) -> Vec<u8> {
        let streams: Vec<Vec<u8>> = self.streams().iter().map(|stream| stream.write()).collect();
        let heads: Vec<Vec<u8>> = self.heads.iter().map(SignedHeader::write_bare).collect();
        let parts = || streams.iter().chain(&heads);
        let bytes = parts().map(|part| part.len() + varint_bytes(part.len() as u64)).sum::<usize>() + 20;
        frame::write(Kind::Heads, bytes, |out| {
            out.push(self.more.into());
            for list in [&streams, &heads] {
                write_varint(out, list.len() as u64);
                for part in list {
                    write_varint(out, part.len() as u64);
                    out.extend_from_slice(part);
                }
            }
        })
    }

    /// Returns an upper bound on the bytes that a head adds to a frame behind another one, with the header of its stream
    /// if that is another one.
    #[must_use]
    pub fn bytes_of(head: &SignedHeader, before: Option<&SignedHeader>) -> usize {
        let is_known = before.is_some_and(|before| before.stream() == head.stream());
        let stream = head.stream().filter(|_| !is_known);
        let stream = stream.map_or(0, |stream| stream.payload().len() + frame::FRAME_OVERHEAD + 10);
        head.write_bare().len() + 10 + stream
    }

    /// Returns the headers of the streams, in the order in which the heads name them.
    fn streams(&self) -> Vec<&Arc<StreamHeader>> {
        let mut streams: Vec<&Arc<StreamHeader>> = Vec::new();
        for stream in self.heads.iter().filter_map(SignedHeader::stream) {
            if streams.last().is_none_or(|last| last.id() != stream.id())
                && streams.iter().all(|other| other.id() != stream.id())
            {
                streams.push(stream);
            }
        }
        streams
    }

    /// Reads a frame of at most [`LARGEST_HEADS`] bytes. Does not check the signatures: see [`SignedHeader::verify`].
    ///
    /// # Errors
    /// [`WireError`] if the bytes are not a frame of heads with ascending numbers.
    pub fn read(bytes: &[u8]) -> Result<Self, WireError> {
        let mut reader = frame::open(bytes, Kind::Heads, LARGEST_HEADS)?;
        let more = reader.flag()?;
        let mut streams: Vec<Arc<StreamHeader>> = Vec::new();
        for _ in 0..reader.varint()? {
            streams.push(Arc::new(StreamHeader::read_stored(part(&mut reader)?)?));
        }
        let mut heads: Vec<SignedHeader> = Vec::new();
        let count = reader.varint()?;
        if count > MOST_HEADS as u64 {
            return Err(WireError::Value("a frame of heads has at most 1000"));
        }
        for _ in 0..count {
            let head = read_bare(part(&mut reader)?, &streams)?;
            if heads.last().is_some_and(|last| last.header().sequence >= head.header().sequence) {
                return Err(WireError::Value("the numbers of heads ascend"));
            }
            heads.push(head);
        }
        reader.finish()?;
        let read = Self { heads, more };
        let ids = read.streams().into_iter().map(|stream| stream.id());
        if ids.eq(streams.iter().map(|stream| stream.id())) { Ok(read) } else { Err(OTHER_STREAMS) }
    }
}

/// Reads a length, and as many bytes.
fn part<'b>(reader: &mut Reader<'b>) -> Result<&'b [u8], WireError> {
    // `take` refuses a length beyond the bytes.
    let length = usize::try_from(reader.varint()?).unwrap_or(usize::MAX);
    reader.take(length)
}

fn read_bare(bytes: &[u8], streams: &[Arc<StreamHeader>]) -> Result<SignedHeader, WireError> {
    let Some(tag) = stream_tag(bytes)? else {
        return match frame::frame_kind(bytes)? {
            Kind::SignedHeader => SignedHeader::read(bytes, LARGEST_HEADS),
            _ => Err(WireError::Value("a head of a window has no header of a stream of its own")),
        };
    };
    let stream = streams.iter().rev().find(|stream| stream.id().tag() == tag);
    let mut reader = Reader::new(bytes);
    let head = SignedHeader::parse_bare(&mut reader, stream.ok_or(WireError::UnknownStream(tag))?)?;
    reader.finish()?;
    Ok(head)
}
