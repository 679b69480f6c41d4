//! Runs work outside the threads that serve connections.

use std::sync::Arc;

use tokio::sync::Semaphore;

use crate::problem::Problem;

/// Runs disk-bound work.
///
/// # Errors
/// The error of `work`, or [`Problem::internal`] if it panicked.
pub async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| {
        tracing::error!(%error, "work ended early");
        Err(Problem::internal())
    })
}

/// Runs CPU-bound work, at most as many at the same time as there are permits, one per core. The permit is held until
/// the work ends, even if the request is cancelled.
///
/// # Errors
/// The error of `work`, or [`Problem::internal`] if it panicked.
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
