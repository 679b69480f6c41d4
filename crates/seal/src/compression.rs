//! The compressions of objects.

use crate::error::SealError;

/// The compression of an outermost object's members.
///
/// Example: [`Header`](crate::Header)
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Compression {
    /// Not compressed.
    #[default]
    None = 0,
    /// One RFC 1950 stream.
    Zlib = 1,
    /// One Zstandard frame.
    Zstandard = 2,
}

impl Compression {
    pub(crate) fn from_number(number: u8) -> Result<Self, SealError> {
        let all = [Self::None, Self::Zlib, Self::Zstandard];
        all.into_iter().find(|c| *c as u8 == number).ok_or(SealError::Compression(number))
    }

    /// Returns `none`, `zlib` or `zstandard`.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Zlib => "zlib",
            Self::Zstandard => "zstandard",
        }
    }
}
