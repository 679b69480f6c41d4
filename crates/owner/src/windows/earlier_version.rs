//! Logs that earlier versions stored: a record for each window, `bytes of the rest u32 ‖ envelope's id 16 ‖ bytes on the way u64 ‖
//! number u64 ‖ leaf 32 ‖ frame of the signed header`; the frame is empty if there is none. They are read once.

use std::collections::HashSet;

use sotto_wire::{Digest, ID_BYTES, SignedHeader, WireError};

use super::mirror::StreamLog;

const LARGEST_HEADER: u64 = 64 << 10;

/// A window in a log of an earlier version.
pub(super) struct EarlierEntry {
    /// None if the window was deleted.
    id: Option<[u8; ID_BYTES]>,
    bytes: u64,
    sequence: u64,
    pub(super) leaf: Digest,
    signed: Option<SignedHeader>,
}

impl EarlierEntry {
    /// Returns true if the window was deleted, or ended before a time.
    pub(super) fn is_gone(&self, until: i64) -> bool {
        match &self.signed {
            Some(signed) => signed.header().ended_at < until,
            None => self.id.is_none(),
        }
    }
}

/// Reads the records of a file. Returns None if the bytes are not records.
pub(super) fn parse(mut bytes: &[u8]) -> Option<Vec<EarlierEntry>> {
    let mut entries = Vec::new();
    while !bytes.is_empty() {
        let (length, rest) = bytes.split_first_chunk::<4>()?;
        let (record, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        let (id, record) = record.split_first_chunk::<ID_BYTES>()?;
        let (count, record) = record.split_first_chunk::<8>()?;
        let (sequence, record) = record.split_first_chunk::<8>()?;
        let (leaf, signed) = record.split_first_chunk::<32>()?;
        let signed = match signed {
            [] => None,
            frame => Some(SignedHeader::read(frame, LARGEST_HEADER).ok()?),
        };
        entries.push(EarlierEntry {
            id: Some(*id).filter(|id| *id != [0; ID_BYTES]),
            bytes: u64::from_le_bytes(*count),
            sequence: u64::from_le_bytes(*sequence),
            leaf: *leaf,
            signed,
        });
        bytes = rest;
    }
    Some(entries)
}

/// Returns the mirror of such a log. Windows with these leaves were deleted by this plant's owner.
pub(super) fn mirror(entries: &[EarlierEntry], forgotten: &HashSet<Digest>) -> Result<StreamLog, WireError> {
    let mut log = StreamLog::default();
    for EarlierEntry { id, bytes, sequence, leaf, signed } in entries {
        log.push_signed(*sequence, leaf, *id, *bytes, signed.as_ref(), forgotten.contains(leaf))?;
    }
    Ok(log)
}
