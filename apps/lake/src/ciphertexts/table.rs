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
use super::scan::CiphertextsExec;
use crate::store::{Catalogue, Filter};
use crate::windows::{narrow, pushed_down};

/// The ciphertexts of a store that count now.
pub struct CiphertextsTable {
    catalogue: Arc<Catalogue>,
}

impl std::fmt::Debug for CiphertextsTable {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("CiphertextsTable")
    }
}

impl CiphertextsTable {
    /// Makes the table of a store.
    #[must_use]
    pub fn new(catalogue: Arc<Catalogue>) -> Self {
        Self { catalogue }
    }
}

#[async_trait]
impl TableProvider for CiphertextsTable {
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
        let mut filter = Filter::default();
        for condition in filters {
            narrow(&mut filter, condition);
        }
        let projection = projection.cloned().unwrap_or_else(|| (0..schema().fields().len()).collect());
        let partitions = state.config().target_partitions();
        let planned = self.catalogue.ciphertexts(&filter)?;
        Ok(Arc::new(CiphertextsExec::of(planned, projection, partitions)?))
    }
}
