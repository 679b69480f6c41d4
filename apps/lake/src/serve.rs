//! A coordinator that stays: answers queries over HTTP, for programs of this machine.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use datafusion::prelude::SessionContext;
use tokio::net::TcpListener;

use crate::print::{Form, write};
use crate::session::query;

/// Maximum bytes of a query.
const LARGEST_QUERY: usize = 1 << 20;

/// A coordinator that listens.
pub struct Serving {
    /// Its address.
    pub address: SocketAddr,
    listener: TcpListener,
    context: SessionContext,
}

/// Listens at a loopback address. The body of `POST /sql` is a query; the answer is JSON, or CSV if it is asked for by
/// `Accept: text/csv`.
///
/// # Errors
/// Others could reach the address, or it is taken.
pub async fn serve(address: SocketAddr, context: SessionContext) -> anyhow::Result<Serving> {
    if !address.ip().is_loopback() {
        bail!("others reach {address}: listen at 127.0.0.1, and let a proxy that knows its callers stand before it");
    }
    let listener = TcpListener::bind(address).await.with_context(|| format!("cannot listen at {address}"))?;
    Ok(Serving { address: listener.local_addr()?, listener, context })
}

impl Serving {
    /// Serves until `stop` is ready. A caller that leaves ends its query.
    ///
    /// # Errors
    /// The port is lost.
    pub async fn until(self, stop: impl Future<Output = ()> + Send + 'static) -> anyhow::Result<()> {
        let limit = axum::extract::DefaultBodyLimit::max(LARGEST_QUERY);
        let router = Router::new().route("/sql", post(sql)).layer(limit).with_state(Arc::new(self.context));
        Ok(axum::serve(self.listener, router).with_graceful_shutdown(stop).await?)
    }
}

async fn sql(State(context): State<Arc<SessionContext>>, headers: HeaderMap, sql: String) -> Response {
    let wants_csv = headers.get(header::ACCEPT).is_some_and(|accept| accept.as_bytes() == b"text/csv");
    let (form, kind) = if wants_csv { (Form::Csv, "text/csv") } else { (Form::Json, "application/json") };
    match answer(&context, &sql, &form).await {
        Ok(bytes) => ([(header::CONTENT_TYPE, kind)], bytes).into_response(),
        Err(error) => (StatusCode::UNPROCESSABLE_ENTITY, format!("{error:#}\n")).into_response(),
    }
}

async fn answer(context: &SessionContext, sql: &str, form: &Form) -> anyhow::Result<Vec<u8>> {
    let result = query(context, sql).await?.execute_stream().await?;
    let mut bytes = Vec::new();
    write(result, form, &mut bytes).await?;
    Ok(bytes)
}
