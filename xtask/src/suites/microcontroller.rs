//! Runs the example firmware on small cores under qemu: checks flash, memory, instructions and the content of its
//! messages.

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

/// The limit of memory in bytes, static and stack.
const MEMORY: u64 = 6 * 1024;
const FLASH: u64 = 24 * 1024;
/// The limit of instructions for a window on the Cortex-M4.
const INSTRUCTIONS: u64 = 4_000_000;
/// Instructions of the firmware's reference loop.
const REFERENCE: u64 = 1_000_000;
/// Number of starts of a board: each ends, and the next continues with the window counter.
const STARTS: usize = 3;

struct Board {
    core: &'static str,
    target: &'static str,
    qemu: &'static [&'static str],
    most: Option<u64>,
}

const BOARDS: [Board; 3] = [
    Board {
        core: "Cortex-M4",
        target: "thumbv7em-none-eabi",
        qemu: &["qemu-system-arm", "-machine", "mps2-an386"],
        most: Some(INSTRUCTIONS),
    },
    Board {
        core: "Cortex-M0",
        target: "thumbv6m-none-eabi",
        qemu: &["qemu-system-arm", "-machine", "microbit"],
        most: None,
    },
    Board {
        core: "RV32IMC",
        target: "riscv32imc-unknown-none-elf",
        qemu: &["qemu-system-riscv32", "-machine", "virt", "-bios", "none"],
        most: None,
    },
];

/// The output of a board: the text of each line by its name.
type Printed = Vec<(String, String)>;

pub(crate) fn run(context: &Context) -> Result<Outcome> {
    let target = side_target(context, "firmware")?;
    let opening = context.built()?.example("conformance", "firmware_device")?;
    let mut faults = Vec::new();
    println!("n = 4096, 16 readings of 12 bits, 36 bits a place; without a signature");
    println!("{:12}{:>8}{:>8}{:>8}{:>14}", "", "flash", "static", "stack", "instructions");
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
    build.env("CARGO_TARGET_DIR", target).current_dir(context.root.join("crates/device/firmware"));
    ensure!(build.status()?.success(), "the build for {} failed", board.target);
    Ok(target.join(board.target).join("release/sotto-firmware"))
}

/// Runs a start with signed messages: checks the signature, and prints its instructions and stack.
fn signed(board: &Board, program: &Path, opening: &Path) -> Result<()> {
    let (flash, memory) = sizes(program)?;
    let scratch = Scratch::new()?;
    let printed = boot(board, program, scratch.path())?;
    open(opening, &printed)?;
    let most = |name: &str| -> Result<u64> {
        let of_name = printed.iter().filter(|(key, _)| key == name);
        let numbers =
            of_name.map(|(_, text)| Ok(u64::from_str_radix(text, 16)?)).collect::<Result<Vec<_>>>()?;
        numbers.into_iter().max().with_context(|| format!("no {name}"))
    };
    let (stack, reference) = (most("signature-stack")?, most("reference")?);
    let instructions = most("signature-ticks")? * REFERENCE / reference;
    println!("{:12}{flash:>8}{memory:>8}{stack:>8}{instructions:>14}", board.core);
    Ok(())
}

fn try_board(board: &Board, program: &Path, opening: &Path) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    let (flash, memory) = sizes(program)?;
    let scratch = Scratch::new()?;
    let mut printed = Printed::new();
    for _ in 0..STARTS {
        let start = boot(board, program, scratch.path())?;
        open(opening, &start)?;
        printed.extend(start);
    }
    let numbers = |name: &str| -> Result<Vec<u64>> {
        let of_name = printed.iter().filter(|(key, _)| key == name);
        of_name.map(|(_, text)| Ok(u64::from_str_radix(text, 16)?)).collect()
    };
    let sequences = numbers("sequence")?;
    if sequences.is_empty() || !sequences.iter().copied().eq(0..sequences.len() as u64) {
        faults.push(format!("the windows' numbers are {sequences:?}"));
    }
    let salts: BTreeSet<_> = printed.iter().filter(|(key, _)| key == "salt").collect();
    if salts.len() != STARTS {
        faults.push("a salt came twice".to_owned());
    }
    let reference = numbers("reference")?.into_iter().max().context("no reference loop")?;
    let instructions = |ticks: u64| ticks * REFERENCE / reference;
    let stack = numbers("stack")?.into_iter().max().context("no stack")?;
    let (ticks, other) = (numbers("ticks")?, numbers("other")?);
    let most = instructions(ticks.iter().copied().max().context("no window")?);
    println!("{:12}{flash:>8}{memory:>8}{stack:>8}{most:>14}", board.core);
    if flash > FLASH || memory + stack > MEMORY {
        faults.push(format!("{flash} bytes of flash and {} of memory", memory + stack));
    }
    if board.most.is_some_and(|allowed| most > allowed) {
        faults.push(format!("{most} instructions a window"));
    }
    // A tick is up to 63 instructions, and may begin before or after the measured code.
    if ticks.iter().zip(&other).any(|(one, other)| one.abs_diff(*other) > 2) {
        faults.push(format!("another secret takes another time: {ticks:?} and {other:?} ticks"));
    }
    Ok(faults)
}

/// Returns the bytes of flash and of static memory that a program takes.
fn sizes(program: &Path) -> Result<(u64, u64)> {
    let bytes = fs::read(program)?;
    let file = object::File::parse(&*bytes)?;
    let (mut flash, mut memory) = (0, 0);
    for section in file.sections() {
        let SectionFlags::Elf { sh_flags, .. } = section.flags() else { bail!("no ELF file") };
        let allocated = sh_flags.0 & object::elf::SHF_ALLOC.0 != 0;
        let is_stack = [".stack", ".heap"].contains(&section.name()?);
        match section.kind() {
            _ if !allocated || is_stack => {}
            SectionKind::UninitializedData => memory += section.size(),
            SectionKind::Data => {
                memory += section.size();
                flash += section.size();
            }
            _ => flash += section.size(),
        }
    }
    Ok((flash, memory))
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

/// Decrypts the messages of a start with the owner's half, the program `opening`.
fn open(opening: &Path, printed: &Printed) -> Result<()> {
    let mut opening = cargo::command(opening);
    let mut opening = opening.arg("open").stdin(Stdio::piped()).stdout(Stdio::null()).spawn()?;
    let mut lines = opening.stdin.take().context("no input")?;
    for (name, value) in printed {
        writeln!(lines, "{name} {value}")?;
    }
    drop(lines);
    ensure!(opening.wait()?.success(), "the messages do not open to the readings");
    Ok(())
}
