//! The bytes of confirmed messages.
//!
//! A message that was sent alone is the file that waited. A group is `length of the header 4 ‖ frame of the stream's header ‖
//! the group as it was sent`: its signature covers all windows, so it is checked before it is sent again.

use std::path::Path;
use std::sync::Arc;

use sotto_wire::{Envelope, EnvelopeHeader, LARGEST_ENVELOPE, StreamHeader, WindowGroup, WireError};

use super::super::error::SpoolError;
use super::super::folder::bytes_in;
use super::file::ArchivedFile;

/// A confirmed message.
#[derive(Clone, Debug, PartialEq)]
pub enum ArchivedMessage {
    /// One that was sent alone, or a member of a group of which others were deleted.
    Alone(Box<Envelope>),
    /// Windows under one signature.
    Group(WindowGroup),
}

impl ArchivedMessage {
    /// Returns the windows. Each has the signature under which it was sent.
    #[must_use]
    pub fn windows(&self) -> &[Envelope] {
        match self {
            Self::Alone(envelope) => std::slice::from_ref(envelope),
            Self::Group(group) => group.windows(),
        }
    }
}

pub(super) fn group_bytes(stream: &StreamHeader, group: &[u8]) -> Vec<u8> {
    let header = stream.write();
    [&(header.len() as u32).to_le_bytes()[..], &header, group].concat()
}

pub(super) fn read(folder: &Path, file: &ArchivedFile) -> Result<ArchivedMessage, SpoolError> {
    let path = folder.join(file.name());
    let bytes = bytes_in(&path)?;
    let damaged = |reason| SpoolError::Damaged { path: path.clone(), reason };
    let message = if file.is_group {
        ArchivedMessage::Group(read_group(&bytes).map_err(damaged)?)
    } else {
        let envelope = Envelope::read_kept(&bytes, LARGEST_ENVELOPE).map_err(damaged)?;
        ArchivedMessage::Alone(Box::new(envelope))
    };
    let is_named = |header: &EnvelopeHeader| header.stream == file.stream && file.has(header.sequence);
    if !message.windows().iter().map(Envelope::header).all(is_named) {
        return Err(SpoolError::Renamed { path });
    }
    Ok(message)
}

const SHORT: WireError = WireError::Value("a kept group is shorter than its header says");

fn read_group(bytes: &[u8]) -> Result<WindowGroup, WireError> {
    let (length, rest) = bytes.split_at_checked(4).ok_or(SHORT)?;
    let length = u32::from_le_bytes(length.try_into().map_err(|_| SHORT)?);
    let length = usize::try_from(length).map_err(|_| SHORT)?;
    let (header, group) = rest.split_at_checked(length).ok_or(SHORT)?;
    WindowGroup::read(group, &Arc::new(StreamHeader::read(header)?))
}

/// Returns the name and the bytes of a file for one window.
pub(super) fn alone(confirmed_at: i64, window: &Envelope) -> (ArchivedFile, Vec<u8>) {
    let (header, bytes) = (window.header(), window.write_kept());
    let file = ArchivedFile::alone(confirmed_at, &header.stream, header.sequence, bytes.len() as u64);
    (file, bytes)
}
