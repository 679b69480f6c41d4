//! The directory at the end of a Parquet file, checked before the crate allocates for it.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};

use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};

use super::MAGIC;
use crate::source::formats::typed::unharmed;

/// Maximum bytes of the directory: some 150,000 pieces of columns.
const LARGEST: u64 = 16 << 20;
/// Bytes behind the directory: its length, and the magic number.
const TAIL: u64 = 8;
/// Maximum depth of structures, in the directory and among the columns.
const DEEPEST: usize = 32;
/// The smallest structure that a list of the directory holds takes this many bytes.
const SMALLEST: usize = 3;
/// The field of the directory that lists the columns, and the field of a column that counts those in it.
const SCHEMA: i64 = 2;
const CHILDREN: i64 = 5;

/// Reads the directory of a file.
pub(super) fn read(file: &mut File) -> Result<ParquetMetaData, String> {
    let ends = || "it ends in the middle: copy it again".to_owned();
    let failed = |error: std::io::Error| error.to_string();
    let length = file.metadata().map_err(failed)?.len();
    let before = length.checked_sub(TAIL).ok_or_else(ends)?;
    let mut tail = [0; TAIL as usize];
    file.seek(SeekFrom::Start(before)).map_err(failed)?;
    file.read_exact(&mut tail).map_err(failed)?;
    match &tail[4..] {
        b"PARE" => return Err("it is encrypted: write it without encryption".to_owned()),
        magic if magic != MAGIC => return Err(ends()),
        _ => {}
    }
    let size = u64::from(u32::from_le_bytes([tail[0], tail[1], tail[2], tail[3]]));
    if size > before {
        return Err(ends());
    }
    if size > LARGEST {
        return Err(format!(
            "its directory has {size} bytes, more than 16 MiB: write it with fewer row groups"
        ));
    }
    let mut bytes = vec![0; size as usize];
    file.seek(SeekFrom::Start(before - size)).map_err(failed)?;
    file.read_exact(&mut bytes).map_err(failed)?;
    let damaged = || "its directory is damaged: copy it again".to_owned();
    if !is_sound(&bytes) {
        return Err(damaged());
    }
    unharmed(|| ParquetMetaDataReader::decode_metadata(&bytes).map_err(|_| damaged())).ok_or_else(damaged)?
}

/// Returns true if the bytes are structures of the compact protocol of Thrift with true lengths, and if neither they nor
/// the columns are nested deeply.
fn is_sound(bytes: &[u8]) -> bool {
    let mut walk = Walk { bytes, left: Vec::new() };
    walk.structure(0, Place::Directory).is_some()
}

/// The part of the footer in which a structure stands.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Directory,
    /// One of the directory's columns or groups of them.
    Column,
    Other,
}

struct Walk<'b> {
    bytes: &'b [u8],
    /// Columns that are still to come in each open group.
    left: Vec<i64>,
}

impl Walk<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(*first)
    }

    fn skip(&mut self, count: usize) -> Option<()> {
        self.bytes = self.bytes.get(count..)?;
        Some(())
    }

    /// Reads a number of variable length.
    fn number(&mut self) -> Option<u64> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    fn signed(&mut self) -> Option<i64> {
        let number = self.number()?;
        Some((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    fn structure(&mut self, depth: usize, place: Place) -> Option<()> {
        let (mut field, mut children) = (0_i64, 0);
        loop {
            let head = self.byte()?;
            if head == 0 {
                break;
            }
            field = match i64::from(head >> 4) {
                0 => self.signed()?,
                step => field.checked_add(step)?,
            };
            let kind = head & 0x0f;
            if place == Place::Column && field == CHILDREN && kind == 5 {
                children = self.signed()?;
                continue;
            }
            let inner =
                if place == Place::Directory && field == SCHEMA { Place::Column } else { Place::Other };
            // The value of a boolean field is its kind.
            if kind > 2 {
                self.value(kind, depth + 1, inner)?;
            }
        }
        if place == Place::Column { self.open(children) } else { Some(()) }
    }

    /// Counts a column, and opens a group if it has any in it.
    fn open(&mut self, children: i64) -> Option<()> {
        if let Some(left) = self.left.last_mut() {
            *left -= 1;
        }
        if children > 0 {
            self.left.push(children);
        }
        while self.left.last().is_some_and(|left| *left <= 0) {
            self.left.pop();
        }
        (self.left.len() <= DEEPEST).then_some(())
    }

    fn value(&mut self, kind: u8, depth: usize, place: Place) -> Option<()> {
        if depth > DEEPEST {
            return None;
        }
        match kind {
            1..=3 => self.skip(1),
            4..=6 => self.number().map(drop),
            7 => self.skip(8),
            8 => {
                let length = self.number()?;
                self.skip(usize::try_from(length).ok()?)
            }
            9 | 10 => {
                let head = self.byte()?;
                let count = if head >> 4 == 15 { self.number()? } else { u64::from(head >> 4) };
                let kind = head & 0x0f;
                let smallest = if kind == 12 { SMALLEST } else { 1 };
                if count > (self.bytes.len() / smallest) as u64 {
                    return None;
                }
                (0..count).try_for_each(|_| self.value(kind, depth + 1, place))
            }
            12 => self.structure(depth, place),
            // Maps, and kinds that there are not.
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A list of columns as the second field of a directory.
    fn directory(columns: &[&[u8]]) -> Vec<u8> {
        let mut bytes = vec![0x29, 0xfc, columns.len() as u8];
        columns.iter().for_each(|column| bytes.extend_from_slice(column));
        bytes.push(0);
        bytes
    }

    #[test]
    fn deep_and_false_directories_are_refused() {
        // Field 4 is a name of one byte; field 5 counts the columns in a group.
        let (group, leaf): (&[u8], &[u8]) = (&[0x48, 1, b'g', 0x15, 2, 0], &[0x48, 1, b'x', 0]);
        for (groups, sound) in [(1, true), (DEEPEST, true), (DEEPEST + 1, false)] {
            let columns: Vec<&[u8]> = std::iter::repeat_n(group, groups).chain([leaf]).collect();
            assert_eq!(is_sound(&directory(&columns)), sound, "{groups}");
        }
        let wide: Vec<&[u8]> =
            [&[0x48, 1, b'g', 0x15, 200, 1, 0][..]].into_iter().chain([leaf; 100]).collect();
        assert!(is_sound(&directory(&wide)));
        // A list that claims more than there is.
        assert!(!is_sound(&[0x29, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x0f, 0, 0]));
        // Structures within structures.
        assert!(!is_sound(&[0x1c; 100]) && !is_sound(&[]) && !is_sound(&[0x18, 0xff, 0xff, 0x7f]));
    }
}
