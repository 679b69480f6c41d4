//! The crates that need `alloc` only, checked for processors without an operating system; and each feature alone.

use std::process::Command;

use anyhow::Result;

use crate::cargo;
use crate::ci::{Context, Outcome};
use crate::tools::NO_STD_TARGETS;

/// The crates that build without the standard library.
const CRATES: [&str; 6] = ["kernels", "ring", "rlwe", "keys", "wire", "pack"];

/// Features that need no standard library.
const FEATURES: &str = "sotto-keys/partial,sotto-wire/partial,sotto-wire/plan";

/// Package and features that compile on this machine without the default features.
const ALONE: [(&str, &str); 7] = [
    ("sotto-he", ""),
    ("sotto-he", "partial"),
    ("sotto-he", "seal"),
    ("sotto-kernels", ""),
    ("sotto-ring", "threads"),
    ("sotto-keys", "std"),
    ("sotto-wire", "std"),
];

pub(crate) fn run(context: &Context) -> Result<Outcome> {
    let mut faults = Vec::new();
    for target in NO_STD_TARGETS {
        for features in ["", FEATURES] {
            let mut check = check(context, features);
            check.args(["--target", target]).args(CRATES.map(|name| format!("--package=sotto-{name}")));
            faults.extend(fault(check, format!("{target}, features [{features}]"))?);
        }
    }
    for (package, features) in ALONE {
        let mut check = check(context, features);
        check.args(["--package", package]);
        faults.extend(fault(check, format!("{package}, features [{features}]"))?);
    }
    Ok(Outcome::from_faults(faults))
}

fn check(context: &Context, features: &str) -> Command {
    let mut check = cargo::cargo();
    check.args([
        "check",
        "--quiet",
        "--release",
        "--locked",
        "--no-default-features",
        "--features",
        features,
    ]);
    check.current_dir(&context.root);
    check
}

/// Runs a check. Returns its name if it fails; cargo has printed the reason.
fn fault(mut check: Command, name: String) -> Result<Option<String>> {
    println!("{name}");
    Ok((!check.status()?.success()).then_some(name))
}
