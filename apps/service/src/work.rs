//! Work away from the threads that serve connections.

use std::sync::Arc;

use tokio::sync::Semaphore;

use crate::problem::Problem;

/// Work that waits for the disk.
pub async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| {
        tracing::error!(%error, "work ended early");
        Err(Problem::internal())
    })
}

/// Work that computes: no more at a time than there are permits, one a core. A permit is held until the work is done, even when
/// the request is gone by then.
pub async fn computing<T: Send + 'static>(
    cores: Arc<Semaphore>,
    work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let permit = cores.acquire_owned().await.map_err(|_| Problem::internal())?;
    blocking(move || {
        let done = work();
        drop(permit);
        done
    })
    .await
}
