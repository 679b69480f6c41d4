//! The tables of a store, as DataFusion asks for them.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::Session;
use datafusion::common::Result;
use datafusion::datasource::{TableProvider, TableType};
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown};
use datafusion::physical_plan::ExecutionPlan;

use crate::store::{Catalogue, Files, Filter, plan};
use crate::windows::{narrow, pushed_down};
use crate::{ciphertexts, windows};

#[derive(Clone, Copy, Debug)]
enum Kind {
    Windows,
    Every,
    Ciphertexts,
}

/// A table of a store.
pub struct StoreTable {
    kind: Kind,
    catalogue: Arc<Catalogue>,
    files: Arc<Files>,
}

impl std::fmt::Debug for StoreTable {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{:?}", self.kind)
    }
}

impl StoreTable {
    /// Makes the table of the windows that count now.
    #[must_use]
    pub fn windows(catalogue: Arc<Catalogue>, files: Arc<Files>) -> Self {
        Self { kind: Kind::Windows, catalogue, files }
    }

    /// Makes the table of all windows with a body, also those that do not count any more.
    #[must_use]
    pub fn every_window(catalogue: Arc<Catalogue>, files: Arc<Files>) -> Self {
        Self { kind: Kind::Every, catalogue, files }
    }

    /// Makes the table of the ciphertexts that count now.
    #[must_use]
    pub fn ciphertexts(catalogue: Arc<Catalogue>, files: Arc<Files>) -> Self {
        Self { kind: Kind::Ciphertexts, catalogue, files }
    }
}

#[async_trait]
impl TableProvider for StoreTable {
    fn schema(&self) -> SchemaRef {
        match self.kind {
            Kind::Windows | Kind::Every => windows::schema(),
            Kind::Ciphertexts => ciphertexts::schema(),
        }
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
        let mut filter = Filter { every: matches!(self.kind, Kind::Every), ..Filter::default() };
        for condition in filters {
            narrow(&mut filter, condition);
        }
        let all = self.schema().fields().len();
        let projection = projection.cloned().unwrap_or_else(|| (0..all).collect());
        let partitions = state.config().target_partitions();
        Ok(match self.kind {
            Kind::Windows | Kind::Every => {
                let planned = plan(&self.catalogue, &self.files, &filter).await?;
                Arc::new(windows::leaf(planned, &filter, projection, partitions)?)
            }
            Kind::Ciphertexts => {
                let planned = self.catalogue.ciphertexts(&filter)?;
                Arc::new(ciphertexts::leaf(planned, projection, partitions)?)
            }
        })
    }
}
