//! The side that plans, sends parts to workers, and puts their results together.

use async_trait::async_trait;
use datafusion::common::DataFusionError;
use datafusion::execution::SessionStateBuilder;
use datafusion_distributed::grpc::{BoxCloneSyncChannel, create_worker_client};
use datafusion_distributed::{
    ChannelResolver, DesiredTaskCountEvent, DesiredTaskCountEventResponse, DistributedExt as _,
    ScaleUpLeafNodeEvent, ScaleUpLeafNodeEventResponse, SessionStateBuilderExt as _, WorkerChannel,
    WorkerResolver,
};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;
use tonic::transport::{Channel, Endpoint};
use url::Url;

use super::identity::{Identity, check};
use super::named::Named;
use crate::ciphertexts::Entries;
use crate::codec::Codec;
use crate::leaf::{Leaf, Table};
use crate::windows::Windows;

/// Time for a connection to a worker.
const CONNECT: Duration = Duration::from_secs(5);
/// How often a worker is asked whether it is there, and how long it has to answer: one that is gone ends the query.
const ALIVE: Duration = Duration::from_secs(10);

type Divided = Result<ScaleUpLeafNodeEventResponse, DataFusionError>;

/// The addresses of the workers.
struct Workers(Vec<Url>);

impl WorkerResolver for Workers {
    fn get_urls(&self) -> Result<Vec<Url>, DataFusionError> {
        Ok(self.0.clone())
    }
}

/// Connections to workers, of a coordinator and of workers among each other.
#[derive(Clone)]
pub(super) struct Channels {
    identity: Option<Identity>,
    open: Arc<Mutex<HashMap<Url, Channel>>>,
}

impl Channels {
    pub(super) fn new(identity: Option<Identity>) -> Self {
        Self { identity, open: Arc::default() }
    }

    fn endpoint(&self, url: &Url) -> Result<Endpoint, DataFusionError> {
        // A plan names workers, too: none that the identity would not be shown to.
        check(url, self.identity.as_ref()).map_err(|error| DataFusionError::Plan(error.to_string()))?;
        let endpoint = Channel::from_shared(url.to_string());
        let endpoint = endpoint.map_err(|error| DataFusionError::Plan(format!("worker {url}: {error}")))?;
        let endpoint =
            endpoint.connect_timeout(CONNECT).http2_keep_alive_interval(ALIVE).keep_alive_timeout(ALIVE);
        match &self.identity {
            Some(identity) if url.scheme() == "https" => {
                endpoint.tls_config(identity.client()).map_err(|error| unreachable(url, &error))
            }
            _ => Ok(endpoint),
        }
    }
}

/// Returns an error with all of its causes: the reason of a failed handshake is the last one.
fn unreachable(url: &Url, error: &dyn std::error::Error) -> DataFusionError {
    let (mut text, mut cause) = (error.to_string(), error.source());
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    DataFusionError::Execution(format!("worker {url} cannot be reached: {text}"))
}

#[async_trait]
impl ChannelResolver for Channels {
    async fn get_worker_client_for_url(&self, url: &Url) -> Result<Box<dyn WorkerChannel>, DataFusionError> {
        let mut open = self.open.lock().await;
        let channel = match open.get(url) {
            Some(channel) => channel.clone(),
            None => {
                let endpoint = self.endpoint(url)?;
                let channel = endpoint.connect().await.map_err(|error| unreachable(url, &error))?;
                open.insert(url.clone(), channel.clone());
                channel
            }
        };
        let channel = create_worker_client(BoxCloneSyncChannel::new(channel));
        Ok(Box::new(Named { url: url.clone(), channel }))
    }
}

/// Divides a leaf of one table among tasks. Returns None for other steps.
fn divided<T: Table>(event: &ScaleUpLeafNodeEvent<'_>) -> Option<Divided> {
    let among = event.plan.downcast_ref::<Leaf<T>>()?.among(event.task_count);
    Some(among.map(|leaf| ScaleUpLeafNodeEventResponse::new(Arc::new(leaf))))
}

/// Adds workers to a session: each reads a share of the blocks and ciphertexts.
///
/// # Errors
/// An address is none of a worker.
pub fn with_workers(
    builder: SessionStateBuilder,
    workers: Vec<Url>,
    identity: Option<Identity>,
) -> anyhow::Result<SessionStateBuilder> {
    for url in &workers {
        check(url, identity.as_ref())?;
    }
    let tasks = workers.len();
    // A plan of one partition has nothing to divide.
    let mut builder = builder;
    let config = builder.config().take().unwrap_or_default();
    let partitions = config.target_partitions().max(2);
    let builder = builder.with_config(config.with_target_partitions(partitions));
    let desired = move |event: DesiredTaskCountEvent<'_>| {
        if !event.plan.is::<Leaf<Windows>>() && !event.plan.is::<Leaf<Entries>>() {
            return None;
        }
        Some(Ok(DesiredTaskCountEventResponse::desired(tasks)))
    };
    Ok(builder
        .with_distributed_worker_resolver(Workers(workers))
        .with_distributed_channel_resolver(Channels::new(identity))
        .with_distributed_planner()
        .with_distributed_user_codec(Codec)
        .with_distributed_desired_task_count_handler(desired)
        .with_distributed_scale_up_leaf_node_handler(|event: ScaleUpLeafNodeEvent<'_>| {
            divided::<Windows>(&event).or_else(|| divided::<Entries>(&event))
        }))
}
