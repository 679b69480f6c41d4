//! The two families of windows: those of slots, version 2 of the envelope, and those of sums.

use crate::kind::Kind;

/// First bytes, contexts of signatures and kinds of frames of a family of windows.
#[derive(Debug)]
pub(crate) struct Family {
    /// The first byte of a window. No frame starts with it.
    pub(crate) window: u8,
    /// The first byte of a group.
    pub(crate) group: u8,
    /// The first byte of a member of a group.
    pub(crate) member: u8,
    /// The context of the signature of a window alone.
    pub(crate) alone: &'static [u8],
    /// The context of the signature of a group.
    pub(crate) together: &'static [u8],
    /// A signed window without its body.
    pub(crate) signed: Kind,
    /// A window with its stream's header.
    pub(crate) kept: Kind,
}

/// Windows of slots.
pub(crate) static SLOTS: Family = Family {
    window: 2,
    group: 3,
    member: 4,
    alone: b"sotto window v2",
    together: b"sotto windows v2",
    signed: Kind::SignedWindow,
    kept: Kind::KeptWindow,
};

/// Windows of sums.
pub(crate) static SUMS: Family = Family {
    window: 5,
    group: 6,
    member: 7,
    alone: b"sotto sums window v1",
    together: b"sotto sums windows v1",
    signed: Kind::SignedSums,
    kept: Kind::KeptSumsWindow,
};

/// All families.
pub(crate) static ALL: [&Family; 2] = [&SLOTS, &SUMS];
