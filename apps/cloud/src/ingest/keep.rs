//! Stores checked uploads, and answers with their receipts.

use std::sync::Arc;

use sotto_api::uploads::Receipts;
use tokio::runtime::Handle;

use super::Checked;
use crate::cloud::Cloud;
use crate::problem::Problem;
use crate::store::{EarlierUpload, Kept, StoreError, Upload, ended_early};

/// Maximum receipts that are signed on a thread that serves connections: 21 µs each.
const FEW: usize = 2;

/// Stores checked uploads durably, all or none. Waits for the disk, and shares its commit with the other uploads that wait.
/// Windows of sums hold no thread meanwhile. The work ends even if the request is cancelled.
pub(crate) async fn keep(cloud: Arc<Cloud>, checked: Checked) -> Result<Receipts, Problem> {
    let is_row_alone = |upload: &Upload| upload.envelope.body().is_of_sums() && !upload.envelope.replaces();
    if checked.new.is_empty() || !checked.uploads.iter().all(is_row_alone) {
        return cloud.blocking(move |cloud| checked.keep(cloud)).await;
    }
    let stored = tokio::spawn(async move {
        let kept = loop {
            let (leading, runtime) = (Arc::clone(&cloud), Handle::current());
            let kept = cloud.store.keep_rows(checked.to_store(), move |lead| {
                drop(runtime.spawn_blocking(move || leading.store.lead(lead)));
            });
            match kept?.await.unwrap_or_else(|_| Err(ended_early())) {
                // Windows that it is compared with are in the object store alone.
                Err(StoreError::Away(_)) => {
                    Arc::clone(&cloud).blocking(|cloud| Ok(cloud.store.bring()?)).await?;
                }
                kept => break kept,
            }
        };
        if is_quick(&kept) {
            return checked.finish(&cloud, kept);
        }
        cloud.computing(move |cloud| checked.finish(cloud, kept)).await
    });
    stored.await.unwrap_or_else(|error| {
        tracing::error!(%error, "an upload ended early");
        Err(Problem::internal())
    })
}

/// Returns true if the outcomes are answered without the database, and with few signatures.
fn is_quick(kept: &Result<Kept, StoreError>) -> bool {
    matches!(kept, Ok(Ok(kept)) if kept.len() <= FEW && kept.iter().all(|kept| matches!(kept, EarlierUpload::New(_))))
}
