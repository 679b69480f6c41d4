//! The cloud's signed statements: a receipt that a window is stored, and the head of a stream's log.
//!
//! The log of a stream is a Merkle tree of the signed headers of its windows in the order in which they were stored. It
//! only grows ([`crate::Frontier`]). docs/concepts/transcripts.md has the layout.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;

use crate::error::WireError;
use crate::frame;
use crate::hash::Digest;
use crate::kind::Kind;
use crate::reader::write_name;
use crate::signature::verify;

const RECEIPT: &[u8] = b"sotto receipt v1";
const HEAD: &[u8] = b"sotto stream head v1";
/// Length in bytes of the longest frame of a [`StreamHead`].
pub const LARGEST_STREAM_HEAD: u64 = 1024;

/// The cloud's signed statement that a window is stored, and of its place in the stream's log.
///
/// ```
/// use sotto_keys::SigningIdentity;
/// use sotto_wire::{Receipt, WireError};
/// # let cloud = SigningIdentity::generate(&mut sotto_ring::secure_rng()?);
///
/// let receipt = Receipt {
///     device: "cellar",
///     stream: "boiler",
///     sequence: 7,
///     digest: [0xa5; 32],
///     position: 7,
///     stored_at: 1_795_000_000_000,
/// };
/// let signature = receipt.sign(|message| cloud.sign(message))?;
/// // The device deletes the window from its spool only if the receipt is valid.
/// receipt.verify(&signature, &cloud.verifying_key())?;
/// let other = Receipt { sequence: 8, ..receipt };
/// assert_eq!(other.verify(&signature, &cloud.verifying_key()), Err(WireError::Signature));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receipt<'r> {
    /// The device's name.
    pub device: &'r str,
    /// The stream's name.
    pub stream: &'r str,
    /// The window's sequence number.
    pub sequence: u64,
    /// The digest: [`crate::message_digest`] of an envelope, or [`crate::Envelope::window_digest`] of a window of a
    /// group.
    pub digest: Digest,
    /// The window's place in the stream's log, from 0.
    pub position: u64,
    /// The time of storing by the cloud's clock, in milliseconds since 1970.
    pub stored_at: i64,
}

/// The size and root of a stream's log, signed by the cloud.
///
/// ```
/// use sotto_keys::SigningIdentity;
/// use sotto_wire::{Frontier, StreamHead};
/// # let cloud = SigningIdentity::generate(&mut sotto_ring::secure_rng()?);
///
/// let log = Frontier::of([[1; 32], [2; 32]]); // two windows
/// let (size, root, signed_at) = (log.size(), log.root(), 1_795_000_000_000);
/// let key = cloud.verifying_key();
/// let head = StreamHead::sign("cellar", "boiler", size, root, signed_at, key, |m| cloud.sign(m))?;
/// let received = StreamHead::read(&head.write()?)?;
/// assert_eq!(received.cloud, cloud.verifying_key());
/// received.verify()?;
/// assert_eq!((received.size, received.root), (size, root));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamHead {
    /// The device's name.
    pub device: String,
    /// The stream's name.
    pub stream: String,
    /// Number of windows in the log.
    pub size: u64,
    /// The root of the log's Merkle tree.
    pub root: Digest,
    /// The time of signing by the cloud's clock, in milliseconds since 1970.
    pub signed_at: i64,
    /// The cloud's Ed25519 verifying key.
    pub cloud: [u8; 32],
    signature: [u8; 64],
}

impl Receipt<'_> {
    fn message(&self) -> Result<Vec<u8>, WireError> {
        let mut out = RECEIPT.to_vec();
        write_name(&mut out, self.device)?;
        write_name(&mut out, self.stream)?;
        out.extend_from_slice(&self.sequence.to_le_bytes());
        out.extend_from_slice(&self.digest);
        out.extend_from_slice(&self.position.to_le_bytes());
        out.extend_from_slice(&self.stored_at.to_le_bytes());
        Ok(out)
    }

    /// Signs the receipt with the cloud's key.
    ///
    /// # Errors
    /// [`WireError::Value`] if a name is invalid.
    pub fn sign(&self, sign: impl FnOnce(&[u8]) -> [u8; 64]) -> Result<[u8; 64], WireError> {
        Ok(sign(&self.message()?))
    }

    /// Checks a signature against the cloud's Ed25519 verifying key.
    ///
    /// # Errors
    /// [`WireError::Signature`] if the signature is not valid under the key.
    pub fn verify(&self, signature: &[u8; 64], cloud: &[u8; 32]) -> Result<(), WireError> {
        verify(&self.message()?, signature, cloud)
    }
}

impl StreamHead {
    /// Signs the size and root of a log.
    ///
    /// # Errors
    /// [`WireError::Value`] if a name is invalid.
    pub fn sign(
        device: &str,
        stream: &str,
        size: u64,
        root: Digest,
        signed_at: i64,
        cloud: [u8; 32],
        sign: impl FnOnce(&[u8]) -> [u8; 64],
    ) -> Result<Self, WireError> {
        let (device, stream) = (device.to_owned(), stream.to_owned());
        let mut head = Self { device, stream, size, root, signed_at, cloud, signature: [0; 64] };
        head.signature = sign(&[HEAD, &head.fields()?].concat());
        Ok(head)
    }

    fn fields(&self) -> Result<Vec<u8>, WireError> {
        let mut out = Vec::with_capacity(256);
        write_name(&mut out, &self.device)?;
        write_name(&mut out, &self.stream)?;
        out.extend_from_slice(&self.size.to_le_bytes());
        out.extend_from_slice(&self.root);
        out.extend_from_slice(&self.signed_at.to_le_bytes());
        out.extend_from_slice(&self.cloud);
        Ok(out)
    }

    /// Returns the frame.
    ///
    /// # Errors
    /// [`WireError::Value`] if a name is invalid.
    pub fn write(&self) -> Result<Vec<u8>, WireError> {
        let fields = self.fields()?;
        Ok(frame::write(Kind::StreamHead, fields.len() + 64, |out| {
            out.extend_from_slice(&fields);
            out.extend_from_slice(&self.signature);
        }))
    }

    /// Reads a frame of at most [`LARGEST_STREAM_HEAD`] bytes. Does not check the signature: see
    /// [`StreamHead::verify`].
    ///
    /// # Errors
    /// [`WireError`] if the bytes are not a frame of a stream head.
    pub fn read(bytes: &[u8]) -> Result<Self, WireError> {
        let mut reader = frame::open(bytes, Kind::StreamHead, LARGEST_STREAM_HEAD)?;
        let (device, stream) = (reader.name()?, reader.name()?);
        let (size, root, signed_at) = (reader.u64()?, reader.array()?, reader.i64()?);
        let (cloud, signature) = (reader.array()?, reader.array()?);
        reader.finish()?;
        Ok(Self { device, stream, size, root, signed_at, cloud, signature })
    }

    /// Checks the signature against the head's own `cloud` key. The caller must check that this key is the cloud's.
    ///
    /// # Errors
    /// [`WireError::Signature`] if the signature is not valid under the key.
    pub fn verify(&self) -> Result<(), WireError> {
        verify(&[HEAD, &self.fields()?].concat(), &self.signature, &self.cloud)
    }
}
