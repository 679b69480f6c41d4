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
    let rate = |time: Duration| store.envelopes.len() as f64 / time.as_secs_f64();
    println!("switch and sum, the evaluator alone{:>14.1} ciphertexts/s", rate(bare));
    for (threads, lake) in [(1, &one), (2, &two)] {
        let (time, frames) = fastest(runs, || lake.frames(sum))?;
        store.same_residues(frames.first().context("a sum")?, &expected)?;
        show("switch and sum", threads, rate(time), rate(bare));
    }

    let product = format!(
        "select sotto_evaluate(ciphertext, number, '{}') from ciphertexts group by device, number / 2",
        hex::encode(store.plan_id)
    );
    let (bare, mut expected) = fastest(runs, || bare::products(&store))?;
    expected.sort();
    let rate = |time: Duration| store.envelopes.len() as f64 / 2.0 / time.as_secs_f64();
    println!("products of two, the evaluator alone{:>13.1} products/s", rate(bare));
    for (threads, lake) in [(1, &one), (2, &two)] {
        let (time, mut frames) = fastest(runs, || lake.frames(&product))?;
        frames.sort();
        ensure!(frames == expected, "the lake's products have other bytes");
        show("products of two", threads, rate(time), rate(bare));
    }
    Ok(())
}

fn show(name: &str, threads: usize, rate: f64, bare: f64) {
    println!("{name}, the lake, {threads} threads{rate:>14.1} a second, {:.0} % of it", 100.0 * rate / bare);
}

/// Returns the least time of some runs, and the result of the last one. The first run is not counted: it reads files and keys.
fn fastest<T>(runs: usize, mut run: impl FnMut() -> anyhow::Result<T>) -> anyhow::Result<(Duration, T)> {
    let (mut best, mut last) = (Duration::MAX, run()?);
    for _ in 0..runs {
        let begin = Instant::now();
        last = run()?;
        best = best.min(begin.elapsed());
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
