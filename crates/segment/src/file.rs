//! A file that several threads read at once.

use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;

use bytes::{Buf as _, Bytes};
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};

/// A file and its length in bytes. Reads name their place, so that they do not disturb each other.
#[derive(Clone, Debug)]
pub(super) struct Shared {
    file: Arc<File>,
    bytes: u64,
}

impl Shared {
    pub(super) fn new(file: File) -> io::Result<Self> {
        let bytes = file.metadata()?.len();
        Ok(Self { file: Arc::new(file), bytes })
    }

    #[cfg(unix)]
    fn read_at(&self, out: &mut [u8], at: u64) -> io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(self.file.as_ref(), out, at)
    }

    #[cfg(windows)]
    fn read_at(&self, out: &mut [u8], at: u64) -> io::Result<usize> {
        std::os::windows::fs::FileExt::seek_read(self.file.as_ref(), out, at)
    }

    /// Returns a reader from a place on.
    pub(super) fn from(&self, at: u64) -> From {
        From { file: self.clone(), at }
    }
}

/// Reads a file from a place on.
#[derive(Debug)]
pub(super) struct From {
    file: Shared,
    at: u64,
}

impl Read for From {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(out, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

impl Length for Shared {
    fn len(&self) -> u64 {
        self.bytes
    }
}

impl ChunkReader for Shared {
    type T = io::BufReader<From>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        Ok(io::BufReader::new(self.from(start)))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        if start.checked_add(length as u64).is_none_or(|end| end > self.bytes) {
            return Err(ParquetError::EOF(format!("{length} bytes from {start} are beyond the file's end")));
        }
        let mut buffer = vec![0; length];
        self.from(start).read_exact(&mut buffer)?;
        Ok(buffer.into())
    }
}

/// Bytes of a file from a place on, in memory.
pub(super) struct Held {
    pub(super) from: u64,
    pub(super) bytes: Bytes,
}

impl Length for Held {
    fn len(&self) -> u64 {
        self.from + self.bytes.len() as u64
    }
}

impl ChunkReader for Held {
    type T = bytes::buf::Reader<Bytes>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        let length = self.len().saturating_sub(start);
        Ok(self.get_bytes(start, usize::try_from(length).unwrap_or(usize::MAX))?.reader())
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let from = start.checked_sub(self.from).and_then(|from| usize::try_from(from).ok());
        let end = from.and_then(|from| from.checked_add(length)).filter(|end| *end <= self.bytes.len());
        match from.zip(end) {
            Some((from, end)) => Ok(self.bytes.slice(from..end)),
            None => Err(ParquetError::EOF(format!("{length} bytes from {start} are not those of the block"))),
        }
    }
}
