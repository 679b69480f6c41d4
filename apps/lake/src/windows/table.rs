//! The table, as DataFusion asks for it.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::Session;
use datafusion::common::Result;
use datafusion::datasource::{TableProvider, TableType};
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown};
use datafusion::physical_plan::ExecutionPlan;

use super::columns::schema;
use super::filters::{narrow, pushed_down};
use super::scan::WindowsExec;
use crate::store::{Catalogue, Files, Filter, plan};

/// The windows of a store that count now.
pub struct Windows {
    catalogue: Arc<Catalogue>,
    files: Arc<Files>,
    every: bool,
}

impl std::fmt::Debug for Windows {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Windows")
    }
}

impl Windows {
    /// Makes the table of a store.
    #[must_use]
    pub fn new(catalogue: Arc<Catalogue>, files: Arc<Files>) -> Self {
        Self { catalogue, files, every: false }
    }

    /// Makes the table of all windows with a body, also those that do not count any more.
    #[must_use]
    pub fn every(catalogue: Arc<Catalogue>, files: Arc<Files>) -> Self {
        Self { catalogue, files, every: true }
    }
}

#[async_trait]
impl TableProvider for Windows {
    fn schema(&self) -> SchemaRef {
        schema()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        Ok(pushed_down(filters))
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        _limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let mut filter = Filter { every: self.every, ..Filter::default() };
        for condition in filters {
            narrow(&mut filter, condition);
        }
        let projection = projection.cloned().unwrap_or_else(|| (0..schema().fields().len()).collect());
        let planned = plan(&self.catalogue, &self.files, &filter).await?;
        let partitions = state.config().target_partitions();
        Ok(Arc::new(WindowsExec::of(planned, &filter, projection, partitions)?))
    }
}
