//! Version 2 of the envelope: a window of a stream whose header is known.
//!
//! `2 ‖ stream 8 ‖ salt 12 ‖ sequence ‖ start ‖ flags 1 ‖ ticks ‖ … ‖ body ‖ signature 64`; docs/concepts/wire.md has
//! the layout. The encoding is canonical: reading and writing again returns the same bytes.

use alloc::borrow::ToOwned;
use alloc::vec::Vec;

use sotto_pack::{LeftOut, Presence, Replaces, WindowDescription};

use crate::counts::{Counted, count};
use crate::error::WireError;
use crate::header::EnvelopeHeader;
use crate::lists::{
    read_counts, read_left_out, read_replaces, read_runs, unzigzag, write_counts, write_left_out,
    write_replaces, write_runs, zigzag,
};
use crate::mask::{MaskName, SALT_BYTES};
use crate::membership;
use crate::reader::{Reader, varint_bytes, write_varint};
use crate::signature::SIGNATURE_BYTES;
use crate::stream::StreamHeader;
use crate::tag::{STREAM_TAG_BYTES, StreamTag};

/// Largest number of bytes of a window in addition to its body, if no reading is missing, the sequence number is below
/// 2^21 and the time before the year 2109.
pub const WINDOW_OVERHEAD: usize = 1 + STREAM_TAG_BYTES + SALT_BYTES + 3 + 6 + 1 + 2 + SIGNATURE_BYTES;
const NOT_OF_THE_STREAM: WireError =
    WireError::Value("the description is not that of a window of the stream");
const LATER_MASK: WireError = WireError::Value("a window's mask has a number that comes after the window's");
pub(crate) const GENERATED: u8 = 1;
const GAPS: u8 = 2;
const LEFT_OUT: u8 = 4;
const RENUMBERED: u8 = 8;
/// The window comes in the place of others. Such a window is the first of its group, if of any: the flags of those that
/// follow are all taken.
pub(crate) const REPLACES: u8 = 16;
/// The window is provisional. It is the first of its group, as one that replaces others.
pub(crate) const PROVISIONAL: u8 = 32;

/// The window names the last receipt that its device took. It is the first of its group, as one that replaces others.
pub(crate) const AFTER_RECEIPT: u8 = 64;

/// The last receipt of the cloud that a device took before it signed a window: the number of a window and its place in the
/// stream's log, from 0.
///
/// Example: [`Envelope::after_receipt`](crate::Envelope::after_receipt)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TakenReceipt {
    /// The sequence number of the window that the receipt is of.
    pub sequence: u64,
    /// The window's position in the stream's log, from 0.
    pub position: u64,
}

impl TakenReceipt {
    /// Appends the receipt to the lists of a window with a number: by how much its number is lower, and the position higher.
    fn write(self, out: &mut Vec<u8>, sequence: u64) {
        write_varint(out, zigzag(sequence.wrapping_sub(self.sequence).cast_signed()));
        write_varint(out, zigzag(self.position.wrapping_sub(self.sequence).cast_signed()));
    }

    fn parse(reader: &mut Reader<'_>, of: u64) -> Result<Self, WireError> {
        let sequence = of.wrapping_sub(unzigzag(reader.varint()?).cast_unsigned());
        let position = sequence.wrapping_add(unzigzag(reader.varint()?).cast_unsigned());
        Ok(Self { sequence, position })
    }
}

/// The signed part of a window before its body.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WindowHead {
    /// The window's sequence number.
    pub(crate) sequence: u64,
    /// The name of the mask, with a number not above the sequence number.
    pub(crate) mask: MaskName,
    /// The start, and the ticks that have readings.
    pub(crate) description: WindowDescription,
    /// The last receipt that the device took, if the window names one.
    pub(crate) receipt: Option<TakenReceipt>,
}

/// The numbers of a window's head, without its bytes and its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HeadNumbers {
    /// The window's sequence number.
    pub(crate) sequence: u64,
    pub(crate) mask: MaskName,
    /// The start, in milliseconds since 1970.
    pub(crate) start: i64,
    /// Number of ticks.
    pub(crate) length: u32,
    /// Number of ticks that the parts of a window of sums have.
    pub(crate) sent: u32,
}

/// Returns the tag of the stream of a window of slots or of sums, of a group, or of a member of a group. Returns None for other
/// bytes.
///
/// # Errors
/// [`WireError`] if the message ends before the tag, or if its place in a group is impossible.
pub fn stream_tag(message: &[u8]) -> Result<Option<StreamTag>, WireError> {
    let mut reader = Reader::new(message);
    if !membership::skip_to_window(&mut reader)? {
        return Ok(None);
    }
    reader.take(1)?;
    Ok(Some(StreamTag(reader.array::<STREAM_TAG_BYTES>()?)))
}

/// Returns the message that a device signs. It covers the stream's header by its hash, the window's head, and its body
/// by its digest, and the tags of sums.
pub(crate) fn signed_message(
    stream: &StreamHeader,
    head: &[u8],
    tags: &[u8],
    body_digest: &[u8; 32],
) -> Vec<u8> {
    [stream.family().alone, &stream.id().0, head, tags, body_digest].concat()
}

impl HeadNumbers {
    /// Returns the start of the next window, in milliseconds, if no time lies between the windows.
    pub(crate) fn next_start(&self, stream: &StreamHeader) -> i64 {
        self.start.wrapping_add(stream.period().after(self.length.into()))
    }

    /// Returns the flags of this head's bytes, and the lists after its ticks.
    pub(crate) fn lists_in<'b>(&self, bytes: &'b [u8]) -> (u8, &'b [u8]) {
        let tail = self.tail_in(bytes);
        (tail.first().copied().unwrap_or_default(), &tail[1 + varint_bytes(self.length.into())..])
    }

    /// Returns the part after the start of this head's bytes.
    pub(crate) fn tail_in<'b>(&self, bytes: &'b [u8]) -> &'b [u8] {
        let numbers = varint_bytes(self.sequence) + varint_bytes(zigzag(self.start));
        &bytes[1 + STREAM_TAG_BYTES + SALT_BYTES + numbers..]
    }
}

/// Returns true for the flags of a plain head: one of a window whose channels have all readings, that leaves none out and
/// replaces no other. Reading it allocates nothing.
pub(crate) fn is_plain(flags: u8) -> bool {
    flags & !(GENERATED | RENUMBERED | AFTER_RECEIPT) == 0
}

/// Reads a plain head: its numbers, its flags and the receipt that it names. Returns None for another head of this stream.
pub(crate) fn parse_if_plain(
    reader: &mut Reader<'_>,
    stream: &StreamHeader,
) -> Result<Option<(HeadNumbers, u8, Option<TakenReceipt>)>, WireError> {
    let (salt, sequence, start) = parse_start(reader, stream)?;
    let (flags, length) = (reader.u8()?, reader.varint()?);
    if !is_plain(flags) {
        return Ok(None);
    }
    let mut again = Reader::new(reader.rest());
    let numbers = parse_plain(reader, stream, salt, sequence, start, flags, length)?;
    if flags & RENUMBERED != 0 {
        again.varint()?;
    }
    let receipt =
        (flags & AFTER_RECEIPT != 0).then(|| TakenReceipt::parse(&mut again, sequence)).transpose()?;
    Ok(Some((numbers, flags, receipt)))
}

/// Reads the numbers of a head. Of a plain one it allocates nothing.
pub(crate) fn numbers_of(head: &[u8], stream: &StreamHeader) -> Result<HeadNumbers, WireError> {
    let mut reader = Reader::new(head);
    let numbers = match parse_if_plain(&mut reader, stream)? {
        Some((numbers, ..)) => numbers,
        None => {
            reader = Reader::new(head);
            WindowHead::parse(&mut reader, stream)?.numbers()
        }
    };
    reader.finish()?;
    Ok(numbers)
}

/// Reads a head up to its flags: salt, number and start.
fn parse_start(
    reader: &mut Reader<'_>,
    stream: &StreamHeader,
) -> Result<([u8; SALT_BYTES], u64, i64), WireError> {
    let version = reader.u8()?;
    if version != stream.family().window {
        return Err(WireError::Version(version));
    }
    let tag = StreamTag(reader.array()?);
    if tag != stream.id().tag() {
        return Err(WireError::UnknownStream(tag));
    }
    Ok((reader.array()?, reader.varint()?, unzigzag(reader.varint()?)))
}

/// Reads the lists of a plain head, as [`WindowHead::parse_lists`] does those of any.
pub(crate) fn parse_plain(
    reader: &mut Reader<'_>,
    stream: &StreamHeader,
    salt: [u8; SALT_BYTES],
    sequence: u64,
    start: i64,
    flags: u8,
    length: u64,
) -> Result<HeadNumbers, WireError> {
    count(Counted::Parse);
    let length = window_length(stream, length)?;
    let back = if flags & RENUMBERED == 0 { 0 } else { reader.varint()? };
    if flags & RENUMBERED != 0 && back == 0 {
        return Err(WireError::Value("the window is not in its canonical form"));
    }
    let mask = MaskName { salt, sequence: sequence.checked_sub(back).ok_or(LATER_MASK)? };
    if flags & AFTER_RECEIPT != 0 {
        TakenReceipt::parse(reader, sequence)?;
    }
    Ok(HeadNumbers { sequence, mask, start, length, sent: length })
}

/// Returns the receipt that a plain head names, if any. Returns None for other heads.
pub(crate) fn plain_receipt(numbers: &HeadNumbers, bytes: &[u8]) -> Option<Option<TakenReceipt>> {
    let (flags, lists) = numbers.lists_in(bytes);
    if !is_plain(flags) {
        return None;
    }
    let mut reader = Reader::new(lists);
    if flags & RENUMBERED != 0 {
        reader.varint().ok()?;
    }
    let read = |reader: &mut Reader<'_>| TakenReceipt::parse(reader, numbers.sequence).ok();
    Some(if flags & AFTER_RECEIPT == 0 { None } else { Some(read(&mut reader)?) })
}

/// Returns the bytes of a head with these lists after its ticks.
pub(crate) fn head_bytes(stream: &StreamHeader, numbers: &HeadNumbers, flags: u8, lists: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(1 + STREAM_TAG_BYTES + SALT_BYTES + 24 + lists.len());
    out.push(stream.family().window);
    out.extend_from_slice(&stream.id().tag().0);
    out.extend_from_slice(&numbers.mask.salt);
    write_varint(&mut out, numbers.sequence);
    write_varint(&mut out, zigzag(numbers.start));
    out.push(flags);
    write_varint(&mut out, numbers.length.into());
    out.extend_from_slice(lists);
    out
}

/// Returns the number of ticks of a window of a stream.
fn window_length(stream: &StreamHeader, length: u64) -> Result<u32, WireError> {
    let length = u32::try_from(length).ok().filter(|length| (1..=stream.layout().ticks()).contains(length));
    length.ok_or(WireError::Value("a window has from 1 tick to as many as its stream says"))
}

impl EnvelopeHeader {
    /// Returns the header of a version-2 window from the head that [`Envelope::window`](crate::Envelope::window) returns.
    ///
    /// # Errors
    /// [`WireError`] if the bytes are not the head of a window of this stream.
    pub fn of_window(head: &[u8], stream: &StreamHeader) -> Result<Self, WireError> {
        let mut reader = Reader::new(head);
        let parsed = WindowHead::parse(&mut reader, stream)?;
        reader.finish()?;
        parsed.header(stream)
    }
}

/// Returns the description in the head that [`Envelope::window`](crate::Envelope::window) returns: start, ticks, readings
/// left out.
///
/// # Errors
/// [`WireError`] if the bytes are not the head of a window of this stream.
pub fn window_description(head: &[u8], stream: &StreamHeader) -> Result<WindowDescription, WireError> {
    let mut reader = Reader::new(head);
    let parsed = WindowHead::parse(&mut reader, stream)?;
    reader.finish()?;
    Ok(parsed.description)
}

/// Returns true if the flags of a window's head say that it names windows in whose place it comes.
#[must_use]
pub const fn window_replaces(flags: u8) -> bool {
    flags & REPLACES != 0
}

impl WindowHead {
    pub(crate) fn numbers(&self) -> HeadNumbers {
        let Self { sequence, mask, description, .. } = self;
        HeadNumbers {
            sequence: *sequence,
            mask: *mask,
            start: description.start,
            length: description.length,
            sent: description.sent_ticks(),
        }
    }

    /// Returns the bytes of the head.
    ///
    /// # Errors
    /// [`WireError::Value`] if the description does not match the stream, or the mask's number is above the sequence
    /// number.
    pub(crate) fn bytes(&self, stream: &StreamHeader) -> Result<Vec<u8>, WireError> {
        let mut out = Vec::with_capacity(64);
        out.push(stream.family().window);
        out.extend_from_slice(&stream.id().tag().0);
        out.extend_from_slice(&self.mask.salt);
        write_varint(&mut out, self.sequence);
        write_varint(&mut out, zigzag(self.description.start));
        out.extend_from_slice(&self.tail(stream)?);
        Ok(out)
    }

    /// Returns the bytes of the head after its start: flags, ticks, lists.
    ///
    /// # Errors
    /// Those of [`WindowHead::bytes`].
    fn tail(&self, stream: &StreamHeader) -> Result<Vec<u8>, WireError> {
        // A reader would refuse these lists, or read others.
        self.description.check().map_err(|_| NOT_OF_THE_STREAM)?;
        let lists = self.flags_and_lists(stream)?;
        let (flags, lists) = lists.split_at(1);
        let mut out = flags.to_vec();
        write_varint(&mut out, self.description.length.into());
        out.extend_from_slice(lists);
        Ok(out)
    }

    /// Returns the flags of the head, and the lists after its ticks.
    ///
    /// # Errors
    /// Those of [`WindowHead::bytes`].
    fn flags_and_lists(&self, stream: &StreamHeader) -> Result<Vec<u8>, WireError> {
        let Self { sequence, mask, description, receipt } = self;
        let WindowDescription { layout, period, length, left_out, generated, replaces, .. } = description;
        let WindowDescription { present, rounded, provisional, .. } = description;
        if rounded.is_some() != stream.counts_rounded()
            || layout != stream.layout()
            || *period != stream.period()
            || *length == 0
        {
            return Err(NOT_OF_THE_STREAM);
        }
        let back = sequence.checked_sub(mask.sequence).ok_or(LATER_MASK)?;
        let presence = (0..layout.channels().len() as u16)
            .map(|channel| description.presence(channel))
            .collect::<Option<Vec<_>>>()
            .ok_or(WireError::Value("the description does not say which ticks have readings"))?;
        if stream.is_of_sums() {
            check_left_out(left_out)?;
        }
        let gaps = presence.iter().any(|presence| presence.count() != *length);
        let any_left_out = left_out.iter().any(|left_out| !left_out.is_empty());
        let any_rounded = rounded.iter().flatten().any(|count| *count > 0);
        let flag = |set: bool, flag: u8| if set { flag } else { 0 };
        let flags = flag(*generated, GENERATED)
            | flag(gaps, GAPS)
            | flag(any_left_out || any_rounded, LEFT_OUT)
            | flag(back > 0, RENUMBERED)
            | flag(replaces.is_some(), REPLACES)
            | flag(*provisional, PROVISIONAL)
            | flag(receipt.is_some(), AFTER_RECEIPT);

        let mut out = vec![flags];
        if back > 0 {
            write_varint(&mut out, back);
        }
        if gaps {
            presence.iter().for_each(|presence| write_runs(&mut out, presence));
        }
        match rounded {
            _ if flags & LEFT_OUT == 0 => {}
            None => left_out.iter().for_each(|left_out| write_left_out(&mut out, left_out)),
            Some(rounded) => {
                for (channel, (rounded, readings)) in rounded.iter().zip(present).enumerate() {
                    write_counts(&mut out, left_out.get(channel), *rounded, *readings);
                }
            }
        }
        if let Some(replaces) = replaces {
            write_replaces(&mut out, *sequence, replaces)?;
        }
        if let Some(receipt) = receipt {
            receipt.write(&mut out, *sequence);
        }
        Ok(out)
    }

    /// Reads the head of a window of this stream. The reader then stands at the window's body.
    pub(crate) fn parse(reader: &mut Reader<'_>, stream: &StreamHeader) -> Result<Self, WireError> {
        let (salt, sequence, start) = parse_start(reader, stream)?;
        Self::parse_tail(reader, stream, salt, sequence, start)
    }

    /// Reads the part of a head after its start.
    pub(crate) fn parse_tail(
        reader: &mut Reader<'_>,
        stream: &StreamHeader,
        salt: [u8; SALT_BYTES],
        sequence: u64,
        start: i64,
    ) -> Result<Self, WireError> {
        let all = reader.rest();
        let flags = reader.u8()?;
        let length = reader.varint()?;
        let lists = reader.rest();
        let read = Self::parse_lists(reader, stream, salt, sequence, start, flags, length)?;
        // The encoding is canonical; `parse_lists` checked the lists.
        let mut first = vec![flags];
        write_varint(&mut first, length);
        if first != all[..all.len() - lists.len()] {
            return Err(WireError::Value("the window is not in its canonical form"));
        }
        Ok(read)
    }

    /// Reads the lists of a head with these flags, behind its other fields.
    pub(crate) fn parse_lists(
        reader: &mut Reader<'_>,
        stream: &StreamHeader,
        salt: [u8; SALT_BYTES],
        sequence: u64,
        start: i64,
        flags: u8,
        length: u64,
    ) -> Result<Self, WireError> {
        count(Counted::Parse);
        let all = reader.rest();
        let layout = stream.layout();
        let length = window_length(stream, length)?;
        let back = if flags & RENUMBERED == 0 { 0 } else { reader.varint()? };
        let mask = MaskName { salt, sequence: sequence.checked_sub(back).ok_or(LATER_MASK)? };
        let channels = 0..layout.channels().len();
        let whole = Presence::first(length);
        let presence: Vec<Presence> = channels
            .clone()
            .map(|_| if flags & GAPS == 0 { Ok(whole.clone()) } else { read_runs(reader, length) })
            .collect::<Result<_, _>>()?;
        let present: Vec<u32> = presence.iter().map(Presence::count).collect();
        let (left_out, rounded) = match (flags & LEFT_OUT != 0, stream.counts_rounded()) {
            (false, counts) => (Vec::new(), counts.then(|| vec![0; channels.len()])),
            (true, false) => {
                (channels.clone().map(|_| read_left_out(reader)).collect::<Result<_, _>>()?, None)
            }
            (true, true) => {
                let counts = present.iter().map(|readings| read_counts(reader, *readings));
                let (left_out, rounded): (Vec<LeftOut>, Vec<u32>) =
                    counts.collect::<Result<Vec<_>, _>>()?.into_iter().unzip();
                let any = left_out.iter().any(|left_out| !left_out.is_empty());
                (if any { left_out } else { Vec::new() }, Some(rounded))
            }
        };
        let replaces: Option<Replaces> =
            if flags & REPLACES == 0 { None } else { Some(read_replaces(reader, sequence, channels.len())?) };
        let receipt =
            if flags & AFTER_RECEIPT == 0 { None } else { Some(TakenReceipt::parse(reader, sequence)?) };
        let first_ticks = presence.iter().zip(&present).all(|(presence, count)| presence.end() == *count);
        let description = WindowDescription {
            layout: layout.clone(),
            present,
            start,
            period: stream.period(),
            length,
            presence: if first_ticks { Vec::new() } else { presence },
            left_out,
            rounded,
            generated: flags & GENERATED != 0,
            replaces,
            provisional: flags & PROVISIONAL != 0,
        };
        let fits = |replaces: &Replaces| replaces.fits(layout.channels().len());
        if !description.replaces.as_ref().is_none_or(fits) {
            return Err(NOT_OF_THE_STREAM);
        }
        let read = Self { sequence, mask, description, receipt };
        // The encoding is canonical.
        let (canonical, mut again) = (read.flags_and_lists(stream)?, Vec::new());
        again.push(flags);
        again.extend_from_slice(&all[..all.len() - reader.left()]);
        if canonical != again {
            return Err(WireError::Value("the window is not in its canonical form"));
        }
        Ok(read)
    }

    /// Returns the start of the first tick with a reading, and the last millisecond of the last one.
    pub(crate) fn times(&self) -> (i64, i64) {
        let description = &self.description;
        let presence = (0..description.present.len() as u16).filter_map(|at| description.presence(at));
        let (first, end) = presence.fold((u32::MAX, 0), |(first, end), presence| {
            (presence.iter().next().map_or(first, |tick| tick.min(first)), presence.end().max(end))
        });
        let at = |tick: u32| description.period.at(description.start, tick);
        if end == 0 { (description.start, description.start) } else { (at(first), at(end).saturating_sub(1)) }
    }

    /// Returns the head as a version-1 header. Its times are those of the ticks: it ends at the last millisecond of the
    /// last tick.
    pub(crate) fn header(&self, stream: &StreamHeader) -> Result<EnvelopeHeader, WireError> {
        let Self { sequence, description, .. } = self;
        let (started_at, ended_at) = self.times();
        let readings = u32::try_from(description.readings())
            .map_err(|_| WireError::Value("a window has less than 2^32 readings"))?;
        let layout =
            description.to_json().map_err(|_| WireError::Value("a layout description has at most 16 KiB"))?;
        Ok(EnvelopeHeader {
            device: stream.device().to_owned(),
            stream: stream.stream().to_owned(),
            sequence: *sequence,
            parameters: stream.parameters(),
            key: stream.key(),
            started_at,
            ended_at,
            readings,
            layout,
        })
    }
}

/// Refuses counts that the tag of a window of sums does not cover.
fn check_left_out(left_out: &[LeftOut]) -> Result<(), WireError> {
    let most = |all: &LeftOut| all.iter().map(|(_, count)| count).max().unwrap_or_default();
    if left_out.iter().any(|all| most(all) > u16::MAX.into()) {
        return Err(WireError::Value("a window counts at most 65535 readings left out for one reason"));
    }
    Ok(())
}
