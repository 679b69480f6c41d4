//! Runs the queries and prints their rates.

use std::process::{Child, Command};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use datafusion::arrow::array::{Array as _, AsArray as _, LargeBinaryArray, RecordBatch};
use datafusion::arrow::datatypes::TimestampMillisecondType;
use datafusion::execution::SessionStateBuilder;
use datafusion::prelude::SessionContext;
use sotto_lake::session::{Limits, config, session, with_lake};
use sotto_lake::store::{Catalogue, Files, Place};
use sotto_lake::workers::with_workers;
use sotto_sums::{Opening, StartKeys, StreamKeys, TagKey};
use sotto_wire::SumsAnswer;
use url::Url;

use crate::generate::{BEGIN, SALT, SECRET, Store, TICKS, header, reading};

const SUMS: &str =
    "select device, date_trunc('day', start) as day, sotto_sum(body, tag) from windows group by device, day";
const DAY: i64 = 86_400_000;

fn plain() -> String {
    let sums: Vec<String> = (0..TICKS + 2).map(|at| format!("sum(p{at})")).collect();
    format!(
        "select device, date_trunc('day', start) as day, {} from plain group by device, day",
        sums.join(", ")
    )
}

fn runtime(threads: usize) -> anyhow::Result<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build()?)
}

async fn lake(store: &Store, threads: usize, workers: Vec<Url>) -> anyhow::Result<SessionContext> {
    let place = Place::Folder(store.folder.clone());
    let files = Arc::new(Files::open(&place, None, &store.folder)?);
    let catalogue = Catalogue::open(&place, &files).await?;
    let limits = Limits { threads: Some(threads), memory: None };
    let mut builder =
        with_lake(SessionStateBuilder::new_with_default_features(), config(), Arc::clone(&files), limits)?;
    if !workers.is_empty() {
        builder = with_workers(builder, workers, None)?;
    }
    let context = session(builder.build(), catalogue, files)?;
    let path = store.plain.to_str().context("the folder has a name in UTF-8")?;
    context.register_parquet("plain", path, Default::default()).await?;
    Ok(context)
}

/// Returns the fastest of some runs, and the result of the last one.
async fn fastest(
    context: &SessionContext,
    sql: &str,
    runs: usize,
) -> anyhow::Result<(Duration, Vec<RecordBatch>)> {
    let (mut best, mut last) = (Duration::MAX, Vec::new());
    for _ in 0..=runs {
        let begin = Instant::now();
        last = context.sql(sql).await?.collect().await?;
        best = best.min(begin.elapsed());
    }
    Ok((best, last))
}

fn show(store: &Store, name: &str, time: Duration) -> f64 {
    let rate = store.readings() as f64 * 8.0 / time.as_secs_f64() / 1e9;
    println!("{name:44}{:9.3} s {rate:8.2} GB/s of Int64", time.as_secs_f64());
    rate
}

pub(crate) fn all(store: &Store, runs: usize) -> anyhow::Result<()> {
    println!(
        "{} readings: {} devices, {} windows of {TICKS} readings each",
        store.readings(),
        store.devices,
        store.windows
    );
    let mut times = Vec::new();
    for threads in [1, 2] {
        let runtime = runtime(threads)?;
        let context = runtime.block_on(lake(store, threads, Vec::new()))?;
        let (time, result) = runtime.block_on(fastest(&context, SUMS, runs))?;
        let sums = show(store, &format!("sotto_sum, {threads} threads"), time);
        times.push(time);
        if threads == 2 {
            let begin = Instant::now();
            let opened = check(store, &result)?;
            println!(
                "{:44}{:9.3} s",
                format!("opened {opened} sums, each tag right"),
                begin.elapsed().as_secs_f64()
            );
        }
        let (time, _) = runtime.block_on(fastest(&context, &plain(), runs))?;
        let plain = show(store, &format!("SUM of {} columns of Int64, {threads} threads", TICKS + 2), time);
        println!("{:44}{:9.0} %", "sotto_sum beside SUM", 100.0 * sums / plain);
    }
    workers(store, runs, &times)
}

/// Runs the sums on one worker, then on two, each pinned to a core.
fn workers(store: &Store, runs: usize, embedded: &[Duration]) -> anyhow::Result<()> {
    let (one, two) = (Pinned::start(store, 0)?, Pinned::start(store, 1)?);
    let runtime = runtime(1)?;
    let mut times = Vec::new();
    for workers in [vec![one.url()?], vec![one.url()?, two.url()?]] {
        let name = format!("sotto_sum, {} workers, a core each", workers.len());
        let context = runtime.block_on(lake(store, 1, workers))?;
        let (time, _) = runtime.block_on(fastest(&context, SUMS, runs))?;
        show(store, &name, time);
        times.push(time);
    }
    let gain = |times: &[Duration]| times[0].as_secs_f64() / times[1].as_secs_f64();
    println!(
        "a second thread: {:.2} times as fast; a second worker: {:.2}; two workers beside one thread: {:.2}",
        gain(embedded),
        gain(&times),
        embedded[0].as_secs_f64() / times[1].as_secs_f64()
    );
    Ok(())
}

/// A worker in a process of its own, on one core.
struct Pinned {
    child: Child,
    address: std::path::PathBuf,
}

impl Pinned {
    fn start(store: &Store, core: usize) -> anyhow::Result<Self> {
        let address = store.folder.with_file_name(format!("worker-{core}"));
        let _ = std::fs::remove_file(&address);
        let mut command = Command::new("taskset");
        command.args(["-c", &core.to_string(), env!("CARGO_BIN_EXE_sotto-lake"), "worker", "--threads", "1"]);
        command.args(["--listen", "127.0.0.1:0", "--store"]).arg(&store.folder);
        let child =
            command.arg("--address-file").arg(&address).spawn().context("taskset cannot be started")?;
        let begin = Instant::now();
        while !address.exists() {
            ensure!(begin.elapsed() < Duration::from_secs(20), "a worker does not listen");
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(Self { child, address })
    }

    fn url(&self) -> anyhow::Result<Url> {
        Ok(format!("http://{}", std::fs::read_to_string(&self.address)?).parse()?)
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Opens every sum as the owner does, and compares it with the readings.
fn check(store: &Store, result: &[RecordBatch]) -> anyhow::Result<usize> {
    let mut opened = 0;
    for batch in result {
        let devices =
            datafusion::arrow::compute::cast(batch.column(0), &datafusion::arrow::datatypes::DataType::Utf8)?;
        let days = batch.column(1).as_primitive::<TimestampMillisecondType>();
        let sums: &LargeBinaryArray = batch.column(2).as_binary();
        for row in 0..sums.len() {
            let device: u64 = devices.as_string::<i32>().value(row)[1..].parse()?;
            let first = ((days.value(row) - BEGIN) / DAY * 24) as u64;
            open(store, device, first, sums.value(row))?;
            opened += 1;
        }
    }
    ensure!(opened as u64 == store.devices * store.windows.div_ceil(24), "{opened} groups");
    Ok(opened)
}

fn open(store: &Store, device: u64, first: u64, frame: &[u8]) -> anyhow::Result<()> {
    let header = header(device)?;
    let numbers = first..(first + 24).min(store.windows);
    let answer = SumsAnswer::read(frame, &header, 1 << 20, 24)?;
    ensure!(answer.names.iter().map(|name| name.sequence).eq(numbers.clone()), "the windows of a day");
    let stream = header.stream_id().context("a stream of sums")?;
    let (form, start) = (header.sums_form(0)?, StartKeys::derive(&SECRET, stream, &SALT));
    let mut opening = Opening::new(&form, 0);
    for number in numbers.clone() {
        opening.add(&start, number, TICKS, 1, |_| true);
    }
    let key = TagKey::new(&StreamKeys::derive(&SECRET, stream), &form, 0);
    let sum = answer.sums.first().and_then(|sum| sum.part(0)).context("a sum")?;
    let sums = opening.open(&key, sum)?;
    let expected =
        (0..TICKS).map(|tick| numbers.clone().map(|number| reading(device, number, tick)).sum::<i64>());
    ensure!(
        sums.into_iter().eq(expected),
        "the sum of device {device} from window {first} on is another one"
    );
    Ok(())
}
