//! Exports windows of sums as Parquet that any engine adds up: one file for each header of a stream, a column of whole numbers for
//! each place and two for each tag ([`TableColumn`]).

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
use sotto_sums::Answer;
use sotto_wire::{Envelope, StreamHeader, TableColumn, table_row};

/// Largest number of windows of a row group, and of whole numbers in it, which are in memory.
const MOST_ROWS: usize = 2048;
const MOST_NUMBERS: usize = 4 << 20;

/// A window to export.
pub(crate) struct Exported {
    pub(crate) envelope: Envelope,
    pub(crate) position: u64,
    pub(crate) stored_at: i64,
    /// The channels whose readings a later window replaces.
    pub(crate) replaced: String,
}

/// A file that is being written.
pub(crate) struct Exporter {
    writer: SerializedFileWriter<fs::File>,
    header: Arc<StreamHeader>,
    columns: Vec<TableColumn>,
    waiting: Vec<Exported>,
}

/// Names and kinds of the columns before the sums.
const COLUMNS: [(&str, Physical); 17] = [
    ("device", Physical::BYTE_ARRAY),
    ("stream", Physical::BYTE_ARRAY),
    ("header", Physical::BYTE_ARRAY),
    ("salt", Physical::BYTE_ARRAY),
    ("number", Physical::INT64),
    ("position", Physical::INT64),
    ("arrived", Physical::INT64),
    ("pad", Physical::INT64),
    ("start", Physical::INT64),
    ("ticks", Physical::INT32),
    ("first", Physical::INT64),
    ("last", Physical::INT64),
    ("readings", Physical::INT32),
    ("left_out", Physical::INT32),
    ("replaces", Physical::INT32),
    ("replaced", Physical::BYTE_ARRAY),
    ("provisional", Physical::INT32),
];

fn schema(columns: &[TableColumn]) -> parquet::errors::Result<TypePtr> {
    let mut fields = Vec::with_capacity(COLUMNS.len() + columns.len());
    for (name, physical) in COLUMNS {
        let logical = match name {
            "arrived" | "start" | "first" | "last" => Some(LogicalType::timestamp(true, TimeUnit::MILLIS)),
            _ if physical == Physical::BYTE_ARRAY => Some(LogicalType::String),
            _ => None,
        };
        let column = Type::primitive_type_builder(name, physical).with_repetition(Repetition::REQUIRED);
        fields.push(Arc::new(column.with_logical_type(logical).build()?));
    }
    for column in columns {
        let name = column.to_string();
        let column = Type::primitive_type_builder(&name, Physical::INT64);
        fields.push(Arc::new(column.with_repetition(Repetition::OPTIONAL).build()?));
    }
    Ok(Arc::new(Type::group_type_builder("windows").with_fields(fields).build()?))
}

impl Exporter {
    /// Creates a file for windows of a stream's header.
    pub(crate) fn create(path: &Path, header: Arc<StreamHeader>) -> anyhow::Result<Self> {
        let columns = header.table_columns()?;
        let mut properties = WriterProperties::builder()
            .set_created_by(concat!("sotto-cloud ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_compression(Compression::UNCOMPRESSED);
        let numbers = COLUMNS.iter().filter(|(_, physical)| *physical != Physical::BYTE_ARRAY);
        let sums = columns.iter().map(|column| ColumnPath::from(column.to_string()));
        for column in numbers.map(|(name, _)| ColumnPath::from(*name)).chain(sums) {
            properties = properties
                .set_column_dictionary_enabled(column.clone(), false)
                .set_column_encoding(column, Encoding::DELTA_BINARY_PACKED);
        }
        let file = fs::File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
        let writer = SerializedFileWriter::new(file, schema(&columns)?, Arc::new(properties.build()))?;
        Ok(Self { writer, header, columns, waiting: Vec::new() })
    }

    pub(crate) fn push(&mut self, window: Exported) -> anyhow::Result<()> {
        self.waiting.push(window);
        let most = (MOST_NUMBERS / self.columns.len().max(1)).clamp(1, MOST_ROWS);
        if self.waiting.len() < most { Ok(()) } else { self.flush() }
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
        let sums = rows.iter().map(|row| self.sums(&row.envelope)).collect::<anyhow::Result<Vec<_>>>()?;
        let mut group = self.writer.next_row_group()?;
        for (name, physical) in COLUMNS {
            match physical {
                Physical::BYTE_ARRAY => {
                    let texts: Vec<ByteArray> = rows.iter().map(|row| text(name, row).into()).collect();
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
        for at in 0..self.columns.len() {
            let numbers: Vec<i64> = sums.iter().filter_map(|row| row[at]).collect();
            let levels: Vec<i16> = sums.iter().map(|row| i16::from(row[at].is_some())).collect();
            put::<Int64Type>(&mut group, &numbers, Some(&levels))?;
        }
        group.close()?;
        Ok(())
    }

    /// Returns a window's numbers in the columns of sums.
    fn sums(&self, envelope: &Envelope) -> anyhow::Result<Vec<Option<i64>>> {
        let part = |part| Ok::<_, anyhow::Error>(Answer::from((&envelope.part(part)?, &[][..])));
        let parts = (0..self.header.parts().len()).map(part).collect::<anyhow::Result<Vec<_>>>()?;
        let row = table_row(&self.header, &parts);
        anyhow::ensure!(row.len() == self.columns.len(), "a window is not of its stream's form");
        Ok(row)
    }
}

fn text(name: &str, row: &Exported) -> Vec<u8> {
    let (envelope, header) = (&row.envelope, row.envelope.header());
    match name {
        "device" => header.device.clone().into(),
        "stream" => header.stream.clone().into(),
        "header" => {
            envelope.window().map(|(stream, _)| hex::encode(stream.id().0)).unwrap_or_default().into()
        }
        "replaced" => row.replaced.clone().into(),
        _ => envelope.mask().map(|mask| hex::encode(mask.salt)).unwrap_or_default().into(),
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
    levels: Option<&[i16]>,
) -> anyhow::Result<()> {
    let mut column = group.next_column()?.context("the schema has fewer columns")?;
    column.typed::<T>().write_batch(values, levels, None)?;
    Ok(column.close()?)
}
