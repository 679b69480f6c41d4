//! Pages of a column: read with the crate, decompressed here, and checked so that no number in them decides how much
//! memory is taken.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek as _, SeekFrom};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use parquet::basic::{Compression, Encoding, Type};
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::{ChunkReader, Length, SerializedPageReader};

use super::packed::{LARGEST_PAGE, unpacked};

/// Bytes of a page's head that are read at once.
const HEAD: usize = 512;
/// Maximum number of texts of a page whose lengths are encoded as differences.
const MOST_TEXTS: u64 = 1 << 24;

/// A file that several columns read in turn.
pub(super) struct Shared {
    file: Mutex<File>,
    length: u64,
}

impl Shared {
    pub(super) fn new(file: File) -> io::Result<Self> {
        let length = file.metadata()?.len();
        Ok(Self { file: Mutex::new(file), length })
    }

    fn read_at(&self, at: u64, room: &mut [u8]) -> io::Result<usize> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(at))?;
        file.read(room)
    }
}

impl Length for Shared {
    fn len(&self) -> u64 {
        self.length
    }
}

/// Reads on from a place of the file.
pub(super) struct From {
    file: Arc<Shared>,
    at: u64,
}

impl Read for From {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read_at(self.at, room)?;
        self.at += count as u64;
        Ok(count)
    }
}

/// The file, as the crate reads it.
struct Source(Arc<Shared>);

impl Length for Source {
    fn len(&self) -> u64 {
        self.0.length
    }
}

impl ChunkReader for Source {
    type T = BufReader<From>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        Ok(BufReader::with_capacity(HEAD, From { file: Arc::clone(&self.0), at: start }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let inside = start.checked_add(length as u64).is_some_and(|end| end <= self.0.length);
        if !inside || length > LARGEST_PAGE {
            return Err(refused(if inside { "a page has more than 128 MiB" } else { "a page is cut off" }));
        }
        let mut bytes = vec![0; length];
        From { file: Arc::clone(&self.0), at: start }.read_exact(&mut bytes)?;
        Ok(bytes.into())
    }
}

fn refused(reason: &str) -> ParquetError {
    ParquetError::General(reason.to_owned())
}

/// The pages of a column in a row group.
pub(super) struct Pages {
    pages: SerializedPageReader<Source>,
    compression: Compression,
    kind: Type,
    /// Bytes of a value of fixed length.
    length: usize,
    /// True if a page begins with the levels that tell nulls.
    levels: bool,
}

impl Pages {
    pub(super) fn new(file: &Arc<Shared>, column: &ColumnChunkMetaData, rows: usize) -> Result<Self> {
        let (compression, kind) = (column.compression(), column.column_type());
        // Without a compression the crate returns the bytes of pages as they are.
        let plain = column.clone().into_builder().set_compression(Compression::UNCOMPRESSED).build()?;
        let pages = SerializedPageReader::new(Arc::new(Source(Arc::clone(file))), &plain, rows, None)?;
        let described = column.column_descr();
        let length = usize::try_from(described.type_length()).unwrap_or_default();
        Ok(Self { pages, compression, kind, length, levels: described.max_def_level() > 0 })
    }

    fn checked(&self, page: Page) -> Result<Page> {
        let unpack = |bytes: Bytes| unpacked(bytes, self.compression).map_err(|reason| refused(&reason));
        Ok(match page {
            Page::DictionaryPage { buf, num_values, encoding, is_sorted } => {
                let buf = unpack(buf)?;
                if buf.len() < self.least(num_values) {
                    return Err(refused("a dictionary is cut off"));
                }
                Page::DictionaryPage { buf, num_values, encoding, is_sorted }
            }
            Page::DataPage { buf, num_values, encoding, def_level_encoding, rep_level_encoding, .. } => {
                let buf = unpack(buf)?;
                check_encoding(encoding, self.values_of(&buf))?;
                let statistics = None;
                Page::DataPage {
                    buf,
                    num_values,
                    encoding,
                    def_level_encoding,
                    rep_level_encoding,
                    statistics,
                }
            }
            Page::DataPageV2 {
                buf,
                num_values,
                encoding,
                num_nulls,
                num_rows,
                def_levels_byte_len,
                rep_levels_byte_len,
                is_compressed,
                ..
            } => {
                let levels = def_levels_byte_len as usize + rep_levels_byte_len as usize;
                if levels > buf.len() {
                    return Err(refused("a page is cut off"));
                }
                let values = if is_compressed { unpack(buf.slice(levels..))? } else { buf.slice(levels..) };
                check_encoding(encoding, Some(&values))?;
                let buf = Bytes::from([&buf[..levels], &values[..]].concat());
                Page::DataPageV2 {
                    buf,
                    num_values,
                    encoding,
                    num_nulls,
                    num_rows,
                    def_levels_byte_len,
                    rep_levels_byte_len,
                    is_compressed: false,
                    statistics: None,
                }
            }
        })
    }

    /// Returns the least number of bytes of so many values without a compression.
    fn least(&self, values: u32) -> usize {
        let each = match self.kind {
            Type::BOOLEAN => 0,
            Type::INT32 | Type::FLOAT | Type::BYTE_ARRAY => 4,
            Type::INT64 | Type::DOUBLE => 8,
            Type::INT96 => 12,
            Type::FIXED_LEN_BYTE_ARRAY => self.length.max(1),
        };
        each.saturating_mul(values as usize)
    }

    /// Returns the values of a page of the first version, behind the levels.
    fn values_of<'b>(&self, bytes: &'b [u8]) -> Option<&'b [u8]> {
        if !self.levels {
            return Some(bytes);
        }
        let (length, rest) = bytes.split_first_chunk::<4>()?;
        rest.get(u32::from_le_bytes(*length) as usize..)
    }
}

/// Checks the lengths of the lists that the crate makes at once.
fn check_encoding(encoding: Encoding, values: Option<&[u8]>) -> Result<()> {
    match encoding {
        // A value may be as long as its page: thousands of them would fill all memory.
        Encoding::DELTA_BYTE_ARRAY => Err(refused(
            "a column of text has the encoding DELTA_BYTE_ARRAY: write it with PLAIN or a dictionary",
        )),
        Encoding::DELTA_LENGTH_BYTE_ARRAY => match values.and_then(stated) {
            Some(count) if count <= MOST_TEXTS => Ok(()),
            _ => Err(refused("a page states too many texts")),
        },
        _ => Ok(()),
    }
}

/// Returns the number of values that numbers encoded as differences state: their third number.
fn stated(bytes: &[u8]) -> Option<u64> {
    let (mut at, mut number) = (bytes.iter(), 0);
    for _ in 0..3 {
        number = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = at.next()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                break;
            }
        }
    }
    Some(number)
}

impl Iterator for Pages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl PageReader for Pages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let page = self.pages.get_next_page()?;
        page.map(|page| self.checked(page)).transpose()
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.pages.skip_next_page()
    }
}
