//! Runs the fuzz targets: on stable Rust with deterministic mutations, and under libFuzzer.

use super::compile::{host, side_target};
use crate::cargo;
use crate::suite::{Context, Outcome};
use anyhow::{Result, anyhow, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Mutations of each target.
const MUTATIONS: &str = "10000";
/// Executions of each target under libFuzzer, unless `SOTTO_FUZZ_RUNS` is set; a hundredth for targets at n = 4096 and
/// for the cloud's keys.
const RUNS: u64 = 100_000;
const LARGE: [&str; 2] = ["n4096-", "cloud-keys"];
/// Bytes that every input may have.
const LEAST_ROOM: u64 = 8192;
/// glibc's allocator keeps memory with these limits: otherwise a decoder that allocates and frees a large block each
/// time spends nine tenths of a run on fresh pages.
const KEEP_MEMORY: &str = "glibc.malloc.mmap_threshold=1073741824:glibc.malloc.trim_threshold=4294967295";
/// libFuzzer's instrumentation: control-flow edges and comparisons. Both are in stable Rust's code generator.
const COVERAGE: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares --cfg fuzzing";

pub(crate) fn mutations(context: &Context) -> Result<Outcome> {
    let mut faults = Vec::new();
    for test in context.built()?.tests.iter().filter(|test| test.package == "fuzz") {
        if !test.command().arg("--nocapture").env("SOTTO_FUZZ_MUTATIONS", MUTATIONS).status()?.success() {
            faults.push(format!("a test of {} failed", test.target));
        }
    }
    Ok(Outcome::from_faults(faults))
}

pub(crate) fn coverage(context: &Context) -> Result<Outcome> {
    let work = side_target(context, "fuzz")?;
    let program = build(context, &work)?;
    let inputs = work.join("corpus");
    let mut seeds = cargo::command(context.built()?.program("corpus")?);
    seeds.arg(&inputs).current_dir(&context.root);
    if !seeds.status()?.success() {
        bail!("the first inputs cannot be written");
    }
    let runs = std::env::var("SOTTO_FUZZ_RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(RUNS);
    let mut targets: Vec<PathBuf> =
        fs::read_dir(&inputs)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>()?;
    targets.sort();
    let findings = work.join("findings");
    let faults = side_by_side(&targets, |folder| fuzz(&program, folder, &findings, runs))?;
    println!("{} targets; new inputs are under {}", targets.len(), inputs.display());
    Ok(Outcome::from_faults(faults))
}

/// Runs `fuzz` on each target, with as many at once as there are processors; returns the findings in order.
fn side_by_side(
    targets: &[PathBuf],
    fuzz: impl Fn(&Path) -> Result<Option<String>> + Sync,
) -> Result<Vec<String>> {
    let next = AtomicUsize::new(0);
    let worker = || {
        let mine = std::iter::from_fn(|| {
            let place = next.fetch_add(1, Ordering::Relaxed);
            targets.get(place).map(|target| (place, fuzz(target)))
        });
        mine.collect::<Vec<_>>()
    };
    let mut found = Vec::new();
    std::thread::scope(|scope| {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let workers: Vec<_> = (0..processors).map(|_| scope.spawn(worker)).collect();
        for worker in workers {
            found.extend(worker.join().map_err(|_| anyhow!("a target's run was not finished"))?);
        }
        anyhow::Ok(())
    })?;
    found.sort_by_key(|(place, _)| *place);
    found.into_iter().filter_map(|(_, found)| found.transpose()).collect()
}

fn build(context: &Context, work: &Path) -> Result<PathBuf> {
    let host = host()?;
    let mut build = cargo::cargo();
    // With a target given, build scripts and macros are not instrumented.
    build.args(["build", "--release", "--locked", "--target", &host]);
    build.current_dir(context.root.join("fuzz/libfuzzer"));
    build.env("CARGO_TARGET_DIR", work).env("RUSTFLAGS", COVERAGE);
    if !build.status()?.success() {
        bail!("fuzz/libfuzzer does not build");
    }
    Ok(work.join(host).join("release").join(format!("sotto-libfuzzer{}", std::env::consts::EXE_SUFFIX)))
}

/// Returns the input limit: twice the largest first input, because libFuzzer cuts longer inputs. Inputs that libFuzzer
/// adds have other names and do not raise the limit.
fn longest(inputs: &Path) -> Result<u64> {
    let mut largest = 0;
    for entry in fs::read_dir(inputs)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with("first-") {
            largest = largest.max(entry.metadata()?.len());
        }
    }
    Ok(LEAST_ROOM.max(2 * largest))
}

/// Runs one target; returns its finding.
fn fuzz(program: &Path, inputs: &Path, findings: &Path, runs: u64) -> Result<Option<String>> {
    let name = inputs.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let runs = if LARGE.iter().any(|large| name.starts_with(large)) { runs / 100 } else { runs };
    let longest = longest(inputs)?;
    fs::create_dir_all(findings)?;
    let mut fuzz = cargo::command(program);
    fuzz.arg(inputs).arg(format!("-runs={runs}")).arg(format!("-max_len={longest}"));
    fuzz.arg(format!("-artifact_prefix={}/{name}-", findings.display()));
    fuzz.args(["-print_final_stats=1", "-timeout=20", "-rss_limit_mb=3000"]);
    let output = fuzz.env("SOTTO_FUZZ_TARGET", &name).env("GLIBC_TUNABLES", KEEP_MEMORY).output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    let executed = said.lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units:"));
    println!("{name:24} {:>10} executions", executed.unwrap_or("?").trim());
    if output.status.success() {
        return Ok(None);
    }
    println!("{said}");
    Ok(Some(format!("{name}: a finding, under {}", findings.display())))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn every_target_is_run_once_and_what_was_found_keeps_its_order() {
        let targets: Vec<PathBuf> = (0..20).map(|i| PathBuf::from(format!("{i:02}"))).collect();
        let odd = |path: &Path| {
            let name = path.display().to_string();
            Ok((name.parse::<u32>()? % 2 == 1).then_some(name))
        };
        let found = side_by_side(&targets, odd).unwrap();
        let expected: Vec<String> = (0..20).filter(|i| i % 2 == 1).map(|i| format!("{i:02}")).collect();
        assert_eq!(found, expected);
        assert!(side_by_side(&targets, |_| bail!("cannot be started")).is_err());
        assert!(side_by_side(&[], odd).unwrap().is_empty());
    }

    #[test]
    fn no_first_input_is_cut_and_found_ones_make_no_more_room() {
        let folder = std::env::temp_dir().join(format!("sotto-fuzz-room-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let room = |name: &str, bytes: usize| {
            fs::write(folder.join(name), vec![0; bytes]).unwrap();
            longest(&folder).unwrap()
        };
        assert_eq!(room("first-0", 10), LEAST_ROOM);
        assert_eq!(room("first-1", 16_489), 2 * 16_489);
        assert_eq!(room("0a4d55a8d778e5022fab701977c5d840bbc486d0", 30_000), 2 * 16_489);
        fs::remove_dir_all(&folder).unwrap();
    }
}
