//! A worker: runs parts of plans of its plant's coordinators on the store that it was started with.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::SessionState;
use datafusion::physical_plan::ExecutionPlan;
use datafusion_distributed::{
    DistributedExt as _, Worker, WorkerPlanRewriteEvent, WorkerPlanRewriteEventResponse, WorkerQueryContext,
};
use futures::TryStreamExt as _;
use tokio::net::TcpListener;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::transport::Server;

use super::coordinator::Channels;
use super::identity::{Identity, is_loopback};
use crate::codec::Codec;
use crate::evaluate::Evaluations;
use crate::session::{Limits, with_lake};
use crate::store::Files;

/// A worker that listens.
pub struct Listening {
    /// Its address.
    pub address: SocketAddr,
    listener: TcpListener,
    worker: Worker,
    identity: Option<Identity>,
}

/// Listens at an address. Without an identity only this machine may reach it.
///
/// # Errors
/// The address cannot be listened at, or others could reach it without TLS.
pub async fn listen(
    address: SocketAddr,
    identity: Option<Identity>,
    files: Arc<Files>,
    limits: Limits,
) -> anyhow::Result<Listening> {
    if identity.is_none() && !is_loopback(address.ip()) {
        bail!(
            "others reach {address}: name --identity, a folder that `sotto-lake authority` made, or listen at 127.0.0.1"
        );
    }
    let listener = TcpListener::bind(address).await.with_context(|| format!("cannot listen at {address}"))?;
    let address = listener.local_addr()?;
    let channels = Channels::new(identity.clone());
    let evaluations = limits.evaluations(files);
    let worker = Worker::from_session_builder(move |query: WorkerQueryContext| {
        let (evaluations, channels) = (Arc::clone(&evaluations), channels.clone());
        async move { state(query, &evaluations, channels, limits) }
    });
    Ok(Listening { address, listener, worker, identity })
}

fn state(
    mut query: WorkerQueryContext,
    evaluations: &Arc<Evaluations>,
    channels: Channels,
    limits: Limits,
) -> Result<SessionState> {
    let config = query.builder.config().take().unwrap_or_default();
    let builder = with_lake(query.builder, config, evaluations, limits)?;
    let builder = builder.with_distributed_user_codec(Codec).with_distributed_channel_resolver(channels);
    Ok(builder.with_distributed_worker_plan_rewrite_handler(reads_the_store_alone).build())
}

/// The steps of a plan that a worker takes: they read windows and ciphertexts, or rows of other steps and workers. Others, which
/// write files or read them, are refused.
const STEPS: [&str; 29] = [
    "AggregateExec",
    "BroadcastExec",
    "CiphertextsExec",
    "CoalesceBatchesExec",
    "CoalescePartitionsExec",
    "CooperativeExec",
    "CrossJoinExec",
    "EmptyExec",
    "FilterExec",
    "GlobalLimitExec",
    "HashJoinExec",
    "InterleaveExec",
    "LocalLimitExec",
    "MetricsWrapperExec",
    "NestedLoopJoinExec",
    "NetworkBroadcastExec",
    "NetworkCoalesceExec",
    "NetworkShuffleExec",
    "PartialSortExec",
    "PartitionIsolatorExec",
    "PlaceholderRowExec",
    "ProjectionExec",
    "RepartitionExec",
    "SortExec",
    "SortMergeJoinExec",
    "SortPreservingMergeExec",
    "UnionExec",
    "WindowsExec",
    "BoundedWindowAggExec",
];

/// Refuses a plan that would do anything but read windows and ciphertexts, such as write a file of this machine.
fn reads_the_store_alone(event: WorkerPlanRewriteEvent<'_>) -> Result<WorkerPlanRewriteEventResponse> {
    check(&event.plan)?;
    Ok(WorkerPlanRewriteEventResponse::new(event.plan))
}

fn check(plan: &Arc<dyn ExecutionPlan>) -> Result<()> {
    if !STEPS.contains(&plan.name()) {
        let reason =
            format!("a worker reads windows and ciphertexts alone, and the plan has {}", plan.name());
        return Err(DataFusionError::Plan(reason));
    }
    plan.children().into_iter().try_for_each(check)
}

impl Listening {
    /// Serves until `stop` is ready.
    ///
    /// # Errors
    /// The certificate cannot be used, or the port is lost.
    pub async fn serve(self, stop: impl Future<Output = ()>) -> anyhow::Result<()> {
        let mut server = Server::builder();
        if let Some(identity) = &self.identity {
            server = server.tls_config(identity.server()).context("the certificate cannot be used")?;
        }
        let incoming = TcpListenerStream::new(self.listener).inspect_ok(|stream| {
            // A lost option costs time alone.
            let _ = stream.set_nodelay(true);
        });
        let server = server.add_service(self.worker.into_worker_server());
        Ok(server.serve_with_incoming_shutdown(incoming, stop).await?)
    }
}

#[cfg(test)]
mod tests {
    use datafusion::prelude::SessionContext;

    use super::*;

    #[tokio::test]
    async fn plans_that_write_or_read_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("rows.csv");
        std::fs::write(&file, "a\n1\n").unwrap();
        let context = SessionContext::new();
        context.register_csv("rows", file.to_str().unwrap(), Default::default()).await.unwrap();
        let plan = |sql: String| {
            let context = context.clone();
            async move { context.sql(&sql).await.unwrap().create_physical_plan().await.unwrap() }
        };
        assert!(check(&plan("select 1".to_owned()).await).is_ok());
        for sql in [
            "select * from rows".to_owned(),
            format!("copy (select 1) to '{}/x.csv'", folder.path().display()),
        ] {
            let refused = check(&plan(sql.clone()).await).unwrap_err().to_string();
            assert!(refused.contains("reads windows and ciphertexts alone"), "{sql}: {refused}");
        }
    }
}
