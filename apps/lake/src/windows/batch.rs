//! Makes Arrow arrays of rows.

use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, BinaryViewBuilder, Int32Array, Int64Array, RecordBatch, RecordBatchOptions, StringViewBuilder,
    StructArray, TimestampMillisecondArray, UInt8Array,
};
use datafusion::arrow::buffer::Buffer;
use datafusion::arrow::datatypes::SchemaRef;
use sotto_wire::window_description;

use super::columns::{BODY, TAG, body_fields, schema};
use super::rows::{Line, Stream, split};
use crate::LakeError;

/// Views of bytes that lie one behind the other.
#[derive(Default)]
struct Bytes {
    all: Vec<u8>,
    ends: Vec<u32>,
}

impl Bytes {
    fn push(&mut self, bytes: &[u8]) {
        self.all.extend_from_slice(bytes);
        self.end();
    }

    fn end(&mut self) {
        // A block has at most some MiB.
        self.ends.push(u32::try_from(self.all.len()).unwrap_or(u32::MAX));
    }

    fn finish(self) -> Result<ArrayRef, LakeError> {
        let mut builder = BinaryViewBuilder::with_capacity(self.ends.len());
        let block = builder.append_block(Buffer::from_vec(self.all));
        let mut from = 0;
        for end in self.ends {
            let view = builder.try_append_view(block, from, end - from);
            view.map_err(|error| LakeError::Sum(error.to_string()))?;
            from = end;
        }
        Ok(Arc::new(builder.finish()))
    }
}

/// The columns that are wanted, as rows come.
#[derive(Default)]
struct Columns {
    number: Vec<i64>,
    position: Vec<i64>,
    arrived: Vec<i64>,
    start: Vec<i64>,
    ticks: Vec<i32>,
    first: Vec<i64>,
    last: Vec<i64>,
    readings: Vec<i64>,
    windows: Vec<i64>,
    salt: Bytes,
    pad: Vec<i64>,
    flags: Vec<u8>,
    lists: Bytes,
    replaced: Bytes,
    rolled: Bytes,
    places: Bytes,
    tags: Bytes,
}

/// Rows of one stream, of which a batch is made.
pub(super) struct Batch<'s> {
    stream: &'s Stream,
    /// With columns of bytes.
    with_bodies: bool,
    columns: Columns,
    rows: usize,
    /// The lists, flags and ticks of the last window, and the bytes of the bodies of such windows.
    form: Option<(Vec<u8>, u8, u32, Vec<usize>)>,
}

impl<'s> Batch<'s> {
    pub(super) fn new(stream: &'s Stream, with_bodies: bool) -> Self {
        Self { stream, with_bodies, columns: Columns::default(), rows: 0, form: None }
    }

    pub(super) fn push(&mut self, line: &Line<'_>) -> Result<(), LakeError> {
        let columns = &mut self.columns;
        columns.number.push(line.number.cast_signed());
        columns.position.push(line.position.cast_signed());
        columns.arrived.push(line.stored_at);
        columns.start.push(line.start);
        columns.ticks.push(line.ticks.cast_signed());
        columns.first.push(line.times.0);
        columns.last.push(line.times.1);
        columns.readings.push(line.readings.cast_signed());
        columns.windows.push(line.windows.cast_signed());
        self.rows += 1;
        if !self.with_bodies {
            return Ok(());
        }
        columns.salt.push(&line.salt);
        columns.pad.push(line.pad.cast_signed());
        columns.flags.push(line.flags);
        columns.lists.push(line.lists);
        columns.replaced.push(&line.replaced);
        columns.rolled.push(&line.rolled);
        if line.rolled.is_empty() {
            self.split(line)
        } else {
            columns.places.push(line.parts);
            columns.tags.end();
            Ok(())
        }
    }

    fn split(&mut self, line: &Line<'_>) -> Result<(), LakeError> {
        let is_same = self.form.as_ref().is_some_and(|(lists, flags, ticks, _)| {
            (lists.as_slice(), *flags, *ticks) == (line.lists, line.flags, line.ticks)
        });
        if !is_same {
            let head = line.head(&self.stream.header);
            let sent = window_description(&head, &self.stream.header)?.sent_ticks();
            let bodies = self.stream.body_bytes(sent)?;
            self.form = Some((line.lists.to_vec(), line.flags, line.ticks, bodies));
        }
        let bodies = self.form.as_ref().map_or(&[][..], |(.., bodies)| bodies);
        let (places, tags) = (&mut self.columns.places, &mut self.columns.tags);
        split((self.stream, line.number), bodies, line.parts, (&mut places.all, &mut tags.all))?;
        places.end();
        tags.end();
        Ok(())
    }

    /// Returns the batch with the columns of a projection.
    pub(super) fn finish(
        self,
        projection: &[usize],
        projected: &SchemaRef,
    ) -> Result<RecordBatch, LakeError> {
        let Self { stream, mut columns, rows, .. } = self;
        let body = std::mem::take(&mut columns).finish(stream, rows, projection)?;
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(Arc::clone(projected), body, &options)
            .map_err(|error| LakeError::Sum(error.to_string()))
    }
}

fn text(text: &str, rows: usize) -> ArrayRef {
    let mut builder = StringViewBuilder::with_capacity(rows).with_deduplicate_strings();
    (0..rows).for_each(|_| builder.append_value(text));
    Arc::new(builder.finish())
}

/// Returns views of the same bytes.
fn same(bytes: &[u8], rows: usize) -> Result<ArrayRef, LakeError> {
    let mut builder = BinaryViewBuilder::with_capacity(rows);
    let block = builder.append_block(Buffer::from_vec(bytes.to_vec()));
    let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    for _ in 0..rows {
        builder.try_append_view(block, 0, length).map_err(|error| LakeError::Sum(error.to_string()))?;
    }
    Ok(Arc::new(builder.finish()))
}

fn time(values: Vec<i64>) -> ArrayRef {
    Arc::new(TimestampMillisecondArray::from(values).with_timezone("UTC"))
}

fn whole(values: Vec<i64>) -> ArrayRef {
    Arc::new(Int64Array::from(values))
}

impl Columns {
    fn finish(self, stream: &Stream, rows: usize, projection: &[usize]) -> Result<Vec<ArrayRef>, LakeError> {
        let (mut body, mut tags) = (None, None);
        let names = schema();
        if projection.iter().any(|at| names.field(*at).name() == BODY) {
            body = Some(Arc::new(StructArray::new(
                body_fields(),
                vec![
                    same(&stream.frame, rows)?,
                    whole(self.number.clone()),
                    self.salt.finish()?,
                    whole(self.pad),
                    whole(self.start.clone()),
                    Arc::new(Int32Array::from(self.ticks.clone())),
                    Arc::new(UInt8Array::from(self.flags)),
                    self.lists.finish()?,
                    self.replaced.finish()?,
                    self.rolled.finish()?,
                    self.places.finish()?,
                ],
                None,
            )) as ArrayRef);
        }
        if projection.iter().any(|at| names.field(*at).name() == TAG) {
            tags = Some(self.tags.finish()?);
        }
        let column = |at: &usize| -> Result<ArrayRef, LakeError> {
            Ok(match names.field(*at).name().as_str() {
                "tenant" => Arc::new(Int32Array::from(vec![0; rows])),
                "device" => text(stream.header.device(), rows),
                "stream" => text(stream.header.stream(), rows),
                "header" => text(&stream.header.id().tag().to_string(), rows),
                "number" => whole(self.number.clone()),
                "position" => whole(self.position.clone()),
                "arrived" => time(self.arrived.clone()),
                "start" => time(self.start.clone()),
                "ticks" => Arc::new(Int32Array::from(self.ticks.clone())),
                "first" => time(self.first.clone()),
                "last" => time(self.last.clone()),
                "readings" => whole(self.readings.clone()),
                "windows" => whole(self.windows.clone()),
                name => {
                    let column = if name == BODY { &body } else { &tags };
                    let column = column.clone();
                    column.ok_or_else(|| LakeError::Plan(format!("there is no column {name}")))?
                }
            })
        };
        projection.iter().map(column).collect()
    }
}
