//! Parquet: one row group, times with the plant's zone, units in the metadata of fields.

use std::collections::HashMap;
use std::sync::Arc;

use anyhow::Context as _;
use arrow_ipc::writer::{DictionaryTracker, IpcDataGenerator, IpcWriteOptions};
use arrow_schema::{DataType, Field, Schema, TimeUnit};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use parquet::basic::{Compression, LogicalType, Repetition, TimeUnit as ParquetUnit, Type as Physical};
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType as ParquetType, DoubleType, Int32Type, Int64Type,
};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;

use super::table::{BOUND, INTERPOLATED, Line, Table};

/// The entry of a file's metadata with the schema of Arrow, which has the time zone and the units.
const ARROW_SCHEMA: &str = "ARROW:schema";

/// The values of a column. `Option`s may be missing.
enum Values {
    Times(Vec<i64>),
    Whole(Vec<i64>),
    Small(Vec<Option<i32>>),
    Real(Vec<Option<f64>>),
    Truth(Vec<Option<bool>>),
    /// Empty texts are missing.
    Key(Vec<String>),
    Text(Vec<String>),
}

struct Column<'a> {
    name: String,
    unit: &'a str,
    values: Values,
}

/// Returns a table as a Parquet file.
pub(super) fn bytes(table: &Table<'_>) -> anyhow::Result<Vec<u8>> {
    let (columns, zone) = (columns(table), table.answer.time_zone.as_str());
    let fields = columns.iter().map(|column| column.parquet().map(Arc::new));
    let fields = fields.collect::<Result<Vec<_>, _>>()?;
    let schema = Arc::new(Type::group_type_builder("answer").with_fields(fields).build()?);
    let facts = [
        ("question", table.answer.question.clone()),
        ("time_zone", zone.to_owned()),
        ("assurance", table.answer.assurance().to_string()),
        ("notes", table.answer.notes.join("\n")),
    ];
    let arrow = arrow_schema(&columns, zone, &facts);
    let mut entries = vec![KeyValue::new(ARROW_SCHEMA.to_owned(), arrow)];
    entries.extend(facts.map(|(key, value)| KeyValue::new(format!("sotto:{key}"), value)));
    let properties = WriterProperties::builder()
        .set_created_by(concat!("sotto ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_compression(Compression::UNCOMPRESSED)
        .set_key_value_metadata(Some(entries))
        .build();
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties))?;
    let mut group = writer.next_row_group()?;
    for column in &columns {
        column.write(&mut group)?;
    }
    group.close()?;
    Ok(writer.into_inner()?)
}

fn columns<'a>(table: &Table<'a>) -> Vec<Column<'a>> {
    let of = |name: &str, values| Column { name: name.to_owned(), unit: "", values };
    let lines = || table.lines.iter();
    let time = |end: usize| Values::Times(lines().map(|line| line.times()[end].1).collect());
    let mut columns = vec![of("from", time(0)), of("to", time(1))];
    for key in &table.keys {
        let texts = lines().map(|line| line.key(*key));
        let values = match key.is_number() {
            true => Values::Small(texts.map(|text| text.parse().ok()).collect()),
            false => Values::Key(texts.collect()),
        };
        columns.push(of(&key.name(), values));
    }
    for (at, result) in table.results.iter().enumerate() {
        for (place, bound) in ["", BOUND].into_iter().enumerate() {
            let values = Values::Real(lines().map(|line| line.value(at)[place]).collect());
            columns.push(Column { name: format!("{}{bound}", result.name), unit: result.unit, values });
        }
        if result.interpolated {
            let values = Values::Truth(lines().map(|line| line.is_interpolated(at)).collect());
            columns.push(of(&format!("{}{INTERPOLATED}", result.name), values));
        }
    }
    let whole = |counts: Vec<u64>| {
        Values::Whole(counts.into_iter().map(|count| i64::try_from(count).unwrap_or(i64::MAX)).collect())
    };
    columns.push(of("readings", whole(lines().map(Line::readings).collect())));
    columns.push(of("missing", whole(lines().map(Line::missing).collect())));
    columns.push(of("assurance", Values::Text(lines().map(|line| line.assurance().to_string()).collect())));
    columns.push(of("why", Values::Text(lines().map(Line::why).collect())));
    columns
}

impl Column<'_> {
    fn is_optional(&self) -> bool {
        matches!(self.values, Values::Small(_) | Values::Real(_) | Values::Truth(_) | Values::Key(_))
    }

    fn parquet(&self) -> parquet::errors::Result<Type> {
        let (physical, logical) = match self.values {
            Values::Times(_) => {
                let unit = ParquetUnit::MILLIS;
                (Physical::INT64, Some(LogicalType::timestamp(true, unit)))
            }
            Values::Whole(_) => (Physical::INT64, None),
            Values::Small(_) => (Physical::INT32, None),
            Values::Real(_) => (Physical::DOUBLE, None),
            Values::Truth(_) => (Physical::BOOLEAN, None),
            Values::Key(_) | Values::Text(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        };
        let repetition = if self.is_optional() { Repetition::OPTIONAL } else { Repetition::REQUIRED };
        Type::primitive_type_builder(&self.name, physical)
            .with_repetition(repetition)
            .with_logical_type(logical)
            .build()
    }

    fn arrow(&self, zone: &str) -> Field {
        let kind = match self.values {
            Values::Times(_) => DataType::Timestamp(TimeUnit::Millisecond, Some(zone.into())),
            Values::Whole(_) => DataType::Int64,
            Values::Small(_) => DataType::Int32,
            Values::Real(_) => DataType::Float64,
            Values::Truth(_) => DataType::Boolean,
            Values::Key(_) | Values::Text(_) => DataType::Utf8,
        };
        let field = Field::new(&self.name, kind, self.is_optional());
        if self.unit.is_empty() {
            return field;
        }
        field.with_metadata(HashMap::from([("unit".to_owned(), self.unit.to_owned())]))
    }

    fn write(&self, group: &mut SerializedRowGroupWriter<'_, Vec<u8>>) -> anyhow::Result<()> {
        let text = |text: &str| ByteArray::from(text.as_bytes().to_vec());
        match &self.values {
            Values::Times(all) | Values::Whole(all) => put::<Int64Type>(group, all, None),
            Values::Small(all) => put_some::<Int32Type>(group, all.iter().copied()),
            Values::Real(all) => put_some::<DoubleType>(group, all.iter().copied()),
            Values::Truth(all) => put_some::<BoolType>(group, all.iter().copied()),
            Values::Key(all) => put_some::<ByteArrayType>(
                group,
                all.iter().map(|of| Some(of).filter(|of| !of.is_empty()).map(|of| text(of))),
            ),
            Values::Text(all) => {
                put::<ByteArrayType>(group, &all.iter().map(|of| text(of)).collect::<Vec<_>>(), None)
            }
        }
    }
}

/// Writes the next column, of values that may be missing.
fn put_some<T: ParquetType>(
    group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    values: impl Iterator<Item = Option<T::T>> + Clone,
) -> anyhow::Result<()> {
    let levels: Vec<i16> = values.clone().map(|value| i16::from(value.is_some())).collect();
    put::<T>(group, &values.flatten().collect::<Vec<_>>(), Some(&levels))
}

fn put<T: ParquetType>(
    group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    values: &[T::T],
    levels: Option<&[i16]>,
) -> anyhow::Result<()> {
    let mut column = group.next_column()?.context("a column more than the schema has")?;
    column.typed::<T>().write_batch(values, levels, None)?;
    Ok(column.close()?)
}

/// Returns the schema as Arrow's readers look for it: a message with its length, in base64.
fn arrow_schema(columns: &[Column<'_>], zone: &str, facts: &[(&str, String)]) -> String {
    let fields: Vec<Field> = columns.iter().map(|column| column.arrow(zone)).collect();
    let facts = facts.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
    let schema = Schema::new_with_metadata(fields, facts);
    let mut tracker = DictionaryTracker::new(true);
    let encoded = IpcDataGenerator::default().schema_to_bytes_with_dictionary_tracker(
        &schema,
        &mut tracker,
        &IpcWriteOptions::default(),
    );
    let length = u32::try_from(encoded.ipc_message.len()).unwrap_or(u32::MAX);
    let head = [[0xff; 4], length.to_le_bytes()].concat();
    BASE64_STANDARD.encode([head, encoded.ipc_message].concat())
}

#[cfg(test)]
mod tests {
    use parquet::file::reader::{FileReader as _, SerializedFileReader};
    use parquet::record::RowAccessor as _;

    use sotto_owner::{Rank, Row};

    use super::super::super::show::fixture::{answer, hourly, row};
    use super::*;

    #[test]
    fn a_reader_finds_values_times_and_units() {
        let answer = answer(hourly("mean(t)", &[Some(1.5), None]));
        let bytes = bytes(&Table::of(&answer)).unwrap();
        let reader = SerializedFileReader::new(bytes::Bytes::from(bytes)).unwrap();
        let metadata = reader.metadata().file_metadata();
        let names: Vec<&str> = metadata.schema_descr().columns().iter().map(|column| column.name()).collect();
        assert_eq!(names, ["from", "to", "mean(t)", "mean(t) ±", "readings", "missing", "assurance", "why"]);
        let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
        assert_eq!(rows[0].get_timestamp_millis(0).unwrap(), 1_391_122_800_000);
        assert_eq!((rows[0].get_double(2).unwrap(), rows[0].get_long(4).unwrap()), (1.5, 6));
        assert!(rows[1].get_double(2).is_err() && rows[1].get_string(7).unwrap() == "no reading");
        let entry = |key: &str| {
            let entries = metadata.key_value_metadata().unwrap();
            entries.iter().find(|entry| entry.key == key).and_then(|entry| entry.value.clone()).unwrap()
        };
        assert_eq!(entry("sotto:time_zone"), "Europe/Zurich");
        let schema = BASE64_STANDARD.decode(entry(ARROW_SCHEMA)).unwrap();
        let message = arrow_ipc::root_as_message(&schema[8..]).unwrap();
        let schema = arrow_ipc::convert::fb_to_schema(message.header_as_schema().unwrap());
        assert_eq!(schema.field(2).metadata()["unit"], "°C");
        assert_eq!(
            schema.field(0).data_type(),
            &DataType::Timestamp(TimeUnit::Millisecond, Some("Europe/Zurich".into()))
        );
    }
    #[test]
    fn a_reader_finds_tags_places_and_values_between_readings() {
        let rank = Some(Rank { place: 1, next: None });
        let rows = [("barn", rank, false), ("north", None, true)].map(|(tag, rank, interpolated)| Row {
            tag: Some(tag.to_owned()),
            rank,
            interpolated,
            ..row("mean(t)", None, 0, Some(1.5), 0.25)
        });
        let answer = answer(rows.to_vec());
        let bytes = bytes(&Table::of(&answer)).unwrap();
        let reader = SerializedFileReader::new(bytes::Bytes::from(bytes)).unwrap();
        let schema = reader.metadata().file_metadata().schema_descr();
        let names: Vec<&str> = schema.columns().iter().map(|column| column.name()).collect();
        assert_eq!(names[2..8], ["place", "next", "tag", "mean(t)", "mean(t) ±", "mean(t) interpolated"]);
        let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
        assert_eq!((rows[0].get_int(2).ok(), rows[1].get_int(2).ok()), (Some(1), None));
        assert_eq!(
            (rows[0].get_string(4).unwrap(), rows[1].get_string(4).unwrap()),
            (&"barn".to_owned(), &"north".to_owned())
        );
        assert_eq!((rows[0].get_bool(7).unwrap(), rows[1].get_bool(7).unwrap()), (false, true));
    }
}
