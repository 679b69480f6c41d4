//! The header of 16 bytes that stands before every object, and the members behind it.

use zeroize::Zeroizing;

use crate::error::SealError;
use crate::inflate::{deflate, inflate, survey};
use crate::reader::Reader;

const MAGIC: u16 = 0xa15e;
/// Bytes of a header.
pub(crate) const HEADER: usize = 16;

/// How the members of an outermost object are compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Compression {
    /// Not.
    #[default]
    None = 0,
    /// One RFC 1950 stream.
    Zlib = 1,
    /// One Zstandard frame.
    Zstandard = 2,
}

impl Compression {
    fn from_number(number: u8) -> Result<Self, SealError> {
        let all = [Self::None, Self::Zlib, Self::Zstandard];
        all.into_iter().find(|c| *c as u8 == number).ok_or(SealError::Compression(number))
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Zlib => "zlib",
            Self::Zstandard => "zstandard",
        }
    }
}

/// The version of the SEAL that wrote an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version {
    /// Major version.
    pub major: u8,
    /// Minor version.
    pub minor: u8,
}

impl Version {
    /// The one that SEAL 3.6, 3.7 and every 4.x read.
    pub const PORTABLE: Self = Self { major: 3, minor: 6 };

    /// 4.`minor`: SEAL 4.0 to 4.3 read their own minor version only, later ones read it and the earlier ones.
    pub fn four(minor: u8) -> Self {
        Self { major: 4, minor }
    }

    /// Whether a ciphertext has a correction factor.
    pub(crate) fn has_factor(self) -> bool {
        self.major == 4
    }
}

impl core::fmt::Display for Version {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// How an object is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Writing {
    /// The compression of the members.
    pub compression: Compression,
    /// The minor version of the SEAL 4 that will read it, 1 or more. Only BGV ciphertexts need it; all else is written as version
    /// 3.6, which every later one reads.
    pub seal_4_minor: Option<u8>,
}

/// A header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The writer.
    pub version: Version,
    /// The members' compression.
    pub compression: Compression,
    /// Bytes of the object, header included.
    pub bytes: u64,
}

impl Header {
    /// Reads a header. Whether as many bytes follow as it says is the caller's to check.
    pub fn read(bytes: &[u8]) -> Result<Self, SealError> {
        Self::parse(&mut Reader::new(bytes))
    }

    pub(crate) fn parse(reader: &mut Reader<'_>) -> Result<Self, SealError> {
        if reader.u16()? != MAGIC {
            return Err(SealError::Magic);
        }
        let [size, major, minor, compression] = reader.array()?;
        let version = Version { major, minor };
        // 3.4 and 3.5 had another header, or other rules for seeds.
        if !(major == 3 && minor >= 6 || major == 4) {
            return Err(SealError::Version { major, minor });
        }
        if usize::from(size) != HEADER || reader.u16()? != 0 {
            return Err(SealError::Magic);
        }
        let (compression, bytes) = (Compression::from_number(compression)?, reader.u64()?);
        if bytes < HEADER as u64 {
            return Err(SealError::Truncated { expected: HEADER as u64, found: bytes });
        }
        Ok(Self { version, compression, bytes })
    }

    /// A nested object: its members, which are never compressed.
    pub(crate) fn nested<'b>(reader: &mut Reader<'b>) -> Result<(Self, Reader<'b>), SealError> {
        let header = Self::parse(reader)?;
        if header.compression != Compression::None {
            return Err(SealError::Value("an object inside another one is compressed"));
        }
        let members = reader.take(header.bytes - HEADER as u64)?;
        Ok((header, Reader::new(members)))
    }

    pub(crate) fn write(out: &mut Vec<u8>, version: Version, compression: Compression, bytes: usize) {
        out.extend_from_slice(&MAGIC.to_le_bytes());
        out.extend_from_slice(&[HEADER as u8, version.major, version.minor, compression as u8, 0, 0]);
        out.extend_from_slice(&(bytes as u64).to_le_bytes());
    }
}

/// The members of an outermost object, at most `limit` bytes of them; they may be a secret key's.
pub(crate) fn open(bytes: &[u8], limit: u64) -> Result<(Header, Zeroizing<Vec<u8>>), SealError> {
    let (header, members) = split(bytes)?;
    Ok((header, inflate(members, header.compression, limit)?))
}

/// The first `count` bytes of an outermost object's members, or all where there are fewer. No more is inflated than that needs.
pub(crate) fn first(bytes: &[u8], count: usize) -> Result<Zeroizing<Vec<u8>>, SealError> {
    let (header, members) = split(bytes)?;
    Ok(survey(members, header.compression, count, count as u64)?.0)
}

/// The header of an outermost object, and its members as they are in the file.
pub(crate) fn split(bytes: &[u8]) -> Result<(Header, &[u8]), SealError> {
    let mut reader = Reader::new(bytes);
    let header = Header::parse(&mut reader)?;
    let found = bytes.len() as u64;
    if found < header.bytes {
        return Err(SealError::Truncated { expected: header.bytes, found });
    }
    if found > header.bytes {
        return Err(SealError::Trailing { extra: found - header.bytes });
    }
    Ok((header, reader.take(header.bytes - HEADER as u64)?))
}

/// An outermost object.
pub(crate) fn close(members: &[u8], version: Version, compression: Compression) -> Vec<u8> {
    let members = deflate(members, compression);
    let mut out = Vec::with_capacity(HEADER + members.len());
    Header::write(&mut out, version, compression, HEADER + members.len());
    out.extend_from_slice(&members);
    out
}
