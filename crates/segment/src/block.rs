//! The rows of a block in memory.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use parquet::data_type::ByteArray;
use sotto_sums::TAG_BYTES;
use sotto_wire::{
    Digest, Envelope, GroupPlace, LogItem, STREAM_TAG_BYTES, SignedHeader, StreamHeader, StreamTag,
    WindowFields, WindowRest, WireError, group_paths, window_description,
};

use crate::SegmentError;
use crate::row::{Facts, Kind, Row, Window};

/// The columns of a block but for its bodies, which are read when one is needed.
///
/// Example: [`Segment`](crate::Segment)
#[derive(Debug, Default)]
pub struct Block {
    pub(super) device: String,
    pub(super) stream: String,
    pub(super) headers: Vec<ByteArray>,
    pub(super) kinds: Vec<i64>,
    pub(super) numbers: Vec<i64>,
    pub(super) positions: Vec<i64>,
    pub(super) arrived: Vec<i64>,
    pub(super) bytes: Vec<i64>,
    pub(super) salts: Vec<ByteArray>,
    pub(super) pads: Vec<i64>,
    pub(super) starts: Vec<i64>,
    pub(super) ticks: Vec<i64>,
    pub(super) firsts: Vec<i64>,
    pub(super) lasts: Vec<i64>,
    pub(super) readings: Vec<i64>,
    pub(super) flags: Vec<i64>,
    pub(super) lists: Vec<ByteArray>,
    pub(super) indexes: Vec<i64>,
    pub(super) counts: Vec<i64>,
    pub(super) paths: Vec<ByteArray>,
    pub(super) signatures: Vec<ByteArray>,
    pub(super) rests: Vec<ByteArray>,
    pub(super) parts: OnceLock<Vec<ByteArray>>,
    /// The paths of windows of groups that are whole here, in the order of the rows: made of the leaves of their windows.
    places: OnceLock<Vec<Option<Vec<u8>>>>,
}

const DELETED: SegmentError = SegmentError::Layout("the window is deleted");
const NO_WINDOW: SegmentError = SegmentError::Layout("a row is no window of its stream");
const UNREGISTERED: SegmentError = SegmentError::Layout("the stream of a window is not registered");

/// `.map_err(no_window)`
#[allow(clippy::needless_pass_by_value, reason = "for map_err")]
fn no_window(_: WireError) -> SegmentError {
    NO_WINDOW
}

impl Block {
    /// Returns the name of the device.
    #[must_use]
    pub fn device(&self) -> &str {
        &self.device
    }

    /// Returns the name of the stream.
    #[must_use]
    pub fn stream(&self) -> &str {
        &self.stream
    }

    /// Returns the number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.numbers.len()
    }

    /// Returns the part of a window that the block has.
    #[must_use]
    pub fn kind(&self, row: usize) -> Kind {
        // Reading has checked the kinds.
        Kind::of_number(self.kinds[row]).unwrap_or(Kind::Deleted)
    }

    /// Returns the number of a window.
    #[must_use]
    pub fn sequence(&self, row: usize) -> u64 {
        self.numbers[row].cast_unsigned()
    }

    /// Returns the place of a window in its log.
    #[must_use]
    pub fn position(&self, row: usize) -> u64 {
        self.positions[row].cast_unsigned()
    }

    /// Returns the time at which a window was stored: milliseconds since 1970.
    #[must_use]
    pub fn stored_at(&self, row: usize) -> i64 {
        self.arrived[row]
    }

    /// Returns the bytes that lists and quotas count.
    pub fn counted_bytes(&self, row: usize) -> u64 {
        self.bytes[row].cast_unsigned()
    }

    /// Returns the times of the first and the last reading: milliseconds since 1970.
    pub fn times(&self, row: usize) -> (i64, i64) {
        (self.firsts[row], self.lasts[row])
    }

    /// Returns the starts of windows.
    pub fn starts(&self, rows: Range<usize>) -> Option<&[i64]> {
        self.starts.get(rows)
    }

    /// Returns the number of readings of a window.
    #[must_use]
    pub fn readings(&self, row: usize) -> u32 {
        self.readings[row] as u32
    }

    /// Returns the stream's header of a window; None of a deleted one.
    pub fn tag(&self, row: usize) -> Option<StreamTag> {
        <[u8; STREAM_TAG_BYTES]>::try_from(self.headers[row].data()).ok().map(StreamTag)
    }

    /// Returns the start of a window: milliseconds since 1970.
    #[must_use]
    pub fn start(&self, row: usize) -> i64 {
        self.starts[row]
    }

    /// Returns the ticks that a window covers.
    #[must_use]
    pub fn ticks(&self, row: usize) -> u32 {
        self.ticks[row] as u32
    }

    /// Returns the facts that must be equal in windows whose counts are.
    pub fn form(&self, row: usize) -> (i64, i64, &[u8]) {
        (self.ticks[row], self.flags[row], self.lists[row].data())
    }

    /// Returns a window's salt and pad.
    pub fn pads(&self, row: usize) -> ([u8; 12], u64) {
        (self.salts[row].data().try_into().unwrap_or_default(), self.pads[row].cast_unsigned())
    }

    /// Returns the parts of a window, bodies and tags; of a head the roll-up whose first window it is. Empty where it has none.
    pub fn parts(&self, row: usize) -> &[u8] {
        self.parts.get().map_or(&[], |parts| parts[row].data())
    }

    /// Returns a window's head, as a window alone writes it.
    pub fn head(&self, row: usize, stream: &StreamHeader) -> Vec<u8> {
        self.bare_fields(row).head(stream)
    }

    fn bare_fields(&self, row: usize) -> WindowFields {
        WindowFields {
            salt: self.pads(row).0,
            sequence: self.sequence(row),
            start: self.starts[row],
            flags: self.flags[row] as u8,
            ticks: self.ticks[row] as u32,
            lists: self.lists[row].data().to_vec(),
            place: None,
            signature: [0; 64],
        }
    }

    /// Returns the rows of the group of a window that is whole here; None for other windows.
    fn whole_group(&self, row: usize) -> Option<Range<usize>> {
        let (index, count) = (self.indexes[row] as usize, self.counts[row] as usize);
        if count < 2 || !self.paths[row].is_empty() {
            return None;
        }
        let first = row.checked_sub(index)?;
        (first + count <= self.rows()).then_some(first..first + count)
    }

    fn fields(&self, row: usize, stream: &Arc<StreamHeader>) -> Result<WindowFields, SegmentError> {
        let (index, count) = (self.indexes[row] as u8, self.counts[row] as u8);
        let group = self.whole_group(row);
        let path = match &group {
            None => self.paths[row].data().to_vec(),
            Some(_) => {
                let places = self.places.get_or_init(|| self.all_places(stream));
                places[row].clone().ok_or(SegmentError::Layout("a group lacks a window"))?
            }
        };
        let place = (count > 0).then_some(GroupPlace { index, count, path });
        let signed = group.map_or(row, |group| group.start);
        let signature = self.signatures[signed].data().try_into();
        let signature = signature.map_err(|_| SegmentError::Layout("a signature has 64 bytes"))?;
        Ok(WindowFields { place, signature, ..self.bare_fields(row) })
    }

    /// Makes the paths of all windows of whole groups. Groups of another stream's header than this one's get none.
    fn all_places(&self, stream: &Arc<StreamHeader>) -> Vec<Option<Vec<u8>>> {
        let mut places = vec![None; self.rows()];
        let mut row = 0;
        while row < self.rows() {
            let Some(group) = self.whole_group(row).filter(|group| group.start == row) else {
                row += 1;
                continue;
            };
            let leaf = |row| self.signed_with(row, &self.bare_fields(row), stream).ok()?.window_digest();
            let leaves: Option<Vec<Digest>> = group.clone().map(leaf).collect();
            for (row, path) in
                group.clone().zip(leaves.map(|leaves| group_paths(&leaves)).unwrap_or_default())
            {
                places[row] = Some(path);
            }
            row = group.end;
        }
        places
    }

    /// Returns a window that was signed alone, or a whole group from its first window on, as an item of a log's page. Returns None
    /// for other windows.
    pub fn item(&self, row: usize, stream: &Arc<StreamHeader>) -> Result<Option<LogItem>, SegmentError> {
        let signature = |row: usize| {
            let signature = self.signatures[row].data().try_into();
            signature.map_err(|_| SegmentError::Layout("a signature has 64 bytes"))
        };
        let logged = |row: usize| {
            let rest = match self.kind(row) {
                Kind::Deleted => return Err(DELETED),
                Kind::Whole => WindowRest::Parts(self.parts(row)),
                Kind::Head => {
                    let (body, tags, _) = self.rest_of_head(row, stream)?;
                    WindowRest::Digests { body, tags }
                }
            };
            self.bare_fields(row).logged(stream, rest, self.counted_bytes(row)).map_err(no_window)
        };
        match self.whole_group(row) {
            Some(group) if group.start == row => {
                let windows = group.map(logged).collect::<Result<_, _>>()?;
                Ok(Some(LogItem::group(windows, signature(row)?)))
            }
            None if self.counts[row] == 0 => Ok(Some(LogItem::alone(logged(row)?, signature(row)?))),
            _ => Ok(None),
        }
    }

    /// Returns the signed header of a whole window with these fields.
    fn signed_as(
        &self,
        row: usize,
        fields: &WindowFields,
        stream: &Arc<StreamHeader>,
    ) -> Result<SignedHeader, SegmentError> {
        let (head, parts) = (self.head(row, stream), self.parts(row));
        let window = window_description(&head, stream).map_err(no_window)?;
        let tags = stream.tags_of(window.sent_ticks(), parts).ok_or(NO_WINDOW)?;
        fields.signed(stream, &tags, blake3::hash(parts).as_bytes()).map_err(no_window)
    }

    /// Returns a whole window.
    pub fn envelope(&self, row: usize, stream: &Arc<StreamHeader>) -> Result<Envelope, SegmentError> {
        let message = self.message(row, stream)?;
        Envelope::read_window(&message, stream).map_err(no_window)
    }

    /// Returns the bytes of a whole window, as its device sent it.
    pub fn message(&self, row: usize, stream: &Arc<StreamHeader>) -> Result<Vec<u8>, SegmentError> {
        if self.kind(row) != Kind::Whole {
            return Err(DELETED);
        }
        Ok(self.fields(row, stream)?.message(stream, self.parts(row)))
    }

    /// Returns the signed header of a window that is not deleted.
    pub fn signed(&self, row: usize, stream: &Arc<StreamHeader>) -> Result<SignedHeader, SegmentError> {
        self.signed_with(row, &self.fields(row, stream)?, stream)
    }

    /// Returns the signed header of a window that is not deleted, with these fields.
    fn signed_with(
        &self,
        row: usize,
        fields: &WindowFields,
        stream: &Arc<StreamHeader>,
    ) -> Result<SignedHeader, SegmentError> {
        match self.kind(row) {
            Kind::Deleted => Err(DELETED),
            Kind::Head => {
                let (digest, tags, _) = self.rest_of_head(row, stream)?;
                fields.signed(stream, tags, digest).map_err(no_window)
            }
            Kind::Whole => self.signed_as(row, fields, stream),
        }
    }

    /// Returns the digest of the body, the tags, and the parts that stay of a window that is a head.
    fn rest_of_head(
        &self,
        row: usize,
        stream: &StreamHeader,
    ) -> Result<(&Digest, &[u8], &[u8]), SegmentError> {
        // The digest of the message stands first.
        let rest = self.rests[row].data().get(32..).and_then(<[u8]>::split_first_chunk);
        let parts = rest.and_then(|(digest, rest)| {
            let (tags, values) = rest.split_at_checked(TAG_BYTES * stream.parts().len())?;
            Some((digest, tags, values))
        });
        parts.ok_or(SegmentError::Layout("a head lacks its digests"))
    }

    /// Returns the parts that stay of a window of a roll-up: those whose values do not add, a body and a tag each. Empty if none
    /// does.
    pub fn values(&self, row: usize, stream: &StreamHeader) -> Result<&[u8], SegmentError> {
        Ok(self.rest_of_head(row, stream)?.2)
    }

    /// Returns the parts of a whole window whose values do not add.
    fn values_of(&self, row: usize, stream: &StreamHeader) -> Result<Vec<u8>, SegmentError> {
        let window = window_description(&self.head(row, stream), stream).map_err(no_window)?;
        let (mut values, mut rest) = (Vec::new(), self.parts(row));
        for (number, part) in stream.parts().iter().enumerate() {
            let form = stream.sums_form(number).map_err(no_window)?;
            let bytes = form.body_bytes(window.sent_ticks()) + TAG_BYTES;
            let (of_part, after) = rest.split_at_checked(bytes).ok_or(NO_WINDOW)?;
            if !part.adds() {
                values.extend_from_slice(of_part);
            }
            rest = after;
        }
        Ok(values)
    }

    /// Returns the leaf of a window in the log of its stream.
    pub fn leaf(&self, row: usize, stream: Option<&Arc<StreamHeader>>) -> Result<Digest, SegmentError> {
        if self.kind(row) == Kind::Deleted {
            let leaf = self.rests[row].data().try_into();
            return leaf.map_err(|_| SegmentError::Layout("a deleted window lacks its leaf"));
        }
        let stream = stream.ok_or(UNREGISTERED)?;
        Ok(self.signed(row, stream)?.leaf())
    }

    /// Returns a row to be written to another segment.
    pub fn row(&self, row: usize, stream: Option<&Arc<StreamHeader>>) -> Result<Row, SegmentError> {
        let window = match self.kind(row) {
            Kind::Deleted => Window::Deleted { leaf: self.leaf(row, None)? },
            kind => {
                let stream = stream.ok_or(UNREGISTERED)?;
                let (first, last) = self.times(row);
                let facts = Box::new(Facts {
                    tag: stream.id().tag(),
                    fields: self.fields(row, stream)?,
                    pad: self.pads(row).1,
                    first,
                    last,
                    readings: self.readings(row),
                });
                match kind {
                    Kind::Whole => Window::Whole { facts, parts: self.parts(row).to_vec() },
                    _ => {
                        let (rest, sum) = (self.rests[row].data().to_vec(), self.parts(row).to_vec());
                        Window::Head { facts, rest, sum }
                    }
                }
            }
        };
        Ok(Row {
            sequence: self.sequence(row),
            position: self.position(row),
            bytes: self.counted_bytes(row),
            stored_at: self.stored_at(row),
            window,
        })
    }

    /// Returns a row of this window without its body, or without everything but its leaf. With `with_values` the parts stay whose
    /// values do not add.
    pub fn reduced(
        &self,
        row: usize,
        (to, with_values): (Kind, bool),
        stream: &Arc<StreamHeader>,
    ) -> Result<Row, SegmentError> {
        let whole = self.row(row, Some(stream))?;
        let signed = self.signed(row, stream)?;
        Ok(match to {
            Kind::Deleted => Row { bytes: 0, window: Window::Deleted { leaf: signed.leaf() }, ..whole },
            Kind::Head if self.kind(row) == Kind::Whole => {
                let digest = *blake3::hash(&self.message(row, stream)?).as_bytes();
                let values = if with_values { self.values_of(row, stream)? } else { Vec::new() };
                let window = Window::head(&signed, &digest, &values).ok_or(NO_WINDOW)?;
                let gone = self.parts(row).len().saturating_sub(values.len());
                let bytes = whole.bytes.saturating_sub(gone as u64);
                Row { bytes, window, ..whole }
            }
            _ => whole,
        })
    }
}
