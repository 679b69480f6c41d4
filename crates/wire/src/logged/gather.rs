//! Windows of a log as items of a page.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::ID_BYTES;
use super::item::{LogItem, is_group};
use super::window::{LoggedWindow, id_of};
use crate::error::WireError;
use crate::hash::Digest;
use crate::membership::MOST_GROUPED;
use crate::signature::SIGNATURE_BYTES;
use crate::signed::{SignedHeader, SignedWindow};

/// A window of a log, as a cloud puts it on a page.
///
/// Example: [`LogPage`](crate::LogPage)
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogEntry {
    /// The sequence number. That of the header counts, if there is one.
    pub sequence: u64,
    /// The leaf. That of the header counts, if there is one.
    pub leaf: Digest,
    /// The envelope's id; None if the window was deleted.
    pub id: Option<[u8; ID_BYTES]>,
    /// The bytes that the window took on the way.
    pub bytes: u64,
    /// The signed header; None if the window was deleted or cannot be read.
    pub signed: Option<SignedHeader>,
}

/// Windows of a log that go on a page: one that may be the next of a group, or an item as it is.
///
/// Example: [`WindowFields::logged`](crate::WindowFields::logged)
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PageEntry {
    /// A window with what the cloud knows of it.
    Window(Box<LogEntry>),
    /// An item.
    Item(LogItem),
}

impl From<LogEntry> for PageEntry {
    fn from(entry: LogEntry) -> Self {
        Self::Window(Box::new(entry))
    }
}

impl From<LogItem> for PageEntry {
    fn from(item: LogItem) -> Self {
        Self::Item(item)
    }
}

/// Returns the windows of items, each by itself.
pub(super) fn entries(items: &[LogItem]) -> Result<Vec<LogEntry>, WireError> {
    let mut entries = Vec::new();
    for item in items {
        let (id, bytes) = match item {
            LogItem::Unread { id, bytes, .. } => (Some(*id), *bytes),
            LogItem::Old { id, bytes, .. } => (*id, *bytes),
            _ => (None, 0),
        };
        let (leaves, mut signed) = (item.leaves(), item.signed()?.into_iter());
        let mut logged = item.logged().iter();
        for leaf in leaves {
            let (header, logged) = (signed.next(), logged.next());
            let sequence = header.as_ref().map(|header| header.header().sequence);
            let named = logged.map(|logged| logged.id(&leaf)).or(id);
            entries.push(LogEntry {
                sequence: sequence.unwrap_or(item.sequence()),
                leaf,
                id: named.or_else(|| header.is_some().then(|| id_of(&leaf, None))),
                bytes: logged.map_or(bytes, |logged| logged.bytes(item.windows())),
                signed: header,
            });
        }
    }
    Ok(entries)
}

/// Members of a group that follow each other, from the first one on.
#[derive(Default)]
struct Members {
    windows: Vec<LoggedWindow>,
    signature: Option<[u8; SIGNATURE_BYTES]>,
}

/// Returns the items of a page with these windows.
pub(super) fn items(windows: impl IntoIterator<Item = PageEntry>) -> Vec<LogItem> {
    let (mut items, mut members) = (Vec::new(), Members::default());
    for entry in windows {
        let LogEntry { sequence, leaf, id, bytes, signed } = match entry {
            PageEntry::Window(entry) => *entry,
            PageEntry::Item(item) => {
                members.end(&mut items);
                items.push(item);
                continue;
            }
        };
        let item = match signed {
            None => match id {
                None => LogItem::Gone { sequence, leaf },
                Some(id) => LogItem::Unread { sequence, leaf, id, bytes },
            },
            Some(signed) if signed.window().is_none() => {
                let id = id.filter(|id| *id != id_of(&leaf, None));
                LogItem::Old { id, bytes, signed: Box::new(signed) }
            }
            Some(signed) => {
                let (body_digest, signature) = (*signed.body_digest(), *signed.signature());
                let (_, Some(window)) = signed.into_parts() else { continue };
                let id = id.filter(|id| *id != id_of(&leaf, Some(&window)));
                let window = LoggedWindow { window, body_digest, id, bytes: Some(bytes) };
                members.push(&mut items, window, signature);
                continue;
            }
        };
        members.end(&mut items);
        items.push(item);
    }
    members.end(&mut items);
    items
}

impl Members {
    /// Adds a window behind the members, if it may be the next one, or as an item.
    fn push(&mut self, items: &mut Vec<LogItem>, window: LoggedWindow, signature: [u8; SIGNATURE_BYTES]) {
        let place = |window: &SignedWindow| window.member.as_ref().map(|member| member.place.at());
        let is_next = place(&window.window).is_some_and(|(index, count)| {
            let before = self.windows.first().map(|first| &first.window);
            let first = before.map_or((0, count), |first| place(first).unwrap_or_default());
            usize::from(index) == self.windows.len()
                && first == (0, count)
                && self.signature.is_none_or(|known| known == signature)
                && before.is_none_or(|first| first.stream.id() == window.window.stream.id())
        });
        if !is_next {
            self.end(items);
        }
        match place(&window.window) {
            Some((index, count)) if usize::from(index) == self.windows.len() => {
                self.signature = Some(signature);
                self.windows.push(window);
                if self.windows.len() == usize::from(count).min(MOST_GROUPED) {
                    self.end(items);
                }
            }
            _ => items.push(LogItem::alone(window, signature)),
        }
    }

    /// Adds the members as a group, if they are one, or each alone.
    fn end(&mut self, items: &mut Vec<LogItem>) {
        let Self { windows, signature } = core::mem::take(self);
        let Some(signature) = signature else { return };
        if is_group(&windows) {
            let windows = windows.into_iter().map(|window| LoggedWindow {
                window: SignedWindow { member: None, ..window.window },
                ..window
            });
            items.push(LogItem::group(windows.collect(), signature));
        } else {
            items.extend(windows.into_iter().map(|window| LogItem::alone(window, signature)));
        }
    }
}
