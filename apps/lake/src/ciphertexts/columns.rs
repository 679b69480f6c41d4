//! The columns of the table `ciphertexts`.

use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, Fields, Schema, SchemaRef, TimeUnit};

/// The column that functions take.
pub(super) const CIPHERTEXT: &str = "ciphertext";

/// The fields of `ciphertext`.
pub(super) mod ciphertext {
    pub(in super::super) const DEVICE: usize = 0;
    pub(in super::super) const STREAM: usize = 1;
    pub(in super::super) const NUMBER: usize = 2;
    /// The id of the envelope, by which its file is named.
    pub(in super::super) const ID: usize = 3;
    /// The digest of the envelope's message.
    pub(in super::super) const DIGEST: usize = 4;
    /// The key that decrypts it.
    pub(in super::super) const KEY: usize = 5;
    /// Parameters, and the evaluation keys for them.
    pub(in super::super) const SETTING: usize = 6;
    /// The frame of the stream's header, of a window of slots; else empty.
    pub(in super::super) const HEADER: usize = 7;
    /// The names of channels that do not count, with commas between.
    pub(in super::super) const REPLACED: usize = 8;
}

/// Returns the fields of `ciphertext`: all that a function needs to find, check and read it in the store of its own process.
pub(crate) fn ciphertext_fields() -> Fields {
    let field = |name: &str, of| Field::new(name, of, false);
    Fields::from(vec![
        field("device", DataType::Utf8View),
        field("stream", DataType::Utf8View),
        field("number", DataType::Int64),
        field("id", DataType::BinaryView),
        field("digest", DataType::BinaryView),
        field("key", DataType::BinaryView),
        field("setting", DataType::BinaryView),
        field("header", DataType::BinaryView),
        field("replaced", DataType::Utf8View),
    ])
}

/// Returns the columns of the table.
#[must_use]
pub fn schema() -> SchemaRef {
    let field = |name: &str, of| Field::new(name, of, false);
    let time = || DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into()));
    Arc::new(Schema::new(vec![
        field("tenant", DataType::Int32),
        field("device", DataType::Utf8View),
        field("stream", DataType::Utf8View),
        field("number", DataType::Int64),
        field("arrived", time()),
        field("start", time()),
        field("first", time()),
        field("last", time()),
        field("readings", DataType::Int64),
        field("parameters", DataType::Utf8View),
        field("key", DataType::Utf8View),
        field("bytes", DataType::Int64),
        field(CIPHERTEXT, DataType::Struct(ciphertext_fields())),
    ]))
}
