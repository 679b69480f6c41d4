//! Bytes of a file, of standard input or of a pipe, as they arrive.

use std::fs::{File, Metadata};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use zeroize::Zeroizing;

use super::stream::{CHUNK, Chunk, retried, stream};
use crate::source::SourceError;
use crate::stop::Stop;

/// Maximum bytes of a row or a header: 256 KiB.
pub(in crate::source) const LONGEST_ROW: usize = 256 << 10;
/// Interval at which a followed file is checked for growth.
const POLL: Duration = Duration::from_millis(100);

/// How a read ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::source) enum More {
    /// There are more bytes.
    Bytes,
    /// The file ends: there are no more bytes, and no more will come.
    End,
    /// The file was truncated. Unread bytes are discarded; reading goes on at its beginning.
    Cut,
}

enum From {
    File {
        file: File,
        read: u64,
    },
    /// A thread reads the stream, because a blocking read from a pipe cannot be cancelled.
    Stream(Receiver<io::Result<Chunk>>),
}

/// A buffered input. Unconsumed bytes are contiguous.
pub(in crate::source) struct Input {
    pub(in crate::source) path: PathBuf,
    from: From,
    follow: bool,
    stop: Stop,
    /// Unread bytes are `buffer[start..end]`.
    buffer: Zeroizing<Vec<u8>>,
    start: usize,
    end: usize,
    replaced: bool,
    cut: bool,
}

impl Input {
    /// Opens a path; `-` is standard input. With `again`, waits until the path exists.
    pub(in crate::source) fn open(
        path: &Path,
        follow: bool,
        again: bool,
        stop: &Stop,
    ) -> Result<Self, SourceError> {
        let from = if is_stdin(path) {
            From::Stream(stream(|| Ok(io::stdin())))
        } else {
            let metadata = loop {
                match std::fs::metadata(path) {
                    Ok(metadata) => break metadata,
                    Err(error) if again && error.kind() == ErrorKind::NotFound => {
                        if stop.wait(POLL) {
                            return Err(SourceError::Stopped);
                        }
                    }
                    Err(error) => return Err(failed(path, &error)),
                }
            };
            if metadata.is_dir() {
                return Err(refused(path, "it is a folder; name the files in it"));
            }
            if metadata.is_file() {
                let file = File::open(path).map_err(|error| failed(path, &error))?;
                From::File { file, read: 0 }
            } else {
                let path = path.to_owned();
                From::Stream(stream(move || File::open(path)))
            }
        };
        let (path, stop) = (path.to_owned(), stop.clone());
        let buffer = Zeroizing::new(Vec::new());
        Ok(Self { path, from, follow, stop, buffer, start: 0, end: 0, replaced: false, cut: false })
    }

    /// Returns the bytes read and not consumed.
    pub(in crate::source) fn bytes(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Consumes the first `count` bytes.
    pub(in crate::source) fn consume(&mut self, count: usize) {
        self.start = self.end.min(self.start + count);
    }

    /// Returns true if another file replaced this one, or it was truncated: the caller has to open it again.
    pub(in crate::source) fn is_replaced(&self) -> bool {
        self.replaced || self.cut
    }

    /// Reads more bytes behind the unconsumed ones; blocks if necessary.
    pub(in crate::source) fn more(&mut self) -> Result<More, SourceError> {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        loop {
            if self.stop.is_asked() {
                return Err(SourceError::Stopped);
            }
            let count = match &mut self.from {
                From::File { file, read } => {
                    let room = room(&mut self.buffer, self.end, CHUNK);
                    let count = retried(file, room).map_err(|error| failed(&self.path, &error))?;
                    *read += count as u64;
                    count
                }
                From::Stream(chunks) => match chunks.recv_timeout(POLL) {
                    Ok(Ok(chunk)) => {
                        room(&mut self.buffer, self.end, chunk.len())[..chunk.len()].copy_from_slice(&chunk);
                        chunk.len()
                    }
                    Ok(Err(error)) => return Err(failed(&self.path, &error)),
                    Err(RecvTimeoutError::Timeout) => continue,
                    Err(RecvTimeoutError::Disconnected) => return Ok(More::End),
                },
            };
            self.end += count;
            if count > 0 {
                return Ok(More::Bytes);
            }
            if let Some(more) = self.at_end()? {
                return Ok(more);
            }
        }
    }

    /// Handles the end of a file: reports it, or waits for more bytes in `follow` mode.
    fn at_end(&mut self) -> Result<Option<More>, SourceError> {
        let From::File { file, read } = &mut self.from else { return Ok(Some(More::End)) };
        if !self.follow || self.replaced {
            return Ok(Some(More::End));
        }
        let open = file.metadata().map_err(|error| failed(&self.path, &error))?;
        if open.len() < *read {
            *file = File::open(&self.path).map_err(|error| failed(&self.path, &error))?;
            *read = 0;
            self.end = 0;
            self.cut = true;
            return Ok(Some(More::Cut));
        }
        // First read the bytes that were written before the file was replaced.
        self.replaced = std::fs::metadata(&self.path).is_ok_and(|named| !is_same(&open, &named));
        if !self.replaced && self.stop.wait(POLL) {
            return Err(SourceError::Stopped);
        }
        Ok(None)
    }

    /// Strips a byte-order mark; refuses UTF-16.
    pub(in crate::source) fn begin(&mut self) -> Result<(), SourceError> {
        while self.bytes().len() < 3 && self.more()? != More::End {}
        match self.bytes() {
            [0xef, 0xbb, 0xbf, ..] => self.consume(3),
            [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [0, _, ..] | [_, 0, ..] => {
                let reason = "it is UTF-16; convert it, for example with: iconv -f UTF-16 -t UTF-8";
                return Err(refused(&self.path, reason));
            }
            _ => {}
        }
        Ok(())
    }

    /// Returns the length of the first line including its line end; `None` if there is no line end and no more bytes
    /// come. A lone CR ends a line only if `carriage_return` is true.
    pub(in crate::source) fn line(
        &mut self,
        number: u64,
        carriage_return: bool,
    ) -> Result<Option<usize>, SourceError> {
        let mut looked = 0;
        loop {
            let ends = |byte: &u8| *byte == b'\n' || carriage_return && *byte == b'\r';
            let bytes = self.bytes();
            if let Some(position) = bytes[looked..].iter().position(ends) {
                if looked + position < LONGEST_ROW {
                    return Ok(Some(looked + position + 1));
                }
                looked = LONGEST_ROW;
            } else {
                looked = bytes.len();
            }
            if looked >= LONGEST_ROW {
                return Err(too_long(&self.path, number));
            }
            match self.more()? {
                More::Bytes => {}
                More::End => return Ok(None),
                More::Cut => looked = 0,
            }
        }
    }
}

/// Returns true if the path stands for standard input.
pub(in crate::source) fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Returns true if rows of the path arrive over time: standard input, a pipe, a device.
pub(in crate::source) fn is_stream(path: &Path) -> bool {
    is_stdin(path) || std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}

/// Returns an error about a file.
pub(in crate::source) fn refused(path: &Path, reason: impl Into<String>) -> SourceError {
    SourceError::File { path: path.to_owned(), reason: reason.into() }
}

/// Returns the error about a row that is too long.
pub(in crate::source) fn too_long(path: &Path, line: u64) -> SourceError {
    let why =
        format!("line {line}: a row has more than {LONGEST_ROW} bytes; look for a quote without its end");
    refused(path, why)
}

fn failed(path: &Path, error: &io::Error) -> SourceError {
    refused(path, error.to_string())
}

/// Returns at least `count` bytes of the buffer from `end` on; grows the buffer if necessary.
fn room(buffer: &mut Vec<u8>, end: usize, count: usize) -> &mut [u8] {
    if buffer.len() < end + count {
        buffer.resize((end + count).max(buffer.len() + buffer.len() / 2), 0);
    }
    &mut buffer[end..]
}

#[cfg(unix)]
fn is_same(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// Without inodes, a file that is shorter than the open one counts as a new file.
#[cfg(not(unix))]
fn is_same(one: &Metadata, other: &Metadata) -> bool {
    one.len() <= other.len()
}
