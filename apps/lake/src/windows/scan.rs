//! Reads the rows of the table.

use std::sync::{Arc, OnceLock};

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::{Result, exec_err};
use datafusion::execution::TaskContext;
use futures::stream::BoxStream;
use futures::{StreamExt as _, TryStreamExt as _, stream};
use serde::{Deserialize, Serialize};
use sotto_segment::Block;

use super::batch::Batch;
use super::columns::{BODY, TAG, schema};
use super::rows::{Stream, of_loose, of_rolled, of_unit};
use crate::LakeError;
use crate::leaf::{Leaf, Reading, Share, Table};
use crate::store::{Files, Filter, Header, Loose, Planned, Rolled, Unit, name_of};

/// The files of the store that plans of this process read. A plan names neither a place nor a key: both are the process's own.
pub(crate) struct Source(pub(crate) Arc<Files>);

/// A part of the windows that a query reads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Item {
    Unit(Unit),
    Loose(Loose),
    Rolled(Rolled),
}

/// What the windows of a query need.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Windows {
    headers: Vec<Header>,
    /// Starts and numbers.
    ranges: ((i64, i64), (i64, i64)),
    /// Windows without a reading are rows, too.
    every: bool,
}

/// Returns the leaf of a plan: blocks, waiting windows and sums.
pub(crate) fn leaf(
    planned: Planned,
    filter: &Filter,
    projection: Vec<usize>,
    partitions: usize,
) -> Result<Leaf<Windows>> {
    let Planned { headers, units, loose, rolled } = planned;
    let items = units.into_iter().map(Item::Unit);
    let items = items.chain(loose.into_iter().map(Item::Loose)).chain(rolled.into_iter().map(Item::Rolled));
    let windows = Windows { headers, ranges: (filter.starts, filter.numbers), every: filter.every };
    Leaf::of(windows, items.collect(), projection, partitions)
}

impl Table for Windows {
    type Item = Item;
    const STEP: &'static str = "WindowsExec";
    const ITEMS: &'static str = "blocks";

    fn schema() -> SchemaRef {
        schema()
    }

    fn batches(
        share: Share<Self>,
        columns: &SchemaRef,
        context: &TaskContext,
    ) -> Result<BoxStream<'static, Result<RecordBatch>>> {
        let Some(source) = context.session_config().get_extension::<Source>() else {
            return exec_err!("no store was named: start the worker with --store");
        };
        let items = share.items().to_vec();
        let reader = Arc::new(Reader::new(share.reading, Arc::clone(columns), source));
        let batches = stream::iter(items).then(move |item| {
            let reader = Arc::clone(&reader);
            async move { Ok(reader.read(&item).await?) }
        });
        Ok(batches.try_filter(|batch: &RecordBatch| futures::future::ready(batch.num_rows() > 0)).boxed())
    }
}

/// Reads the items of a partition.
struct Reader {
    reading: Arc<Reading<Windows>>,
    /// Read when the first item of one comes: a partition has few of them.
    streams: Vec<OnceLock<Stream>>,
    filter: Filter,
    schema: SchemaRef,
    source: Arc<Source>,
    with_bodies: bool,
}

impl Reader {
    fn new(reading: Arc<Reading<Windows>>, projected: SchemaRef, source: Arc<Source>) -> Self {
        let Windows { headers, ranges: (starts, numbers), every } = &reading.table;
        let streams = headers.iter().map(|_| OnceLock::new()).collect();
        let filter = Filter { starts: *starts, numbers: *numbers, every: *every, ..Filter::default() };
        let with_bodies = projected.fields().iter().any(|field| [BODY, TAG].contains(&field.name().as_str()));
        Self { reading, streams, filter, schema: projected, source, with_bodies }
    }

    fn stream(&self, header: u32) -> Result<&Stream, LakeError> {
        let at = header as usize;
        let Some((stream, header)) = self.streams.get(at).zip(self.reading.table.headers.get(at)) else {
            return Err(LakeError::Plan("it names a stream that it does not have".to_owned()));
        };
        if let Some(stream) = stream.get() {
            return Ok(stream);
        }
        let read = Stream::read(&header.frame)?;
        Ok(stream.get_or_init(|| read))
    }

    async fn read(&self, item: &Item) -> Result<RecordBatch, LakeError> {
        let (stream, block) = match item {
            Item::Unit(unit) => (self.stream(unit.header)?, self.block(unit).await?),
            Item::Loose(loose) => (self.stream(loose.header)?, None),
            Item::Rolled(rolled) => (self.stream(rolled.header)?, None),
        };
        let mut batch = Batch::new(stream, self.with_bodies);
        match (item, &block) {
            (Item::Unit(unit), Some(block)) => {
                of_unit((unit, stream), block, &self.filter, |line| batch.push(line))?;
            }
            (Item::Unit(_), None) => {}
            (Item::Loose(loose), _) => of_loose((loose, stream), |line| batch.push(line))?,
            (Item::Rolled(rolled), _) => of_rolled((rolled, stream), |line| batch.push(line))?,
        }
        batch.finish(&self.reading.projection, &self.schema)
    }

    /// Reads a block; its digest is compared. Returns None if no window of it starts when the query asks for.
    async fn block(&self, unit: &Unit) -> Result<Option<Block>, LakeError> {
        let digest = hex::decode(&unit.segment).ok().and_then(|bytes| <[u8; 32]>::try_from(bytes).ok());
        let digest = digest.ok_or_else(|| LakeError::Plan("a digest has 32 bytes".to_owned()))?;
        let segment = self.source.0.segment(&digest).await?;
        if segment.starts(unit.block as usize).is_some_and(|starts| !self.filter.may_start(starts)) {
            return Ok(None);
        }
        self.source.0.note_block();
        let block = segment.windows(unit.block as usize, self.with_bodies);
        block.map(Some).map_err(LakeError::segment(&name_of(&digest)))
    }
}
