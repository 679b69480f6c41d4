//! DataFusion, with the windows of a store.

use std::sync::Arc;

use datafusion::error::Result;
use datafusion::execution::memory_pool::FairSpillPool;
use datafusion::execution::object_store::{DefaultObjectStoreRegistry, ObjectStoreRegistry as _};
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::execution::{SessionState, SessionStateBuilder};
use datafusion::prelude::{DataFrame, SQLOptions, SessionConfig, SessionContext};
use url::Url;

use crate::store::{Catalogue, Files};
use crate::sums::functions;
use crate::windows::{Source, Windows};

/// The threads and the memory of a query.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// Threads; None for all of the machine.
    pub threads: Option<usize>,
    /// Bytes of memory for sums that are not complete; beyond them they go to the disk. None for no limit.
    pub memory: Option<usize>,
}

/// Adds the lake to a session: its functions, and the files that its plans read.
///
/// # Errors
/// The runtime cannot be made.
pub fn with_lake(
    builder: SessionStateBuilder,
    config: SessionConfig,
    files: Arc<Files>,
    limits: Limits,
) -> Result<SessionStateBuilder> {
    let mut config = config.with_extension(Arc::new(Source(files)));
    if let Some(threads) = limits.threads {
        config = config.with_target_partitions(threads);
    }
    // Without the file system, which is there otherwise: plans read windows alone.
    let objects = DefaultObjectStoreRegistry::new();
    if let Ok(file) = Url::parse("file://") {
        let _ = objects.deregister_store(&file);
    }
    let mut runtime = RuntimeEnvBuilder::new().with_object_store_registry(Arc::new(objects));
    if let Some(memory) = limits.memory {
        runtime = runtime.with_memory_pool(Arc::new(FairSpillPool::new(memory)));
    }
    let builder = builder.with_config(config).with_runtime_env(runtime.build_arc()?);
    Ok(functions().into_iter().fold(builder, |mut builder, function| {
        builder.aggregate_functions().get_or_insert_default().push(function);
        builder
    }))
}

/// Returns the configuration of a session in which times are UTC.
#[must_use]
pub fn config() -> SessionConfig {
    SessionConfig::new()
}

/// Makes a session with the table `windows`.
///
/// # Errors
/// The table cannot be registered.
pub fn session(state: SessionState, catalogue: Catalogue, files: Arc<Files>) -> Result<SessionContext> {
    let context = SessionContext::new_with_state(state);
    context.register_table("windows", Arc::new(Windows::new(catalogue, files)))?;
    Ok(context)
}

/// Plans a query. It reads the table `windows`, and nothing else of the machine.
///
/// # Errors
/// The query is none, or it would write.
pub async fn query(context: &SessionContext, sql: &str) -> Result<DataFrame> {
    let reads = SQLOptions::new().with_allow_ddl(false).with_allow_dml(false).with_allow_statements(false);
    context.sql_with_options(sql, reads).await
}
