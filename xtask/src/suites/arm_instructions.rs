//! Checks that no kernel on 64-bit ARM takes more instructions than the scalar one. Instructions are counted, because
//! times under an emulator mean nothing.
//!
//! `crates/kernels/examples/instructions.rs` runs a kernel with and without one more call; qemu, with one instruction
//! in a block, logs every block.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};

use super::compile::side_target;
use crate::cargo;
use crate::suite::{Context, Outcome};

const TARGET: &str = "aarch64-unknown-linux-gnu";
/// Instructions of choosing the arithmetic for the prime.
const CHOICE: usize = 40;

pub(crate) fn run(context: &Context) -> Result<Outcome> {
    let mut build = cargo::cargo();
    build.args(["build", "--release", "--locked", "--package=sotto-kernels", "--example=instructions"]);
    build.args(["--target", TARGET]);
    build.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", "aarch64-linux-gnu-gcc");
    if !build.current_dir(&context.root).status()?.success() {
        bail!("the build for {TARGET} failed");
    }
    let emulator = Emulator {
        program: side_target(context, TARGET)?.join("release/examples/instructions"),
        one_by_one: one_by_one()?,
    };
    let listed = emulator.command().output()?;
    let listed = String::from_utf8(listed.stdout).context("the list of rows")?;
    let of = |kind: &'static str| listed.lines().filter_map(move |line| line.strip_prefix(kind));
    let targets: Vec<&str> = of("target ").collect();
    let mut faults = Vec::new();
    if targets.len() < 2 {
        faults.push("there is no target but the scalar one".to_owned());
    }
    println!("instructions a call of 256 values: {}", targets.join(", "));
    for row in of("row ") {
        let mut counts = BTreeMap::new();
        for target in &targets {
            let (once, never) = (emulator.count(row, target, "1")?, emulator.count(row, target, "0")?);
            let calls = once.checked_sub(never).filter(|calls| *calls > 0);
            counts.insert(
                *target,
                calls.with_context(|| format!("{row}: a call of {target} was not counted"))?,
            );
        }
        let scalar = counts["scalar"];
        let shown: Vec<String> = targets.iter().map(|target| format!("{:>8}", counts[target])).collect();
        println!("{row:24}{}", shown.join(""));
        let slower = counts.iter().filter(|(_, count)| **count > scalar + CHOICE);
        faults
            .extend(slower.map(|(target, count)| format!("{row}: {target} takes {count}, scalar {scalar}")));
    }
    Ok(Outcome::from_faults(faults))
}

struct Emulator {
    program: PathBuf,
    /// The option that makes each instruction a block.
    one_by_one: &'static str,
}

impl Emulator {
    fn command(&self) -> Command {
        let mut qemu = Command::new("qemu-aarch64");
        qemu.args(["-L", "/usr/aarch64-linux-gnu"]).arg(&self.program);
        qemu
    }

    /// Returns the number of instructions from the start of the program to its end.
    fn count(&self, row: &str, target: &str, times: &str) -> Result<usize> {
        let mut qemu = Command::new("qemu-aarch64");
        qemu.args([
            "-L",
            "/usr/aarch64-linux-gnu",
            self.one_by_one,
            "-d",
            "exec,nochain",
            "-D",
            "/dev/stdout",
        ]);
        let mut running =
            qemu.arg(&self.program).args([row, target, times]).stdout(Stdio::piped()).spawn()?;
        let lines = BufReader::new(running.stdout.take().context("the log")?).split(b'\n');
        let mut count = 0;
        for line in lines {
            count += usize::from(line?.starts_with(b"Trace"));
        }
        if !running.wait()?.success() || count == 0 {
            bail!("{row} of {target} did not run");
        }
        Ok(count)
    }
}

/// Returns the option's name, which differs between versions of qemu.
fn one_by_one() -> Result<&'static str> {
    let help = Command::new("qemu-aarch64").arg("--help").output()?;
    let help = String::from_utf8_lossy(&help.stdout).into_owned();
    Ok(if help.contains("-one-insn-per-tb") { "-one-insn-per-tb" } else { "-singlestep" })
}
