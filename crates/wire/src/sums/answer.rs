//! Sums of windows as the cloud answers them.

use alloc::vec::Vec;

use sotto_pack::MOST_PARTS;
use sotto_sums::{Answer, Sum};

use super::forms::part_refused;
use super::names::WindowNames;
use crate::error::WireError;
use crate::frame;
use crate::kind::Kind;
use crate::reader::Reader;
use crate::stream::StreamHeader;
use crate::tag::StreamId;

/// Largest number of sums of an answer.
pub const MOST_SUMS: usize = 4096;

/// Sums of windows of one stream, as the owner receives them: claims until `sotto_sums::Opening` has checked their tags.
///
/// ```
/// use sotto_sums::{Part, Sum};
/// use sotto_wire::{MaskName, PartSum, SumsAnswer, WindowNames};
/// # use sotto_pack::{Channel, Digit, Period, Placed, Quantity, SumsPart};
/// # use sotto_rlwe::KeyId;
/// # use sotto_wire::{StreamHeader, SumsStream};
/// # let level = Channel { name: "level".into(), maximum: 15.0, resolution: Some(1.0), ..Channel::default() };
/// # let readings = Placed { quantity: Quantity::Reading(0), digit: Digit::Whole, width: 16 };
/// # let stream = SumsStream {
/// #     device: "cellar".into(),
/// #     stream: "tank".into(),
/// #     period: Period::of_seconds(60, 1)?,
/// #     ticks: 16,
/// #     channels: vec![level],
/// #     rounded: false,
/// #     parts: vec![SumsPart { quantities: vec![readings], reasons: 0 }],
/// # };
/// # let header = StreamHeader::of_sums(stream, |_| KeyId([2; 16]))?;
///
/// let form = header.sums_form(0)?;
/// let mut sum = Sum::new(&form);
/// // A window of one tick: the number 3, the tag 5.
/// sum.add(&Part::read(&form, 1, &[3, 0, 5, 0, 0, 0, 0, 0, 0, 0])?, &[1, 1], 2)?;
/// let names: WindowNames = [MaskName { salt: [3; 12], sequence: 7 }].into_iter().collect();
/// let answer = SumsAnswer { names, sums: vec![PartSum::of((0, 1), &[(0, &sum)])] };
/// let bytes = answer.write(&header)?;
/// let read = SumsAnswer::read(&bytes, &header, 1 << 10, 1)?;
/// assert_eq!(read.sums[0].part(0).map(|part| part.counts()), Some(&[2, 2][..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct SumsAnswer<'h> {
    /// The pads of the windows, in the order of the request.
    pub names: WindowNames,
    /// The sums, in the order of the request.
    pub sums: Vec<PartSum<'h>>,
}

/// A sum of some windows of an answer, by parts.
///
/// Example: [`SumsAnswer`]
#[derive(Clone, Debug)]
pub struct PartSum<'h> {
    /// The first window, and their number.
    pub windows: (u32, u32),
    /// The ticks of the longest window.
    ticks: u32,
    /// Parts in ascending order.
    parts: Vec<(u8, Answer<'h>)>,
}

impl<'h> PartSum<'h> {
    /// Makes a sum of its parts, in ascending order.
    #[must_use]
    pub fn of(windows: (u32, u32), parts: &[(u8, &Sum<'h>)]) -> Self {
        let ticks = parts.first().map_or(0, |(_, sum)| sum.ticks());
        Self { windows, ticks, parts: parts.iter().map(|(part, sum)| (*part, Answer::from(*sum))).collect() }
    }

    /// Returns the ticks of the longest window.
    #[must_use]
    pub fn ticks(&self) -> u32 {
        self.ticks
    }

    /// Returns a part of the sum. Returns None if the answer does not have it.
    #[must_use]
    pub fn part(&self, part: u8) -> Option<&Answer<'h>> {
        self.parts.iter().find(|(number, _)| *number == part).map(|(_, answer)| answer)
    }

    /// Returns the parts, in ascending order of their numbers.
    pub fn parts(&self) -> impl ExactSizeIterator<Item = (u8, &Answer<'h>)> {
        self.parts.iter().map(|(part, answer)| (*part, answer))
    }
}

impl<'h> SumsAnswer<'h> {
    /// Returns the frame of an answer over windows of the stream with this header.
    ///
    /// # Errors
    /// [`WireError::Value`] if there are too many sums, a sum names windows that the answer does not have, or its parts
    /// are not some of the stream's, in ascending order and of one length.
    pub fn write(&self, header: &StreamHeader) -> Result<Vec<u8>, WireError> {
        check_count(self.sums.len())?;
        for sum in &self.sums {
            check_windows(sum.windows, self.names.len())?;
            check_parts(sum.parts.len())?;
            let mut before = None;
            for (part, answer) in &sum.parts {
                if answer.form() != &header.sums_form((*part).into())? || answer.ticks() != sum.ticks {
                    return Err(WireError::Value("a part of a sum is not one of the stream's windows"));
                }
                check_order(&mut before, *part)?;
            }
        }
        Ok(frame::write(Kind::SumsAnswer, 1 << 10, |out| {
            out.extend_from_slice(&header.id().0);
            self.names.write(out);
            out.extend_from_slice(&(self.sums.len() as u32).to_le_bytes());
            for PartSum { windows, ticks, parts } in &self.sums {
                for number in [windows.0, windows.1, *ticks] {
                    out.extend_from_slice(&number.to_le_bytes());
                }
                // Ascending numbers of at most 16 parts.
                out.push(parts.len() as u8);
                for (part, answer) in parts {
                    out.push(*part);
                    out.extend_from_slice(&answer.to_bytes());
                }
            }
        }))
    }

    /// Returns the frame that some bytes begin with, and the rest: frames may follow each other.
    ///
    /// # Errors
    /// [`WireError`] if the bytes do not begin with a whole frame.
    pub fn first_of(bytes: &[u8]) -> Result<(&[u8], &[u8]), WireError> {
        let found = bytes.len() as u64;
        if bytes.len() < frame::FRAME_OVERHEAD {
            return Err(WireError::Truncated { expected: frame::FRAME_OVERHEAD as u64, found });
        }
        let (_, length) = frame::start(bytes)?;
        let expected = length.saturating_add(frame::FRAME_OVERHEAD as u64);
        let at = usize::try_from(expected).ok();
        at.and_then(|at| bytes.split_at_checked(at)).ok_or(WireError::Truncated { expected, found })
    }

    /// Returns the id of the header of the stream that an answer of at most `limit` bytes is about.
    ///
    /// # Errors
    /// [`WireError`] if the bytes are no frame of an answer.
    pub fn stream_of(bytes: &[u8], limit: u64) -> Result<StreamId, WireError> {
        Ok(StreamId(frame::open(bytes, Kind::SumsAnswer, limit)?.array()?))
    }

    /// Reads an answer of at most `limit` bytes over at most `windows` windows of the stream with this header.
    ///
    /// # Errors
    /// [`WireError`] if the bytes are not such an answer.
    pub fn read(bytes: &[u8], header: &'h StreamHeader, limit: u64, windows: u32) -> Result<Self, WireError> {
        let mut reader = frame::open(bytes, Kind::SumsAnswer, limit)?;
        if reader.array()? != header.id().0 {
            return Err(WireError::Value("the answer is one of another stream"));
        }
        let names = WindowNames::read(&mut reader, windows)?;
        let count = reader.u32()? as usize;
        check_count(count)?;
        // Grow with the bytes that are read: the count alone reserves nothing.
        let mut sums = Vec::new();
        for _ in 0..count {
            let sum = read_sum(&mut reader, header)?;
            check_windows(sum.windows, names.len())?;
            sums.push(sum);
        }
        reader.finish()?;
        Ok(Self { names, sums })
    }
}

fn read_sum<'h>(reader: &mut Reader<'_>, header: &'h StreamHeader) -> Result<PartSum<'h>, WireError> {
    let (windows, ticks) = ((reader.u32()?, reader.u32()?), reader.u32()?);
    if ticks > header.layout().ticks() {
        return Err(WireError::Value("a sum has more ticks than a window of its stream"));
    }
    let count = usize::from(reader.u8()?);
    check_parts(count)?;
    let (mut parts, mut before) = (Vec::new(), None);
    for _ in 0..count {
        let part = reader.u8()?;
        check_order(&mut before, part)?;
        let form = header.sums_form(part.into())?;
        let before = reader.rest();
        let (answer, rest) = Answer::parse(&form, ticks, before).map_err(part_refused)?;
        reader.take(before.len() - rest.len())?;
        parts.push((part, answer));
    }
    Ok(PartSum { windows, ticks, parts })
}

fn check_count(sums: usize) -> Result<(), WireError> {
    if sums > MOST_SUMS { Err(WireError::Value("an answer has at most 4096 sums")) } else { Ok(()) }
}

fn check_parts(parts: usize) -> Result<(), WireError> {
    if (1..=MOST_PARTS).contains(&parts) { Ok(()) } else { Err(WireError::Value("a sum has 1 to 16 parts")) }
}

fn check_windows((first, count): (u32, u32), windows: usize) -> Result<(), WireError> {
    let end = u64::from(first) + u64::from(count);
    if count > 0 && end <= windows as u64 {
        Ok(())
    } else {
        Err(WireError::Value("a sum names windows that its answer does not have"))
    }
}

/// Refuses parts that do not ascend.
fn check_order(before: &mut Option<u8>, part: u8) -> Result<(), WireError> {
    if before.replace(part).is_some_and(|before| before >= part) {
        return Err(WireError::Value("the parts of a sum ascend"));
    }
    Ok(())
}
