//! Runs the lab as one static program for 64-bit ARM under emulation. Checks function, not speed.

use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use super::compile::side_target;
use crate::cargo;
use crate::process::{self, Scratch, Times};
use crate::suite::{Context, Outcome};

const TARGET: &str = "aarch64-unknown-linux-musl";
/// Emulated arithmetic is slow.
const LIMIT: Duration = Duration::from_secs(1200);
/// The definitions that the owner of a Raspberry Pi would run.
const DEFINITIONS: [&str; 4] = ["iot-device-2022", "thesis-2018", "edge-cloud-2023", "practical-encryption"];

pub(crate) fn run(context: &Context) -> Result<Outcome> {
    let mut build = cargo::cargo();
    build.args(["build", "--release", "--locked", "--package=sotto-lab", "--target", TARGET]);
    build.env("CC_aarch64_unknown_linux_musl", "aarch64-linux-gnu-gcc");
    // The C code of dependencies is compiled against another C library than it is linked with.
    build.env("CFLAGS_aarch64_unknown_linux_musl", "-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=0");
    build.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_LINKER", "rust-lld");
    if !build.current_dir(&context.root).status()?.success() {
        bail!("the build for {TARGET} failed");
    }
    let program = side_target(context, TARGET)?.join("release/sotto-lab");
    let scratch = Scratch::new()?;
    let mut lab = Command::new("qemu-aarch64");
    lab.arg(&program).args(["run"]).args(DEFINITIONS);
    lab.args(["--quick", "--engines", "sotto", "--json", "--n", "4096,8192"]).current_dir(scratch.path());
    // The program starts itself as its engine, which must be emulated too.
    lab.env("SOTTO_LAB_EMULATOR", "qemu-aarch64");
    let done = process::run(&mut lab, &Times { interrupt_after: None, give_up_after: LIMIT })?;
    if !done.status.success() {
        bail!("it failed: {}", done.stderr.trim());
    }
    let rows: Vec<Value> =
        done.stdout.lines().map(serde_json::from_str).collect::<Result<_, _>>().context("rows are JSON")?;
    let mut faults: Vec<String> =
        done.stderr.lines().filter(|l| l.starts_with("gap:")).map(str::to_owned).collect();
    for definition in DEFINITIONS {
        let of: Vec<&Value> = rows.iter().filter(|row| row["definition"] == definition).collect();
        println!("{definition}: {} rows", of.len());
        if of.is_empty() || of.iter().any(|row| row["verified"] != true) {
            faults.push(format!("{definition} has no rows, or one that was not verified"));
        }
    }
    Ok(Outcome::from_faults(faults))
}
