//! Errors of a worker, with its address.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::array::RecordBatch;
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::TaskContext;
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use datafusion_distributed::{
    CoordinatorToWorkerMsg, ExecuteTaskRequest, GetWorkerInfoRequest, GetWorkerInfoResponse, SetPlanRequest,
    WorkerChannel, WorkerToCoordinatorMsg,
};
use futures::StreamExt as _;
use futures::stream::BoxStream;
use tonic::codegen::http::HeaderMap;
use url::Url;

/// A channel to a worker whose errors begin with its address.
pub(super) struct Named {
    pub(super) url: Url,
    pub(super) channel: Box<dyn WorkerChannel>,
}

fn named(url: &Url, error: DataFusionError) -> DataFusionError {
    error.context(format!("worker {url}"))
}

impl Named {
    fn stream<T: 'static>(&self, all: BoxStream<'static, Result<T>>) -> BoxStream<'static, Result<T>> {
        let url = self.url.clone();
        all.map(move |item| item.map_err(|error| named(&url, error))).boxed()
    }
}

#[async_trait]
impl WorkerChannel for Named {
    async fn coordinator_channel(
        &mut self,
        headers: HeaderMap,
        set_plan_request: SetPlanRequest,
        c2w_stream: BoxStream<'static, CoordinatorToWorkerMsg>,
        metrics: ExecutionPlanMetricsSet,
        task_ctx: &Arc<TaskContext>,
    ) -> Result<BoxStream<'static, Result<WorkerToCoordinatorMsg>>> {
        let channel = &mut self.channel;
        let opened = channel.coordinator_channel(headers, set_plan_request, c2w_stream, metrics, task_ctx);
        let opened = opened.await.map_err(|error| named(&self.url, error))?;
        Ok(self.stream(opened))
    }

    async fn execute_task(
        &mut self,
        headers: HeaderMap,
        request: ExecuteTaskRequest,
        metrics: ExecutionPlanMetricsSet,
        task_ctx: &Arc<TaskContext>,
    ) -> Result<Vec<BoxStream<'static, Result<RecordBatch>>>> {
        let streams = self.channel.execute_task(headers, request, metrics, task_ctx).await;
        let streams = streams.map_err(|error| named(&self.url, error))?;
        Ok(streams.into_iter().map(|batches| self.stream(batches)).collect())
    }

    async fn get_worker_info(&mut self, request: GetWorkerInfoRequest) -> Result<GetWorkerInfoResponse> {
        self.channel.get_worker_info(request).await.map_err(|error| named(&self.url, error))
    }
}
