//! Writes results: a table for people, JSON and CSV for scripts, Parquet for others.

use std::fs::File;
use std::io::Write;
use std::sync::Arc;

use anyhow::Context as _;
use datafusion::arrow::array::{
    Array, ArrayRef, BinaryViewArray, LargeBinaryArray, RecordBatch, StringArray,
};
use datafusion::arrow::csv;
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::arrow::json::ArrayWriter;
use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::execution::SendableRecordBatchStream;
use futures::StreamExt as _;
use parquet::arrow::ArrowWriter;

/// The form of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form {
    /// For people: bytes are counted, not shown.
    Table,
    /// An array of objects; bytes are in hexadecimal.
    Json,
    /// With a line of names; bytes are in hexadecimal.
    Csv,
    /// A file of Parquet.
    Parquet(std::path::PathBuf),
}

/// Writes a result as it comes. A table is held in memory first, for the widths of its columns.
///
/// # Errors
/// The query fails, or the output cannot be written. A file of Parquet is removed then.
pub async fn write(
    result: SendableRecordBatchStream,
    form: &Form,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    match form {
        Form::Table => table(result, out).await,
        Form::Json => json(result, out).await,
        Form::Csv => lines(result, out).await,
        Form::Parquet(file) => {
            let created =
                File::create_new(file).with_context(|| format!("cannot write {}", file.display()))?;
            let written = to_parquet(result, created).await;
            if written.is_err() {
                let _ = std::fs::remove_file(file);
            }
            written
        }
    }
}

async fn table(mut result: SendableRecordBatchStream, out: &mut impl Write) -> anyhow::Result<()> {
    let (schema, mut batches) = (shown_schema(&result.schema()), Vec::new());
    while let Some(batch) = result.next().await {
        let batch = batch?;
        let columns = batch.columns().iter().map(shown).collect();
        let options =
            datafusion::arrow::array::RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        batches.push(RecordBatch::try_new_with_options(Arc::clone(&schema), columns, &options)?);
    }
    if batches.is_empty() {
        batches.push(RecordBatch::new_empty(schema));
    }
    Ok(writeln!(out, "{}", pretty_format_batches(&batches)?)?)
}

fn is_bytes(of: &DataType) -> bool {
    matches!(of, DataType::LargeBinary | DataType::BinaryView)
}

fn shown_schema(schema: &Schema) -> SchemaRef {
    let field = |field: &Arc<Field>| match is_bytes(field.data_type()) {
        true => Arc::new(Field::new(field.name(), DataType::Utf8, true)),
        false => Arc::clone(field),
    };
    Arc::new(Schema::new(schema.fields().iter().map(field).collect::<Vec<_>>()))
}

/// Replaces bytes by their number.
fn shown(column: &ArrayRef) -> ArrayRef {
    let text = |bytes: Option<&[u8]>| bytes.map(|bytes| format!("{} bytes", bytes.len()));
    if let Some(column) = column.as_any().downcast_ref::<LargeBinaryArray>() {
        return Arc::new(column.iter().map(text).collect::<StringArray>());
    }
    match column.as_any().downcast_ref::<BinaryViewArray>() {
        Some(column) => Arc::new(column.iter().map(text).collect::<StringArray>()),
        None => Arc::clone(column),
    }
}

async fn json(mut result: SendableRecordBatchStream, out: &mut impl Write) -> anyhow::Result<()> {
    let mut writer = ArrayWriter::new(&mut *out);
    while let Some(batch) = result.next().await {
        writer.write(&batch?)?;
    }
    writer.finish()?;
    drop(writer);
    Ok(writeln!(out)?)
}

async fn lines(mut result: SendableRecordBatchStream, out: &mut impl Write) -> anyhow::Result<()> {
    let mut writer = csv::WriterBuilder::new().with_header(true).build(out);
    let mut is_empty = true;
    while let Some(batch) = result.next().await {
        writer.write(&batch?)?;
        is_empty = false;
    }
    if is_empty {
        // The names alone.
        writer.write(&RecordBatch::new_empty(result.schema()))?;
    }
    Ok(())
}

async fn to_parquet(mut result: SendableRecordBatchStream, created: File) -> anyhow::Result<()> {
    let mut writer = ArrowWriter::try_new(created, result.schema(), None)?;
    while let Some(batch) = result.next().await {
        writer.write(&batch?)?;
    }
    writer.close()?;
    Ok(())
}
