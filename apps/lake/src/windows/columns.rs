//! The columns of the table `windows`.

use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, Fields, Schema, SchemaRef, TimeUnit};

/// The column that sums take, and the one with its tags.
pub(crate) const BODY: &str = "body";
pub(crate) const TAG: &str = "tag";

/// The fields of `body`.
pub(crate) mod body {
    /// The frame of the stream's header.
    pub(crate) const HEADER: usize = 0;
    pub(crate) const NUMBER: usize = 1;
    pub(crate) const SALT: usize = 2;
    pub(crate) const PAD: usize = 3;
    pub(crate) const START: usize = 4;
    pub(crate) const TICKS: usize = 5;
    pub(crate) const FLAGS: usize = 6;
    pub(crate) const LISTS: usize = 7;
    /// The columns of channels that do not count, 2 bytes each.
    pub(crate) const REPLACED: usize = 8;
    /// Of a sum that stays in place of windows: runs of numbers, the first and how many, 8 bytes each.
    pub(crate) const ROLLED: usize = 9;
    /// The bodies of all parts, one behind the other; of a sum that stays the frame.
    pub(crate) const PLACES: usize = 10;
}

fn time() -> DataType {
    DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into()))
}

/// Returns the fields of `body`: all that a sum needs to know of a window.
pub(crate) fn body_fields() -> Fields {
    let field = |name: &str, of| Field::new(name, of, false);
    Fields::from(vec![
        field("header", DataType::BinaryView),
        field("number", DataType::Int64),
        field("salt", DataType::BinaryView),
        field("pad", DataType::Int64),
        field("start", DataType::Int64),
        field("ticks", DataType::Int32),
        field("flags", DataType::UInt8),
        field("lists", DataType::BinaryView),
        field("replaced", DataType::BinaryView),
        field("rolled", DataType::BinaryView),
        field("places", DataType::BinaryView),
    ])
}

/// Returns the columns of the table.
#[must_use]
pub fn schema() -> SchemaRef {
    let field = |name: &str, of| Field::new(name, of, false);
    Arc::new(Schema::new(vec![
        field("tenant", DataType::Int32),
        field("device", DataType::Utf8View),
        field("stream", DataType::Utf8View),
        field("header", DataType::Utf8View),
        field("number", DataType::Int64),
        field("position", DataType::Int64),
        field("arrived", time()),
        field("start", time()),
        field("ticks", DataType::Int32),
        field("first", time()),
        field("last", time()),
        field("readings", DataType::Int64),
        field("windows", DataType::Int64),
        field(BODY, DataType::Struct(body_fields())),
        field(TAG, DataType::BinaryView),
    ]))
}
