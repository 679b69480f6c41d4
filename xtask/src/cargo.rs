//! Calls cargo from a program that cargo started.

use anyhow::{Context as _, Result, bail};
use serde_json::Value;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Package names of the demo's programs.
const PROGRAMS: [&str; 3] = ["sotto", "sotto-agent", "sotto-cloud"];

/// Returns the root of the checkout: `cargo run` names xtask's folder; otherwise the parent folders are searched.
pub(crate) fn root() -> Result<PathBuf> {
    if let Some(folder) = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from)
        && let Some(root) = folder.parent()
    {
        return Ok(root.to_path_buf());
    }
    let here = std::env::current_dir()?;
    let is_root = |folder: &&Path| folder.join("xtask/Cargo.toml").is_file();
    here.ancestors().find(is_root).map(Path::to_path_buf).context("not inside a checkout of sotto")
}

/// Returns the cargo that runs this program, or the one on the path.
pub(crate) fn cargo() -> Command {
    let mut cargo = command(std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")));
    // Absolute, so that the target folder does not depend on cargo's working folder.
    if let Some(Ok(target)) = std::env::var_os("CARGO_TARGET_DIR").map(std::path::absolute) {
        cargo.env("CARGO_TARGET_DIR", target);
    }
    // The system's SQLite saves compiling it. A choice in the environment stays.
    if std::env::var_os(SYSTEM_SQLITE).is_none() && system_sqlite_is_new_enough() {
        cargo.env(SYSTEM_SQLITE, "1");
    }
    cargo
}

/// The variable by which libsqlite3-sys links the system's library in place of its own copy.
const SYSTEM_SQLITE: &str = "LIBSQLITE3_SYS_USE_PKG_CONFIG";

/// True if the system's SQLite is at least as new as the copy in libsqlite3-sys, whose interface rusqlite links: an older
/// one lacks functions (3.40 of Debian 12 lacks `sqlite3_set_clientdata`).
fn system_sqlite_is_new_enough() -> bool {
    let mut probe = Command::new("pkg-config");
    probe.args(["--atleast-version=3.54.1", "sqlite3"]).stdin(Stdio::null()).stderr(Stdio::null());
    probe.status().is_ok_and(|status| status.success())
}

/// Returns a command without the variables that `cargo run` sets for xtask: some build scripts watch these variables,
/// and would run again at every change between `cargo ci` and `cargo build`.
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_", "CARGO_CRATE_"].iter().any(|p| text.starts_with(p))
        {
            command.env_remove(&name);
        }
    }
    command
}

/// Builds the three programs as users do, with the release profile; returns the path of `sotto`. The others are in the same folder.
pub(crate) fn build_programs(root: &Path) -> Result<PathBuf> {
    let mut build = cargo();
    build.args(["build", "--release", "--message-format=json-render-diagnostics", "--manifest-path"]);
    build.arg(root.join("Cargo.toml"));
    for package in PROGRAMS {
        build.args(["--package", package]);
    }
    let output = build.stderr(Stdio::inherit()).output().context("cannot start cargo")?;
    if !output.status.success() {
        bail!("the build failed");
    }
    let messages = String::from_utf8(output.stdout).context("cargo's messages are not UTF-8")?;
    let found = messages.lines().find_map(|line| executable(line, "sotto"));
    found.context("the build made no program named sotto")
}

/// Returns the executable named in one line of cargo's messages, if the line is about this program.
fn executable(line: &str, program: &str) -> Option<PathBuf> {
    let message: Value = serde_json::from_str(line).ok()?;
    let target = message.get("target")?;
    (target.get("name")? == program && target.get("kind")?.get(0)? == "bin").then_some(())?;
    message.get("executable")?.as_str().map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_named_program_is_found() {
        let line = |name: &str, kind: &str, executable: &str| {
            format!(
                r#"{{"reason":"compiler-artifact","target":{{"name":"{name}","kind":["{kind}"]}},"executable":{executable}}}"#
            )
        };
        assert_eq!(
            executable(&line("sotto", "bin", "\"out/sotto\""), "sotto"),
            Some(PathBuf::from("out/sotto"))
        );
        assert_eq!(executable(&line("sotto", "lib", "null"), "sotto"), None);
        assert_eq!(executable(&line("sotto-cloud", "bin", "\"out/sotto-cloud\""), "sotto"), None);
        assert_eq!(executable("not JSON", "sotto"), None);
    }
}
