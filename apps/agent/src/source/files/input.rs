//! Bytes of a file, of standard input or of a pipe, as they arrive.

#[cfg(feature = "tables")]
mod whole;

use std::fs::{File, Metadata};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use zeroize::Zeroizing;

use super::encoding::Encoding;
use super::packed::{Chunks, Packing};
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
    /// Decompressed bytes.
    Packed(Box<dyn Read + Send>),
}

/// Converts bytes of another encoding to UTF-8.
struct Decoder {
    encoding: Encoding,
    decoder: encoding_rs::Decoder,
    /// Bytes of one read.
    raw: Zeroizing<Vec<u8>>,
    ended: bool,
}

/// A buffered input of UTF-8. Unconsumed bytes are contiguous.
pub(in crate::source) struct Input {
    pub(in crate::source) path: PathBuf,
    from: From,
    packing: Option<Packing>,
    decoder: Option<Decoder>,
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
        let (packing, decoder) = (None, None);
        let (start, end, replaced, cut) = (0, 0, false, false);
        Ok(Self { path, from, packing, decoder, follow, stop, buffer, start, end, replaced, cut })
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

    /// Returns true if rows arrive over time.
    pub(in crate::source) fn is_paced(&self) -> bool {
        self.follow || is_stream(&self.path)
    }

    /// Returns the compression.
    pub(in crate::source) fn packing(&self) -> Option<Packing> {
        self.packing
    }

    /// Returns the encoding, if it is not UTF-8.
    pub(in crate::source) fn encoding(&self) -> Option<Encoding> {
        self.decoder.as_ref().map(|decoder| decoder.encoding)
    }

    /// Reads more bytes behind the unconsumed ones; blocks if necessary.
    pub(in crate::source) fn more(&mut self) -> Result<More, SourceError> {
        let Some(mut decoder) = self.decoder.take() else { return self.more_bytes() };
        let more = self.more_decoded(&mut decoder);
        self.decoder = Some(decoder);
        more
    }

    /// Reads bytes of another encoding and converts them.
    fn more_decoded(&mut self, decoder: &mut Decoder) -> Result<More, SourceError> {
        loop {
            if decoder.ended {
                return Ok(More::End);
            }
            // The bytes behind `kept` are not converted yet.
            let kept = self.end - self.start;
            let more = self.more_bytes()?;
            if more == More::Cut {
                decoder.decoder = decoder.encoding.0.new_decoder_without_bom_handling();
                return Ok(more);
            }
            decoder.raw.clear();
            decoder.raw.extend_from_slice(&self.buffer[self.start + kept..self.end]);
            decoder.ended = more == More::End;
            self.end = self.start + kept;
            if decode(&mut self.buffer, &mut self.end, decoder) {
                return Ok(More::Bytes);
            }
        }
    }

    fn more_bytes(&mut self) -> Result<More, SourceError> {
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
                From::Packed(packed) => {
                    let room = room(&mut self.buffer, self.end, CHUNK);
                    retried(packed, room).map_err(|error| failed(&self.path, &error))?
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

    /// Finds compression and encoding in the first bytes, and strips a byte-order mark.
    pub(in crate::source) fn begin(&mut self, named: Option<Encoding>) -> Result<(), SourceError> {
        while self.bytes().len() < 4 && self.more()? != More::End {}
        if let Some(packing) = Packing::of(self.bytes()) {
            self.unpack(packing)?;
            while self.bytes().len() < 4 && self.more()? != More::End {}
        }
        let (mark, encoding) = match self.bytes() {
            [0xef, 0xbb, 0xbf, ..] => (3, named.filter(|named| *named == Encoding::UTF8)),
            [0xff, 0xfe, ..] => (2, Some(Encoding::UTF16LE)),
            [0xfe, 0xff, ..] => (2, Some(Encoding::UTF16BE)),
            _ if named.is_some() => (0, named),
            // No name and no number begins with a zero character.
            [0, low, ..] if *low != 0 => (0, Some(Encoding::UTF16BE)),
            [low, 0, ..] if *low != 0 => (0, Some(Encoding::UTF16LE)),
            _ => (0, None),
        };
        self.consume(mark);
        let Some(encoding) = encoding else { return Ok(()) };
        let raw = Zeroizing::new(self.bytes().to_vec());
        let decoder = encoding.0.new_decoder_without_bom_handling();
        let mut decoder = Decoder { encoding, decoder, raw, ended: false };
        (self.start, self.end) = (0, 0);
        decode(&mut self.buffer, &mut self.end, &mut decoder);
        self.decoder = Some(decoder);
        Ok(())
    }

    /// Reads the file anew through a decompressor.
    fn unpack(&mut self, packing: Packing) -> Result<(), SourceError> {
        if self.follow {
            let reason = format!("it is compressed ({}): only a plain file can be followed", packing.name());
            return Err(refused(&self.path, reason));
        }
        let begin = io::Cursor::new(self.bytes().to_vec());
        let nothing = From::Packed(Box::new(io::empty()));
        let packed = match std::mem::replace(&mut self.from, nothing) {
            From::File { mut file, .. } => {
                io::Seek::rewind(&mut file).map_err(|error| failed(&self.path, &error))?;
                packing.reader(file)
            }
            From::Stream(rest) => packing.reader(Chunks { begin, rest, stop: self.stop.clone() }),
            From::Packed(packed) => packed,
        };
        (self.from, self.packing) = (From::Packed(packed), Some(packing));
        (self.start, self.end) = (0, 0);
        Ok(())
    }

    /// Returns the length of the first line that begins at `from`, including its line end, CR or LF or both; `None` if
    /// there is no line end and no more bytes come, or if the file was cut off.
    pub(in crate::source) fn line(&mut self, from: usize, number: u64) -> Result<Option<usize>, SourceError> {
        let mut looked = from;
        loop {
            let bytes = self.bytes();
            if let Some(position) = memchr::memchr2(b'\n', b'\r', &bytes[looked..]) {
                let end = looked + position;
                if end - from >= LONGEST_ROW {
                    return Err(too_long(&self.path, number));
                }
                match (bytes[end], bytes.get(end + 1)) {
                    (b'\r', Some(b'\n')) => return Ok(Some(end + 2 - from)),
                    // A LF may follow: read it with the CR if that does not block.
                    (b'\r', None) if !self.is_paced() => {
                        looked = end;
                        if self.more()? != More::Bytes {
                            return Ok(Some(end + 1 - from));
                        }
                        continue;
                    }
                    _ => return Ok(Some(end + 1 - from)),
                }
            }
            looked = bytes.len();
            if looked - from >= LONGEST_ROW {
                return Err(too_long(&self.path, number));
            }
            match self.more()? {
                More::Bytes => {}
                More::End | More::Cut => return Ok(None),
            }
        }
    }
}

/// Converts the bytes of one read, and appends them to the buffer. Returns true if there are any.
fn decode(buffer: &mut Vec<u8>, end: &mut usize, decoder: &mut Decoder) -> bool {
    let (begin, mut read) = (*end, 0);
    loop {
        let room = room(buffer, *end, CHUNK);
        let (result, took, wrote, _) =
            decoder.decoder.decode_to_utf8(&decoder.raw[read..], room, decoder.ended);
        (read, *end) = (read + took, *end + wrote);
        if result == encoding_rs::CoderResult::InputEmpty {
            return *end > begin;
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
    let why = format!(
        "line {line}: a row has more than {LONGEST_ROW} bytes; name the format of the file with --format"
    );
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
