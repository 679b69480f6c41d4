//! The 16-byte header before every object, and the members after it.

use crate::compression::Compression;
use crate::error::SealError;
use crate::inflate::{deflate, inflate, survey};
use crate::reader::Reader;
use crate::tenseal;
use crate::version::Version;

const MAGIC: u16 = 0xa15e;
/// Bytes of a header.
pub(crate) const HEADER: usize = 16;

/// The options for writing an object.
///
/// Example: [`Header`]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Writing {
    /// The compression of the members.
    pub compression: Compression,
    /// The minor version of the SEAL 4 that will read the object, at least 1. Only BGV ciphertexts need it;
    /// other objects are written as version 3.6, which all later versions read.
    pub seal_4_minor: Option<u8>,
}

/// A header.
///
/// ```
/// use sotto_rlwe::{Bfv, Params};
/// use sotto_seal::{Chain, Compression, Header, Version, Writing};
///
/// let chain = Chain::new(&Params::<Bfv>::default_chain(4096, 65537)?)?;
/// let writing = Writing { compression: Compression::Zlib, ..Writing::default() };
/// let file = chain.seal().write(writing);
/// let header = Header::read(&file)?;
/// assert_eq!((header.version, header.compression), (Version::PORTABLE, Compression::Zlib));
/// assert_eq!(header.bytes, file.len() as u64);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The version of the writer.
    pub version: Version,
    /// The compression of the members.
    pub compression: Compression,
    /// Bytes of the object, header included.
    pub bytes: u64,
}

impl Header {
    /// Reads a header. The caller must compare its number of bytes with the actual one.
    ///
    /// # Errors
    /// [`SealError`] for bytes that are not a header of versions 3.6 to 4.x.
    pub fn read(bytes: &[u8]) -> Result<Self, SealError> {
        Self::parse(&mut Reader::new(bytes))
    }

    pub(crate) fn parse(reader: &mut Reader<'_>) -> Result<Self, SealError> {
        if reader.u16()? != MAGIC {
            return Err(SealError::Magic);
        }
        let [size, major, minor, compression] = reader.array()?;
        // SEAL 3.4 and 3.5 had another header, or other rules for seeds.
        if !(major == 3 && minor >= 6 || major == 4) {
            return Err(SealError::Version { major, minor });
        }
        let version = Version { major, minor };
        Self::rest(reader, version, size, compression).map_err(|refused| refused.of_version(version))
    }

    /// Checks the size and the compression, and reads the fields after them.
    fn rest(reader: &mut Reader<'_>, version: Version, size: u8, compression: u8) -> Result<Self, SealError> {
        if usize::from(size) != HEADER || reader.u16()? != 0 {
            return Err(SealError::Magic);
        }
        let (compression, bytes) = (Compression::from_number(compression)?, reader.u64()?);
        if bytes < HEADER as u64 {
            return Err(SealError::Truncated { expected: HEADER as u64, found: bytes });
        }
        Ok(Self { version, compression, bytes })
    }

    /// Reads a nested object's header and returns its members, which are never compressed.
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

/// Parses the members of an outermost object, at most `limit` bytes, which may be a secret key's. A refusal
/// names the version of the writer if it is later than the known ones.
pub(crate) fn read<T>(
    bytes: &[u8],
    limit: u64,
    parse: impl FnOnce(Version, &mut Reader<'_>) -> Result<T, SealError>,
) -> Result<T, SealError> {
    opened(bytes, |header, stored| {
        let members = inflate(stored, header.compression, limit)?;
        parse(header.version, &mut Reader::new(&members))
    })
}

/// Parses the first `count` bytes of an outermost object's members, or all if there are fewer. Inflates no
/// more than needed.
pub(crate) fn first<T>(
    bytes: &[u8],
    count: usize,
    parse: impl FnOnce(&mut Reader<'_>) -> Result<T, SealError>,
) -> Result<T, SealError> {
    opened(bytes, |header, stored| {
        let (start, _) = survey(stored, header.compression, count, count as u64)?;
        parse(&mut Reader::new(&start))
    })
}

/// Passes the header of an outermost object and its members as stored in the file.
pub(crate) fn opened<T>(
    bytes: &[u8],
    use_members: impl FnOnce(Header, &[u8]) -> Result<T, SealError>,
) -> Result<T, SealError> {
    let mut reader = Reader::new(bytes);
    let header = Header::parse(&mut reader).map_err(|refused| match tenseal::recognise(bytes) {
        Some(object) => SealError::Tenseal(object),
        None => refused,
    })?;
    let whole = whole(header, bytes.len() as u64).and_then(|()| reader.take(header.bytes - HEADER as u64));
    let used = whole.and_then(|members| use_members(header, members));
    used.map_err(|refused| refused.of_version(header.version))
}

/// Checks that a file has the bytes that its header states.
fn whole(header: Header, found: u64) -> Result<(), SealError> {
    if found < header.bytes {
        return Err(SealError::Truncated { expected: header.bytes, found });
    }
    if found > header.bytes {
        return Err(SealError::Trailing { extra: found - header.bytes });
    }
    Ok(())
}

/// Writes an outermost object.
pub(crate) fn close(members: &[u8], version: Version, compression: Compression) -> Vec<u8> {
    let members = deflate(members, compression);
    let mut out = Vec::with_capacity(HEADER + members.len());
    Header::write(&mut out, version, compression, HEADER + members.len());
    out.extend_from_slice(&members);
    out
}
