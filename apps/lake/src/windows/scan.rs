//! Reads the rows of the table: the leaf of each plan.

use std::fmt::{self, Formatter};
use std::sync::{Arc, OnceLock};

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Result, exec_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, Partitioning, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use datafusion_distributed::DistributedTaskContext;
use futures::{StreamExt as _, TryStreamExt as _, stream};
use serde::{Deserialize, Serialize};
use sotto_segment::Block;

use super::batch::Batch;
use super::columns::{BODY, TAG, schema};
use super::rows::{Stream, of_loose, of_rolled, of_unit};
use crate::LakeError;
use crate::store::{Files, Filter, Header, Loose, Planned, Rolled, Unit, name_of};

/// The files of the store that plans of this process read. A plan names neither a place nor a key: both are the process's own.
pub struct Source(pub Arc<Files>);

/// A part of the windows that a query reads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Item {
    Unit(Unit),
    Loose(Loose),
    Rolled(Rolled),
}

/// The windows that a query reads, divided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Reading {
    pub(super) headers: Vec<Header>,
    /// The columns, by their numbers in the table.
    pub(super) projection: Vec<usize>,
    /// Starts and numbers.
    pub(super) ranges: ((i64, i64), (i64, i64)),
    /// Windows without a reading are rows, too.
    pub(super) every: bool,
    /// For each task, for each of its partitions.
    pub(super) tasks: Vec<Vec<Vec<Item>>>,
}

/// Reads windows. In a distributed plan each task reads its share.
#[derive(Debug, Clone)]
pub struct WindowsExec {
    pub(crate) reading: Arc<Reading>,
    properties: Arc<PlanProperties>,
}

impl Reading {
    /// Refuses a plan that names columns which the table does not have.
    pub(crate) fn check(&self) -> Result<(), LakeError> {
        let columns = schema().fields().len();
        match self.projection.iter().any(|column| *column >= columns) {
            true => Err(LakeError::Plan("it reads a column that the table does not have".to_owned())),
            false => Ok(()),
        }
    }
}

impl WindowsExec {
    pub(crate) fn new(reading: Reading) -> Result<Self> {
        let projected = Arc::new(schema().project(&reading.projection)?);
        let partitions = reading.tasks.iter().map(Vec::len).max().unwrap_or(0).max(1);
        let properties = Arc::new(PlanProperties::new(
            EquivalenceProperties::new(projected),
            Partitioning::UnknownPartitioning(partitions),
            EmissionType::Incremental,
            Boundedness::Bounded,
        ));
        Ok(Self { reading: Arc::new(reading), properties })
    }

    /// Divides a plan among partitions, each of which reads blocks that follow each other: most groups lie in one then.
    pub(super) fn of(
        planned: Planned,
        filter: &Filter,
        projection: Vec<usize>,
        partitions: usize,
    ) -> Result<Self> {
        let Planned { headers, units, loose, rolled } = planned;
        let items = units.into_iter().map(Item::Unit);
        let items =
            items.chain(loose.into_iter().map(Item::Loose)).chain(rolled.into_iter().map(Item::Rolled));
        let items: Vec<Item> = items.collect();
        let ranges = (filter.starts, filter.numbers);
        let tasks = vec![divide(items, partitions)];
        Self::new(Reading { headers, projection, ranges, every: filter.every, tasks })
    }

    /// Divides it among tasks, each with as many partitions as it has now.
    ///
    /// # Errors
    /// The projection is none of the table's.
    pub fn among(&self, tasks: usize) -> Result<Self> {
        let partitions = self.properties.output_partitioning().partition_count();
        let items: Vec<Item> = self.reading.tasks.iter().flatten().flatten().cloned().collect();
        let tasks = divide(items, tasks).into_iter().map(|of_task| divide(of_task, partitions)).collect();
        Self::new(Reading { tasks, ..(*self.reading).clone() })
    }

    /// Returns the number of blocks, waiting windows and sums to read.
    #[must_use]
    pub fn items(&self) -> usize {
        self.reading.tasks.iter().flatten().map(Vec::len).sum()
    }
}

/// Divides items into as many runs, of about equal lengths.
pub(crate) fn divide<T>(items: Vec<T>, into: usize) -> Vec<Vec<T>> {
    let (into, count) = (into.max(1), items.len());
    let mut items = items.into_iter();
    (0..into).map(|at| items.by_ref().take((at + 1) * count / into - at * count / into).collect()).collect()
}

impl DisplayAs for WindowsExec {
    fn fmt_as(&self, _: DisplayFormatType, formatter: &mut Formatter<'_>) -> fmt::Result {
        let partitions = self.properties.output_partitioning().partition_count();
        write!(formatter, "WindowsExec: blocks={}, partitions={partitions}", self.items())
    }
}

impl ExecutionPlan for WindowsExec {
    fn name(&self) -> &str {
        "WindowsExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(self: Arc<Self>, _: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let Some(source) = context.session_config().get_extension::<Source>() else {
            return exec_err!("no store was named: start the worker with --store");
        };
        let task = DistributedTaskContext::from_ctx(&context).task_index;
        let tasks = &self.reading.tasks;
        let Some(items) =
            tasks.get(task).map(|partitions| partitions.get(partition).cloned().unwrap_or_default())
        else {
            return exec_err!("the plan has {} tasks, and task {task} was asked for", tasks.len());
        };
        let reader = Arc::new(Reader::new(Arc::clone(&self.reading), self.schema(), source));
        let batches = stream::iter(items).then(move |item| {
            let reader = Arc::clone(&reader);
            async move { Ok(reader.read(&item).await?) }
        });
        let batches = batches.try_filter(|batch: &RecordBatch| futures::future::ready(batch.num_rows() > 0));
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), batches)))
    }
}

/// Reads the items of a partition.
struct Reader {
    reading: Arc<Reading>,
    /// Read when the first item of one comes: a partition has few of them.
    streams: Vec<OnceLock<Stream>>,
    filter: Filter,
    schema: SchemaRef,
    source: Arc<Source>,
    with_bodies: bool,
}

impl Reader {
    fn new(reading: Arc<Reading>, projected: SchemaRef, source: Arc<Source>) -> Self {
        let streams = reading.headers.iter().map(|_| OnceLock::new()).collect();
        let filter = Filter { starts: reading.ranges.0, numbers: reading.ranges.1, ..Filter::default() };
        let filter = Filter { every: reading.every, ..filter };
        let with_bodies = projected.fields().iter().any(|field| [BODY, TAG].contains(&field.name().as_str()));
        Self { reading, streams, filter, schema: projected, source, with_bodies }
    }

    fn stream(&self, header: u32) -> Result<&Stream, LakeError> {
        let at = header as usize;
        let Some((stream, header)) = self.streams.get(at).zip(self.reading.headers.get(at)) else {
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
