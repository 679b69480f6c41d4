//! The columns of a segment.

use std::sync::Arc;

use parquet::basic::{Compression, Encoding, LogicalType, Repetition, TimeUnit, Type as Physical};
use parquet::errors::Result;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use parquet::schema::types::{ColumnPath, Type, TypePtr};

/// The version of the columns, in the metadata of the file.
pub(super) const VERSION: &str = "1";
pub(super) const VERSION_KEY: &str = "sotto:segment";
/// BLAKE3 of the bytes of each block, in hexadecimal, in the metadata of the file.
pub(super) const DIGESTS_KEY: &str = "sotto:blocks";

/// A column; its place in the schema is its place in [`ALL`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    Tenant,
    Device,
    Stream,
    Header,
    Kind,
    Number,
    Position,
    Arrived,
    Bytes,
    Salt,
    Pad,
    Start,
    Ticks,
    First,
    Last,
    Readings,
    Flags,
    Lists,
    GroupIndex,
    GroupWindows,
    Path,
    Signature,
    Rest,
    Parts,
}

/// In the order of the schema.
pub(super) const ALL: [Column; 24] = [
    Column::Tenant,
    Column::Device,
    Column::Stream,
    Column::Header,
    Column::Kind,
    Column::Number,
    Column::Position,
    Column::Arrived,
    Column::Bytes,
    Column::Salt,
    Column::Pad,
    Column::Start,
    Column::Ticks,
    Column::First,
    Column::Last,
    Column::Readings,
    Column::Flags,
    Column::Lists,
    Column::GroupIndex,
    Column::GroupWindows,
    Column::Path,
    Column::Signature,
    Column::Rest,
    Column::Parts,
];

/// The values of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Values {
    Small,
    Whole,
    Time,
    Text,
    Bytes,
}

impl Column {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Tenant => "tenant",
            Self::Device => "device",
            Self::Stream => "stream",
            Self::Header => "header",
            Self::Kind => "kind",
            Self::Number => "number",
            Self::Position => "position",
            Self::Arrived => "arrived",
            Self::Bytes => "bytes",
            Self::Salt => "salt",
            Self::Pad => "pad",
            Self::Start => "start",
            Self::Ticks => "ticks",
            Self::First => "first",
            Self::Last => "last",
            Self::Readings => "readings",
            Self::Flags => "flags",
            Self::Lists => "lists",
            Self::GroupIndex => "group_index",
            Self::GroupWindows => "group_windows",
            Self::Path => "path",
            Self::Signature => "signature",
            Self::Rest => "rest",
            Self::Parts => "parts",
        }
    }

    pub(super) fn values(self) -> Values {
        match self {
            Self::Tenant
            | Self::Kind
            | Self::Ticks
            | Self::Readings
            | Self::Flags
            | Self::GroupIndex
            | Self::GroupWindows => Values::Small,
            Self::Number | Self::Position | Self::Bytes | Self::Pad => Values::Whole,
            Self::Arrived | Self::Start | Self::First | Self::Last => Values::Time,
            Self::Device | Self::Stream => Values::Text,
            Self::Header | Self::Salt | Self::Lists => Values::Bytes,
            Self::Path | Self::Signature | Self::Rest | Self::Parts => Values::Bytes,
        }
    }

    /// Returns true if sums and their rows need it.
    pub(super) fn is_of_sums(self) -> bool {
        !matches!(
            self,
            Self::Tenant
                | Self::Device
                | Self::Stream
                | Self::Bytes
                | Self::GroupIndex
                | Self::GroupWindows
                | Self::Path
                | Self::Signature
                | Self::Rest
                | Self::Parts
        )
    }

    /// Returns true if few values repeat, so that a dictionary pays.
    fn repeats(self) -> bool {
        matches!(self, Self::Device | Self::Stream | Self::Header | Self::Salt | Self::Lists | Self::Arrived)
    }

    /// Returns true if engines may skip pages and blocks by its least and largest value.
    fn is_indexed(self) -> bool {
        matches!(self, Self::Tenant | Self::Device | Self::Stream | Self::Number | Self::Start)
    }

    fn parquet(self) -> Result<Type> {
        let (physical, logical) = match self.values() {
            Values::Small => (Physical::INT32, None),
            Values::Whole => (Physical::INT64, None),
            Values::Time => (Physical::INT64, Some(LogicalType::timestamp(true, TimeUnit::MILLIS))),
            Values::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            Values::Bytes => (Physical::BYTE_ARRAY, None),
        };
        let column = Type::primitive_type_builder(self.name(), physical);
        column.with_repetition(Repetition::REQUIRED).with_logical_type(logical).build()
    }
}

pub(super) fn schema() -> Result<TypePtr> {
    let fields = ALL.into_iter().map(|column| column.parquet().map(Arc::new)).collect::<Result<Vec<_>>>()?;
    Ok(Arc::new(Type::group_type_builder("windows").with_fields(fields).build()?))
}

pub(super) fn properties() -> WriterProperties {
    let version = KeyValue::new(VERSION_KEY.to_owned(), VERSION.to_owned());
    let mut properties = WriterProperties::builder()
        .set_created_by(concat!("sotto-cloud ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_writer_version(WriterVersion::PARQUET_2_0)
        .set_compression(Compression::UNCOMPRESSED)
        .set_dictionary_enabled(false)
        .set_statistics_enabled(EnabledStatistics::None)
        // One page a column and block: a block is read whole.
        .set_data_page_size_limit(64 << 20)
        .set_key_value_metadata(Some(vec![version]));
    for column in ALL {
        let path = || ColumnPath::from(column.name());
        let encoding = match column.values() {
            Values::Small | Values::Whole | Values::Time => Encoding::DELTA_BINARY_PACKED,
            Values::Text | Values::Bytes => Encoding::DELTA_LENGTH_BYTE_ARRAY,
        };
        properties = match column.repeats() {
            true => properties.set_column_dictionary_enabled(path(), true),
            false => properties.set_column_encoding(path(), encoding),
        };
        if column.is_indexed() {
            properties = properties.set_column_statistics_enabled(path(), EnabledStatistics::Page);
        }
    }
    properties.build()
}
