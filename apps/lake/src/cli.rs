//! The command line.

use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context as _;
use clap::{Args, Parser, Subcommand};
use datafusion::execution::SessionStateBuilder;
use sotto_lake::print::{Form, write};
use sotto_lake::session::{Limits, config, query, session, with_lake};
use sotto_lake::store::{Catalogue, Files, Place};
use sotto_lake::workers::{Identity, listen, make_authority, with_workers};
use url::Url;

/// SQL over the windows of a cloud's store, with sums whose tags the owner checks.
#[derive(Parser)]
#[command(name = "sotto-lake", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Answers a query over the table `windows`.
    Sql(Sql),
    /// Runs parts of plans of the plant's coordinators.
    Worker(Worker),
    /// Makes the authority of a plant's workers, and a folder for each member.
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
    /// The addresses of workers, with commas between: http://127.0.0.1:PORT, or https://HOST:PORT with --identity.
    #[arg(long, value_delimiter = ',')]
    workers: Vec<Url>,
    /// This member's folder, as `sotto-lake authority` made it.
    #[arg(long)]
    identity: Option<PathBuf>,
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
    /// The folder to make.
    folder: PathBuf,
    /// The members, e.g. `coordinator,one,two`.
    #[arg(long, value_delimiter = ',', required = true)]
    members: Vec<String>,
}

impl Store {
    fn limits(&self) -> Limits {
        Limits { threads: self.threads, memory: self.memory }
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
        Command::Sql(sql) => runtime(sql.store.threads)?.block_on(answer(&sql)),
        Command::Worker(worker) => runtime(worker.store.threads)?.block_on(work(&worker)),
        Command::Authority(Authority { folder, members }) => make_authority(&folder, &members),
    }
}

fn runtime(threads: Option<usize>) -> io::Result<tokio::runtime::Runtime> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    if let Some(threads) = threads {
        builder.worker_threads(threads.max(1));
    }
    builder.enable_all().build()
}

async fn answer(sql: &Sql) -> anyhow::Result<()> {
    let (files, _scratch) = sql.store.files()?;
    let catalogue = Catalogue::open(&sql.store.store, &files).await?;
    let builder = SessionStateBuilder::new();
    let mut builder = with_lake(builder, config(), Arc::clone(&files), sql.store.limits())?;
    if !sql.workers.is_empty() {
        builder = with_workers(builder, sql.workers.clone(), identity(sql.identity.as_ref())?)?;
    }
    let context = session(builder.build(), catalogue, files)?;
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
    Ok(out.flush()?)
}

async fn work(worker: &Worker) -> anyhow::Result<()> {
    let (files, _scratch) = worker.store.files()?;
    let identity = identity(worker.identity.as_ref())?;
    let listening = listen(worker.listen, identity, files, worker.store.limits()).await?;
    eprintln!("listening at {}", listening.address);
    if let Some(file) = &worker.address_file {
        // Named once it is whole: who waits for it reads all of it.
        let incoming = file.with_extension("incoming");
        std::fs::write(&incoming, listening.address.to_string())?;
        std::fs::rename(&incoming, file)?;
    }
    listening.serve(async { drop(tokio::signal::ctrl_c().await) }).await
}
