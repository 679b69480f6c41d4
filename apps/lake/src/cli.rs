//! The command line.

use std::io::{self, Read as _, Write as _};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context as _;
use clap::{Args, Parser, Subcommand};
use datafusion::execution::{SessionState, SessionStateBuilder};
use datafusion::prelude::SessionContext;
use sotto_lake::LakeError;
use sotto_lake::print::{Form, write};
use sotto_lake::serve::serve;
use sotto_lake::session::{Limits, config, query, session, with_lake};
use sotto_lake::store::{Catalogue, Files, Place};
use sotto_lake::workers::{Identity, listen, make_authority, with_workers};
use sotto_wire::StreamTag;
use url::Url;

/// Maximum bytes of a request of the cloud.
const LARGEST_REQUEST: u64 = 64 << 20;

/// SQL over the windows and ciphertexts of a cloud's store, with sums whose tags the owner checks.
#[derive(Parser)]
#[command(name = "sotto-lake", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Answers a query over the tables `windows` and `ciphertexts`.
    Sql(Sql),
    /// Answers a request of the cloud, which is read as JSON; writes the frame.
    #[command(hide = true)]
    Answer(Answer),
    /// Answers queries over HTTP, for programs of this machine: POST /sql.
    Serve(Serve),
    /// Runs parts of plans of the plant's coordinators.
    Worker(Worker),
    /// Makes the authority of a plant's workers, or takes it, and makes a folder for each member.
    Authority(Authority),
}

#[derive(Args)]
struct Store {
    /// The folder of a cloud's store, which may be in use, or a place of its backups: a folder, or s3://BUCKET/PREFIX. Servers and
    /// keys of buckets are read from the environment of AWS' tools.
    #[arg(long, env = "SOTTO_LAKE_STORE")]
    store: Place,
    /// The object store of that cloud, where segments are that its folder lacks.
    #[arg(long, env = "SOTTO_LAKE_OBJECTS")]
    objects: Option<Place>,
    /// The folder for copies of a bucket's segments. Without it they go to a folder that is removed at the end.
    #[arg(long, env = "SOTTO_LAKE_CACHE")]
    cache: Option<PathBuf>,
    /// Threads; all of the machine unless said.
    #[arg(long)]
    threads: Option<usize>,
    /// Bytes of memory for sums that are not complete; beyond them they go to the disk.
    #[arg(long)]
    memory: Option<usize>,
    /// Bytes of ciphertexts that a plan of a group holds at any time; 2 GiB unless said.
    #[arg(long)]
    largest_job: Option<u64>,
}

#[derive(Args)]
struct Sql {
    /// The query, e.g. "select device, sotto_sum(body, tag) from windows group by device".
    query: String,
    #[command(flatten)]
    store: Store,
    /// Writes an array of JSON objects; bytes are in hexadecimal.
    #[arg(long, conflicts_with_all = ["csv", "parquet"])]
    json: bool,
    /// Writes CSV; bytes are in hexadecimal.
    #[arg(long, conflicts_with = "parquet")]
    csv: bool,
    /// Writes a new file of Parquet.
    #[arg(long, value_name = "FILE")]
    parquet: Option<PathBuf>,
    /// Says on standard error how many segments and blocks this process read.
    #[arg(long)]
    stats: bool,
    #[command(flatten)]
    machines: Machines,
}

#[derive(Args)]
struct Answer {
    /// The tag of the stream: 16 hexadecimal digits.
    #[arg(long)]
    stream: String,
    #[command(flatten)]
    store: Store,
    #[command(flatten)]
    machines: Machines,
}

/// The machines that run a query.
#[derive(Args)]
struct Machines {
    /// The addresses of workers, with commas between: http://127.0.0.1:PORT, or https://HOST:PORT with --identity. Without them
    /// this process runs the query.
    #[arg(long, value_delimiter = ',', env = "SOTTO_LAKE_WORKERS")]
    workers: Vec<Url>,
    /// This member's folder, as `sotto-lake authority` made it.
    #[arg(long, env = "SOTTO_LAKE_IDENTITY")]
    identity: Option<PathBuf>,
}

#[derive(Args)]
struct Serve {
    /// The loopback address to listen at.
    #[arg(long, default_value = "127.0.0.1:7430")]
    listen: SocketAddr,
    #[command(flatten)]
    store: Store,
    #[command(flatten)]
    machines: Machines,
    /// Writes the address to this file once queries are answered.
    #[arg(long)]
    address_file: Option<PathBuf>,
}

#[derive(Args)]
struct Worker {
    /// The address to listen at: a loopback one, or any with --identity.
    #[arg(long)]
    listen: SocketAddr,
    #[command(flatten)]
    store: Store,
    /// This member's folder, as `sotto-lake authority` made it.
    #[arg(long)]
    identity: Option<PathBuf>,
    /// Writes the address to this file once the worker listens.
    #[arg(long)]
    address_file: Option<PathBuf>,
}

#[derive(Args)]
struct Authority {
    /// The authority's folder. It is made unless it is there.
    folder: PathBuf,
    /// The members, e.g. `coordinator,one,two`.
    #[arg(long, value_delimiter = ',', required = true)]
    members: Vec<String>,
}

impl Store {
    fn limits(&self) -> Limits {
        Limits { threads: self.threads, memory: self.memory, largest_job: self.largest_job }
    }

    /// Returns the files, and a folder that is removed once it is dropped.
    fn files(&self) -> anyhow::Result<(Arc<Files>, Option<tempfile::TempDir>)> {
        let scratch = match &self.cache {
            Some(_) => None,
            None => Some(tempfile::Builder::new().prefix("sotto-lake-").tempdir()?),
        };
        let cache = self.cache.as_deref().or(scratch.as_ref().map(tempfile::TempDir::path));
        let cache = cache.context("there is no folder for copies")?;
        Ok((Arc::new(Files::open(&self.store, self.objects.as_ref(), cache)?), scratch))
    }
}

fn identity(folder: Option<&PathBuf>) -> anyhow::Result<Option<Identity>> {
    folder.map(|folder| Identity::read(folder)).transpose()
}

pub(crate) fn run() -> anyhow::Result<()> {
    match Cli::parse().command {
        Command::Answer(asked) => runtime(asked.store.threads)?.block_on(hand_over(&asked)),
        Command::Sql(sql) => runtime(sql.store.threads)?.block_on(answer(&sql)),
        Command::Serve(serving) => runtime(serving.store.threads)?.block_on(coordinate(&serving)),
        Command::Worker(worker) => runtime(worker.store.threads)?.block_on(work(&worker)),
        Command::Authority(Authority { folder, members }) => make_authority(&folder, &members),
    }
}

/// Returns the reason of a failure, without the layers of the engine around one of ours.
pub(crate) fn reason(error: &anyhow::Error) -> String {
    let ours = error.chain().find_map(|cause| cause.downcast_ref::<LakeError>());
    ours.map_or_else(|| format!("{error:#}"), ToString::to_string)
}

fn runtime(threads: Option<usize>) -> io::Result<tokio::runtime::Runtime> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    if let Some(threads) = threads {
        builder.worker_threads(threads.max(1));
    }
    builder.enable_all().build()
}

/// Makes the state of a session with the functions of the lake, and with workers if there are some.
fn state(store: &Store, files: &Arc<Files>, machines: &Machines) -> anyhow::Result<SessionState> {
    let builder = SessionStateBuilder::new_with_default_features();
    let evaluations = store.limits().evaluations(Arc::clone(files));
    let mut builder = with_lake(builder, config(), &evaluations, store.limits())?;
    if !machines.workers.is_empty() {
        builder = with_workers(builder, machines.workers.clone(), identity(machines.identity.as_ref())?)?;
    }
    Ok(builder.build())
}

/// Makes a session with the tables of a store.
async fn lake(store: &Store, files: Arc<Files>, machines: &Machines) -> anyhow::Result<SessionContext> {
    let catalogue = Catalogue::open(&store.store, &files).await?;
    Ok(session(state(store, &files, machines)?, catalogue, files)?)
}

async fn hand_over(asked: &Answer) -> anyhow::Result<()> {
    let mut request = Vec::new();
    io::stdin().take(LARGEST_REQUEST).read_to_end(&mut request)?;
    let request = serde_json::from_slice(&request).context("the request")?;
    let tag = hex::decode(&asked.stream).ok().and_then(|tag| tag.try_into().ok()).map(StreamTag);
    let tag = tag.context("a stream's tag has 16 hexadecimal digits")?;
    let (files, _scratch) = asked.store.files()?;
    let context = SessionContext::new_with_state(state(&asked.store, &files, &asked.machines)?);
    let catalogue = Catalogue::open(&asked.store.store, &files).await?;
    let frame = sotto_lake::answer::answer(&context, catalogue, files, tag, request).await?;
    let mut out = io::stdout().lock();
    out.write_all(&frame)?;
    Ok(out.flush()?)
}

async fn answer(sql: &Sql) -> anyhow::Result<()> {
    let (files, _scratch) = sql.store.files()?;
    let context = lake(&sql.store, Arc::clone(&files), &sql.machines).await?;
    let result = query(&context, &sql.query).await?.execute_stream().await?;
    let form = match &sql.parquet {
        Some(file) => Form::Parquet(file.clone()),
        None if sql.json => Form::Json,
        None if sql.csv => Form::Csv,
        None => Form::Table,
    };
    let mut out = io::BufWriter::new(io::stdout().lock());
    tokio::select! {
        written = write(result, &form, &mut out) => written?,
        _ = tokio::signal::ctrl_c() => anyhow::bail!("stopped"),
    }
    out.flush()?;
    if sql.stats {
        eprintln!("read {} segments, {} blocks", files.segments_opened(), files.blocks_read());
    }
    Ok(())
}

async fn work(worker: &Worker) -> anyhow::Result<()> {
    let (files, _scratch) = worker.store.files()?;
    let identity = identity(worker.identity.as_ref())?;
    let listening = listen(worker.listen, identity, files, worker.store.limits()).await?;
    tell(worker.address_file.as_ref(), listening.address)?;
    listening.serve(async { drop(tokio::signal::ctrl_c().await) }).await
}

async fn coordinate(serving: &Serve) -> anyhow::Result<()> {
    let (files, _scratch) = serving.store.files()?;
    let context = lake(&serving.store, files, &serving.machines).await?;
    let server = serve(serving.listen, context).await?;
    tell(serving.address_file.as_ref(), server.address)?;
    server.until(async { drop(tokio::signal::ctrl_c().await) }).await
}

/// Says where it listens.
fn tell(file: Option<&PathBuf>, address: SocketAddr) -> io::Result<()> {
    eprintln!("listening at {address}");
    if let Some(file) = file {
        // Named once it is whole: who waits for it reads all of it.
        let incoming = file.with_extension("incoming");
        std::fs::write(&incoming, address.to_string())?;
        std::fs::rename(&incoming, file)?;
    }
    Ok(())
}
