//! Rows of the table, from blocks and from windows that no segment has.

use std::sync::Arc;

use sotto_segment::{Block, Kind, Window};
use sotto_sums::TAG_BYTES;
use sotto_wire::{Envelope, StreamHeader, SumsAnswer, WindowFields};

use crate::LakeError;
use crate::store::{Filter, Loose, Rolled, Unit};

/// A stream's header, with its frame.
pub(super) struct Stream {
    pub(super) header: Arc<StreamHeader>,
    pub(super) frame: Vec<u8>,
}

impl Stream {
    pub(super) fn read(frame: &str) -> Result<Self, LakeError> {
        let frame = hex::decode(frame).map_err(|error| LakeError::Plan(error.to_string()))?;
        let header = Arc::new(StreamHeader::read(&frame)?);
        Ok(Self { header, frame })
    }

    /// Returns the number of parts.
    pub(super) fn parts(&self) -> usize {
        self.header.parts().len()
    }

    /// Returns the bytes of each part's body of a window that sends this many ticks.
    pub(super) fn body_bytes(&self, ticks: u32) -> Result<Vec<usize>, LakeError> {
        let bytes = |part| Ok(self.header.sums_form(part)?.body_bytes(ticks));
        (0..self.parts()).map(bytes).collect()
    }

    fn refused(&self, number: u64, reason: &str) -> LakeError {
        LakeError::Window {
            device: self.header.device().to_owned(),
            stream: self.header.stream().to_owned(),
            number,
            reason: reason.to_owned(),
        }
    }
}

/// A row but for its names.
pub(super) struct Line<'l> {
    pub(super) number: u64,
    pub(super) position: u64,
    pub(super) stored_at: i64,
    pub(super) start: i64,
    pub(super) ticks: u32,
    pub(super) times: (i64, i64),
    pub(super) readings: u64,
    pub(super) windows: u64,
    pub(super) salt: [u8; 12],
    pub(super) pad: u64,
    pub(super) flags: u8,
    pub(super) lists: &'l [u8],
    pub(super) replaced: Vec<u8>,
    pub(super) rolled: Vec<u8>,
    /// Bodies and tags of a window, as they were sent; or the frame of a sum.
    pub(super) parts: &'l [u8],
}

fn columns(replaced: &[u16]) -> Vec<u8> {
    replaced.iter().flat_map(|column| column.to_le_bytes()).collect()
}

/// Passes the rows of a unit that match.
pub(super) fn of_unit(
    (unit, stream): (&Unit, &Stream),
    block: &Block,
    filter: &Filter,
    mut take: impl FnMut(&Line<'_>) -> Result<(), LakeError>,
) -> Result<(), LakeError> {
    let changed = |number| stream.refused(number, "its segment is not as the catalogue says");
    let (tag, channels) = (stream.header.id().tag(), stream.header.layout().channels().len());
    for (first, count, number) in &unit.rows {
        for ahead in 0..*count {
            let (row, number) = ((first + ahead) as usize, number.wrapping_add(ahead.into()));
            if row >= block.rows() || block.sequence(row) != number || block.kind(row) != Kind::Whole {
                return Err(changed(number));
            }
            if block.tag(row) != Some(tag) {
                return Err(changed(number));
            }
            let (start, readings) = (block.start(row), block.readings(row));
            if (readings == 0 && !filter.every) || !filter.has_window(number, start) {
                continue;
            }
            let replaced = unit.replaced.binary_search_by_key(&number, |(number, _)| *number);
            let replaced = replaced.map_or(&[][..], |at| &unit.replaced[at].1);
            if replaced.len() >= channels {
                continue;
            }
            let ((ticks, flags, lists), (salt, pad)) = (block.form(row), block.pads(row));
            take(&Line {
                number,
                position: block.position(row),
                stored_at: block.stored_at(row),
                start,
                ticks: ticks as u32,
                times: block.times(row),
                readings: readings.into(),
                windows: 1,
                salt,
                pad,
                flags: flags as u8,
                lists,
                replaced: columns(replaced),
                rolled: Vec::new(),
                parts: block.parts(row),
            })?;
        }
    }
    Ok(())
}

/// Passes the row of a window that no segment has.
pub(super) fn of_loose(
    (loose, stream): (&Loose, &Stream),
    mut take: impl FnMut(&Line<'_>) -> Result<(), LakeError>,
) -> Result<(), LakeError> {
    let message = hex::decode(&loose.message).map_err(|error| LakeError::Plan(error.to_string()))?;
    let envelope = Envelope::read_window(&message, &stream.header)?;
    let Some(Window::Whole { facts, parts }) = Window::whole(&envelope) else {
        return Err(LakeError::Plan("a window has no parts".to_owned()));
    };
    if loose.replaced.len() >= stream.header.layout().channels().len() {
        return Ok(());
    }
    take(&Line {
        number: facts.fields.sequence,
        position: loose.position,
        stored_at: loose.stored_at,
        start: facts.fields.start,
        ticks: facts.fields.ticks,
        times: (facts.first, facts.last),
        readings: facts.readings.into(),
        windows: 1,
        salt: facts.fields.salt,
        pad: facts.pad,
        flags: facts.fields.flags,
        lists: &facts.fields.lists,
        replaced: columns(&loose.replaced),
        rolled: Vec::new(),
        parts: &parts,
    })
}

/// Passes the row of a sum that stays in place of windows.
pub(super) fn of_rolled(
    (rolled, stream): (&Rolled, &Stream),
    mut take: impl FnMut(&Line<'_>) -> Result<(), LakeError>,
) -> Result<(), LakeError> {
    let frame = hex::decode(&rolled.frame).map_err(|error| LakeError::Plan(error.to_string()))?;
    let windows = rolled.numbers.iter().fold(0_u64, |sum, (_, count)| sum.saturating_add(*count));
    let most =
        u32::try_from(windows).map_err(|_| LakeError::Plan("a sum has too many windows".to_owned()))?;
    let kept = SumsAnswer::read(&frame, &stream.header, frame.len() as u64, most)?;
    let ticks = kept.sums.first().map_or(0, |sum| sum.ticks());
    let numbers = rolled.numbers.iter();
    let numbers = numbers.flat_map(|(first, count)| [first.to_le_bytes(), count.to_le_bytes()]);
    take(&Line {
        number: rolled.numbers.first().map_or(0, |(first, _)| *first),
        position: 0,
        stored_at: rolled.stored_at,
        start: rolled.start,
        ticks,
        times: (rolled.start, rolled.start),
        readings: 0,
        windows,
        salt: [0; 12],
        pad: 0,
        flags: 0,
        lists: &[],
        replaced: Vec::new(),
        rolled: numbers.flatten().collect(),
        parts: &frame,
    })
}

/// Splits the parts of a window: appends bodies and tags.
pub(super) fn split(
    (stream, number): (&Stream, u64),
    bodies: &[usize],
    parts: &[u8],
    (places, tags): (&mut Vec<u8>, &mut Vec<u8>),
) -> Result<(), LakeError> {
    let short = || stream.refused(number, "its parts have another length than those of its stream");
    let mut rest = parts;
    for bytes in bodies {
        let (body, after) = rest.split_at_checked(*bytes).ok_or_else(short)?;
        let (tag, after) = after.split_at_checked(TAG_BYTES).ok_or_else(short)?;
        places.extend_from_slice(body);
        tags.extend_from_slice(tag);
        rest = after;
    }
    if rest.is_empty() { Ok(()) } else { Err(short()) }
}

impl Line<'_> {
    /// Returns the head of the window.
    pub(super) fn head(&self, header: &StreamHeader) -> Vec<u8> {
        let fields = WindowFields {
            salt: self.salt,
            sequence: self.number,
            start: self.start,
            flags: self.flags,
            ticks: self.ticks,
            lists: self.lists.to_vec(),
            place: None,
            signature: [0; 64],
        };
        fields.head(header)
    }
}
