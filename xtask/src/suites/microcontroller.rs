//! Runs the example firmware on small cores under qemu: checks flash, memory and instructions, and compares its messages
//! with the host's byte for byte.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use object::{Object as _, ObjectSection as _, SectionFlags, SectionKind};

use super::compile::side_target;
use crate::cargo;
use crate::process::{self, Scratch, Times};
use crate::suite::{Context, Outcome};

/// The limit of flash in bytes.
const FLASH: u64 = 24 * 1024;
/// The limit of stack at the start, while keys are derived, in bytes.
const START_STACK: u64 = 1024;
/// Instructions of the firmware's reference loop.
const REFERENCE: u64 = 1_000_000;
/// Number of starts of a board: each ends, and the next continues with the window counter.
const STARTS: usize = 2;
/// Windows of a stream a start, and windows that are timed together.
const WINDOWS: u64 = 2;
const TIMED: u64 = 64;
/// The streams: readings alone, and readings with their squares.
const STREAMS: [&str; 2] = ["readings", "readings, squares"];

struct Board {
    core: &'static str,
    target: &'static str,
    qemu: &'static [&'static str],
    /// The limit of instructions for a window of readings.
    instructions: u64,
    /// The limit of memory of its encryption in bytes: keys, stack, readings and message.
    memory: u64,
}

const BOARDS: [Board; 3] = [
    Board {
        core: "Cortex-M4",
        target: "thumbv7em-none-eabi",
        qemu: &["qemu-system-arm", "-machine", "mps2-an386"],
        instructions: 20_000,
        memory: 600,
    },
    Board {
        core: "Cortex-M0",
        target: "thumbv6m-none-eabi",
        qemu: &["qemu-system-arm", "-machine", "microbit"],
        instructions: 30_000,
        memory: 640,
    },
    Board {
        core: "RV32IMC",
        target: "riscv32imc-unknown-none-elf",
        qemu: &["qemu-system-riscv32", "-machine", "virt", "-bios", "none"],
        instructions: 26_000,
        memory: 600,
    },
];

/// The output of a board: the text of each line by its name.
type Printed = Vec<(String, String)>;

pub(crate) fn run(context: &Context) -> Result<Outcome> {
    let target = side_target(context, "firmware")?;
    let opening = context.built()?.example("crates/wire", "firmware_device")?;
    let mut faults = Vec::new();
    println!("windows of 16 readings of 12 bits, a count each; without a signature");
    println!("{:32}{:>8}{:>8}{:>8}{:>10}{:>14}", "", "flash", "keys", "stack", "buffers", "instructions");
    for board in &BOARDS {
        let program = build(context, &target, board, &[])?;
        let found = try_board(board, &program, opening).with_context(|| board.core.to_owned())?;
        faults.extend(found.into_iter().map(|fault| format!("{}: {fault}", board.core)));
    }
    println!("the signature of a window alone (Ed25519)");
    for board in &BOARDS {
        let program = build(context, &target, board, &["--features=signature"])?;
        signed(board, &program, opening).with_context(|| board.core.to_owned())?;
    }
    Ok(Outcome::from_faults(faults))
}

fn build(context: &Context, target: &Path, board: &Board, features: &[&str]) -> Result<PathBuf> {
    let mut build = cargo::cargo();
    build.args(["build", "--release", "--locked", "--target", board.target]).args(features);
    build.env("CARGO_TARGET_DIR", target).current_dir(context.root.join("crates/sums/firmware"));
    ensure!(build.status()?.success(), "the build for {} failed", board.target);
    Ok(target.join(board.target).join("release/sotto-firmware"))
}

/// Runs a start with signed messages: checks them, and prints the instructions and the stack of a signature.
fn signed(board: &Board, program: &Path, opening: &Path) -> Result<()> {
    let flash = flash(program)?;
    let scratch = Scratch::new()?;
    let printed = boot(board, program, scratch.path())?;
    open(opening, &printed)?;
    let most = |name: &str| numbers(&printed, name)?.into_iter().max().with_context(|| format!("no {name}"));
    let instructions = most("signature-ticks")? * REFERENCE / most("reference")?;
    println!(
        "{:32}{flash:>8}{:>8}{:>8}{:>10}{instructions:>14}",
        board.core,
        "",
        most("signature-stack")?,
        ""
    );
    Ok(())
}

/// Runs a board's starts: checks the messages and the limits.
fn try_board(board: &Board, program: &Path, opening: &Path) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    let flash = flash(program)?;
    if flash > FLASH {
        faults.push(format!("{flash} bytes of flash"));
    }
    let scratch = Scratch::new()?;
    let mut printed = Printed::new();
    for _ in 0..STARTS {
        let start = boot(board, program, scratch.path())?;
        open(opening, &start)?;
        printed.extend(start);
    }
    let sequences = numbers(&printed, "sequence")?;
    let windows = STARTS as u64 * STREAMS.len() as u64 * WINDOWS;
    if !sequences.iter().copied().eq(0..windows) {
        faults.push(format!("the windows' numbers are {sequences:?}"));
    }
    let salts: BTreeSet<_> = printed.iter().filter(|(key, _)| key == "salt").collect();
    if salts.len() != STARTS {
        faults.push("a salt came twice".to_owned());
    }
    let most = |printed: &[(String, String)], name: &str| {
        numbers(printed, name)?.into_iter().max().with_context(|| format!("no {name}"))
    };
    let (reference, keys) = (most(&printed, "reference")?, most(&printed, "keys")?);
    for (index, stream) in STREAMS.iter().enumerate() {
        let of_stream = of_stream(&printed, index as u64)?;
        let (stack, buffers) = (most(&of_stream, "stack")?, most(&of_stream, "buffers")?);
        let (ticks, other) = (numbers(&of_stream, "ticks")?, numbers(&of_stream, "other")?);
        let instructions = most(&of_stream, "ticks")? * REFERENCE / reference / TIMED;
        println!(
            "{:32}{flash:>8}{keys:>8}{stack:>8}{buffers:>10}{instructions:>14}",
            format!("{}, {stream}", board.core)
        );
        if index == 0 && instructions > board.instructions {
            faults.push(format!("{instructions} instructions a window"));
        }
        let memory = keys + stack + buffers;
        if index == 0 && memory > board.memory {
            faults.push(format!("{memory} bytes of memory for a window"));
        }
        // A tick is up to 63 instructions, and may begin before or after the measured code: one a window.
        if ticks.iter().zip(&other).any(|(one, other)| one.abs_diff(*other) > 1) || other.is_empty() {
            faults
                .push(format!("{stream}: another secret takes another time: {ticks:?} and {other:?} ticks"));
        }
    }
    let (stack, ticks) = (most(&printed, "start-stack")?, most(&printed, "start-ticks")?);
    println!(
        "{:32}{:>8}{:>8}{stack:>8}{:>10}{:>14}",
        "    its start",
        "",
        "",
        "",
        ticks * REFERENCE / reference
    );
    if stack > START_STACK {
        faults.push(format!("{stack} bytes of stack at the start"));
    }
    Ok(faults)
}

/// Returns the numbers of a name.
fn numbers(printed: &[(String, String)], name: &str) -> Result<Vec<u64>> {
    let of_name = printed.iter().filter(|(key, _)| key == name);
    of_name.map(|(_, text)| Ok(u64::from_str_radix(text, 16)?)).collect()
}

/// Returns the lines of a stream.
fn of_stream(printed: &[(String, String)], stream: u64) -> Result<Printed> {
    let (mut now, mut lines) = (None, Printed::new());
    for (name, text) in printed {
        match name.as_str() {
            "stream" => now = Some(u64::from_str_radix(text, 16)?),
            "salt" => now = None,
            _ if now == Some(stream) => lines.push((name.clone(), text.clone())),
            _ => {}
        }
    }
    Ok(lines)
}

/// Returns the bytes of flash that a program takes.
fn flash(program: &Path) -> Result<u64> {
    let bytes = fs::read(program)?;
    let file = object::File::parse(&*bytes)?;
    let mut flash = 0;
    for section in file.sections() {
        let SectionFlags::Elf { sh_flags, .. } = section.flags() else { bail!("no ELF file") };
        let is_allocated = sh_flags.0 & object::elf::SHF_ALLOC.0 != 0;
        let is_stack = [".stack", ".heap"].contains(&section.name()?);
        if is_allocated && !is_stack && section.kind() != SectionKind::UninitializedData {
            flash += section.size();
        }
    }
    Ok(flash)
}

fn boot(board: &Board, program: &Path, folder: &Path) -> Result<Printed> {
    let mut qemu = Command::new(board.qemu[0]);
    qemu.args(&board.qemu[1..]).args(["-icount", "shift=0", "-nographic"]);
    qemu.args(["-semihosting-config", "enable=on,target=native", "-kernel"]).arg(program);
    let times = Times { interrupt_after: None, give_up_after: Duration::from_secs(60) };
    let finished = process::run(qemu.current_dir(folder), &times)?;
    ensure!(finished.status.success(), "the program ended with an error: {}", finished.stderr);
    let lines = finished.stdout.lines().filter_map(|line| line.split_once(' '));
    Ok(lines.map(|(name, value)| (name.to_owned(), value.trim().to_owned())).collect())
}

/// Compares the messages of a start with the host's byte for byte, and opens their sums, by the program `opening`.
fn open(opening: &Path, printed: &Printed) -> Result<()> {
    let mut opening = cargo::command(opening);
    let mut opening = opening.arg("open").stdin(Stdio::piped()).stdout(Stdio::null()).spawn()?;
    let mut lines = opening.stdin.take().context("no input")?;
    for (name, value) in printed {
        writeln!(lines, "{name} {value}")?;
    }
    drop(lines);
    ensure!(opening.wait()?.success(), "the messages are not the host's, or do not open to the readings");
    Ok(())
}
