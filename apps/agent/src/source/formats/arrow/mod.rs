//! Arrow: streams of batches, and the same in a file (Feather, version 2). Columns within structures have their names
//! before them, as in `air.temperature`.

mod arrays;
mod messages;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_buffer::Buffer;
use arrow_ipc::MessageHeader;
use arrow_ipc::reader::{RecordBatchDecoder, read_dictionary};
use arrow_schema::{Schema, SchemaRef};

use super::magic::ARROW;
use super::typed::{Chosen, Table, Typed, Value, refuse_lines, unharmed};
use super::{Format, Opening, Rows};
use crate::source::SourceError;
use crate::source::files::input::{Input, refused};
use arrays::{Column, Route, name_columns};
use messages::{Messages, Whole};

/// The first bytes of a file; streams begin otherwise.
const FILE: &[u8] = b"ARROW1";
/// Maximum bytes of all dictionaries: 512 MiB.
const LARGEST_DICTIONARIES: usize = 512 << 20;
/// Maximum number of rows of a batch.
const MOST_ROWS: usize = 1 << 31;

/// Batches of columns.
pub(super) struct Arrow;

impl Format for Arrow {
    fn name(&self) -> &'static str {
        ARROW.name
    }

    fn sniff(&self, begin: &[u8]) -> Option<bool> {
        ARROW.fits(begin)
    }

    fn open(&self, input: Input, opening: &Opening<'_>) -> Result<Option<Box<dyn Rows>>, SourceError> {
        let path = input.path.clone();
        refuse_lines(opening, &path)?;
        if input.bytes().starts_with(b"FEA1") {
            return Err(refused(&path, "it is Feather of version 1: write it as version 2"));
        }
        let packing = input.packing();
        let opened = if input.bytes().starts_with(FILE) {
            let file = input.file("an Arrow file")?;
            unharmed(|| Messages::of_file(file))
        } else {
            let stream = input.reader("an Arrow stream")?;
            unharmed(|| Messages::of_stream(stream))
        };
        let opened = opened.unwrap_or_else(|| Err(damaged()));
        let (messages, schema) = opened.map_err(|reason| refused(&path, reason))?;
        let (mut all, fields) = (Vec::new(), schema.fields());
        name_columns(fields, "", &[], &mut all);
        let (names, routes): (Vec<String>, Vec<Route>) = all.into_iter().unzip();
        let chosen = Chosen::find(&names, opening.wanted, &path)?;
        let routes: Vec<Route> = chosen.columns.iter().map(|column| routes[*column].clone()).collect();
        let mut roots: Vec<usize> = routes.iter().map(|route| route[0]).collect();
        roots.dedup();
        let batches = Batches::new(path.clone(), messages, schema, roots, routes);
        Ok(Some(Box::new(Typed::new(batches, &path, chosen).packed(packing))))
    }
}

fn damaged() -> String {
    "it is damaged: copy it again".to_owned()
}

/// The rows of all batches.
struct Batches {
    path: PathBuf,
    messages: Messages,
    schema: SchemaRef,
    /// The fields with wanted columns, in ascending order.
    roots: Vec<usize>,
    /// The place of each wanted column within those fields.
    routes: Vec<Route>,
    dictionaries: HashMap<i64, ArrayRef>,
    dictionary_bytes: usize,
    columns: Vec<Column>,
    /// Rows of the open batch, and how many of them were given.
    rows: usize,
    at: usize,
    row: u64,
}

impl Batches {
    fn new(
        path: PathBuf,
        messages: Messages,
        schema: Schema,
        roots: Vec<usize>,
        mut routes: Vec<Route>,
    ) -> Self {
        for route in &mut routes {
            route[0] = roots.iter().position(|root| *root == route[0]).unwrap_or_default();
        }
        Self {
            path,
            messages,
            schema: Arc::new(schema),
            roots,
            routes,
            dictionaries: HashMap::new(),
            dictionary_bytes: 0,
            columns: Vec::new(),
            rows: 0,
            at: 0,
            row: 0,
        }
    }

    /// Reads the next batch that has rows. Returns false if there is none.
    fn more(&mut self) -> Result<bool, String> {
        loop {
            let Some(Whole { head, body }) = self.messages.next()? else { return Ok(false) };
            let body = Buffer::from_vec(body);
            let message = arrow_ipc::root_as_message(&head).map_err(|_| damaged())?;
            let version = message.version();
            match message.header_type() {
                MessageHeader::DictionaryBatch => {
                    let dictionary = message.header_as_dictionary_batch().ok_or_else(damaged)?;
                    self.dictionary_bytes += body.len();
                    if self.dictionary_bytes > LARGEST_DICTIONARIES {
                        return Err("its dictionaries have more than 512 MiB: write it as Parquet".to_owned());
                    }
                    read_dictionary(&body, dictionary, &self.schema, &mut self.dictionaries, &version)
                        .map_err(|_| damaged())?;
                }
                MessageHeader::RecordBatch => {
                    let batch = message.header_as_record_batch().ok_or_else(damaged)?;
                    let schema = Arc::clone(&self.schema);
                    let decoder =
                        RecordBatchDecoder::try_new(&body, batch, schema, &self.dictionaries, &version);
                    let decoder = decoder.map_err(|_| damaged())?.with_projection(Some(&self.roots));
                    let batch = decoder.read_record_batch().map_err(|_| damaged())?;
                    self.open(&batch)?;
                    if self.rows > 0 {
                        return Ok(true);
                    }
                }
                // Tensors and other messages hold no rows.
                _ => {}
            }
        }
    }

    fn open(&mut self, batch: &RecordBatch) -> Result<(), String> {
        if batch.num_rows() > MOST_ROWS {
            return Err(damaged());
        }
        let column = |route: &Route| Column::new(batch, route).ok_or_else(damaged);
        self.columns = self.routes.iter().map(column).collect::<Result<_, _>>()?;
        (self.rows, self.at) = (batch.num_rows(), 0);
        Ok(())
    }
}

impl Table for Batches {
    fn advance(&mut self) -> Result<Option<u64>, SourceError> {
        if self.at + 1 < self.rows {
            self.at += 1;
        } else {
            let more = unharmed(|| self.more()).unwrap_or_else(|| Err(damaged()));
            let row = self.row;
            if !more.map_err(|reason| refused(&self.path, format!("behind row {row}: {reason}")))? {
                return Ok(None);
            }
        }
        self.row += 1;
        Ok(Some(self.row))
    }

    fn value(&self, position: usize) -> Value<'_> {
        self.columns.get(position).map_or(Value::Empty, |column| column.value(self.at))
    }
}
