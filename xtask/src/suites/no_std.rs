//! The crates that need `alloc` only: checked for processors without an operating system, tested on this machine. Each
//! feature alone.

use std::process::Command;

use anyhow::Result;

use crate::cargo;
use crate::suite::{Context, Outcome};
use crate::tools::NO_STD_TARGETS;

/// The crates that build without the standard library.
const CRATES: [&str; 6] = ["kernels", "ring", "rlwe", "keys", "wire", "pack"];

/// Features that need no standard library.
const FEATURES: &str = "sotto-keys/partial,sotto-pack/zones,sotto-wire/partial,sotto-wire/plan";

/// Package and features that compile on this machine without the default features.
const ALONE: [(&str, &str); 12] = [
    ("sotto-agent", ""),
    ("sotto-he", ""),
    ("sotto-he", "threads"),
    ("sotto-he", "key-files"),
    ("sotto-decrypt", ""),
    ("sotto-decrypt", "partial"),
    ("sotto-kernels", ""),
    ("sotto-pack", "std"),
    ("sotto-ring", "threads"),
    ("sotto-keys", "std"),
    ("sotto-keys", "files"),
    ("sotto-wire", "std"),
];

/// Tests on this machine with the libraries built without `std`, so that floating-point functions are those of `libm`.
/// No development dependency may ask for the `std` of num-traits.
const TESTS: [&str; 4] = ["--package=sotto-rlwe", "--package=sotto-keys", "--test=it", "--"];

/// The test of what a window costs at ingest, by counts that nothing else needs.
const COUNTED: [&str; 6] =
    ["--package=sotto-cloud", "--features=counts", "--lib", "cost", "--", "--nocapture"];

/// The modules of these tests.
const MODULES: [&str; 3] = ["encodings::", "injection::", "derivation::"];

pub(crate) fn run(context: &Context) -> Result<Outcome> {
    let mut faults = Vec::new();
    for target in NO_STD_TARGETS {
        faults.extend(checked(context, target, FEATURES)?);
    }
    Ok(Outcome::from_faults(faults))
}

fn checked(context: &Context, target: &str, features: &str) -> Result<Option<String>> {
    let mut check = without_defaults(context, "check", features);
    check.args(["--target", target]).args(CRATES.map(|name| format!("--package=sotto-{name}")));
    fault(check, format!("{target}, features [{features}]"))
}

/// Compiles each feature alone, and runs the tests that need other features than the build's.
pub(crate) fn features(context: &Context) -> Result<Outcome> {
    let mut faults = Vec::new();
    for target in NO_STD_TARGETS {
        faults.extend(checked(context, target, "")?);
    }
    for (package, features) in ALONE {
        let mut check = without_defaults(context, "check", features);
        check.args(["--package", package]);
        faults.extend(fault(check, format!("{package}, features [{features}]"))?);
    }
    let mut tests = without_defaults(context, "test", "");
    tests.args(TESTS).args(MODULES);
    faults.extend(fault(tests, "tests of rlwe and keys".to_owned())?);
    let mut counted = cargo::cargo();
    counted.args(["test", "--quiet", "--release", "--locked"]).args(COUNTED).current_dir(&context.root);
    faults.extend(fault(counted, "the counts of ingest".to_owned())?);
    Ok(Outcome::from_faults(faults))
}

fn without_defaults(context: &Context, subcommand: &str, features: &str) -> Command {
    let mut cargo = cargo::cargo();
    cargo.args([
        subcommand,
        "--quiet",
        "--release",
        "--locked",
        "--no-default-features",
        "--features",
        features,
    ]);
    cargo.current_dir(&context.root);
    cargo
}

/// Runs a command of cargo. Returns its name if it fails; cargo has printed the reason.
fn fault(mut command: Command, name: String) -> Result<Option<String>> {
    println!("{name}");
    Ok((!command.status()?.success()).then_some(name))
}
