//! Reads a segment.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use parquet::column::reader::get_typed_column_reader;
use parquet::data_type::{ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::file::properties::ReaderProperties;
use parquet::file::reader::{ChunkReader as _, FileReader as _, RowGroupReader, SerializedFileReader};
use parquet::file::serialized_reader::SerializedRowGroupReader;
use parquet::file::statistics::Statistics;
use sotto_wire::{Digest, window_replaces};

use crate::block::Block;
use crate::columns::{self, Column, Values};
use crate::file::{Held, Shared};
use crate::{Kind, SegmentError};

/// Largest number of rows of a block that is read: more than a writer makes.
const MOST_READ: i64 = 1 << 16;

/// An open segment.
///
/// Example: [`crate`]
pub struct Segment {
    file: Shared,
    reader: SerializedFileReader<Shared>,
    digest: Digest,
    /// The digests of the blocks.
    blocks: Vec<Digest>,
}

impl Segment {
    /// Opens a file whose bytes have this digest. Reads its footer alone.
    pub fn open(path: &Path, digest: Digest) -> Result<Self, SegmentError> {
        let file = Shared::new(File::open(path)?)?;
        let reader = SerializedFileReader::new(file.clone())?;
        let metadata = reader.metadata().file_metadata();
        let entry = |key: &str| {
            let mut entries = metadata.key_value_metadata().into_iter().flatten();
            entries.find(|entry| entry.key == key).and_then(|entry| entry.value.clone())
        };
        if entry(columns::VERSION_KEY).as_deref() != Some(columns::VERSION) {
            return Err(SegmentError::Layout("the file is no segment of a version that this program knows"));
        }
        let found = metadata.schema_descr().columns().iter();
        let names = columns::ALL.into_iter().map(Column::name);
        if !found.map(|column| column.name().to_owned()).eq(names.map(str::to_owned)) {
            return Err(SegmentError::Layout("the file has other columns than a segment"));
        }
        let digests =
            entry(columns::DIGESTS_KEY).and_then(|digits| hex::decode(digits).ok()).unwrap_or_default();
        let blocks = digests.as_chunks::<32>().0.to_vec();
        if blocks.len() != reader.num_row_groups() {
            return Err(SegmentError::Layout("the segment lacks the digests of its blocks"));
        }
        Ok(Self { file, reader, digest, blocks })
    }

    /// Returns the number of blocks.
    #[must_use]
    pub fn blocks(&self) -> usize {
        self.reader.num_row_groups()
    }

    /// Returns true if the file has the digest that it was written with. Reads the whole file.
    pub fn is_right(&self) -> io::Result<bool> {
        Ok(self.hashed(0, u64::MAX)? == self.digest)
    }

    /// Returns the digest of bytes of the file.
    fn hashed(&self, from: u64, bytes: u64) -> io::Result<Digest> {
        hashed(self.file.from(from).take(bytes))
    }

    /// Returns the place of a block in the file, and its bytes.
    fn range(&self, number: usize) -> (u64, u64) {
        let group = self.reader.metadata().row_group(number);
        let ranges = || group.columns().iter().map(|column| column.byte_range());
        let from = ranges().map(|(from, _)| from).min().unwrap_or_default();
        let end = ranges().map(|(from, bytes)| from.saturating_add(bytes)).max().unwrap_or_default();
        (from, end - from)
    }

    /// Refuses a block whose bytes are not those that were written.
    fn check(&self, number: usize) -> Result<(), SegmentError> {
        let (from, bytes) = self.range(number);
        if self.hashed(from, bytes)? != self.blocks[number] {
            return Err(SegmentError::Digest);
        }
        Ok(())
    }

    /// Reads the columns of a block but its bodies.
    pub fn block(&self, number: usize) -> Result<Block, SegmentError> {
        // Refuses a number that is too large.
        self.group(number)?;
        self.check(number)?;
        self.columns(number)
    }

    /// Reads the columns of a block that sums need, at once: windows with their heads, and with `with_parts` their bodies. Others
    /// are empty.
    ///
    /// # Errors
    /// [`SegmentError`] if the block is not the one that was written.
    pub fn windows(&self, number: usize, with_parts: bool) -> Result<Block, SegmentError> {
        // Refuses a number that is too large.
        self.group(number)?;
        let (from, bytes) = self.range(number);
        let bytes = self.file.get_bytes(from, usize::try_from(bytes).unwrap_or(usize::MAX))?;
        if *blake3::hash(&bytes).as_bytes() != self.blocks[number] {
            return Err(SegmentError::Digest);
        }
        let metadata = self.reader.metadata().row_group(number);
        let (held, properties) =
            (Arc::new(Held { from, bytes }), Arc::new(ReaderProperties::builder().build()));
        let group = SerializedRowGroupReader::new(held, metadata, None, properties)?;
        let block = columns_of(&group, Column::is_of_sums)?;
        if with_parts {
            let _ = block.parts.set(parts_of(&group, block.rows())?);
        }
        Ok(block)
    }

    /// Reads the kinds of a block's rows, which may be damaged.
    pub fn kinds(&self, number: usize) -> Result<Vec<Kind>, SegmentError> {
        let group = self.group(number)?;
        let at = columns::ALL.iter().position(|column| *column == Column::Kind).unwrap_or_default();
        let kinds = take::<Int32Type>(group.as_ref(), at, rows(group.as_ref())?)?;
        Ok(kinds.into_iter().filter_map(|kind| Kind::of_number(kind.into())).collect())
    }

    /// Returns the first and the last start of a block's windows, milliseconds since 1970, as the footer states them. Reads nothing.
    #[must_use]
    pub fn starts(&self, number: usize) -> Option<(i64, i64)> {
        let at = columns::ALL.iter().position(|column| *column == Column::Start)?;
        let metadata = self.reader.metadata();
        let group = (number < self.blocks()).then(|| metadata.row_group(number))?;
        match group.column(at).statistics()? {
            Statistics::Int64(starts) => Some((*starts.min_opt()?, *starts.max_opt()?)),
            _ => None,
        }
    }

    /// Returns for each row of a block whether its window names others in whose place it comes. Reads one column, and does not
    /// compare the block's digest.
    ///
    /// # Errors
    /// [`SegmentError`] if the file cannot be read.
    pub fn replacing(&self, number: usize) -> Result<Vec<bool>, SegmentError> {
        let group = self.group(number)?;
        let at = columns::ALL.iter().position(|column| *column == Column::Flags).unwrap_or_default();
        let flags = take::<Int32Type>(group.as_ref(), at, rows(group.as_ref())?)?;
        Ok(flags.into_iter().map(|flags| window_replaces(flags as u8)).collect())
    }

    /// Reads a whole block that may be damaged.
    pub fn unchecked(&self, number: usize) -> Result<Block, SegmentError> {
        let block = self.columns(number)?;
        self.load_parts(number, &block)?;
        Ok(block)
    }

    fn columns(&self, number: usize) -> Result<Block, SegmentError> {
        columns_of(self.group(number)?.as_ref(), |column| column != Column::Parts)
    }

    /// Reads the bodies of a block, unless they are there.
    pub fn load_parts(&self, number: usize, block: &Block) -> Result<(), SegmentError> {
        if block.parts.get().is_none() {
            let _ = block.parts.set(parts_of(self.group(number)?.as_ref(), block.rows())?);
        }
        Ok(())
    }

    fn group(&self, number: usize) -> Result<Box<dyn RowGroupReader + '_>, SegmentError> {
        if number >= self.blocks() {
            return Err(SegmentError::Layout("the segment has fewer blocks"));
        }
        Ok(self.reader.get_row_group(number)?)
    }
}

/// Reads some columns of a block.
fn columns_of(group: &dyn RowGroupReader, wanted: impl Fn(Column) -> bool) -> Result<Block, SegmentError> {
    let (rows, mut block) = (rows(group)?, Block::default());
    for (at, column) in columns::ALL.into_iter().enumerate().filter(|(_, column)| wanted(*column)) {
        match column.values() {
            Values::Small => {
                let values = take::<Int32Type>(group, at, rows)?;
                put_numbers(&mut block, column, values.into_iter().map(i64::from).collect());
            }
            Values::Whole | Values::Time => {
                put_numbers(&mut block, column, take::<Int64Type>(group, at, rows)?);
            }
            Values::Text | Values::Bytes => put_bytes(&mut block, column, bytes(group, at, rows)?),
        }
    }
    if block.kinds.iter().any(|kind| Kind::of_number(*kind).is_none()) {
        return Err(SegmentError::Layout("a row has an unknown kind"));
    }
    Ok(block)
}

fn parts_of(group: &dyn RowGroupReader, rows: usize) -> Result<Vec<ByteArray>, SegmentError> {
    let at = columns::ALL.iter().position(|column| *column == Column::Parts).unwrap_or_default();
    bytes(group, at, rows)
}

/// Returns the digest of bytes.
pub fn hashed(mut bytes: impl Read) -> io::Result<Digest> {
    let (mut hasher, mut buffer) = (blake3::Hasher::new(), vec![0; 1 << 18]);
    loop {
        match bytes.read(&mut buffer)? {
            0 => return Ok(*hasher.finalize().as_bytes()),
            read => hasher.update(&buffer[..read]),
        };
    }
}

fn rows(group: &dyn RowGroupReader) -> Result<usize, SegmentError> {
    let rows = group.metadata().num_rows();
    if !(1..=MOST_READ).contains(&rows) {
        return Err(SegmentError::Layout("a block has 1 to 65,536 rows"));
    }
    Ok(rows as usize)
}

fn take<T: DataType>(group: &dyn RowGroupReader, at: usize, rows: usize) -> Result<Vec<T::T>, SegmentError> {
    let mut column = get_typed_column_reader::<T>(group.get_column_reader(at)?);
    let mut values = Vec::with_capacity(rows);
    while values.len() < rows {
        let (read, ..) = column.read_records(rows - values.len(), None, None, &mut values)?;
        if read == 0 {
            return Err(SegmentError::Layout("a column has fewer rows than its block"));
        }
    }
    Ok(values)
}

fn bytes(group: &dyn RowGroupReader, at: usize, rows: usize) -> Result<Vec<ByteArray>, SegmentError> {
    take::<ByteArrayType>(group, at, rows)
}

fn put_numbers(block: &mut Block, column: Column, values: Vec<i64>) {
    let place = match column {
        Column::Kind => &mut block.kinds,
        Column::Number => &mut block.numbers,
        Column::Position => &mut block.positions,
        Column::Arrived => &mut block.arrived,
        Column::Bytes => &mut block.bytes,
        Column::Pad => &mut block.pads,
        Column::Start => &mut block.starts,
        Column::Ticks => &mut block.ticks,
        Column::First => &mut block.firsts,
        Column::Last => &mut block.lasts,
        Column::Readings => &mut block.readings,
        Column::Flags => &mut block.flags,
        Column::GroupIndex => &mut block.indexes,
        Column::GroupWindows => &mut block.counts,
        _ => return,
    };
    *place = values;
}

fn put_bytes(block: &mut Block, column: Column, values: Vec<ByteArray>) {
    let text = |values: &[ByteArray]| {
        String::from_utf8_lossy(values.first().map_or(&[], |first| first.data())).into_owned()
    };
    let place = match column {
        Column::Device => return block.device = text(&values),
        Column::Stream => return block.stream = text(&values),
        Column::Header => &mut block.headers,
        Column::Salt => &mut block.salts,
        Column::Lists => &mut block.lists,
        Column::Path => &mut block.paths,
        Column::Signature => &mut block.signatures,
        Column::Rest => &mut block.rests,
        _ => return,
    };
    *place = values;
}
