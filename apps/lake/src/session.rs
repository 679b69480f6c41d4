//! DataFusion, with the windows and the ciphertexts of a store.

use std::sync::Arc;

use datafusion::error::Result;
use datafusion::execution::memory_pool::FairSpillPool;
use datafusion::execution::object_store::{DefaultObjectStoreRegistry, ObjectStoreRegistry as _};
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::execution::{SessionState, SessionStateBuilder};
use datafusion::prelude::{DataFrame, SQLOptions, SessionConfig, SessionContext};
use url::Url;

use crate::evaluate::{self, Evaluations};
use crate::store::{Catalogue, Files};
use crate::sums;
use crate::table::StoreTable;
use crate::windows::Source;

/// The threads and the memory of a query.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// Threads; None for all of the machine.
    pub threads: Option<usize>,
    /// Bytes of memory for sums that are not complete; beyond them they go to the disk. None for no limit.
    pub memory: Option<usize>,
    /// Bytes of ciphertexts that a plan of a group holds at any time; None for [`LARGEST_JOB`](crate::evaluate::LARGEST_JOB).
    pub largest_job: Option<u64>,
}

impl Limits {
    /// Returns the part of a session that evaluates ciphertexts. Sessions of one process share it.
    #[must_use]
    pub fn evaluations(&self, files: Arc<Files>) -> Arc<Evaluations> {
        Arc::new(Evaluations::new(files, self.threads, self.largest_job))
    }
}

/// Adds the lake to a session: its functions, and the files that its plans read.
///
/// # Errors
/// The runtime cannot be made.
pub fn with_lake(
    builder: SessionStateBuilder,
    config: SessionConfig,
    evaluations: &Arc<Evaluations>,
    limits: Limits,
) -> Result<SessionStateBuilder> {
    let mut config = config.with_extension(Arc::new(Source(Arc::clone(evaluations.files()))));
    if let Some(threads) = limits.threads {
        config = config.with_target_partitions(threads);
    }
    // Without the file system, which is there otherwise: plans read windows and ciphertexts alone.
    let objects = DefaultObjectStoreRegistry::new();
    if let Ok(file) = Url::parse("file://") {
        let _ = objects.deregister_store(&file);
    }
    let mut runtime = RuntimeEnvBuilder::new().with_object_store_registry(Arc::new(objects));
    if let Some(memory) = limits.memory {
        runtime = runtime.with_memory_pool(Arc::new(FairSpillPool::new(memory)));
    }
    let builder = builder.with_config(config).with_runtime_env(runtime.build_arc()?);
    let functions = sums::functions().into_iter().chain(evaluate::functions(evaluations));
    Ok(functions.fold(builder, |mut builder, function| {
        builder.aggregate_functions().get_or_insert_default().push(function);
        builder
    }))
}

/// Returns the configuration of a session in which times are UTC.
#[must_use]
pub fn config() -> SessionConfig {
    SessionConfig::new()
}

/// Makes a session with the tables `windows` and `ciphertexts`.
///
/// # Errors
/// The table cannot be registered.
pub fn session(state: SessionState, catalogue: Catalogue, files: Arc<Files>) -> Result<SessionContext> {
    let context = SessionContext::new_with_state(state);
    let catalogue = Arc::new(catalogue);
    let windows = StoreTable::windows(Arc::clone(&catalogue), Arc::clone(&files));
    context.register_table("windows", Arc::new(windows))?;
    context.register_table("ciphertexts", Arc::new(StoreTable::ciphertexts(catalogue, files)))?;
    Ok(context)
}

/// Plans a query. It reads the tables `windows` and `ciphertexts`, and nothing else of the machine.
///
/// # Errors
/// The query is none, or it would write.
pub async fn query(context: &SessionContext, sql: &str) -> Result<DataFrame> {
    let reads = SQLOptions::new().with_allow_ddl(false).with_allow_dml(false).with_allow_statements(false);
    context.sql_with_options(sql, reads).await
}
