//! The items of a page: windows alone and groups, windows that are gone, envelopes of version 1.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use super::code::{Before, parse_id, parse_window, write_window};
use super::window::{LoggedWindow, id_of};
use super::{ID_BYTES, LARGEST_LOG_PAGE, part};
use crate::error::WireError;
use crate::hash::Digest;
use crate::membership::{self, MOST_GROUPED, Membership};
use crate::reader::{Reader, write_varint};
use crate::signature::{self, SIGNATURE_BYTES};
use crate::signed::{Member, SignedHeader};
use crate::stream::StreamHeader;

/// Bytes of an item beside the header: marks, an id, bytes on the way.
const BESIDE: usize = 40;

const GONE: u8 = 0;
const ALONE: u8 = 1;
const OLD: u8 = 253;
const UNREAD: u8 = 254;

/// An item of a page.
///
/// ```
/// use sotto_wire::LogItem;
///
/// let deleted = LogItem::Gone { sequence: 7, leaf: [1; 32] };
/// assert_eq!((deleted.windows(), deleted.leaves()), (1, vec![[1; 32]]));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogItem {
    /// A window that was deleted, by the cloud's word.
    Gone {
        /// Its sequence number.
        sequence: u64,
        /// Its leaf.
        leaf: Digest,
    },
    /// A window that the cloud cannot read.
    Unread {
        /// Its sequence number.
        sequence: u64,
        /// Its leaf.
        leaf: Digest,
        /// Its id.
        id: [u8; ID_BYTES],
        /// The bytes that it took on the way.
        bytes: u64,
    },
    /// An envelope of version 1.
    Old {
        /// Its id; None: the first bytes of its leaf.
        id: Option<[u8; ID_BYTES]>,
        /// The bytes that it took on the way.
        bytes: u64,
        /// Its signed header.
        signed: Box<SignedHeader>,
    },
    /// A window with a signature of its own, or a member of a group that is not whole in the log.
    Alone {
        /// The window.
        window: Box<LoggedWindow>,
        /// The signature, of the group if the window has a place in one.
        signature: [u8; SIGNATURE_BYTES],
    },
    /// A whole group.
    Group {
        /// Its windows, 2 to 64 of one stream.
        windows: Vec<LoggedWindow>,
        /// The signature of all.
        signature: [u8; SIGNATURE_BYTES],
    },
}

impl LogItem {
    /// Returns windows that are a whole group, in its order, under its signature, as an item. Nobody has checked that they are.
    #[must_use]
    pub fn group(windows: Vec<LoggedWindow>, signature: [u8; SIGNATURE_BYTES]) -> Self {
        let count = windows.len();
        let windows = windows.into_iter().map(|window| window.with_own_bytes(count)).collect();
        Self::Group { windows, signature }
    }

    /// Returns a window under a signature of its own as an item.
    #[must_use]
    pub fn alone(window: LoggedWindow, signature: [u8; SIGNATURE_BYTES]) -> Self {
        Self::Alone { window: Box::new(window.with_own_bytes(1)), signature }
    }

    /// Returns a bound on the bytes of an item on a page, without its stream's header.
    #[must_use]
    pub fn most_bytes(&self) -> usize {
        let of = |logged: &LoggedWindow| {
            let place =
                logged.window.member.as_ref().map_or(0, |member| 3 + 32 * member.place.parts().2.len());
            BESIDE + logged.window.bytes.len() + logged.window.tags.len() + 32 + place
        };
        match self {
            Self::Old { signed, .. } => BESIDE + signed.write().len(),
            Self::Gone { .. } | Self::Unread { .. } => BESIDE + 32,
            Self::Alone { .. } | Self::Group { .. } => {
                SIGNATURE_BYTES + self.logged().iter().map(of).sum::<usize>()
            }
        }
    }

    /// Returns the number of windows.
    #[must_use]
    pub fn windows(&self) -> usize {
        if let Self::Group { windows, .. } = self { windows.len() } else { 1 }
    }

    /// Returns the windows of version 2.
    #[must_use]
    pub fn logged(&self) -> &[LoggedWindow] {
        match self {
            Self::Alone { window, .. } => core::slice::from_ref(window),
            Self::Group { windows, .. } => windows,
            Self::Gone { .. } | Self::Unread { .. } | Self::Old { .. } => &[],
        }
    }

    /// Returns the number of its first window.
    #[must_use]
    pub fn sequence(&self) -> u64 {
        match self {
            Self::Gone { sequence, .. } | Self::Unread { sequence, .. } => *sequence,
            Self::Old { signed, .. } => signed.header().sequence,
            Self::Alone { .. } | Self::Group { .. } => {
                self.logged().first().map_or(0, LoggedWindow::sequence)
            }
        }
    }

    /// Returns the header of the stream of its windows; None if they have none.
    pub(super) fn stream(&self) -> Option<&Arc<StreamHeader>> {
        self.logged().first().map(LoggedWindow::stream)
    }

    /// Returns the leaves of its windows in the log.
    #[must_use]
    pub fn leaves(&self) -> Vec<Digest> {
        match self {
            Self::Gone { leaf, .. } | Self::Unread { leaf, .. } => vec![*leaf],
            Self::Old { signed, .. } => vec![signed.leaf()],
            Self::Alone { window, signature } => {
                let place = window.window.member.as_ref().map(|member| &member.place);
                vec![window.log_leaf(place, signature)]
            }
            Self::Group { windows, signature } => {
                let places = places(windows);
                windows
                    .iter()
                    .zip(&places)
                    .map(|(window, place)| window.log_leaf(Some(place), signature))
                    .collect()
            }
        }
    }

    /// Returns the id of the envelope of a window of this index, which has this leaf. Returns None if the window was deleted.
    #[must_use]
    pub fn id(&self, index: usize, leaf: &Digest) -> Option<[u8; ID_BYTES]> {
        match self {
            Self::Gone { .. } => None,
            Self::Unread { id, .. } => Some(*id),
            Self::Old { id, .. } => Some(id.unwrap_or_else(|| id_of(leaf, None))),
            Self::Alone { .. } | Self::Group { .. } => self.logged().get(index).map(|logged| logged.id(leaf)),
        }
    }

    /// Checks the signature against a device's Ed25519 verifying key, once for all windows, as
    /// [`SignedHeader::verify`] does. Windows that are gone or unread have none.
    ///
    /// # Errors
    /// [`WireError::Signature`] if the signature is not valid under the key.
    pub fn verify(&self, verifying_key: &[u8; 32]) -> Result<(), WireError> {
        match self {
            Self::Gone { .. } | Self::Unread { .. } => Ok(()),
            Self::Old { signed, .. } => signed.verify(verifying_key),
            Self::Alone { window, signature } => {
                let message = window.window.message(&window.body_digest);
                signature::verify(&message, signature, verifying_key)
            }
            Self::Group { windows, signature } => {
                let leaves: Vec<Digest> = windows.iter().map(LoggedWindow::group_leaf).collect();
                let stream = self.stream().ok_or(WireError::Signature)?;
                let (count, root) = (leaves.len() as u8, membership::root(&leaves));
                let message = membership::signed_message(stream, count, &root);
                signature::verify(&message, signature, verifying_key)
            }
        }
    }

    /// Returns true if the signature is all zeros.
    #[must_use]
    pub fn is_unsigned(&self) -> bool {
        match self {
            Self::Gone { .. } | Self::Unread { .. } => false,
            Self::Old { signed, .. } => signed.is_unsigned(),
            Self::Alone { signature, .. } | Self::Group { signature, .. } => {
                *signature == [0; SIGNATURE_BYTES]
            }
        }
    }

    /// Returns the signed headers of its windows, as they are read alone; none of those that are gone or unread.
    ///
    /// # Errors
    /// [`WireError::Value`] if a description is longer than 16 KiB.
    pub fn signed(&self) -> Result<Vec<SignedHeader>, WireError> {
        match self {
            Self::Gone { .. } | Self::Unread { .. } => Ok(Vec::new()),
            Self::Old { signed, .. } => Ok(vec![(**signed).clone()]),
            Self::Alone { window, signature } => {
                let place = window.window.member.as_ref().map(|member| member.place.clone());
                Ok(vec![window.signed(place, *signature)?])
            }
            Self::Group { windows, signature } => {
                let places = places(windows);
                windows
                    .iter()
                    .zip(places)
                    .map(|(window, place)| window.signed(Some(place), *signature))
                    .collect()
            }
        }
    }

    pub(super) fn write(&self, out: &mut Vec<u8>, streams: &[Arc<StreamHeader>], before: &mut Before) {
        match self {
            Self::Gone { sequence, leaf } => {
                out.push(GONE);
                before.write_number(out, *sequence);
                out.extend_from_slice(leaf);
            }
            Self::Unread { sequence, leaf, id, bytes } => {
                out.push(UNREAD);
                before.write_number(out, *sequence);
                out.extend_from_slice(leaf);
                out.extend_from_slice(id);
                write_varint(out, *bytes);
            }
            Self::Old { id, bytes, signed } => {
                out.push(OLD);
                out.push(u8::from(id.is_some()));
                out.extend_from_slice(id.as_ref().map_or(&[][..], |id| id));
                write_varint(out, *bytes);
                let frame = signed.write();
                write_varint(out, frame.len() as u64);
                out.extend_from_slice(&frame);
                before.is_number(signed.header().sequence);
            }
            Self::Alone { window, signature } => {
                out.push(ALONE);
                write_window(out, window, streams, before, 1);
                out.extend_from_slice(signature);
            }
            Self::Group { windows, signature } => {
                out.push(windows.len() as u8);
                windows.iter().for_each(|window| write_window(out, window, streams, before, windows.len()));
                out.extend_from_slice(signature);
            }
        }
    }

    pub(super) fn parse(
        reader: &mut Reader<'_>,
        streams: &[Arc<StreamHeader>],
        before: &mut Before,
    ) -> Result<Self, WireError> {
        match reader.u8()? {
            GONE => Ok(Self::Gone { sequence: before.parse_number(reader)?, leaf: reader.array()? }),
            UNREAD => {
                let (sequence, leaf) = (before.parse_number(reader)?, reader.array()?);
                Ok(Self::Unread { sequence, leaf, id: parse_id(reader)?, bytes: reader.varint()? })
            }
            OLD => {
                let id = if reader.flag()? { Some(parse_id(reader)?) } else { None };
                let (bytes, frame) = (reader.varint()?, part(reader)?);
                let signed = Box::new(SignedHeader::read(frame, LARGEST_LOG_PAGE)?);
                if signed.window().is_some() {
                    return Err(WireError::Value("a window stands on a page without its stream's header"));
                }
                before.is_number(signed.header().sequence);
                Ok(Self::Old { id, bytes, signed })
            }
            ALONE => {
                let window = Box::new(parse_window(reader, streams, before, 1)?);
                let signature = reader.array()?;
                Ok(Self::Alone { window, signature })
            }
            count if (2..=MOST_GROUPED).contains(&usize::from(count)) => {
                // Grows with the windows that are read: the count alone reserves nothing.
                let mut windows: Vec<LoggedWindow> = Vec::new();
                for _ in 0..count {
                    windows.push(parse_window(reader, streams, before, count.into())?);
                }
                if windows.iter().any(|window| window.stream().id() != windows[0].stream().id()) {
                    return Err(WireError::Value("the windows of a group are of one stream"));
                }
                Ok(Self::Group { windows, signature: reader.array()? })
            }
            _ => Err(WireError::Value("this item of a page is not known")),
        }
    }
}

/// Returns the places of the windows of a whole group.
fn places(windows: &[LoggedWindow]) -> Vec<Membership> {
    let leaves: Vec<Digest> = windows.iter().map(LoggedWindow::group_leaf).collect();
    Membership::all(&leaves).collect()
}

/// Returns the places of windows that are the whole group of these members, in their order.
pub(super) fn is_group(windows: &[LoggedWindow]) -> bool {
    let members = || windows.iter().filter_map(|window| window.window.member.as_ref());
    let is_of = |member: &Member| usize::from(member.place.count) == windows.len();
    members().count() == windows.len()
        && members().all(is_of)
        && places(windows).iter().eq(members().map(|member| &member.place))
}
