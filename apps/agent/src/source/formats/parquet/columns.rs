//! A column of a Parquet file, some thousand values at a time.

use half::f16;
use parquet::basic::{ConvertedType, LogicalType, TimeUnit, Type};
use parquet::column::reader::{ColumnReader, get_column_reader};
use parquet::data_type::{ByteArray, FixedLenByteArray, Int96};
use parquet::errors::Result;
use parquet::schema::types::{ColumnDescPtr, ColumnDescriptor};

use super::pages::Pages;
use crate::source::formats::typed::{Value, clock, date, time};

/// Meaning of the values of a column.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Meaning {
    Number,
    Unsigned,
    Half,
    Text,
    Decimal(i32),
    Date,
    /// Units of a second since midnight.
    Clock(i64),
    /// Units of a second since 1970, and true if they count from there in UTC.
    Time(i64, bool),
    Other,
}

/// Values of the rows read last, without the nulls.
enum Values {
    Bool(Vec<bool>),
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    Int96(Vec<Int96>),
    Float(Vec<f32>),
    Double(Vec<f64>),
    Bytes(Vec<ByteArray>),
    Fixed(Vec<FixedLenByteArray>),
}

/// A column.
pub(super) struct Column {
    described: ColumnDescPtr,
    meaning: Meaning,
    reader: Option<ColumnReader>,
    /// The level of each row: a lower one than the highest is a null.
    levels: Vec<i16>,
    values: Values,
    /// The value of the current row, and the first one behind it.
    current: Option<usize>,
    next: usize,
}

impl Column {
    pub(super) fn new(described: ColumnDescPtr) -> Self {
        let values = match described.physical_type() {
            Type::BOOLEAN => Values::Bool(Vec::new()),
            Type::INT32 => Values::Int32(Vec::new()),
            Type::INT64 => Values::Int64(Vec::new()),
            Type::INT96 => Values::Int96(Vec::new()),
            Type::FLOAT => Values::Float(Vec::new()),
            Type::DOUBLE => Values::Double(Vec::new()),
            Type::BYTE_ARRAY => Values::Bytes(Vec::new()),
            Type::FIXED_LEN_BYTE_ARRAY => Values::Fixed(Vec::new()),
        };
        let meaning = meaning(&described);
        Self { described, meaning, reader: None, levels: Vec::new(), values, current: None, next: 0 }
    }

    /// Goes to the pages of a row group.
    pub(super) fn open(&mut self, pages: Pages) {
        self.reader = Some(get_column_reader(self.described.clone(), Box::new(pages)));
    }

    /// Reads at most so many rows; returns how many.
    pub(super) fn read(&mut self, rows: usize) -> Result<usize> {
        self.levels.clear();
        (self.current, self.next) = (None, 0);
        let levels = Some(&mut self.levels);
        let Some(reader) = &mut self.reader else { return Ok(0) };
        macro_rules! read {
            ($($reader:ident, $values:ident;)*) => {
                match (reader, &mut self.values) {
                    $((ColumnReader::$reader(reader), Values::$values(values)) => {
                        values.clear();
                        reader.read_records(rows, levels, None, values)?.0
                    })*
                    _ => 0,
                }
            };
        }
        Ok(read! {
            BoolColumnReader, Bool;
            Int32ColumnReader, Int32;
            Int64ColumnReader, Int64;
            Int96ColumnReader, Int96;
            FloatColumnReader, Float;
            DoubleColumnReader, Double;
            ByteArrayColumnReader, Bytes;
            FixedLenByteArrayColumnReader, Fixed;
        })
    }

    /// Goes to a row of those read last.
    pub(super) fn go_to(&mut self, row: usize) {
        let highest = self.described.max_def_level();
        let there = highest == 0 || self.levels.get(row) == Some(&highest);
        self.current = there.then_some(self.next);
        self.next += usize::from(there);
    }

    /// Returns the value of the current row.
    pub(super) fn value(&self) -> Value<'_> {
        let Some(at) = self.current else { return Value::Empty };
        let value = match &self.values {
            Values::Bool(values) => values.get(at).map(|value| Value::Bool(*value)),
            Values::Int32(values) => values.get(at).map(|value| self.of_int32(*value)),
            Values::Int64(values) => values.get(at).map(|value| self.of_integer(*value)),
            // Days and nanoseconds, of UTC in the programs that write this type.
            Values::Int96(values) => values.get(at).map(|value| time(value.to_millis(), 1000, true)),
            Values::Float(values) => values.get(at).map(|value| Value::Single(*value)),
            Values::Double(values) => values.get(at).map(|value| Value::Real(*value)),
            Values::Bytes(values) => values.get(at).map(|value| self.of_bytes(value.data())),
            Values::Fixed(values) => values.get(at).map(|value| self.of_bytes(value.data())),
        };
        value.unwrap_or(Value::Empty)
    }

    fn of_int32(&self, value: i32) -> Value<'_> {
        match self.meaning {
            Meaning::Unsigned => Value::Integer(i64::from(value as u32)),
            _ => self.of_integer(i64::from(value)),
        }
    }

    fn of_integer(&self, value: i64) -> Value<'_> {
        match self.meaning {
            Meaning::Number => Value::Integer(value),
            Meaning::Unsigned => match i64::try_from(value as u64) {
                Ok(value) => Value::Integer(value),
                Err(_) => Value::Decimal(i128::from(value as u64), 0),
            },
            Meaning::Decimal(scale) => Value::Decimal(i128::from(value), scale),
            Meaning::Date => date(value),
            Meaning::Clock(second) => clock(value, second),
            Meaning::Time(second, utc) => time(value, second, utc),
            Meaning::Half | Meaning::Text | Meaning::Other => Value::Other,
        }
    }

    fn of_bytes<'b>(&self, bytes: &'b [u8]) -> Value<'b> {
        match (self.meaning, bytes) {
            (Meaning::Text, _) => {
                std::str::from_utf8(bytes).map_or(Value::Other, |text| Value::Text(text.into()))
            }
            (Meaning::Decimal(scale), _) => {
                unscaled(bytes).map_or(Value::Other, |value| Value::Decimal(value, scale))
            }
            (Meaning::Half, [low, high]) => Value::Single(f16::from_le_bytes([*low, *high]).to_f32()),
            _ => Value::Other,
        }
    }
}

/// Returns a whole number of at most 128 bits, its highest byte first.
fn unscaled(bytes: &[u8]) -> Option<i128> {
    let sign = if bytes.first()? & 0x80 == 0 { 0 } else { 0xff };
    let (extended, digits) = bytes.split_at(bytes.len().saturating_sub(16));
    let negative = digits[0] & 0x80 != 0;
    if extended.iter().any(|byte| *byte != sign) || (!extended.is_empty() && negative != (sign != 0)) {
        return None;
    }
    let mut whole = [sign; 16];
    whole[16 - digits.len()..].copy_from_slice(digits);
    Some(i128::from_be_bytes(whole))
}

fn units(unit: &TimeUnit) -> i64 {
    match unit {
        TimeUnit::MILLIS => 1000,
        TimeUnit::MICROS => 1_000_000,
        TimeUnit::NANOS => 1_000_000_000,
    }
}

fn meaning(described: &ColumnDescriptor) -> Meaning {
    match described.logical_type_ref() {
        Some(LogicalType::String | LogicalType::Enum | LogicalType::Json) => return Meaning::Text,
        Some(LogicalType::Decimal(decimal)) => return Meaning::Decimal(decimal.scale),
        Some(LogicalType::Date) => return Meaning::Date,
        Some(LogicalType::Time(of)) => return Meaning::Clock(units(&of.unit)),
        Some(LogicalType::Timestamp(of)) => return Meaning::Time(units(&of.unit), of.is_adjusted_to_u_t_c),
        Some(LogicalType::Integer(of)) => {
            return if of.is_signed { Meaning::Number } else { Meaning::Unsigned };
        }
        Some(LogicalType::Float16) => return Meaning::Half,
        Some(LogicalType::Unknown) | None => {}
        Some(_) => return Meaning::Other,
    }
    match described.converted_type() {
        ConvertedType::NONE if described.physical_type() == Type::BYTE_ARRAY => Meaning::Text,
        ConvertedType::UTF8 | ConvertedType::ENUM | ConvertedType::JSON => Meaning::Text,
        ConvertedType::DECIMAL => Meaning::Decimal(described.type_scale()),
        ConvertedType::DATE => Meaning::Date,
        ConvertedType::TIME_MILLIS => Meaning::Clock(1000),
        ConvertedType::TIME_MICROS => Meaning::Clock(1_000_000),
        ConvertedType::TIMESTAMP_MILLIS => Meaning::Time(1000, true),
        ConvertedType::TIMESTAMP_MICROS => Meaning::Time(1_000_000, true),
        ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 | ConvertedType::UINT_64 => {
            Meaning::Unsigned
        }
        ConvertedType::NONE
        | ConvertedType::INT_8
        | ConvertedType::INT_16
        | ConvertedType::INT_32
        | ConvertedType::INT_64 => Meaning::Number,
        _ => Meaning::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_of_bytes_are_exact_or_none() {
        for number in [0_i128, 1, -1, 127, -128, 1 << 100, i128::MAX, i128::MIN] {
            let bytes = number.to_be_bytes();
            assert_eq!(unscaled(&bytes), Some(number));
            let sign = if number < 0 { 0xff } else { 0 };
            assert_eq!(unscaled(&[&[sign; 16][..], &bytes].concat()), Some(number), "32 bytes");
            assert_eq!(unscaled(&[&[sign ^ 1; 1][..], &bytes].concat()), None);
        }
        assert_eq!(
            (unscaled(&[0x80]), unscaled(&[0xff, 0x38]), unscaled(&[])),
            (Some(-128), Some(-200), None)
        );
        assert_eq!(unscaled(&[&[0; 1][..], &i128::MIN.to_be_bytes()].concat()), None, "2^127");
    }
}
