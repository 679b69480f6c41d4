//! A coordinator that stays: answers queries over HTTP, for programs of this machine.

use std::convert::Infallible;
use std::future::Future;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use datafusion::prelude::SessionContext;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode, header};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use crate::print::{Form, write};
use crate::session::query;

/// Maximum bytes of a query.
const LARGEST_QUERY: usize = 1 << 20;
/// Queries at one time; others wait.
const QUERIES: usize = 4;
/// Time for the head of a request to arrive.
const HEADER_TIME: Duration = Duration::from_secs(10);
/// Pause after a connection could not be accepted.
const PAUSE: Duration = Duration::from_millis(100);

/// A coordinator that listens.
pub struct Serving {
    /// Its address.
    pub address: SocketAddr,
    listener: TcpListener,
    context: Arc<SessionContext>,
    queries: Arc<Semaphore>,
}

/// Listens at a loopback address. The body of `POST /sql` is a query; the answer is JSON, or CSV if it is asked for by
/// `Accept: text/csv`.
///
/// # Errors
/// Others could reach the address, or it is taken.
pub async fn serve(address: SocketAddr, context: SessionContext) -> anyhow::Result<Serving> {
    if !address.ip().is_loopback() {
        bail!(
            "others reach {address}: listen at 127.0.0.1, and let a proxy that knows its callers stand before it"
        );
    }
    let listener = TcpListener::bind(address).await.with_context(|| format!("cannot listen at {address}"))?;
    let queries = Arc::new(Semaphore::new(QUERIES));
    Ok(Serving { address: listener.local_addr()?, listener, context: Arc::new(context), queries })
}

impl Serving {
    /// Serves until `stop` is ready. A caller that leaves ends its query.
    ///
    /// # Errors
    /// The port is lost.
    pub async fn until(self, stop: impl Future<Output = ()>) -> anyhow::Result<()> {
        let mut stop = pin!(stop);
        loop {
            let (stream, _) = tokio::select! {
                accepted = self.listener.accept() => match accepted {
                    Ok(accepted) => accepted,
                    // As without a file handle left: others end meanwhile.
                    Err(_) => {
                        tokio::time::sleep(PAUSE).await;
                        continue;
                    }
                },
                () = &mut stop => return Ok(()),
            };
            let context = Arc::clone(&self.context);
            let (host, queries) = (self.address.to_string(), Arc::clone(&self.queries));
            tokio::spawn(async move {
                let service = service_fn(|request| answer(Arc::clone(&context), &host, &queries, request));
                let mut connection = hyper::server::conn::http1::Builder::new();
                connection.timer(TokioTimer::new()).header_read_timeout(HEADER_TIME);
                // A connection that breaks is its caller's loss.
                let _ = connection.serve_connection(TokioIo::new(stream), service).await;
            });
        }
    }
}

/// Returns true for a request of a program: a page in a browser of this machine, also under a name of its own that leads here,
/// gets nothing. Browsers state where a request comes from.
fn is_of_program(host: &str, request: &Request<Incoming>) -> bool {
    let headers = request.headers();
    let named = headers.get(header::HOST).and_then(|named| named.to_str().ok());
    named == Some(host) && !headers.contains_key(header::ORIGIN) && !headers.contains_key("sec-fetch-site")
}

async fn answer(
    context: Arc<SessionContext>,
    host: &str,
    queries: &Semaphore,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let wants_csv = request.headers().get(header::ACCEPT).is_some_and(|accept| accept == "text/csv");
    let (form, kind) = if wants_csv { (Form::Csv, "text/csv") } else { (Form::Json, "application/json") };
    let (status, kind, bytes) = if !is_of_program(host, &request) {
        let reason = "this request is not for this program, or comes from a page\n";
        (StatusCode::MISDIRECTED_REQUEST, "text/plain", reason.as_bytes().to_vec())
    } else if request.method() != Method::POST || request.uri().path() != "/sql" {
        (StatusCode::NOT_FOUND, "text/plain", b"write POST /sql with a query\n".to_vec())
    } else {
        let _turn = queries.acquire().await;
        match run(&context, request.into_body(), &form).await {
            Ok(bytes) => (StatusCode::OK, kind, bytes),
            Err(error) => {
                (StatusCode::UNPROCESSABLE_ENTITY, "text/plain", format!("{error:#}\n").into_bytes())
            }
        }
    };
    let mut response = Response::new(Full::new(Bytes::from(bytes)));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static(kind));
    Ok(response)
}

async fn run(context: &SessionContext, body: Incoming, form: &Form) -> anyhow::Result<Vec<u8>> {
    let body = Limited::new(body, LARGEST_QUERY).collect().await;
    let body = body.map_err(|error| anyhow::anyhow!("the query: {error}"))?.to_bytes();
    let sql = std::str::from_utf8(&body).context("the query")?;
    let result = query(context, sql).await?.execute_stream().await?;
    let mut bytes = Vec::new();
    write(result, form, &mut bytes).await?;
    Ok(bytes)
}
