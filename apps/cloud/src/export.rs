//! Exports windows of sums as Parquet that any engine reads: one file for each header of a stream, places as lists of whole
//! numbers.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use parquet::basic::{Compression, Encoding, LogicalType, Repetition, TimeUnit, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{ColumnPath, Type, TypePtr};
use sotto_sums::TAG_BYTES;
use sotto_wire::{Envelope, StreamHeader};

/// Windows of a row group.
const MOST_ROWS: usize = 2048;

/// A window to export.
pub(crate) struct Exported {
    pub(crate) envelope: Envelope,
    pub(crate) position: u64,
    pub(crate) stored_at: i64,
}

/// A file that is being written.
pub(crate) struct Exporter {
    writer: SerializedFileWriter<fs::File>,
    header: Arc<StreamHeader>,
    waiting: Vec<Exported>,
}

/// Names and kinds of the columns before the lists.
const COLUMNS: [(&str, Physical); 16] = [
    ("device", Physical::BYTE_ARRAY),
    ("stream", Physical::BYTE_ARRAY),
    ("header", Physical::BYTE_ARRAY),
    ("number", Physical::INT64),
    ("position", Physical::INT64),
    ("arrived", Physical::INT64),
    ("salt", Physical::BYTE_ARRAY),
    ("pad", Physical::INT64),
    ("start", Physical::INT64),
    ("ticks", Physical::INT32),
    ("first", Physical::INT64),
    ("last", Physical::INT64),
    ("readings", Physical::INT32),
    ("left_out", Physical::INT32),
    ("replaces", Physical::INT32),
    ("provisional", Physical::INT32),
];

/// The lists of whole numbers: places, the two parts of the tags of 31 and 30 bits.
const LISTS: [&str; 3] = ["places", "tags_low", "tags_high"];

fn schema() -> parquet::errors::Result<TypePtr> {
    let mut fields = Vec::with_capacity(COLUMNS.len() + LISTS.len());
    for (name, physical) in COLUMNS {
        let logical = match name {
            "arrived" | "start" | "first" | "last" => Some(LogicalType::timestamp(true, TimeUnit::MILLIS)),
            "device" | "stream" | "header" => Some(LogicalType::String),
            _ => None,
        };
        let column = Type::primitive_type_builder(name, physical).with_repetition(Repetition::REQUIRED);
        fields.push(Arc::new(column.with_logical_type(logical).build()?));
    }
    for name in LISTS {
        let element = Type::primitive_type_builder("element", Physical::INT64);
        let element = Arc::new(element.with_repetition(Repetition::REQUIRED).build()?);
        let list = Type::group_type_builder("list").with_repetition(Repetition::REPEATED);
        let list = Arc::new(list.with_fields(vec![element]).build()?);
        let column = Type::group_type_builder(name).with_repetition(Repetition::REQUIRED);
        fields.push(Arc::new(
            column.with_logical_type(Some(LogicalType::List)).with_fields(vec![list]).build()?,
        ));
    }
    Ok(Arc::new(Type::group_type_builder("windows").with_fields(fields).build()?))
}

impl Exporter {
    /// Creates a file for windows of a stream's header.
    pub(crate) fn create(path: &Path, header: Arc<StreamHeader>) -> anyhow::Result<Self> {
        let mut properties = WriterProperties::builder()
            .set_created_by(concat!("sotto-cloud ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_compression(Compression::UNCOMPRESSED);
        let lists = LISTS.map(|name| ColumnPath::new(vec![name.into(), "list".into(), "element".into()]));
        let numbers = COLUMNS.iter().filter(|(_, physical)| *physical != Physical::BYTE_ARRAY);
        for column in numbers.map(|(name, _)| ColumnPath::from(*name)).chain(lists) {
            properties = properties
                .set_column_dictionary_enabled(column.clone(), false)
                .set_column_encoding(column, Encoding::DELTA_BINARY_PACKED);
        }
        let file = fs::File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
        let writer = SerializedFileWriter::new(file, schema()?, Arc::new(properties.build()))?;
        Ok(Self { writer, header, waiting: Vec::new() })
    }

    pub(crate) fn push(&mut self, window: Exported) -> anyhow::Result<()> {
        self.waiting.push(window);
        if self.waiting.len() < MOST_ROWS { Ok(()) } else { self.flush() }
    }

    pub(crate) fn finish(mut self) -> anyhow::Result<()> {
        self.flush()?;
        Ok(self.writer.into_inner()?.flush()?)
    }

    fn flush(&mut self) -> anyhow::Result<()> {
        let rows = std::mem::take(&mut self.waiting);
        if rows.is_empty() {
            return Ok(());
        }
        let lists = rows.iter().map(|row| self.lists(&row.envelope)).collect::<anyhow::Result<Vec<_>>>()?;
        let mut group = self.writer.next_row_group()?;
        for (name, physical) in COLUMNS {
            match physical {
                Physical::BYTE_ARRAY => {
                    let texts: Vec<ByteArray> =
                        rows.iter().map(|row| text(name, &row.envelope).into()).collect();
                    put::<ByteArrayType>(&mut group, &texts, None)?;
                }
                Physical::INT32 => {
                    let numbers: Vec<i32> = rows.iter().map(|row| number(name, row) as i32).collect();
                    put::<Int32Type>(&mut group, &numbers, None)?;
                }
                _ => {
                    let numbers: Vec<i64> = rows.iter().map(|row| number(name, row)).collect();
                    put::<Int64Type>(&mut group, &numbers, None)?;
                }
            }
        }
        for at in 0..LISTS.len() {
            let (mut values, mut levels, mut repeated) = (Vec::new(), Vec::new(), Vec::new());
            for row in &lists {
                // An empty list has a level of its own.
                let count = row[at].len().max(1);
                levels.extend(std::iter::repeat_n(i16::from(!row[at].is_empty()), count));
                repeated.extend((0..count).map(|index| i16::from(index > 0)));
                values.extend_from_slice(&row[at]);
            }
            put::<Int64Type>(&mut group, &values, Some((&levels, &repeated)))?;
        }
        group.close()?;
        Ok(())
    }

    /// Returns the places of all parts of a window, and the low 31 and the high 30 bits of their tags.
    fn lists(&self, envelope: &Envelope) -> anyhow::Result<[Vec<i64>; 3]> {
        let short = || anyhow::anyhow!("a window lacks its parts");
        let window = envelope.signed_header().description().ok_or_else(short)?;
        let (ticks, mut rest) = (window.sent_ticks(), envelope.body().coefficients().ok_or_else(short)?);
        let [mut places, mut low, mut high] = [Vec::new(), Vec::new(), Vec::new()];
        for (number, part) in self.header.parts().iter().enumerate() {
            let bytes = self.header.sums_form(number)?.body_bytes(ticks);
            let (body, after) = rest.split_at_checked(bytes).ok_or_else(short)?;
            let (tag, after) = after.split_first_chunk::<TAG_BYTES>().ok_or_else(short)?;
            let mut bit = 0;
            let mut take = |width: u8| {
                places.push(bits(body, bit, width.into()));
                bit += usize::from(width);
            };
            let (once, each): (Vec<_>, Vec<_>) =
                part.quantities.iter().partition(|placed| placed.quantity.is_once());
            for placed in &once {
                (0..placed.quantity.places()).for_each(|_| take(placed.width));
            }
            for placed in (0..ticks).flat_map(|_| &each) {
                (0..placed.quantity.places()).for_each(|_| take(placed.width));
            }
            let tag = u64::from_le_bytes(*tag);
            low.push((tag & ((1 << 31) - 1)).cast_signed());
            high.push((tag >> 31).cast_signed());
            rest = after;
        }
        Ok([places, low, high])
    }
}

/// Returns `width` bits, at most 60, from a bit on; the lowest bit of a byte is the first.
fn bits(bytes: &[u8], from: usize, width: usize) -> i64 {
    let mut value = 0_u128;
    for (at, byte) in bytes.iter().skip(from / 8).take(9).enumerate() {
        value |= u128::from(*byte) << (8 * at);
    }
    ((value >> (from % 8)) & ((1 << width) - 1)) as i64
}

fn text(name: &str, envelope: &Envelope) -> Vec<u8> {
    let header = envelope.header();
    match name {
        "device" => header.device.clone().into(),
        "stream" => header.stream.clone().into(),
        "header" => {
            envelope.window().map(|(stream, _)| hex::encode(stream.id().0)).unwrap_or_default().into()
        }
        _ => envelope.mask().map(|mask| mask.salt.to_vec()).unwrap_or_default(),
    }
}

fn number(name: &str, row: &Exported) -> i64 {
    let header = row.envelope.header();
    let window = || row.envelope.signed_header().description();
    match name {
        "number" => header.sequence.cast_signed(),
        "position" => row.position.cast_signed(),
        "arrived" => row.stored_at,
        "pad" => row.envelope.mask().map_or(0, |mask| mask.sequence.cast_signed()),
        "start" => window().map_or(0, |window| window.start),
        "ticks" => window().map_or(0, |window| window.length.into()),
        "first" => header.started_at,
        "last" => header.ended_at,
        "readings" => header.readings.into(),
        "left_out" => window()
            .map_or(0, |window| window.left_out.iter().map(|left_out| left_out.total().cast_signed()).sum()),
        "replaces" => i64::from(row.envelope.replaces()),
        _ => i64::from(row.envelope.signed_header().is_provisional()),
    }
}

fn put<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, fs::File>,
    values: &[T::T],
    levels: Option<(&[i16], &[i16])>,
) -> anyhow::Result<()> {
    let mut column = group.next_column()?.context("the schema has fewer columns")?;
    let (definition, repetition) = levels.unzip();
    column.typed::<T>().write_batch(values, definition, repetition)?;
    Ok(column.close()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_those_of_a_body() {
        let bytes = [0b1010_0101, 0xff, 0x00, 0x81];
        assert_eq!(bits(&bytes, 0, 4), 0b0101);
        assert_eq!(bits(&bytes, 4, 8), 0b1111_1010);
        assert_eq!(bits(&bytes, 8, 16), 0x00ff);
        assert_eq!(bits(&bytes, 24, 8), 0x81);
    }
}
