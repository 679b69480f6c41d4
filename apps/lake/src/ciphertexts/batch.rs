//! Makes Arrow arrays of rows.

use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, BinaryViewBuilder, Int32Array, Int64Array, RecordBatch, RecordBatchOptions, StringViewBuilder,
    StructArray, TimestampMillisecondArray,
};
use datafusion::arrow::datatypes::SchemaRef;

use super::columns::{CIPHERTEXT, ciphertext_fields, schema};
use super::entries::Entries;
use crate::LakeError;
use crate::leaf::Reading;
use crate::store::Row;

fn whole<'r>(rows: &'r [Row], value: impl Fn(&'r Row) -> i64) -> ArrayRef {
    Arc::new(rows.iter().map(value).collect::<Int64Array>())
}

fn time<'r>(rows: &'r [Row], value: impl Fn(&'r Row) -> i64) -> ArrayRef {
    let times: Vec<i64> = rows.iter().map(value).collect();
    Arc::new(TimestampMillisecondArray::from(times).with_timezone("UTC"))
}

fn text<'r, T: AsRef<str>>(
    rows: &'r [Row],
    value: impl Fn(&'r Row) -> Result<T, LakeError>,
) -> Result<ArrayRef, LakeError> {
    let mut builder = StringViewBuilder::with_capacity(rows.len()).with_deduplicate_strings();
    for row in rows {
        builder.append_value(value(row)?);
    }
    Ok(Arc::new(builder.finish()))
}

/// Returns bytes that a plan has in hexadecimal; equal ones are there once.
fn bytes<'r>(
    rows: &'r [Row],
    value: impl Fn(&'r Row) -> Result<&'r str, LakeError>,
) -> Result<ArrayRef, LakeError> {
    let mut builder = BinaryViewBuilder::with_capacity(rows.len()).with_deduplicate_strings();
    for row in rows {
        let bytes = hex::decode(value(row)?).map_err(|error| LakeError::Plan(error.to_string()))?;
        builder.append_value(bytes);
    }
    Ok(Arc::new(builder.finish()))
}

/// Returns an item that a row names by its index.
fn named<T>(all: &[T], index: u32) -> Result<&T, LakeError> {
    let missing = || LakeError::Plan("a ciphertext names an entry that the plan does not have".to_owned());
    all.get(index as usize).ok_or_else(missing)
}

/// Returns a batch of some rows of a plan, with the columns of its projection.
pub(super) fn batch(
    reading: &Reading<Entries>,
    rows: &[Row],
    projected: &SchemaRef,
) -> Result<RecordBatch, LakeError> {
    let names = schema();
    let device = |row: &Row| named(&reading.table.streams, row.stream).map(|(device, _)| device);
    let stream = |row: &Row| named(&reading.table.streams, row.stream).map(|(_, stream)| stream);
    let number = |row: &Row| row.number.cast_signed();
    let column = |at: &usize| -> Result<ArrayRef, LakeError> {
        Ok(match names.field(*at).name().as_str() {
            "tenant" => Arc::new(Int32Array::from(vec![0; rows.len()])),
            "device" => text(rows, device)?,
            "stream" => text(rows, stream)?,
            "number" => whole(rows, number),
            "arrived" => time(rows, |row| row.stored_at),
            "start" => time(rows, |row| row.start),
            "first" => time(rows, |row| row.times.0),
            "last" => time(rows, |row| row.times.1),
            "readings" => whole(rows, |row| row.readings),
            "parameters" => text(rows, |row| Ok(&row.parameters))?,
            "key" => text(rows, |row| Ok(&row.key))?,
            "bytes" => whole(rows, |row| row.bytes),
            CIPHERTEXT => {
                let header =
                    |row: &Row| row.header.map(|index| named(&reading.table.headers, index)).transpose();
                let columns = vec![
                    text(rows, device)?,
                    text(rows, stream)?,
                    whole(rows, number),
                    bytes(rows, |row| Ok(&row.id))?,
                    bytes(rows, |row| Ok(&row.digest))?,
                    bytes(rows, |row| Ok(&row.key))?,
                    bytes(rows, |row| named(&reading.table.settings, row.setting).map(String::as_str))?,
                    bytes(rows, |row| Ok(header(row)?.map_or("", String::as_str)))?,
                    text(rows, |row| Ok(row.replaced.join(", ")))?,
                ];
                Arc::new(StructArray::new(ciphertext_fields(), columns, None))
            }
            name => return Err(LakeError::Plan(format!("there is no column {name}"))),
        })
    };
    let columns = reading.projection.iter().map(column).collect::<Result<_, LakeError>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
    RecordBatch::try_new_with_options(Arc::clone(projected), columns, &options)
        .map_err(|error| LakeError::Plan(error.to_string()))
}
