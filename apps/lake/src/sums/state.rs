//! The bytes of a group's sums that are not complete: between threads, workers, and on a disk.
//!
//! `header's length 4 ‖ its frame ‖ frame's length 4 ‖ frame of the sum ‖ 1 for a roll-up that is a sum of its own 1 ‖ weight 8 ‖
//! number of runs 4 ‖ of each its first number 8 and its windows 4`, once for each sum; lowest bytes first.

use sotto_wire::{MaskName, SumsAnswer};

use super::group::{Group, Named, Piece, frame};
use super::streams::Streams;
use crate::LakeError;
use crate::bytes::{Bytes, Torn};

/// Returns the state of a group.
pub(super) fn write(group: Group, streams: &Streams) -> Result<Vec<u8>, LakeError> {
    let mut out = Vec::new();
    for (stream, sums) in group.by_stream(streams)? {
        for mut sum in sums {
            let frame = frame(stream, std::slice::from_mut(&mut sum))?;
            for bytes in [&stream.frame, &frame] {
                let length = u32::try_from(bytes.len()).map_err(|_| too_long())?;
                out.extend_from_slice(&length.to_le_bytes());
                out.extend_from_slice(bytes);
            }
            out.push(u8::from(sum.is_rolled()));
            out.extend_from_slice(&sum.weight.to_le_bytes());
            out.extend_from_slice(&u32::try_from(sum.names.len()).map_err(|_| too_long())?.to_le_bytes());
            for named in &sum.names {
                out.extend_from_slice(&named.number.to_le_bytes());
                out.extend_from_slice(&named.windows.to_le_bytes());
            }
        }
    }
    Ok(out)
}

fn too_long() -> LakeError {
    LakeError::Sum("a sum that is not complete takes more than 4 GiB: group by a shorter time".to_owned())
}

/// Adds a state to a group. Returns the bytes on the heap by which its sums grew.
pub(super) fn merge(state: &[u8], group: &mut Group, streams: &mut Streams) -> Result<usize, LakeError> {
    let (mut bytes, mut grown) = (Bytes(state), 0);
    while !bytes.is_empty() {
        let (header, frame) = (bytes.sized()?, bytes.sized()?);
        let [is_rolled] = bytes.array()?;
        let (weight, runs) = (bytes.u64()?, bytes.u32()?);
        let number = streams.number(header)?;
        let stream = streams.get(number)?;
        let answer = SumsAnswer::read(frame, &stream.header, frame.len() as u64, u32::MAX)?;
        let [added] = answer.sums.as_slice() else { return Err(Torn.into()) };
        let mut ahead = bytes;
        let first = ahead.u64()?;
        let piece = if is_rolled == 0 { Piece::of(stream, first) } else { Piece::Rolled(first) };
        let sum = group.of(number, piece, stream.parts.len());
        let before = sum.bytes();
        sum.add_sum(stream, added, 1)?;
        let mut pads = answer.names.iter();
        for _ in 0..runs {
            let (first, windows) = (bytes.u64()?, bytes.u32()?);
            for ahead in 0..u64::from(windows) {
                let pads: MaskName = pads.next().ok_or(Torn)?;
                sum.name(Named { number: first.wrapping_add(ahead), windows: 1, pads }, 0);
            }
        }
        if pads.next().is_some() {
            return Err(Torn.into());
        }
        sum.weight = sum.weight.saturating_add(weight);
        grown += sum.bytes().saturating_sub(before);
    }
    Ok(grown)
}
