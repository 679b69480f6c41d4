//! Makes the rows of the table: a leaf of plans. It reads no file: functions read the ciphertexts that they take.

use std::fmt::{self, Formatter};
use std::sync::Arc;

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DataFusionError, Result, exec_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, Partitioning, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use datafusion_distributed::DistributedTaskContext;
use futures::stream;

use super::batch::batch;
use super::columns::schema;
use super::reading::Reading;
use crate::store::{Ciphertexts, Row};
use crate::windows::divide;

/// Rows of a batch: a function takes a batch at a time, and other work waits for it.
const BATCH: usize = 64;

/// Makes rows of ciphertexts. In a distributed plan each task makes its share.
#[derive(Debug, Clone)]
pub struct CiphertextsExec {
    pub(crate) reading: Arc<Reading>,
    properties: Arc<PlanProperties>,
}

impl CiphertextsExec {
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

    /// Divides ciphertexts among partitions: each has ones whose numbers follow each other.
    pub(super) fn of(planned: Ciphertexts, projection: Vec<usize>, partitions: usize) -> Result<Self> {
        let Ciphertexts { streams, settings, headers, rows } = planned;
        Self::new(Reading { streams, settings, headers, projection, tasks: vec![divide(rows, partitions)] })
    }

    /// Divides them among tasks, each with as many partitions as there are now.
    ///
    /// # Errors
    /// The projection is none of the table's.
    pub fn among(&self, tasks: usize) -> Result<Self> {
        let partitions = self.properties.output_partitioning().partition_count();
        let rows: Vec<Row> = self.reading.tasks.iter().flatten().flatten().cloned().collect();
        let tasks = divide(rows, tasks).into_iter().map(|of_task| divide(of_task, partitions)).collect();
        Self::new(Reading { tasks, ..(*self.reading).clone() })
    }

    fn rows(&self) -> usize {
        self.reading.tasks.iter().flatten().map(Vec::len).sum()
    }
}

impl DisplayAs for CiphertextsExec {
    fn fmt_as(&self, _: DisplayFormatType, formatter: &mut Formatter<'_>) -> fmt::Result {
        let partitions = self.properties.output_partitioning().partition_count();
        write!(formatter, "CiphertextsExec: ciphertexts={}, partitions={partitions}", self.rows())
    }
}

impl ExecutionPlan for CiphertextsExec {
    fn name(&self) -> &str {
        "CiphertextsExec"
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
        let (tasks, schema): (_, SchemaRef) = (&self.reading.tasks, self.schema());
        let Some(of_task) = tasks.get(task) else {
            return exec_err!("the plan has {} tasks, and task {task} was asked for", tasks.len());
        };
        let rows = of_task.get(partition).map_or(0, Vec::len);
        let (reading, projected) = (Arc::clone(&self.reading), Arc::clone(&schema));
        let batches = (0..rows).step_by(BATCH).map(move |from| {
            let rows = &reading.tasks[task][partition][from..(from + BATCH).min(rows)];
            batch(&reading, rows, &projected).map_err(DataFusionError::from)
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, stream::iter(batches))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(rows: u64) -> Ciphertexts {
        let row = |number| Row {
            stream: 0,
            number,
            id: "01".repeat(16),
            digest: "02".repeat(32),
            setting: 0,
            parameters: "03".repeat(32),
            key: "04".repeat(16),
            header: None,
            replaced: Vec::new(),
            start: 1,
            times: (1, 2),
            readings: 3,
            bytes: 4,
            stored_at: 5,
        };
        Ciphertexts {
            streams: vec![("attic".into(), "load".into())],
            settings: vec!["00000000".into()],
            headers: Vec::new(),
            rows: (0..rows).map(row).collect(),
        }
    }

    #[test]
    fn every_ciphertext_is_in_one_partition_of_one_task() {
        for (rows, tasks, partitions) in [(0, 1, 1), (1, 3, 2), (200, 1, 4), (7, 2, 2), (5, 9, 1)] {
            let scan = CiphertextsExec::of(planned(rows), vec![3], partitions).unwrap();
            let scan = scan.among(tasks).unwrap();
            assert_eq!((scan.reading.tasks.len(), scan.rows()), (tasks, rows as usize));
            let found = scan.reading.tasks.iter().flatten().flatten().map(|row| row.number);
            assert!(found.eq(0..rows));
        }
    }

    #[test]
    fn plans_that_name_columns_or_entries_which_are_not_there_are_refused() {
        let all: Vec<usize> = (0..schema().fields().len()).collect();
        let scan = CiphertextsExec::of(planned(3), all.clone(), 1).unwrap();
        let projected = scan.schema();
        let rows = |reading: &Reading| reading.tasks[0][0].clone();
        assert_eq!(batch(&scan.reading, &rows(&scan.reading), &projected).unwrap().num_rows(), 3);
        for change in [
            |row: &mut Row| row.stream = 1,
            |row: &mut Row| row.setting = 9,
            |row: &mut Row| row.header = Some(0),
            |row: &mut Row| row.id = "no id".into(),
        ] {
            let mut rows = rows(&scan.reading);
            change(&mut rows[1]);
            assert!(batch(&scan.reading, &rows, &projected).is_err());
        }
        let beyond = Reading { projection: vec![all.len()], ..(*scan.reading).clone() };
        assert!(beyond.check().is_err());
    }
}
