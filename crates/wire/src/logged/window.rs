//! A window of version 2 of the envelope in a log.

use alloc::sync::Arc;
use alloc::vec::Vec;

use sotto_pack::WindowDescription;

use super::ID_BYTES;
use crate::error::WireError;
use crate::frame;
use crate::hash::{Digest, digest_of};
use crate::header::EnvelopeHeader;
use crate::mask::MaskName;
use crate::membership::Membership;
use crate::merkle::leaf_of;
use crate::reader::Reader;
use crate::signature::SIGNATURE_BYTES;
use crate::signed::{SignedHeader, SignedWindow};
use crate::stream::StreamHeader;
use crate::tag::{STREAM_TAG_BYTES, StreamTag};
use crate::window::{self, TakenReceipt, WindowHead};

/// A window of a log without its body and its signature. Reading one makes no description: see
/// [`LoggedWindow::description`].
///
/// Example: [`LogItem`](crate::LogItem)
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedWindow {
    pub(crate) window: SignedWindow,
    pub(crate) body_digest: Digest,
    /// None: the id that need not be written.
    pub(crate) id: Option<[u8; ID_BYTES]>,
    /// None: the bytes that follow from the stream's form.
    pub(crate) bytes: Option<u64>,
}

impl LoggedWindow {
    /// Returns the id of the envelope with this leaf in the log: the cloud's, or the one that follows from the window.
    #[must_use]
    pub fn id(&self, leaf: &Digest) -> [u8; ID_BYTES] {
        self.id.unwrap_or_else(|| id_of(leaf, Some(&self.window)))
    }

    /// Returns true if the cloud gave the window an id that does not follow from it.
    #[must_use]
    pub fn is_named(&self) -> bool {
        self.id.is_some()
    }

    /// Returns the bytes that the window took on the way, in a group of `count` windows or, with 1, alone.
    #[must_use]
    pub fn bytes(&self, count: usize) -> u64 {
        self.bytes.unwrap_or_else(|| self.own_bytes(count))
    }

    /// Returns the bytes that follow from the stream's form; 0 for a window of slots, whose body has any length.
    pub(super) fn own_bytes(&self, count: usize) -> u64 {
        let SignedWindow { stream, numbers, bytes, .. } = &self.window;
        if !stream.is_of_sums() {
            return 0;
        }
        let parts = stream.parts_bytes(numbers.sent).unwrap_or_default();
        (bytes.len() + parts + SIGNATURE_BYTES.div_ceil(count.max(1))) as u64
    }

    /// Leaves the bytes out that follow from the stream's form, in a group of `count` windows or, with 1, alone.
    pub(super) fn with_own_bytes(self, count: usize) -> Self {
        let own = self.own_bytes(count);
        Self { bytes: self.bytes.filter(|bytes| *bytes != own), ..self }
    }

    /// Returns the header of the window's stream.
    #[must_use]
    pub fn stream(&self) -> &Arc<StreamHeader> {
        &self.window.stream
    }

    /// Returns the head: everything that the device signed before the body, without the window's place in a group.
    #[must_use]
    pub fn head(&self) -> &[u8] {
        &self.window.bytes
    }

    /// Returns the sequence number.
    #[must_use]
    pub fn sequence(&self) -> u64 {
        self.window.numbers.sequence
    }

    /// Returns the name of the mask or of the pads.
    #[must_use]
    pub fn mask(&self) -> MaskName {
        self.window.numbers.mask
    }

    /// Returns the start, in milliseconds since 1970.
    #[must_use]
    pub fn start(&self) -> i64 {
        self.window.numbers.start
    }

    /// Returns the number of ticks.
    #[must_use]
    pub fn ticks(&self) -> u32 {
        self.window.numbers.length
    }

    /// Returns true if every channel has a reading at every tick, and nothing else is to be told about the window: none was
    /// left out or rounded, and it replaces no window and is not provisional.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        window::is_plain(self.window.flags())
    }

    /// Returns true if the readings were generated.
    #[must_use]
    pub fn is_generated(&self) -> bool {
        self.window.flags() & window::GENERATED != 0
    }

    /// Returns the last receipt that the device took before it signed the window, if the window names one.
    #[must_use]
    pub fn taken_receipt(&self) -> Option<TakenReceipt> {
        if self.window.flags() & window::AFTER_RECEIPT == 0 {
            return None;
        }
        match window::plain_receipt(&self.window.numbers, &self.window.bytes) {
            Some(receipt) => receipt,
            None => self.parsed().ok()?.receipt,
        }
    }

    /// Returns the description: start, ticks, readings left out.
    ///
    /// # Errors
    /// None for a window that was read from a page.
    pub fn description(&self) -> Result<WindowDescription, WireError> {
        Ok(self.parsed()?.description)
    }

    /// Returns the header, as one of version 1.
    ///
    /// # Errors
    /// [`WireError::Value`] if the description is longer than 16 KiB.
    pub fn header(&self) -> Result<EnvelopeHeader, WireError> {
        self.parsed()?.header(&self.window.stream)
    }

    fn parsed(&self) -> Result<WindowHead, WireError> {
        WindowHead::parse(&mut Reader::new(&self.window.bytes), &self.window.stream)
    }

    /// Returns the leaf in the tree of a group.
    pub(super) fn group_leaf(&self) -> Digest {
        self.window.own_leaf(&self.body_digest)
    }

    /// Returns the leaf in the log of the stream: that of the frame of the signed header.
    pub(super) fn log_leaf(&self, place: Option<&Membership>, signature: &[u8; SIGNATURE_BYTES]) -> Digest {
        let SignedWindow { stream, bytes, tags, .. } = &self.window;
        let (family, payload) = (stream.family(), stream.payload());
        let place = place.map(|place| place.bytes(family)).unwrap_or_default();
        let pieces = [payload, &place, bytes, tags, &self.body_digest, signature];
        let mut start = Vec::with_capacity(frame::HEADER);
        frame::begin(&mut start, family.signed, pieces.iter().map(|piece| piece.len() as u64).sum());
        let [payload, place, bytes, tags, body, signature] = pieces;
        let end = digest_of([&start[..], payload, place, bytes, tags, body, signature]);
        leaf_of(&[&start, payload, place, bytes, tags, body, signature, &end])
    }

    /// Returns the window with its signature, as it is read alone.
    pub(super) fn signed(
        &self,
        place: Option<Membership>,
        signature: [u8; SIGNATURE_BYTES],
    ) -> Result<SignedHeader, WireError> {
        let window = self.window.clone().placed(place, &self.body_digest);
        Ok(SignedHeader::from_parts(self.header()?, Some(window), self.body_digest, signature))
    }
}

/// Returns the id of a window of sums in a cloud: the stream's tag and the sequence number, its highest byte first.
#[must_use]
pub fn sums_window_id(stream: StreamTag, sequence: u64) -> [u8; ID_BYTES] {
    let mut id = [0; ID_BYTES];
    id[..STREAM_TAG_BYTES].copy_from_slice(&stream.0);
    id[STREAM_TAG_BYTES..].copy_from_slice(&sequence.to_be_bytes());
    id
}

/// Returns the id that need not be written: of a window of sums its own, else the first bytes of the leaf.
pub(super) fn id_of(leaf: &Digest, window: Option<&SignedWindow>) -> [u8; ID_BYTES] {
    if let Some(window) = window.filter(|window| window.stream.is_of_sums()) {
        return sums_window_id(window.stream.id().tag(), window.numbers.sequence);
    }
    let mut id = [0; ID_BYTES];
    id.copy_from_slice(&leaf[..ID_BYTES]);
    id
}
