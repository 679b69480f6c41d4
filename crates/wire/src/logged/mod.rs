//! Pages of a stream's log: its windows without their bodies, for the owner.
//!
//! A page is `head ‖ headers of streams ‖ items`; docs/concepts/wire.md has the layout. A window stands as differences to the
//! one before it, and a whole group under its one signature.

mod code;
mod facts;
mod gather;
mod item;
mod window;

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::error::WireError;
use crate::frame;
use crate::kind::Kind;
use crate::reader::{Reader, write_varint};
use crate::receipt::LARGEST_STREAM_HEAD;
use crate::stream::StreamHeader;

use code::Before;
pub use facts::HeadFacts;
pub use gather::{LogEntry, PageEntry};
pub use item::LogItem;
pub use window::{LoggedWindow, sums_window_id};

/// Length in bytes of the longest frame of a [`LogPage`]: 8 MiB.
pub const LARGEST_LOG_PAGE: u64 = 8 << 20;
/// Length in bytes of an envelope's id.
pub const ID_BYTES: usize = 16;
const OTHER_STREAMS: WireError = WireError::Value(
    "the headers of streams are those of the page's windows, each once, in the order of their windows",
);

/// A part of the log of a stream, in the order of the log.
///
/// ```
/// use sotto_wire::{LogEntry, LogPage};
///
/// // A window that the owner deleted.
/// let deleted = LogEntry { sequence: 7, leaf: [1; 32], id: None, bytes: 0, signed: None };
/// let page = LogPage::of(b"a head".to_vec(), [deleted]);
/// let read = LogPage::read(&page.write())?;
/// assert_eq!((read.items.len(), read), (1, page));
/// # Ok::<(), sotto_wire::WireError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogPage {
    /// The frame of the log's [head](crate::StreamHead), which nobody has checked.
    pub head: Vec<u8>,
    /// The windows. Nobody has checked their signatures.
    pub items: Vec<LogItem>,
}

impl LogPage {
    /// Puts windows of a log on a page. Windows of a group that are all there, in their order, stand together.
    #[must_use]
    pub fn of(head: Vec<u8>, windows: impl IntoIterator<Item = impl Into<PageEntry>>) -> Self {
        Self { head, items: gather::items(windows.into_iter().map(Into::into)) }
    }

    /// Returns the windows apart, as [`LogPage::of`] takes them.
    ///
    /// # Errors
    /// [`WireError::Value`] if a description is longer than 16 KiB.
    pub fn entries(&self) -> Result<Vec<LogEntry>, WireError> {
        gather::entries(&self.items)
    }

    /// Returns the number of windows.
    #[must_use]
    pub fn windows(&self) -> usize {
        self.items.iter().map(LogItem::windows).sum()
    }

    /// Returns the frame.
    #[must_use]
    pub fn write(&self) -> Vec<u8> {
        let (streams, mut items) = (self.streams(), Vec::with_capacity(64 * self.items.len()));
        let mut before = Before::default();
        self.items.iter().for_each(|item| item.write(&mut items, &streams, &mut before));
        frame::write(Kind::LogPage, items.len() + 4096, |out| {
            write_varint(out, self.head.len() as u64);
            out.extend_from_slice(&self.head);
            write_varint(out, streams.len() as u64);
            for stream in streams {
                let stream = stream.write();
                write_varint(out, stream.len() as u64);
                out.extend_from_slice(&stream);
            }
            out.extend_from_slice(&items);
        })
    }

    /// Returns the headers of the streams, in the order in which windows name them.
    fn streams(&self) -> Vec<Arc<StreamHeader>> {
        let mut streams: Vec<Arc<StreamHeader>> = Vec::new();
        for stream in self.items.iter().filter_map(LogItem::stream) {
            // Most windows are of the stream of the one before.
            if streams.last().is_none_or(|last| last.id() != stream.id())
                && streams.iter().all(|other| other.id() != stream.id())
            {
                streams.push(Arc::clone(stream));
            }
        }
        streams
    }

    /// Reads a frame of at most [`LARGEST_LOG_PAGE`] bytes. Checks no signature: see [`LogItem::verify`].
    ///
    /// # Errors
    /// [`WireError`] if the bytes are not a frame of a page.
    pub fn read(bytes: &[u8]) -> Result<Self, WireError> {
        let mut reader = frame::open(bytes, Kind::LogPage, LARGEST_LOG_PAGE)?;
        let head = part(&mut reader)?;
        if head.len() as u64 > LARGEST_STREAM_HEAD {
            return Err(WireError::TooLarge { limit: LARGEST_STREAM_HEAD, found: head.len() as u64 });
        }
        let mut streams: Vec<Arc<StreamHeader>> = Vec::new();
        for _ in 0..reader.varint()? {
            let stream = Arc::new(StreamHeader::read_stored(part(&mut reader)?)?);
            if streams.iter().any(|other| other.id() == stream.id()) {
                return Err(OTHER_STREAMS);
            }
            streams.push(stream);
        }
        let (mut items, mut before) = (Vec::new(), Before::default());
        while reader.left() > 0 {
            items.push(LogItem::parse(&mut reader, &streams, &mut before)?);
        }
        if before.streams_named() == streams.len() {
            Ok(Self { head: head.to_vec(), items })
        } else {
            Err(OTHER_STREAMS)
        }
    }
}

/// Reads a length, and as many bytes.
fn part<'b>(reader: &mut Reader<'b>) -> Result<&'b [u8], WireError> {
    // `take` refuses a length beyond the bytes.
    let length = usize::try_from(reader.varint()?).unwrap_or(usize::MAX);
    reader.take(length)
}
