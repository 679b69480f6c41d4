//! Writes a segment.

use std::fs::File;
use std::io::{self, Write};
use std::mem;
use std::ops::Range;
use std::sync::Arc;

use parquet::data_type::{ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::file::metadata::KeyValue;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use sotto_wire::{Digest, StreamTag};

use crate::columns::{self, Column, Values};
use crate::row::{Facts, Row, Window};
use crate::{MOST_BLOCK_BYTES, MOST_ROWS, SegmentError};

/// The place of a row in the segment that is being written.
///
/// Example: [`Writer`]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The block.
    pub block: u32,
    /// The row in it.
    pub row: u32,
}

/// Writes rows, log after log, each in the order of its numbers.
///
/// Example: [`Segment`](crate::Segment)
pub struct Writer {
    file: SerializedFileWriter<Hashed>,
    device: String,
    stream: String,
    waiting: Vec<Row>,
    /// The stream's header of the windows that wait: a block has one.
    tag: Option<StreamTag>,
    /// Bytes of the bodies that wait.
    bytes: usize,
    blocks: u32,
    /// For each block its digest.
    digests: Vec<Digest>,
}

/// A file whose bytes are hashed as they are written.
struct Hashed {
    file: io::BufWriter<File>,
    digest: blake3::Hasher,
    bytes: u64,
    /// That of the present block.
    block: blake3::Hasher,
}

impl Write for Hashed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.digest.update(&bytes[..written]);
        self.block.update(&bytes[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Writer {
    /// Writes to an empty file.
    ///
    /// # Errors
    /// [`SegmentError`] if the file cannot be written.
    pub fn new(file: File) -> Result<Self, SegmentError> {
        let file = Hashed {
            file: io::BufWriter::with_capacity(1 << 18, file),
            digest: blake3::Hasher::new(),
            bytes: 0,
            block: blake3::Hasher::new(),
        };
        let file = SerializedFileWriter::new(file, columns::schema()?, Arc::new(columns::properties()))?;
        let (device, stream) = (String::new(), String::new());
        Ok(Self {
            file,
            device,
            stream,
            waiting: Vec::new(),
            tag: None,
            bytes: 0,
            blocks: 0,
            digests: Vec::new(),
        })
    }

    /// Begins the windows of another log.
    pub fn begin(&mut self, device: &str, stream: &str) -> Result<(), SegmentError> {
        self.flush()?;
        (self.device, self.stream) = (device.to_owned(), stream.to_owned());
        Ok(())
    }

    /// Appends a window, whose number is above those before it in its log. Returns its place.
    pub fn push(&mut self, row: Row) -> Result<Placed, SegmentError> {
        let is_full = self.waiting.len() >= MOST_ROWS || self.bytes >= MOST_BLOCK_BYTES;
        let tag = row.window.facts().map(|facts| facts.tag);
        let is_other = self.tag.zip(tag).is_some_and(|(before, tag)| before != tag);
        if is_other || (is_full && !continues_group(self.waiting.last(), &row)) {
            self.flush()?;
        }
        self.tag = tag.or(self.tag);
        let placed = Placed { block: self.blocks, row: self.waiting.len() as u32 };
        self.bytes += row.window.body_bytes();
        self.waiting.push(row);
        Ok(placed)
    }

    /// Writes the rest, and makes the file durable. Returns its digest and its length.
    pub fn finish(mut self) -> Result<(Digest, u64), SegmentError> {
        self.flush()?;
        let digests = hex::encode(self.digests.as_flattened());
        self.file.append_key_value_metadata(KeyValue::new(columns::DIGESTS_KEY.to_owned(), digests));
        let Hashed { file, digest, bytes, .. } = self.file.into_inner()?;
        let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.sync_all()?;
        Ok((*digest.finalize().as_bytes(), bytes))
    }

    fn flush(&mut self) -> Result<(), SegmentError> {
        let rows = mem::take(&mut self.waiting);
        if rows.is_empty() {
            return Ok(());
        }
        // The digest of a block covers its own bytes.
        self.file.flush()?;
        self.file.inner_mut().block.reset();
        let mut block = self.file.next_row_group()?;
        for column in columns::ALL {
            let of_log = match column {
                Column::Device => Some(&self.device),
                Column::Stream => Some(&self.stream),
                _ => None,
            };
            match column.values() {
                Values::Small => {
                    let numbers: Vec<i32> = rows.iter().map(|row| number(column, row) as i32).collect();
                    put::<Int32Type>(&mut block, &numbers)?;
                }
                Values::Whole | Values::Time => {
                    let numbers: Vec<i64> = rows.iter().map(|row| number(column, row)).collect();
                    put::<Int64Type>(&mut block, &numbers)?;
                }
                Values::Text | Values::Bytes => {
                    let values = match of_log {
                        Some(name) => vec![ByteArray::from(name.as_bytes().to_vec()); rows.len()],
                        None => texts(column, &rows),
                    };
                    put::<ByteArrayType>(&mut block, &values)?;
                }
            }
        }
        block.close()?;
        self.file.flush()?;
        self.digests.push(*self.file.inner().block.finalize().as_bytes());
        (self.bytes, self.blocks, self.tag) = (0, self.blocks + 1, None);
        Ok(())
    }
}

fn put<T: DataType>(
    block: &mut SerializedRowGroupWriter<'_, Hashed>,
    values: &[T::T],
) -> Result<(), SegmentError> {
    let mut column = block.next_column()?.ok_or(SegmentError::Layout("the schema has fewer columns"))?;
    column.typed::<T>().write_batch(values, None, None)?;
    Ok(column.close()?)
}

/// Returns true if a window is of the same group as the one before, and behind it there.
fn continues_group(before: Option<&Row>, row: &Row) -> bool {
    let (Some(before), Some(facts)) = (before.and_then(|row| row.window.facts()), row.window.facts()) else {
        return false;
    };
    let (Some(place), Some(next)) = (&before.fields.place, &facts.fields.place) else { return false };
    before.fields.signature == facts.fields.signature
        && next.index == place.index + 1
        && next.count == place.count
}

/// Returns a number of a row; 0 where a deleted window has none.
fn number(column: Column, row: &Row) -> i64 {
    let facts = row.window.facts();
    let of = |value: fn(&Facts) -> i64| facts.map_or(0, value);
    let place = |value: fn(u8, u8) -> u8| {
        let place = facts.and_then(|facts| facts.fields.place.as_ref());
        place.map_or(0, |place| i64::from(value(place.index, place.count)))
    };
    match column {
        Column::Kind => row.window.kind().number().into(),
        Column::Number => row.sequence.cast_signed(),
        Column::Position => row.position.cast_signed(),
        Column::Arrived => row.stored_at,
        Column::Bytes => row.bytes.cast_signed(),
        Column::Pad => of(|facts| facts.pad.cast_signed()),
        Column::Start => of(|facts| facts.fields.start),
        Column::Ticks => of(|facts| facts.fields.ticks.into()),
        Column::First => of(|facts| facts.first),
        Column::Last => of(|facts| facts.last),
        Column::Readings => of(|facts| facts.readings.into()),
        Column::Flags => of(|facts| facts.fields.flags.into()),
        Column::GroupIndex => place(|index, _| index),
        Column::GroupWindows => place(|_, count| count),
        _ => 0,
    }
}

fn texts(column: Column, rows: &[Row]) -> Vec<ByteArray> {
    let of = |value: &dyn Fn(&Facts) -> Vec<u8>| -> Vec<ByteArray> {
        let value = |row: &Row| ByteArray::from(row.window.facts().map(value).unwrap_or_default());
        rows.iter().map(value).collect()
    };
    match column {
        Column::Header => of(&|facts| facts.tag.0.to_vec()),
        Column::Salt => of(&|facts| facts.fields.salt.to_vec()),
        Column::Lists => of(&|facts| facts.fields.lists.clone()),
        Column::Path => {
            // A group that is whole here needs none: its windows have its leaves.
            let mut paths =
                of(&|facts| facts.fields.place.as_ref().map(|place| place.path.clone()).unwrap_or_default());
            whole_groups(rows).for_each(|group| paths[group].fill(ByteArray::from(Vec::new())));
            paths
        }
        Column::Signature => {
            let mut signatures = of(&|facts| facts.fields.signature.to_vec());
            whole_groups(rows)
                .for_each(|group| signatures[group.start + 1..group.end].fill(ByteArray::from(Vec::new())));
            signatures
        }
        Column::Rest => rows
            .iter()
            .map(|row| match &row.window {
                Window::Whole { .. } => Vec::new().into(),
                Window::Head { rest, .. } => rest.clone().into(),
                Window::Deleted { leaf } => leaf.to_vec().into(),
            })
            .collect(),
        _ => rows
            .iter()
            .map(|row| match &row.window {
                Window::Whole { parts, .. } => parts.clone().into(),
                Window::Head { sum, .. } => sum.clone().into(),
                Window::Deleted { .. } => Vec::new().into(),
            })
            .collect(),
    }
}

/// Returns the rows of each group that is whole in a block, of whose windows none is deleted.
fn whole_groups(rows: &[Row]) -> impl Iterator<Item = Range<usize>> {
    let is_first = |row: &Row| {
        let place = row.window.facts().and_then(|facts| facts.fields.place.as_ref());
        place.filter(|place| place.index == 0).map(|place| usize::from(place.count))
    };
    (0..rows.len()).filter_map(move |first| {
        let count = is_first(&rows[first])?;
        let group = rows.get(first..first + count)?;
        let follow = group.windows(2).all(|pair| continues_group(Some(&pair[0]), &pair[1]));
        let whole = group.iter().all(|row| !matches!(row.window, Window::Deleted { .. }));
        (follow && whole).then_some(first..first + count)
    })
}
