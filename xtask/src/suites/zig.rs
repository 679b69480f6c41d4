//! zig as the C compiler and linker for other machines, and their standard libraries.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Result, ensure};

use crate::cargo;

/// The compiler, as a package of the Python registry.
pub(super) const ZIG: &str = "ziglang==0.15.2";
/// The compiler, and the driver of cargo.
const WHEELS: [&str; 2] = [ZIG, "cargo-zigbuild==0.24.1"];

/// A kind of machine that programs are built for.
pub(super) struct Target {
    pub(super) name: &'static str,
    /// The standard library's sources, if rustup does not offer it compiled.
    pub(super) sources: Option<PathBuf>,
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl Target {
    pub(super) fn prepared(name: &'static str) -> Result<Self> {
        if rustup(&["target", "add", name]) {
            return Ok(Self { name, sources: None });
        }
        println!("{name}: rustup has no standard library for it; it is compiled from source");
        ensure!(
            rustup(&["component", "add", "rust-src"]),
            "rustup has neither the standard library of {name} nor its sources"
        );
        let sysroot = Command::new("rustc").args(["--print", "sysroot"]).output()?;
        let sysroot = PathBuf::from(String::from_utf8(sysroot.stdout)?.trim());
        Ok(Self { name, sources: Some(sysroot.join("lib/rustlib/src/rust")) })
    }
}

fn rustup(arguments: &[&str]) -> bool {
    let mut rustup = Command::new("rustup");
    let done = rustup.args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).status();
    done.is_ok_and(|status| status.success())
}

/// cargo-zigbuild and zig, installed under the cache folder.
pub(super) struct ZigBuild {
    folder: PathBuf,
}

impl ZigBuild {
    pub(super) fn installed() -> Result<Self> {
        let folder = tools()?.join(WHEELS.join("-").replace("==", "-"));
        let found = Self { folder };
        if found.program().is_file() {
            return Ok(found);
        }
        let mut pip = cargo::command("python3");
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]);
        pip.args(["--only-binary=:all:", "--upgrade", "--target"]).arg(&found.folder).args(WHEELS);
        ensure!(pip.status()?.success() && found.program().is_file(), "pip cannot install {WHEELS:?}");
        Ok(found)
    }

    fn program(&self) -> PathBuf {
        self.folder.join("bin/cargo-zigbuild")
    }

    pub(super) fn command(&self) -> Command {
        let mut command = cargo::command(self.program());
        command.env("CARGO_ZIGBUILD_ZIG_PATH", self.folder.join("ziglang/zig"));
        command
    }
}

/// Returns the folder of tools that are installed once.
pub(super) fn tools() -> Result<PathBuf> {
    Ok(sotto_harness::cache_folder()?.join("tools"))
}
