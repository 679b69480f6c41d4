//! The contents of a segment: records of files, and the list of all files.

use std::io::{self, Read, Write};

use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::paths::is_in_a_plant;

const FILE: u8 = 1;
const LIST: u8 = 2;

/// Largest list, in bytes: some hundred thousand files.
const LARGEST_LIST: u32 = 64 << 20;

/// The list of a plant's files at the time of a segment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct List {
    /// The version of this format: 1.
    pub(super) version: u32,
    pub(super) folders: Vec<Folder>,
    /// In order of their paths.
    pub(super) files: Vec<Entry>,
}

/// A folder of the plant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Folder {
    pub(super) path: String,
    /// Permission bits.
    pub(super) mode: u32,
}

/// A file of the plant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entry {
    /// From the plant's folder, with `/`.
    pub(super) path: String,
    /// Permission bits.
    pub(super) mode: u32,
    /// Milliseconds since 1970.
    pub(super) modified: i64,
    pub(super) bytes: u64,
    /// BLAKE3, in hexadecimal.
    pub(super) digest: String,
    /// The number of the segment that has the file's contents.
    pub(super) segment: u32,
}

impl List {
    /// Decodes a list. Returns None if it is none of this version, or has a path that no plant has.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let list: Self = serde_json::from_slice(bytes).ok().filter(|list: &Self| list.version == 1)?;
        let paths = list.files.iter().map(|entry| &entry.path);
        let are_all =
            paths.chain(list.folders.iter().map(|folder| &folder.path)).all(|path| is_in_a_plant(path));
        are_all.then_some(list)
    }
}

/// Writes the head of a file's record; its bytes follow.
pub(super) fn write_file_head(out: &mut impl Write, path: &str, bytes: u64) -> io::Result<()> {
    out.write_all(&[FILE])?;
    out.write_all(&u16::try_from(path.len()).map_err(io::Error::other)?.to_le_bytes())?;
    out.write_all(path.as_bytes())?;
    out.write_all(&bytes.to_le_bytes())
}

pub(super) fn write_list(out: &mut impl Write, list: &[u8]) -> io::Result<()> {
    let length = u32::try_from(list.len()).ok().filter(|length| *length <= LARGEST_LIST);
    let length = length.ok_or_else(|| io::Error::other("the plant has too many files for one backup"))?;
    out.write_all(&[LIST])?;
    out.write_all(&length.to_le_bytes())?;
    out.write_all(list)
}

fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "its contents are damaged")
}

fn array<const N: usize>(from: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    from.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Reads the contents of a segment: gives each file with its path and its bytes to `file`, which need not read them all.
/// Returns the bytes of the list.
pub(super) fn read_contents(
    from: &mut impl Read,
    mut file: impl FnMut(&str, &mut dyn Read) -> io::Result<()>,
) -> io::Result<Zeroizing<Vec<u8>>> {
    loop {
        match array(from)? {
            [FILE] => {
                let length = u16::from_le_bytes(array(from)?);
                let mut path = Vec::new();
                from.take(length.into()).read_to_end(&mut path)?;
                let path = String::from_utf8(path).map_err(|_| damaged())?;
                if path.len() != usize::from(length) || !is_in_a_plant(&path) {
                    return Err(damaged());
                }
                let bytes = u64::from_le_bytes(array(from)?);
                let mut contents = from.take(bytes);
                file(&path, &mut contents)?;
                io::copy(&mut contents, &mut io::sink())?;
                if contents.limit() != 0 {
                    return Err(damaged());
                }
            }
            [LIST] => {
                let length = u32::from_le_bytes(array(from)?);
                let mut list = Zeroizing::new(Vec::new());
                from.take(length.min(LARGEST_LIST).into()).read_to_end(&mut list)?;
                let is_end = from.read(&mut [0])? == 0;
                if list.len() != length as usize || !is_end {
                    return Err(damaged());
                }
                return Ok(list);
            }
            _ => return Err(damaged()),
        }
    }
}

/// Reads the contents of a segment after decryption, for the fuzz targets. Returns the number of files in its list; None if
/// the bytes are no contents.
#[doc(hidden)]
#[must_use]
pub fn walked_contents(mut bytes: &[u8]) -> Option<usize> {
    let list = read_contents(&mut bytes, |_, _| Ok(())).ok()?;
    List::parse(&list).map(|list| list.files.len())
}
