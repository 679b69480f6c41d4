//! Re-keying and products of whole ciphertexts by the lake, beside the evaluator in a loop over the same files in memory, one run
//! after the other. Residues and outputs are compared.
//!
//!     cargo bench --manifest-path apps/lake/Cargo.toml --target-dir target/lake --bench ciphertexts -- --windows 64
//!
//! The store is made in a folder that is removed at the end.

mod bare;
mod generate;
// The owner's secret keys of the examples: the lake links none.
#[allow(unreachable_pub, reason = "examples include the file")]
#[path = "../../../../crates/rlwe/tests/it/owner/mod.rs"]
mod owner;

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use clap::Parser;
use datafusion::arrow::array::{AsArray as _, LargeBinaryArray};
use datafusion::execution::SessionStateBuilder;
use datafusion::prelude::SessionContext;
use sotto_lake::session::{Limits, config, session, with_lake};
use sotto_lake::store::{Catalogue, Files, Place};

use generate::Store;

#[derive(Parser)]
struct Arguments {
    /// Windows of each of two devices: even, as products take two.
    #[arg(long, default_value_t = 64)]
    windows: u64,
    /// The degree.
    #[arg(long, default_value_t = 8192)]
    degree: usize,
    /// Runs of each; the fastest counts.
    #[arg(long, default_value_t = 5)]
    runs: usize,
    /// Given by cargo.
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> anyhow::Result<()> {
    let Arguments { windows, degree, runs, .. } = Arguments::parse();
    ensure!(windows > 0 && windows % 2 == 0, "products take two windows each: name an even number");
    let folder = tempfile::tempdir()?;
    let store = generate::store(folder.path(), degree, windows)?;
    println!("{} ciphertexts, n = {degree}, {} primes", store.envelopes.len(), store.primes());
    let (one, two) = (lake(&store, 1)?, lake(&store, 2)?);

    let sum = "select sotto_switch_sum(ciphertext) from ciphertexts";
    let (bare, expected) = fastest(runs, || bare::switched_sum(&store))?;
    show("switch and sum, the evaluator alone", store.envelopes.len(), bare, bare);
    for (threads, lake) in [(1, &one), (2, &two)] {
        let (times, frames) = fastest(runs, || lake.frames(sum))?;
        store.same_residues(frames.first().context("a sum")?, &expected)?;
        show(&format!("switch and sum, the lake, {threads} threads"), store.envelopes.len(), times, bare);
    }

    let product = format!(
        "select sotto_evaluate(ciphertext, number, '{}') from ciphertexts group by device, number / 2",
        hex::encode(store.plan_id)
    );
    let (bare, mut expected) = fastest(runs, || bare::products(&store))?;
    expected.sort();
    let products = store.envelopes.len() / 2;
    show("products of two, the evaluator alone", products, bare, bare);
    for (threads, lake) in [(1, &one), (2, &two)] {
        let (times, mut frames) = fastest(runs, || lake.frames(&product))?;
        frames.sort();
        ensure!(frames == expected, "the lake's products have other bytes");
        show(&format!("products of two, the lake, {threads} threads"), products, times, bare);
    }
    Ok(())
}

/// The least times of some runs, by the clock and by the processor: other programs take from the one, and little from the other.
#[derive(Clone, Copy)]
struct Times {
    clock: Duration,
    processor: Duration,
}

/// Shows a rate by the clock and by the processor, beside that of the evaluator alone.
fn show(name: &str, count: usize, times: Times, bare: Times) {
    let rate = |time: Duration| count as f64 / time.as_secs_f64().max(0.01);
    let beside = |time: Duration, bare: Duration| 100.0 * rate(time) / rate(bare);
    println!(
        "{name:44}{:8.1}/s {:4.0} %; processor {:8.1}/s {:4.0} %",
        rate(times.clock),
        beside(times.clock, bare.clock),
        rate(times.processor),
        beside(times.processor, bare.processor)
    );
}

/// Returns the processor time of this process, in hundredths of a second, as Linux counts it.
fn processor_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // Behind the name: state, and ten numbers before the times of programs and of the system.
    let behind = stat.rsplit_once(") ").map_or("", |(_, behind)| behind);
    let ticks: u64 = behind.split(' ').skip(11).take(2).filter_map(|text| text.parse::<u64>().ok()).sum();
    Duration::from_millis(10 * ticks)
}

/// Returns the least times of some runs, and the result of the last one. The first run is not counted: it reads files and keys.
fn fastest<T>(runs: usize, mut run: impl FnMut() -> anyhow::Result<T>) -> anyhow::Result<(Times, T)> {
    let (mut best, mut last) = (Times { clock: Duration::MAX, processor: Duration::MAX }, run()?);
    for _ in 0..runs {
        let (begin, before) = (Instant::now(), processor_time());
        last = run()?;
        best.clock = best.clock.min(begin.elapsed());
        best.processor = best.processor.min(processor_time().saturating_sub(before));
    }
    Ok((best, last))
}

/// A session with its threads.
struct Lake {
    runtime: tokio::runtime::Runtime,
    context: SessionContext,
}

fn lake(store: &Store, threads: usize) -> anyhow::Result<Lake> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build()?;
    let place = Place::Folder(store.folder.clone());
    let files = Arc::new(Files::open(&place, None, &store.folder)?);
    let catalogue = runtime.block_on(Catalogue::open(&place, &files))?;
    let limits = Limits { threads: Some(threads), ..Limits::default() };
    let evaluations = limits.evaluations(Arc::clone(&files));
    let builder = SessionStateBuilder::new_with_default_features();
    let builder = with_lake(builder, config(), &evaluations, limits)?;
    let context = session(builder.build(), catalogue, files)?;
    Ok(Lake { runtime, context })
}

impl Lake {
    /// Returns the frames of a query's first column.
    fn frames(&self, sql: &str) -> anyhow::Result<Vec<Vec<u8>>> {
        let batches = self.runtime.block_on(async { self.context.sql(sql).await?.collect().await })?;
        let mut frames = Vec::new();
        for batch in &batches {
            let column: &LargeBinaryArray = batch.column(0).as_binary_opt().context("frames")?;
            frames.extend(column.iter().flatten().map(<[u8]>::to_vec));
        }
        Ok(frames)
    }
}
