//! The suites that compile, and the tests. They share the release profile: the arithmetic is slow without it, the demo
//! is built with it, and so one set of artefacts serves all.

use crate::built::Test;
use crate::cargo;
use crate::suite::{Context, Outcome};
use anyhow::Result;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

/// The crates of arithmetic and formats, for the slow suites.
const MATHEMATICS: [&str; 8] = ["kernels", "ring", "rlwe", "partial", "keys", "decrypt", "emulate", "wire"];

pub(crate) fn format(context: &Context) -> Result<Outcome> {
    cargo_passes(context, &["fmt", "--all", "--check"])
}

pub(crate) fn lints(context: &Context) -> Result<Outcome> {
    cargo_passes(
        context,
        &["clippy", "--workspace", "--all-targets", "--release", "--locked", "--", "-D", "warnings"],
    )
}

pub(crate) fn build(context: &Context) -> Result<Outcome> {
    let built = context.built()?;
    println!("{} test executables", built.tests.len());
    Ok(Outcome::Passed)
}

/// Runs the unit tests of libraries and programs.
pub(crate) fn units(context: &Context) -> Result<Outcome> {
    Ok(Outcome::from_faults(run_tests(context, |test| !test.is_integration())?))
}

/// Runs the integration tests and the examples of the reference.
pub(crate) fn tests(context: &Context) -> Result<Outcome> {
    // The suite `fuzz` runs its own with more mutations.
    let mut faults = run_tests(context, |test| test.is_integration() && test.package != "fuzz")?;
    let examples = ["test", "--workspace", "--release", "--locked", "--no-fail-fast", "--quiet", "--doc"];
    if !matches!(cargo_passes(context, &examples)?, Outcome::Passed) {
        faults.push("an example of the reference failed".to_owned());
    }
    Ok(Outcome::from_faults(faults))
}

/// Runs some of the test executables; returns the faults.
fn run_tests(context: &Context, chosen: impl Fn(&Test) -> bool) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    for test in context.built()?.tests.iter().filter(|test| chosen(test)) {
        let begin = Instant::now();
        println!("{} {}:", test.package, test.target);
        if !test.command().arg("--quiet").status()?.success() {
            faults.push(format!("{}: a test of {} failed", test.package, test.target));
        }
        println!("{} {}: {:.1} s", test.package, test.target, begin.elapsed().as_secs_f64());
    }
    Ok(faults)
}

/// Runs the tests with the profile of benches, in which every crate has level 3.
pub(crate) fn optimised(context: &Context) -> Result<Outcome> {
    cargo_passes(
        context,
        &[
            "test",
            "--workspace",
            "--profile",
            "bench",
            "--lib",
            "--bins",
            "--tests",
            "--locked",
            "--no-fail-fast",
        ],
    )
}

pub(crate) fn docs(context: &Context) -> Result<Outcome> {
    let mut doc = cargo::cargo();
    doc.args(["doc", "--workspace", "--no-deps", "--release", "--locked"]).env("RUSTDOCFLAGS", "-D warnings");
    passes(context, doc)
}

pub(crate) fn checked(context: &Context) -> Result<Outcome> {
    cargo_passes(context, &["test", "--workspace", "--locked", "--no-fail-fast"])
}

pub(crate) fn sanitised(context: &Context) -> Result<Outcome> {
    let mut test = nightly(context, "sanitised")?;
    test.args(["test", "--locked", "--release", "--lib", "--tests"]);
    // With a target given, build scripts and macros are built without the sanitiser.
    test.args(["--target", &host()?]).args(mathematics());
    test.env("RUSTFLAGS", "-Zsanitizer=address");
    passes(context, test)
}

/// Runs the tests under Miri; tests that are too slow for it are marked in the source and left out.
pub(crate) fn miri(context: &Context) -> Result<Outcome> {
    let mut test = nightly(context, "miri")?;
    test.args([
        "miri",
        "test",
        "--locked",
        "--lib",
        "--tests",
        "--package=sotto-kernels",
        "--package=sotto-ring",
    ]);
    // Miri perturbs sines and cosines at random, so that two tables of them would differ.
    test.env("MIRIFLAGS", "-Zmiri-deterministic-floats");
    passes(context, test)
}

/// Runs the noise tests of `tests` over many more programs and forms, with those that are left out there.
pub(crate) fn noise(context: &Context) -> Result<Outcome> {
    let mut test = cargo::cargo();
    test.args(["test", "--locked", "--release", "--package=sotto-conformance", "--test=it", "--"]);
    test.args(["noise_programs::", "expanded_programs::"]);
    test.args(["--nocapture", "--include-ignored"]).env("SOTTO_NOISE_PROGRAMS", "20");
    passes(context, test)
}

/// Runs random programs in the three modes: `crates/emulate/tests/it`.
pub(crate) fn emulation(context: &Context) -> Result<Outcome> {
    let mut test = cargo::cargo();
    test.args(["test", "--locked", "--release", "--package=sotto-emulate", "--test=it", "random::"]);
    test.args(["--", "--nocapture"]).env("SOTTO_EMULATION", "10000");
    passes(context, test)
}

/// Kills a cloud 1,000 times while windows come in.
pub(crate) fn kills(context: &Context) -> Result<Outcome> {
    let mut test = cargo::cargo();
    test.args(["test", "--locked", "--release", "--package=sotto-cloud", "--test=it", "kills::"]);
    test.args(["--", "--nocapture"]).env("SOTTO_KILLS", "1000");
    passes(context, test)
}

/// Tests the timing of secret operations on each kernel target.
pub(crate) fn timing(context: &Context) -> Result<Outcome> {
    let mut faults = Vec::new();
    for target in &kernel_targets(context)? {
        println!("SOTTO_KERNELS={target}");
        let mut bench = cargo::cargo();
        bench.args(["bench", "--locked", "--package=sotto-decrypt", "--bench=timing", "--bench=partial"]);
        bench.env("SOTTO_KERNELS", target);
        if let Outcome::Failed(found) = passes(context, bench)? {
            faults.extend(found.iter().map(|fault| format!("{target}: {fault}")));
        }
    }
    Ok(Outcome::from_faults(faults))
}

/// Runs the tests on each kernel target that this machine has.
pub(crate) fn targets(context: &Context) -> Result<Outcome> {
    let mut faults = Vec::new();
    for target in &kernel_targets(context)? {
        println!("SOTTO_KERNELS={target}");
        let mut test = cargo::cargo();
        test.args(["test", "--locked", "--release", "--lib", "--tests"]).env("SOTTO_KERNELS", target);
        test.args(mathematics());
        if let Outcome::Failed(found) = passes(context, test)? {
            faults.extend(found.iter().map(|fault| format!("{target}: {fault}")));
        }
    }
    Ok(Outcome::from_faults(faults))
}

/// Returns the names of the kernel targets of this machine.
fn kernel_targets(context: &Context) -> Result<Vec<String>> {
    let mut list = cargo::cargo();
    list.args([
        "run",
        "--quiet",
        "--locked",
        "--release",
        "--package=sotto-kernels",
        "--example=instructions",
    ]);
    let listed = list.current_dir(&context.root).output()?;
    let listed = String::from_utf8(listed.stdout)?;
    let targets: Vec<String> =
        listed.lines().filter_map(|line| line.strip_prefix("target ")).map(str::to_owned).collect();
    anyhow::ensure!(!targets.is_empty(), "the kernel targets are not known");
    Ok(targets)
}

pub(crate) fn aarch64(context: &Context) -> Result<Outcome> {
    let mut test = cargo::cargo();
    test.args(["test", "--locked", "--release", "--lib", "--tests", "--target", "aarch64-unknown-linux-gnu"]);
    test.args(mathematics());
    test.env("CC_aarch64_unknown_linux_gnu", "aarch64-linux-gnu-gcc");
    test.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", "aarch64-linux-gnu-gcc");
    test.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER", "qemu-aarch64 -L /usr/aarch64-linux-gnu");
    passes(context, test)
}

fn mathematics() -> impl Iterator<Item = String> {
    let crates = MATHEMATICS.iter().map(|name| format!("--package=sotto-{name}"));
    crates.chain(["--package=sotto-conformance".to_owned()])
}

/// Returns nightly cargo, with artefacts in a separate folder.
fn nightly(context: &Context, name: &str) -> Result<Command> {
    let mut cargo = cargo::command("rustup");
    cargo.args(["run", "nightly", "cargo"]).env("CARGO_TARGET_DIR", side_target(context, name)?);
    // These variables name the toolchain that runs this program.
    for name in ["RUSTUP_TOOLCHAIN", "CARGO", "RUSTC", "RUSTDOC"] {
        cargo.env_remove(name);
    }
    Ok(cargo)
}

/// Returns a path in the target folder: artefacts of cargo, or a folder for ones that must not displace them.
pub(super) fn side_target(context: &Context, name: &str) -> Result<PathBuf> {
    let usual =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| context.root.join("target"), PathBuf::from);
    Ok(std::path::absolute(usual)?.join(name))
}

/// Returns the machine's own target, as rustc names it.
pub(super) fn host() -> Result<String> {
    let output = Command::new("rustc").arg("-vV").output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| anyhow::anyhow!("rustc names no host"))
}

fn cargo_passes(context: &Context, args: &[&str]) -> Result<Outcome> {
    let mut command = cargo::cargo();
    command.args(args);
    passes(context, command)
}

/// Runs a command from the root, with its output shown at once.
pub(super) fn passes(context: &Context, mut command: Command) -> Result<Outcome> {
    let status = command.current_dir(&context.root).status()?;
    Ok(Outcome::from_faults(if status.success() { vec![] } else { vec![shown(&command)] }))
}

/// Returns the command as typed, without the folder of the program.
fn shown(command: &Command) -> String {
    let program = std::path::Path::new(command.get_program()).file_stem().unwrap_or_default();
    let words = std::iter::once(program).chain(command.get_args()).map(|word| word.to_string_lossy());
    format!("`{}` failed", words.collect::<Vec<_>>().join(" "))
}
