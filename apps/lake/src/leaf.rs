//! The leaves of plans: steps that make the rows of a table.

use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;

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
use futures::stream::BoxStream;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// What the items of a table need besides themselves.
pub(crate) trait Table: Clone + Debug + Serialize + DeserializeOwned + Send + Sync + 'static {
    /// A part of a table: a task reads some of them.
    type Item: Clone + Debug + Serialize + DeserializeOwned + Send + Sync + 'static;
    /// The name of the step in plans.
    const STEP: &'static str;
    /// The plural of an item.
    const ITEMS: &'static str;

    /// Returns the columns of the table.
    fn schema() -> SchemaRef;

    /// Returns the rows of a share's items, with some of the columns.
    fn batches(
        share: Share<Self>,
        columns: &SchemaRef,
        context: &TaskContext,
    ) -> Result<BoxStream<'static, Result<RecordBatch>>>;
}

/// The items that a query reads, divided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound = "")]
pub(crate) struct Reading<T: Table> {
    pub(crate) table: T,
    /// The columns, by their numbers in the table.
    pub(crate) projection: Vec<usize>,
    /// For each task, for each of its partitions.
    pub(crate) tasks: Vec<Vec<Vec<T::Item>>>,
}

/// The items of one partition of one task.
pub(crate) struct Share<T: Table> {
    pub(crate) reading: Arc<Reading<T>>,
    task: usize,
    partition: usize,
}

impl<T: Table> Share<T> {
    pub(crate) fn items(&self) -> &[T::Item] {
        let task = self.reading.tasks.get(self.task);
        task.and_then(|partitions| partitions.get(self.partition)).map_or(&[], Vec::as_slice)
    }
}

/// Makes rows of a table. In a distributed plan each task makes its share.
#[derive(Clone, Debug)]
pub(crate) struct Leaf<T: Table> {
    pub(crate) reading: Arc<Reading<T>>,
    properties: Arc<PlanProperties>,
}

impl<T: Table> Leaf<T> {
    /// Makes the step of a plan.
    ///
    /// # Errors
    /// It reads a column that the table does not have.
    pub(crate) fn new(reading: Reading<T>) -> Result<Self> {
        let projected = Arc::new(T::schema().project(&reading.projection)?);
        let partitions = reading.tasks.iter().map(Vec::len).max().unwrap_or(0).max(1);
        let properties = Arc::new(PlanProperties::new(
            EquivalenceProperties::new(projected),
            Partitioning::UnknownPartitioning(partitions),
            EmissionType::Incremental,
            Boundedness::Bounded,
        ));
        Ok(Self { reading: Arc::new(reading), properties })
    }

    /// Divides items among partitions, each of which has some that follow each other: most groups lie in one then.
    pub(crate) fn of(
        table: T,
        items: Vec<T::Item>,
        projection: Vec<usize>,
        partitions: usize,
    ) -> Result<Self> {
        Self::new(Reading { table, projection, tasks: vec![divide(items, partitions)] })
    }

    /// Divides the items among tasks, each with as many partitions as there are now.
    pub(crate) fn among(&self, tasks: usize) -> Result<Self> {
        let partitions = self.partitions();
        let items: Vec<T::Item> = self.items().cloned().collect();
        let tasks = divide(items, tasks).into_iter().map(|of_task| divide(of_task, partitions)).collect();
        Self::new(Reading { tasks, ..(*self.reading).clone() })
    }

    pub(crate) fn items(&self) -> impl Iterator<Item = &T::Item> {
        self.reading.tasks.iter().flatten().flatten()
    }

    fn partitions(&self) -> usize {
        self.properties.output_partitioning().partition_count()
    }
}

/// Divides items into as many runs, of about equal lengths.
fn divide<T>(items: Vec<T>, into: usize) -> Vec<Vec<T>> {
    let (into, count) = (into.max(1), items.len());
    let mut items = items.into_iter();
    (0..into).map(|at| items.by_ref().take((at + 1) * count / into - at * count / into).collect()).collect()
}

impl<T: Table> DisplayAs for Leaf<T> {
    fn fmt_as(&self, _: DisplayFormatType, formatter: &mut Formatter<'_>) -> fmt::Result {
        let (items, partitions) = (self.items().count(), self.partitions());
        write!(formatter, "{}: {}={items}, partitions={partitions}", T::STEP, T::ITEMS)
    }
}

impl<T: Table> ExecutionPlan for Leaf<T> {
    fn name(&self) -> &str {
        T::STEP
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
        let task = DistributedTaskContext::from_ctx(&context).task_index;
        let tasks = self.reading.tasks.len();
        if task >= tasks {
            return exec_err!("the plan has {tasks} tasks, and task {task} was asked for");
        }
        let share = Share { reading: Arc::clone(&self.reading), task, partition };
        let batches = T::batches(share, &self.schema(), &context)?;
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), batches)))
    }
}
