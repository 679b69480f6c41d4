//! The signed parts of stored messages, those of places among them, whose ciphertexts nothing reads.

use alloc::sync::Arc;

use crate::envelope::Envelope;
use crate::error::WireError;
use crate::family;
use crate::frame;
use crate::hash::digest;
use crate::kind::Kind;
use crate::reader::Reader;
use crate::signature::SIGNATURE_BYTES;
use crate::signed::{SignedHeader, SignedWindow, read_header};
use crate::stream::StreamHeader;

impl SignedHeader {
    /// Returns the signed part of a message of a window of this stream, also if it is one of places, whose ciphertext
    /// nothing reads.
    ///
    /// # Errors
    /// [`WireError`] if the bytes are not a window of the stream.
    pub fn of_window(bytes: &[u8], stream: &Arc<StreamHeader>) -> Result<Self, WireError> {
        if !stream.is_of_places() {
            return Envelope::read_window(bytes, stream).map(|envelope| Self::of(&envelope));
        }
        let mut reader = Reader::new(bytes);
        let (window, head, place) = SignedWindow::parse(&mut reader, stream)?;
        let body_digest = digest(reader.take_but(SIGNATURE_BYTES)?);
        let window = window.placed(place, &body_digest);
        Ok(Self::from_parts(head.header(stream)?, Some(window), body_digest, reader.array()?))
    }

    /// Returns the signed part of the bytes of [`Envelope::write_kept`], at most `limit`, also if the ciphertext is a
    /// window of places, which nothing reads.
    ///
    /// # Errors
    /// [`WireError`] if the bytes are neither a version-1 envelope nor a version-2 envelope with its stream's header.
    pub fn of_kept(bytes: &[u8], limit: u64) -> Result<Self, WireError> {
        let kind = frame::frame_kind(bytes)?;
        if let Some(family) = family::ALL.iter().find(|family| family.kept == kind) {
            let mut reader = frame::open(bytes, kind, limit)?;
            let stream = Arc::new(StreamHeader::parse(family, &mut reader)?);
            return Self::of_window(reader.rest(), &stream);
        }
        let mut reader = frame::open(bytes, Kind::Envelope, limit)?;
        let header = read_header(&mut reader)?;
        let body_digest = frame::frame_digest(reader.take_but(SIGNATURE_BYTES)?)?;
        Ok(Self::from_parts(header, None, body_digest, reader.array()?))
    }
}
