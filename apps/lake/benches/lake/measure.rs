//! Runs the queries and prints their rates.

use std::process::{Child, Command};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use datafusion::arrow::array::{Array as _, AsArray as _, LargeBinaryArray, RecordBatch};
use datafusion::arrow::datatypes::TimestampMillisecondType;
use datafusion::execution::SessionStateBuilder;
use datafusion::prelude::SessionContext;
use object_store::local::LocalFileSystem;
use sotto_lake::session::{Limits, config, session, with_lake};
use sotto_lake::store::{Catalogue, Files, Place};
use sotto_lake::workers::with_workers;
use sotto_sums::{Opening, StartKeys, StreamKeys, TagKey};
use sotto_wire::SumsAnswer;
use url::Url;

use crate::generate::{BEGIN, SALT, SECRET, Store, header, reading};

const SUMS: &str =
    "select device, date_trunc('day', start) as day, sotto_sum(body, tag) from windows group by device, day";
const DAY: i64 = 86_400_000;

fn plain(ticks: u32) -> String {
    let sums: Vec<String> = (0..ticks + 2).map(|at| format!("sum(p{at})")).collect();
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
    let limits = Limits { threads: Some(threads), ..Limits::default() };
    let evaluations = limits.evaluations(Arc::clone(&files));
    let mut builder =
        with_lake(SessionStateBuilder::new_with_default_features(), config(), &evaluations, limits)?;
    if !workers.is_empty() {
        builder = with_workers(builder, workers, None)?;
    }
    let context = session(builder.build(), catalogue, files)?;
    // The lake has no file system; the plain columns lie in one.
    context.register_object_store(&Url::parse("file://")?, Arc::new(LocalFileSystem::new()));
    let path = store.plain.to_str().context("the folder has a name in UTF-8")?;
    context.register_parquet("plain", path, Default::default()).await?;
    Ok(context)
}

/// Returns the processor time of this process, in hundredths of a second, as Linux counts it.
fn processor_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // Behind the name: state, and ten numbers before the times of programs and of the system.
    let behind = stat.rsplit_once(") ").map_or("", |(_, behind)| behind);
    let ticks: u64 = behind.split(' ').skip(11).take(2).filter_map(|text| text.parse::<u64>().ok()).sum();
    Duration::from_millis(10 * ticks)
}

/// The fastest of some runs, by the clock and by the processor: other programs take from the one, and little from the other.
#[derive(Clone, Copy)]
struct Times {
    clock: Duration,
    processor: Duration,
}

/// Returns the least times of some runs, and the result of the last one.
async fn fastest(
    context: &SessionContext,
    sql: &str,
    runs: usize,
) -> anyhow::Result<(Times, Vec<RecordBatch>)> {
    let mut best = Times { clock: Duration::MAX, processor: Duration::MAX };
    let mut last = Vec::new();
    for _ in 0..=runs {
        let (begin, before) = (Instant::now(), processor_time());
        last = context.sql(sql).await?.collect().await?;
        best.clock = best.clock.min(begin.elapsed());
        best.processor = best.processor.min(processor_time().saturating_sub(before));
    }
    Ok((best, last))
}

/// Returns the rate by the clock, and by the processor's time.
fn show(store: &Store, name: &str, times: Times) -> (f64, f64) {
    let rate = |time: Duration| store.readings() as f64 * 8.0 / time.as_secs_f64().max(0.01) / 1e9;
    let (clock, processor) = (rate(times.clock), rate(times.processor));
    println!(
        "{name:44}{:8.3} s {clock:7.2} GB/s of Int64; processor {:7.2} s {processor:7.2} GB/s",
        times.clock.as_secs_f64(),
        times.processor.as_secs_f64()
    );
    (clock, processor)
}

pub(crate) fn all(store: &Store, runs: usize) -> anyhow::Result<()> {
    let Store { devices, windows, ticks, .. } = store;
    println!("{} readings: {devices} devices, {windows} windows of {ticks} readings each", store.readings());
    let mut times = Vec::new();
    for threads in [1, 2] {
        let runtime = runtime(threads)?;
        let context = runtime.block_on(lake(store, threads, Vec::new()))?;
        let (time, result) = runtime.block_on(fastest(&context, SUMS, runs))?;
        let sums = show(store, &format!("sotto_sum, {threads} threads"), time);
        times.push(time.clock);
        if threads == 2 {
            let begin = Instant::now();
            let opened = check(store, &result)?;
            println!(
                "{:44}{:8.3} s",
                format!("opened {opened} sums, each tag right"),
                begin.elapsed().as_secs_f64()
            );
        }
        let (time, _) = runtime.block_on(fastest(&context, &plain(*ticks), runs))?;
        let plain = show(store, &format!("SUM of {} columns of Int64, {threads} threads", ticks + 2), time);
        let of = |sum: f64, plain: f64| 100.0 * sum / plain;
        let (clock, processor) = (of(sums.0, plain.0), of(sums.1, plain.1));
        println!(
            "{:44}{clock:8.0} % by the clock, {processor:.0} % by the processor",
            "sotto_sum beside SUM"
        );
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
        times.push(time.clock);
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
    let (header, ticks) = (header(device, store.ticks)?, store.ticks);
    let numbers = first..(first + 24).min(store.windows);
    let answer = SumsAnswer::read(frame, &header, 1 << 20, 24)?;
    ensure!(answer.names.iter().map(|name| name.sequence).eq(numbers.clone()), "the windows of a day");
    let stream = header.stream_id().context("a stream of sums")?;
    let (form, start) = (header.sums_form(0)?, StartKeys::derive(&SECRET, stream, &SALT));
    let mut opening = Opening::new(&form, 0);
    for number in numbers.clone() {
        opening.add(&start, number, ticks, 1, |_| true);
    }
    let key = TagKey::new(&StreamKeys::derive(&SECRET, stream), &form, 0);
    let sum = answer.sums.first().and_then(|sum| sum.part(0)).context("a sum")?;
    let sums = opening.open(&key, sum)?;
    let expected =
        (0..ticks).map(|tick| numbers.clone().map(|number| reading(device, number, tick)).sum::<i64>());
    ensure!(
        sums.into_iter().eq(expected),
        "the sum of device {device} from window {first} on is another one"
    );
    Ok(())
}
