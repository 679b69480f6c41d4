//! Makes the rows of the table. It reads no file: functions read the ciphertexts that they take.

use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::TaskContext;
use futures::StreamExt as _;
use futures::stream::{self, BoxStream};

use super::batch::batch;
use super::columns::schema;
use super::entries::Entries;
use crate::leaf::{Leaf, Share, Table};
use crate::store::{Ciphertexts, Row};

/// Rows of a batch: a function takes a batch at a time, and other work waits for it.
const BATCH: usize = 64;

/// Returns the leaf of a plan.
pub(crate) fn leaf(planned: Ciphertexts, projection: Vec<usize>, partitions: usize) -> Result<Leaf<Entries>> {
    let Ciphertexts { streams, settings, headers, rows } = planned;
    Leaf::of(Entries { streams, settings, headers }, rows, projection, partitions)
}

impl Table for Entries {
    type Item = Row;
    const STEP: &'static str = "CiphertextsExec";
    const ITEMS: &'static str = "ciphertexts";

    fn schema() -> SchemaRef {
        schema()
    }

    fn batches(
        share: Share<Self>,
        columns: &SchemaRef,
        _: &TaskContext,
    ) -> Result<BoxStream<'static, Result<RecordBatch>>> {
        let (rows, columns) = (share.items().len(), Arc::clone(columns));
        let batches = (0..rows).step_by(BATCH).map(move |from| {
            let rows = &share.items()[from..(from + BATCH).min(rows)];
            batch(&share.reading, rows, &columns).map_err(DataFusionError::from)
        });
        Ok(stream::iter(batches).boxed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::leaf::Reading;
    use datafusion::physical_plan::ExecutionPlan as _;

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
            let scan = leaf(planned(rows), vec![3], partitions).unwrap();
            let scan = scan.among(tasks).unwrap();
            assert_eq!((scan.reading.tasks.len(), scan.items().count()), (tasks, rows as usize));
            let found = scan.items().map(|row| row.number);
            assert!(found.eq(0..rows));
        }
    }

    #[test]
    fn plans_that_name_columns_or_entries_which_are_not_there_are_refused() {
        let all: Vec<usize> = (0..schema().fields().len()).collect();
        let scan = leaf(planned(3), all.clone(), 1).unwrap();
        let projected = scan.schema();
        let rows = |reading: &Reading<Entries>| reading.tasks[0][0].clone();
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
        assert!(Leaf::new(beyond).is_err());
    }
}
