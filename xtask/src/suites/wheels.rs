//! Builds the wheels of the Python package: for Linux and macOS on two processors, for all versions of Python from 3.10,
//! and for the free-threaded Python 3.15. maturin and zig come from the Python package registry.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};

use super::compile::side_target;
use super::venv::Venv;
use super::zig::{Target, ZIG};
use crate::process::Scratch;
use crate::suite::{Context, Outcome};

const MATURIN: &str = "maturin==1.16.0";

/// Target, and the tag of its wheel.
const MACHINES: [(&str, &str); 4] = [
    ("x86_64-unknown-linux-gnu", "manylinux_2_17_x86_64"),
    ("aarch64-unknown-linux-gnu", "manylinux_2_17_aarch64"),
    ("x86_64-apple-darwin", "macosx_10_12_x86_64"),
    ("aarch64-apple-darwin", "macosx_11_0_arm64"),
];

/// Arguments of maturin, and the tag of the interpreters that load the wheel.
const INTERPRETERS: [(&[&str], &str); 2] = [
    (&[], "cp310-abi3"),
    (
        &["--no-default-features", "--features", "abi3t,cloud", "--interpreter", "python3.15"],
        "cp315-abi3.abi3t",
    ),
];

pub(crate) fn run(context: &Context) -> Result<Outcome> {
    let scratch = Scratch::new()?;
    let tools = Venv::new(&scratch.path().join("tools"))?;
    tools.install(&[MATURIN, ZIG])?;
    let wheels = side_target(context, "wheels")?;
    if wheels.is_dir() {
        std::fs::remove_dir_all(&wheels)?;
    }
    let mut faults = Vec::new();
    for (name, machine) in MACHINES {
        let target = Target::prepared(name)?;
        for (arguments, interpreters) in INTERPRETERS {
            let mut build = tools.python();
            build.args(["-m", "maturin", "build", "--release", "--locked", "--zig", "--target", target.name]);
            build.args(arguments).arg("--out").arg(&wheels).current_dir(context.root.join("bindings/python"));
            build.env("CARGO_TARGET_DIR", side_target(context, "wheels-build")?);
            ensure!(build.status()?.success(), "maturin cannot build for {target} and {interpreters}");
            match wheel(&wheels, interpreters, machine)? {
                Some(found) => println!("{}: {} bytes", found.display(), std::fs::metadata(&found)?.len()),
                None => faults.push(format!("no wheel is tagged {interpreters} and {machine}")),
            }
        }
    }
    let here = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    if let Some((_, machine)) = MACHINES.iter().find(|(name, _)| *name == here) {
        let native =
            wheel(&wheels, "cp310-abi3", machine)?.context("the wheel of this machine is missing")?;
        let user = Venv::new(&scratch.path().join("user"))?;
        user.install(&[&native.to_string_lossy()])?;
        let mut check = user.python();
        check.args(["-c", "import doctest, sys, sotto; sys.exit(doctest.testmod(sotto).failed)"]);
        check.current_dir(scratch.path());
        if !check.status()?.success() {
            faults.push("the installed wheel fails the package's first example".into());
        }
    }
    Ok(Outcome::from_faults(faults))
}

/// Finds the wheel with these tags.
fn wheel(folder: &Path, interpreters: &str, machine: &str) -> Result<Option<PathBuf>> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.contains(&format!("-{interpreters}-")) && name.contains(machine) {
            return Ok(Some(path));
        }
    }
    Ok(None)
}
