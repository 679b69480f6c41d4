//! A column of an Arrow batch.

use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type, Float16Type,
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, Time32MillisecondType,
    Time32SecondType, Time64MicrosecondType, Time64NanosecondType, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, BooleanArray, LargeStringArray, RecordBatch, StringArray, StringViewArray,
};
use arrow_buffer::ScalarBuffer;
use arrow_schema::{DataType, Fields, TimeUnit};

use crate::source::formats::typed::{Value, clock, date, time};

/// The place of a column: its position among the fields of a batch, then among those of a structure, and so on.
pub(super) type Route = Vec<usize>;

/// Maximum depth of structures within structures.
const DEEPEST: usize = 32;

/// Adds the names and places of all columns; those within structures have the names of these before them.
pub(super) fn name_columns(fields: &Fields, before: &str, route: &[usize], all: &mut Vec<(String, Route)>) {
    for (position, field) in fields.iter().enumerate() {
        let (name, route) = (format!("{before}{}", field.name()), [route, &[position]].concat());
        match field.data_type() {
            DataType::Struct(inner) if route.len() < DEEPEST => {
                name_columns(inner, &format!("{name}."), &route, all);
            }
            _ => all.push((name, route)),
        }
    }
}

/// A column of a batch.
pub(super) struct Column {
    /// The structures around the column, and the column: where one of them is null, the value is.
    around: Vec<ArrayRef>,
    values: Values,
}

/// Values with a type.
enum Values {
    Integers(ScalarBuffer<i64>),
    Small(ScalarBuffer<i32>),
    Unsigned(ScalarBuffer<u64>),
    Reals(ScalarBuffer<f64>),
    Singles(ScalarBuffer<f32>),
    Decimals(ScalarBuffer<i128>, i32),
    Bools(BooleanArray),
    Texts(StringArray),
    LargeTexts(LargeStringArray),
    TextViews(StringViewArray),
    Dates(ScalarBuffer<i32>),
    Clocks(ScalarBuffer<i64>, i64),
    Times(ScalarBuffer<i64>, i64, bool),
    Dictionary(Vec<usize>, Box<Column>),
    Nothing,
    Other,
}

impl Column {
    /// Returns the column of a batch at a place.
    pub(super) fn new(batch: &RecordBatch, route: &[usize]) -> Option<Self> {
        let (first, inner) = route.split_first()?;
        let mut around = vec![batch.columns().get(*first)?.clone()];
        for position in inner {
            let structure = around.last()?.as_struct_opt()?;
            around.push(structure.columns().get(*position)?.clone());
        }
        Some(Self { values: values(around.last()?), around })
    }

    /// Returns the value of a row.
    pub(super) fn value(&self, row: usize) -> Value<'_> {
        if self.around.iter().any(|array| array.is_null(row)) {
            return Value::Empty;
        }
        let value = match &self.values {
            Values::Integers(values) => values.get(row).map(|value| Value::Integer(*value)),
            Values::Small(values) => values.get(row).map(|value| Value::Integer(i64::from(*value))),
            Values::Unsigned(values) => values.get(row).map(|value| match i64::try_from(*value) {
                Ok(value) => Value::Integer(value),
                Err(_) => Value::Decimal(i128::from(*value), 0),
            }),
            Values::Reals(values) => values.get(row).map(|value| Value::Real(*value)),
            Values::Singles(values) => values.get(row).map(|value| Value::Single(*value)),
            Values::Decimals(values, scale) => values.get(row).map(|value| Value::Decimal(*value, *scale)),
            Values::Bools(values) => Some(Value::Bool(values.value(row))),
            Values::Texts(values) => Some(Value::Text(values.value(row).into())),
            Values::LargeTexts(values) => Some(Value::Text(values.value(row).into())),
            Values::TextViews(values) => Some(Value::Text(values.value(row).into())),
            Values::Dates(values) => values.get(row).map(|value| date(i64::from(*value))),
            Values::Clocks(values, second) => values.get(row).map(|value| clock(*value, *second)),
            Values::Times(values, second, utc) => values.get(row).map(|value| time(*value, *second, *utc)),
            Values::Dictionary(keys, values) => keys.get(row).map(|key| values.value(*key)),
            Values::Nothing => Some(Value::Empty),
            Values::Other => None,
        };
        value.unwrap_or(Value::Other)
    }
}

fn units(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => 1000,
        TimeUnit::Microsecond => 1_000_000,
        TimeUnit::Nanosecond => 1_000_000_000,
    }
}

/// Gives the values of an array their type.
fn values(array: &ArrayRef) -> Values {
    macro_rules! primitive {
        ($kind:ty) => {
            array.as_primitive::<$kind>().values()
        };
        ($kind:ty, $wide:ty) => {
            primitive!($kind).iter().map(|value| <$wide>::from(*value)).collect()
        };
    }
    match array.data_type() {
        DataType::Int8 => Values::Small(primitive!(Int8Type, i32)),
        DataType::Int16 => Values::Small(primitive!(Int16Type, i32)),
        DataType::Int32 => Values::Small(primitive!(Int32Type).clone()),
        DataType::Int64 => Values::Integers(primitive!(Int64Type).clone()),
        DataType::UInt8 => Values::Small(primitive!(UInt8Type, i32)),
        DataType::UInt16 => Values::Small(primitive!(UInt16Type, i32)),
        DataType::UInt32 => Values::Integers(primitive!(UInt32Type, i64)),
        DataType::UInt64 => Values::Unsigned(primitive!(UInt64Type).clone()),
        DataType::Float16 => Values::Singles(primitive!(Float16Type, f32)),
        DataType::Float32 => Values::Singles(primitive!(Float32Type).clone()),
        DataType::Float64 => Values::Reals(primitive!(Float64Type).clone()),
        DataType::Decimal32(_, scale) => Values::Decimals(primitive!(Decimal32Type, i128), i32::from(*scale)),
        DataType::Decimal64(_, scale) => Values::Decimals(primitive!(Decimal64Type, i128), i32::from(*scale)),
        DataType::Decimal128(_, scale) => {
            Values::Decimals(primitive!(Decimal128Type).clone(), i32::from(*scale))
        }
        DataType::Decimal256(_, scale) => {
            let narrow = primitive!(Decimal256Type).iter().map(|value| value.to_i128());
            narrow
                .collect::<Option<_>>()
                .map_or(Values::Other, |values| Values::Decimals(values, i32::from(*scale)))
        }
        DataType::Boolean => Values::Bools(array.as_boolean().clone()),
        DataType::Utf8 => Values::Texts(array.as_string().clone()),
        DataType::LargeUtf8 => Values::LargeTexts(array.as_string().clone()),
        DataType::Utf8View => Values::TextViews(array.as_string_view().clone()),
        DataType::Date32 => Values::Dates(primitive!(Date32Type).clone()),
        DataType::Date64 => Values::Times(primitive!(Date64Type).clone(), 1000, false),
        DataType::Time32(TimeUnit::Second) => Values::Clocks(primitive!(Time32SecondType, i64), 1),
        DataType::Time32(_) => Values::Clocks(primitive!(Time32MillisecondType, i64), 1000),
        DataType::Time64(TimeUnit::Nanosecond) => {
            Values::Clocks(primitive!(Time64NanosecondType).clone(), 1_000_000_000)
        }
        DataType::Time64(_) => Values::Clocks(primitive!(Time64MicrosecondType).clone(), 1_000_000),
        DataType::Timestamp(unit, zone) => {
            let counts = match unit {
                TimeUnit::Second => primitive!(TimestampSecondType).clone(),
                TimeUnit::Millisecond => primitive!(TimestampMillisecondType).clone(),
                TimeUnit::Microsecond => primitive!(TimestampMicrosecondType).clone(),
                TimeUnit::Nanosecond => primitive!(TimestampNanosecondType).clone(),
            };
            Values::Times(counts, units(*unit), zone.is_some())
        }
        DataType::Dictionary(_, _) => {
            let dictionary = array.as_any_dictionary();
            if dictionary.values().is_empty() {
                return Values::Nothing;
            }
            let inner =
                Column { around: vec![dictionary.values().clone()], values: values(dictionary.values()) };
            Values::Dictionary(dictionary.normalized_keys(), Box::new(inner))
        }
        DataType::Null => Values::Nothing,
        _ => Values::Other,
    }
}
