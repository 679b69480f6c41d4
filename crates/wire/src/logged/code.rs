//! Windows of a page as differences to the one before:
//! `marks ‖ stream ‖ number ‖ salt ‖ start ‖ flags and ticks ‖ lists ‖ place ‖ id ‖ bytes ‖ tags ‖ body's digest`, each but
//! the marks, the lists, the tags and the digest only with its mark.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::ID_BYTES;
use super::window::LoggedWindow;
use crate::error::WireError;
use crate::lists::{unzigzag, zigzag};
use crate::mask::SALT_BYTES;
use crate::membership::Membership;
use crate::reader::{Reader, write_varint};
use crate::signed::{SignedWindow, read_tags};
use crate::stream::StreamHeader;
use crate::window::{HeadNumbers, WindowHead, head_bytes, is_plain, parse_plain};

const OTHER_STREAM: u8 = 1;
const OTHER_NUMBER: u8 = 2;
const OTHER_SALT: u8 = 4;
const OTHER_START: u8 = 8;
const OTHER_FORM: u8 = 16;
const PLACE: u8 = 32;
const ID: u8 = 64;
const BYTES: u8 = 128;

const NOT_CANONICAL: WireError = WireError::Value("a window of a page is not in its canonical form");

/// The window before, and the number of streams that the page has named.
#[derive(Clone, Debug, Default)]
pub(super) struct Before {
    stream: Option<(usize, Arc<StreamHeader>)>,
    /// Number of streams that windows named, the first ones of the page.
    named: usize,
    /// The number of the next window, unless it says another one.
    next: u64,
    salt: [u8; SALT_BYTES],
    /// The start of the next window, unless it says another one.
    next_start: i64,
    flags: u8,
    ticks: u64,
}

impl Before {
    pub(super) fn streams_named(&self) -> usize {
        self.named
    }

    /// Notes the number of an item.
    pub(super) fn is_number(&mut self, sequence: u64) {
        self.next = sequence.wrapping_add(1);
    }

    pub(super) fn write_number(&mut self, out: &mut Vec<u8>, sequence: u64) {
        write_varint(out, zigzag(sequence.wrapping_sub(self.next).cast_signed()));
        self.is_number(sequence);
    }

    pub(super) fn parse_number(&mut self, reader: &mut Reader<'_>) -> Result<u64, WireError> {
        let sequence = self.next.wrapping_add_signed(unzigzag(reader.varint()?));
        self.is_number(sequence);
        Ok(sequence)
    }

    /// Returns the stream of a window, and notes it. Streams are named in their order.
    fn stream(&mut self, index: usize, streams: &[Arc<StreamHeader>]) -> Result<(), WireError> {
        let stream = streams.get(index).filter(|_| index <= self.named);
        let stream = stream.ok_or(WireError::Value("a window names a stream that is not listed"))?;
        self.named = self.named.max(index + 1);
        self.stream = Some((index, Arc::clone(stream)));
        Ok(())
    }

    /// Notes a window.
    fn is_window(&mut self, window: &SignedWindow, flags: u8) {
        let HeadNumbers { sequence, mask, length, .. } = window.numbers;
        self.is_number(sequence);
        (self.salt, self.next_start) = (mask.salt, window.numbers.next_start(&window.stream));
        (self.flags, self.ticks) = (flags, length.into());
    }
}

/// Appends a window; `count` is the number of windows of its group.
pub(super) fn write_window(
    out: &mut Vec<u8>,
    logged: &LoggedWindow,
    streams: &[Arc<StreamHeader>],
    before: &mut Before,
    count: usize,
) {
    let LoggedWindow { window, body_digest, id, bytes } = logged;
    let SignedWindow { stream, numbers, member, tags, .. } = window;
    let (flags, lists) = numbers.lists_in(&window.bytes);
    let is_same = before.stream.as_ref().is_some_and(|(_, known)| known.id() == stream.id());
    let late = numbers.start.wrapping_sub(before.next_start);
    let mark = |set: bool, mark: u8| if set { mark } else { 0 };
    let bytes = bytes.filter(|bytes| *bytes != logged.own_bytes(count));
    out.push(
        mark(!is_same, OTHER_STREAM)
            | mark(numbers.sequence != before.next, OTHER_NUMBER)
            | mark(numbers.mask.salt != before.salt, OTHER_SALT)
            | mark(late != 0, OTHER_START)
            | mark((flags, u64::from(numbers.length)) != (before.flags, before.ticks), OTHER_FORM)
            | mark(member.is_some(), PLACE)
            | mark(id.is_some(), ID)
            | mark(bytes.is_some(), BYTES),
    );
    if !is_same {
        // Each stream of a window is among those of the page.
        let index = streams.iter().position(|other| other.id() == stream.id()).unwrap_or_default();
        write_varint(out, index as u64);
        let _ = before.stream(index, streams);
    }
    if numbers.sequence != before.next {
        before.write_number(out, numbers.sequence);
    }
    if numbers.mask.salt != before.salt {
        out.extend_from_slice(&numbers.mask.salt);
    }
    if late != 0 {
        write_varint(out, zigzag(late));
    }
    if (flags, u64::from(numbers.length)) != (before.flags, before.ticks) {
        out.push(flags);
        write_varint(out, numbers.length.into());
    }
    out.extend_from_slice(lists);
    if let Some(member) = member {
        out.extend_from_slice(&member.place.bytes(stream.family()));
    }
    out.extend_from_slice(id.as_ref().map_or(&[][..], |id| id));
    if let Some(bytes) = bytes {
        write_varint(out, bytes);
    }
    out.extend_from_slice(tags);
    out.extend_from_slice(body_digest);
    before.is_window(window, flags);
}

/// Reads a window; `count` is the number of windows of its group.
pub(super) fn parse_window(
    reader: &mut Reader<'_>,
    streams: &[Arc<StreamHeader>],
    before: &mut Before,
    count: usize,
) -> Result<LoggedWindow, WireError> {
    let marks = reader.u8()?;
    let known = before.stream.as_ref().map(|(index, _)| *index);
    if marks & OTHER_STREAM != 0 {
        let index = usize::try_from(reader.varint()?).unwrap_or(usize::MAX);
        if known == Some(index) {
            return Err(NOT_CANONICAL);
        }
        before.stream(index, streams)?;
    }
    let (_, stream) = before.stream.clone().ok_or(NOT_CANONICAL)?;
    let expected = before.next;
    let sequence = if marks & OTHER_NUMBER == 0 { expected } else { before.parse_number(reader)? };
    let salt = if marks & OTHER_SALT == 0 { before.salt } else { reader.array()? };
    let late = if marks & OTHER_START == 0 { 0 } else { unzigzag(reader.varint()?) };
    let start = before.next_start.wrapping_add(late);
    let form = (before.flags, before.ticks);
    let (flags, ticks) = if marks & OTHER_FORM == 0 { form } else { (reader.u8()?, reader.varint()?) };
    if (marks & OTHER_NUMBER != 0 && sequence == expected)
        || (marks & OTHER_SALT != 0 && salt == before.salt)
        || (marks & OTHER_START != 0 && late == 0)
        || (marks & OTHER_FORM != 0 && form == (flags, ticks))
        || (marks & PLACE != 0 && count > 1)
    {
        return Err(NOT_CANONICAL);
    }
    let lists = reader.rest();
    let numbers = if is_plain(flags) {
        parse_plain(reader, &stream, salt, sequence, start, flags, ticks)?
    } else {
        WindowHead::parse_lists(reader, &stream, salt, sequence, start, flags, ticks)?.numbers()
    };
    let lists = &lists[..lists.len() - reader.left()];
    let bytes = head_bytes(&stream, &numbers, flags, lists);
    let place = if marks & PLACE == 0 { None } else { Membership::parse(stream.family(), reader)? };
    if marks & PLACE != 0 && place.is_none() {
        return Err(NOT_CANONICAL);
    }
    let id = if marks & ID == 0 { None } else { Some(parse_id(reader)?) };
    let way = if marks & BYTES == 0 { None } else { Some(reader.varint()?) };
    let tags = read_tags(reader, &stream)?;
    let body_digest = reader.array()?;
    let window = SignedWindow { stream, numbers, bytes, tags, member: None }.placed(place, &body_digest);
    before.is_window(&window, flags);
    let logged = LoggedWindow { window, body_digest, id, bytes: way };
    if way == Some(logged.own_bytes(count)) {
        return Err(NOT_CANONICAL);
    }
    Ok(logged)
}

/// Reads an id that the cloud gave.
pub(super) fn parse_id(reader: &mut Reader<'_>) -> Result<[u8; ID_BYTES], WireError> {
    match reader.array()? {
        id if id == [0; ID_BYTES] => Err(WireError::Value("an id is not all zeros")),
        id => Ok(id),
    }
}
