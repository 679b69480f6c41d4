//! Builds the programs that people download: static, for three kinds of Linux machine, byte for byte the same from two
//! folders, each with a list of its components (CycloneDX).
//!
//! zig is the C compiler and linker for every target, driven by cargo-zigbuild; both come from the Python package
//! registry into the cache folder. cargo-cyclonedx is compiled there once. A target whose standard library rustup does
//! not offer is built with one compiled from the toolchain's own sources.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};
use object::elf::PT_INTERP;
use object::read::elf::{ElfFile32, ElfFile64, FileHeader, ProgramHeader as _};

use super::compile::side_target;
use super::zig::{Target, ZigBuild, tools};
use crate::cargo;
use crate::process::Scratch;
use crate::suite::{Context, Outcome};

const TARGETS: [&str; 3] =
    ["x86_64-unknown-linux-musl", "aarch64-unknown-linux-musl", "armv7-unknown-linux-musleabihf"];
const PROGRAMS: [&str; 3] = ["sotto", "sotto-agent", "sotto-cloud"];
const CYCLONEDX: &str = "0.5.9";
/// Builds each target once and compares nothing, if this variable is set.
const ONCE: &str = "SOTTO_DIST_ONCE";
/// These targets only, separated by commas.
const ONLY: &str = "SOTTO_DIST_TARGETS";

pub(crate) fn run(context: &Context) -> Result<Outcome> {
    let (zig, sbom) = (ZigBuild::installed()?, cyclonedx()?);
    let only = std::env::var(ONLY).unwrap_or_else(|_| TARGETS.join(","));
    let targets: Vec<&str> = TARGETS.into_iter().filter(|t| only.split(',').any(|name| name == *t)).collect();
    ensure!(!targets.is_empty(), "{ONLY} names none of {}", TARGETS.join(", "));
    let targets: Vec<Target> = targets.into_iter().map(Target::prepared).collect::<Result<_>>()?;
    let mut faults = Vec::new();
    let scratch = Scratch::new()?;
    // Of different lengths: a path that gets into a program shifts what follows.
    let first = Checkout::new(&context.root, &scratch.path().join("first"))?;
    let dist = side_target(context, "dist")?;
    fs::create_dir_all(&dist)?;
    let mut built = BTreeMap::new();
    for target in &targets {
        first.build(&zig, target)?;
        for program in PROGRAMS {
            let bytes = fs::read(first.program(target, program))?;
            faults.extend(not_static(&bytes).map(|why| format!("{program} for {target} {why}")));
            let name = format!("{program}-{}-{target}", env!("CARGO_PKG_VERSION"));
            fs::copy(first.program(target, program), dist.join(&name))?;
            println!("{name}: {} bytes", bytes.len());
            built.insert((target.name, program), bytes);
        }
    }
    first.components(&sbom, &dist)?;
    if std::env::var_os(ONCE).is_none() {
        let second = Checkout::new(&first.root, &scratch.path().join("second-in-a-longer-folder"))?;
        for target in &targets {
            second.build(&zig, target)?;
            let differs = |program: &&str| {
                let again = fs::read(second.program(target, program)).ok();
                again.as_ref() != built.get(&(target.name, *program))
            };
            let different = PROGRAMS.iter().filter(|program| differs(program));
            faults.extend(different.map(|p| format!("{p} for {target} differs when it is built elsewhere")));
        }
    }
    faults.extend(starts(&first, &targets));
    checksums(&dist)?;
    println!("in {}", dist.display());
    Ok(Outcome::from_faults(faults))
}

/// A copy of the last commit, with a target folder of its own.
struct Checkout {
    root: PathBuf,
    /// Seconds since 1970 of the commit: the only date that anything may take.
    date: String,
}

impl Checkout {
    fn new(from: &Path, root: &Path) -> Result<Self> {
        let mut clone = Command::new("git");
        clone.args(["clone", "--quiet", "--no-hardlinks"]).arg(from).arg(root);
        ensure!(clone.status()?.success(), "git cannot clone the checkout");
        let mut log = Command::new("git");
        let date = log.args(["log", "-1", "--format=%ct"]).current_dir(root).output()?;
        Ok(Self { root: root.to_owned(), date: String::from_utf8(date.stdout)?.trim().to_owned() })
    }

    fn build(&self, zig: &ZigBuild, target: &Target) -> Result<()> {
        let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
        let home = home.or_else(|| std::env::var_os("HOME").map(|home| Path::new(&home).join(".cargo")));
        let home = home.context("neither CARGO_HOME nor HOME is set")?;
        let (root, home) = (self.root.display(), home.display());
        let mut build = zig.command();
        build.args(["zigbuild", "--release", "--locked", "--target", target.name, "--target-dir"]);
        build.arg(self.root.join("target")).current_dir(&self.root);
        PROGRAMS.iter().for_each(|program| {
            build.args(["--package", program]);
        });
        build.env("SOURCE_DATE_EPOCH", &self.date);
        let mut flags = format!(
            "--remap-path-prefix={root}=/sotto --remap-path-prefix={home}=/cargo -C strip=symbols \
             -C target-feature=+crt-static"
        );
        if let Some(sources) = &target.sources {
            // Without a standard library of rustup's, its start files are missing as well: zig has its own.
            let _ =
                write!(flags, " --remap-path-prefix={}=/rust -C link-self-contained=no", sources.display());
            build.arg("-Zbuild-std=std,panic_unwind").env("RUSTC_BOOTSTRAP", "1");
        }
        build.env("RUSTFLAGS", flags);
        build.env("CFLAGS", format!("-ffile-prefix-map={root}=/sotto -ffile-prefix-map={home}=/cargo"));
        build.env_remove("LIBSQLITE3_SYS_USE_PKG_CONFIG").env_remove("CARGO_TARGET_DIR");
        ensure!(build.status()?.success(), "the build for {target} failed");
        Ok(())
    }

    fn program(&self, target: &Target, program: &str) -> PathBuf {
        self.root.join("target").join(target.name).join("release").join(program)
    }

    /// Writes the list of components of each program.
    fn components(&self, cyclonedx: &Path, dist: &Path) -> Result<()> {
        for program in PROGRAMS {
            let folder = self.root.join("apps").join(program.strip_prefix("sotto-").unwrap_or("sotto"));
            let mut list = cargo::command(cyclonedx);
            list.args(["cyclonedx", "--format", "json", "--target", "all", "--override-filename", program]);
            list.arg("--manifest-path").arg(folder.join("Cargo.toml"));
            list.env("SOURCE_DATE_EPOCH", &self.date).current_dir(&self.root);
            ensure!(list.status()?.success(), "cargo-cyclonedx failed for {program}");
            let name = format!("{program}-{}.cdx.json", env!("CARGO_PKG_VERSION"));
            fs::copy(folder.join(format!("{program}.json")), dist.join(&name))
                .with_context(|| format!("cargo-cyclonedx left no list of {program}"))?;
            println!("{name}: {} bytes", fs::metadata(dist.join(&name))?.len());
        }
        Ok(())
    }
}

/// Why a program is not static: it names a loader, or is no ELF file.
fn not_static(bytes: &[u8]) -> Option<&'static str> {
    fn loader<E: FileHeader>(header: &E, bytes: &[u8]) -> Option<bool> {
        let endian = header.endian().ok()?;
        let segments = header.program_headers(endian, bytes).ok()?;
        Some(segments.iter().any(|segment| segment.p_type(endian) == PT_INTERP))
    }
    let found = match ElfFile64::<object::Endianness>::parse(bytes) {
        Ok(file) => loader(file.elf_header(), bytes),
        Err(_) => {
            ElfFile32::<object::Endianness>::parse(bytes).ok().and_then(|f| loader(f.elf_header(), bytes))
        }
    };
    match found {
        Some(false) => None,
        Some(true) => Some("names a loader: it is not static"),
        None => Some("is no ELF file"),
    }
}

/// Starts each program for this machine's processor, and the others where qemu is installed.
fn starts(checkout: &Checkout, targets: &[Target]) -> Vec<String> {
    let mut faults = Vec::new();
    for target in targets {
        let architecture = target.name.split('-').next().unwrap_or_default();
        let emulator = match architecture {
            "aarch64" => "qemu-aarch64",
            "armv7" => "qemu-arm",
            _ => "",
        };
        let native = architecture == std::env::consts::ARCH;
        for program in PROGRAMS {
            let path = checkout.program(target, program);
            let mut command = if native { Command::new(&path) } else { Command::new(emulator) };
            if !native {
                command.arg(&path);
            }
            match command.arg("--version").stdin(Stdio::null()).output() {
                Ok(output) if output.status.success() => {}
                Ok(output) => faults.push(format!(
                    "{program} for {target} does not start: {}",
                    String::from_utf8_lossy(&output.stderr).trim()
                )),
                Err(_) => println!("{program} for {target}: not started, {emulator} is missing"),
            }
        }
    }
    faults
}

fn checksums(dist: &Path) -> Result<()> {
    let mut names: Vec<_> = fs::read_dir(dist)?.map(|e| Ok(e?.file_name())).collect::<Result<_>>()?;
    names.retain(|name| name != "SHA256SUMS");
    names.sort();
    let sums = Command::new("sha256sum").args(&names).current_dir(dist).output()?;
    ensure!(sums.status.success(), "sha256sum failed");
    Ok(fs::write(dist.join("SHA256SUMS"), sums.stdout)?)
}

/// cargo-cyclonedx, compiled once.
fn cyclonedx() -> Result<PathBuf> {
    let folder = tools()?.join(format!("cargo-cyclonedx-{CYCLONEDX}"));
    let program = folder.join("bin/cargo-cyclonedx");
    if program.is_file() {
        return Ok(program);
    }
    println!("cargo-cyclonedx {CYCLONEDX} is compiled, once; this takes some minutes");
    let mut install = cargo::cargo();
    install.args(["install", "cargo-cyclonedx", "--version", CYCLONEDX, "--locked", "--root"]).arg(&folder);
    if !install.status()?.success() {
        bail!("cargo-cyclonedx {CYCLONEDX} cannot be installed");
    }
    Ok(program)
}
