//! Compressed bytes: gzip and Zstandard, decompressed as they are read.

use std::io::{self, BufRead, BufReader, Read};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use ruzstd::decoding::StreamingDecoder;

use super::stream::Chunk;
use crate::stop::Stop;

/// Maximum bytes of a decompressed file: 64 GiB.
const LARGEST: u64 = 64 << 30;
/// Maximum window of Zstandard: 32 MiB. The memory of a decoder is about as large.
const LARGEST_WINDOW: u64 = 32 << 20;
/// Interval at which a waiting reader looks for a stop.
const POLL: Duration = Duration::from_millis(100);

/// A way of compression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::source) enum Packing {
    /// gzip, RFC 1952.
    Gzip,
    /// Zstandard, RFC 8878.
    Zstandard,
}

impl Packing {
    /// Returns the compression of a file that begins with these bytes.
    pub(super) fn of(begin: &[u8]) -> Option<Self> {
        match begin {
            [0x1f, 0x8b, 8, ..] => Some(Self::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Self::Zstandard),
            _ => None,
        }
    }

    /// Returns the name.
    pub(in crate::source) fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstandard => "Zstandard",
        }
    }

    /// Returns a reader of the decompressed bytes.
    pub(super) fn reader(self, packed: impl Read + Send + 'static) -> Box<dyn Read + Send> {
        match self {
            Self::Gzip => Box::new(Bounded::new(flate2::read::MultiGzDecoder::new(packed))),
            Self::Zstandard => {
                Box::new(Bounded::new(Frames { packed: Some(BufReader::new(packed)), frame: None }))
            }
        }
    }
}

/// Refuses more than [`LARGEST`] bytes.
struct Bounded<R> {
    inner: R,
    left: u64,
}

impl<R: Read> Bounded<R> {
    fn new(inner: R) -> Self {
        Self { inner, left: LARGEST }
    }
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(room)?;
        self.left = self.left.checked_sub(count as u64).ok_or_else(|| {
            io::Error::other("it has more than 64 GiB when it is decompressed; split it into several files")
        })?;
        Ok(count)
    }
}

type Frame<R> = StreamingDecoder<BufReader<R>, ruzstd::decoding::FrameDecoder>;

/// The frames of a Zstandard file, one after another.
struct Frames<R: Read> {
    packed: Option<BufReader<R>>,
    frame: Option<Frame<R>>,
}

impl<R: Read> Read for Frames<R> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(frame) = &mut self.frame {
                let count = frame.read(room)?;
                if count > 0 || room.is_empty() {
                    return Ok(count);
                }
                self.packed = self.frame.take().map(StreamingDecoder::into_inner);
            }
            let Some(mut packed) = self.packed.take() else { return Ok(0) };
            if packed.fill_buf()?.is_empty() {
                return Ok(0);
            }
            let frame = StreamingDecoder::new_with_max_window_size(packed, LARGEST_WINDOW);
            self.frame = Some(frame.map_err(|error| io::Error::other(error.to_string()))?);
        }
    }
}

/// Reads the chunks of a stream: first the bytes that were read already.
pub(super) struct Chunks {
    pub(super) begin: io::Cursor<Vec<u8>>,
    pub(super) rest: Receiver<io::Result<Chunk>>,
    pub(super) stop: Stop,
}

impl Read for Chunks {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        loop {
            let count = self.begin.read(room)?;
            if count > 0 || room.is_empty() {
                return Ok(count);
            }
            match self.rest.recv_timeout(POLL) {
                Ok(chunk) => self.begin = io::Cursor::new(chunk?.to_vec()),
                Err(RecvTimeoutError::Disconnected) => return Ok(0),
                Err(RecvTimeoutError::Timeout) if self.stop.is_asked() => {
                    return Err(io::Error::other("reading was stopped"));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}
