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
    cargo.envs(PYTHON_MODULE.map(|name| (name, "1")));
    cargo
}

/// The variables by which PyO3 asks no Python for its stable interface, and links none: the interpreter that loads the
/// module has the functions. The workspace builds where Python is missing or too old.
const PYTHON_MODULE: [&str; 2] = ["PYO3_NO_PYTHON", "PYO3_BUILD_EXTENSION_MODULE"];

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

/// An executable that cargo built, or a library that programs of other languages load.
pub(crate) struct Executable {
    /// The folder of its package.
    pub(crate) folder: PathBuf,
    /// The name of its target.
    pub(crate) name: String,
    /// `bin`, `cdylib`, `example`, `test`, `lib`.
    pub(crate) kind: String,
    /// True if it runs tests.
    pub(crate) is_test: bool,
    pub(crate) path: PathBuf,
}

/// Builds the three programs as users do, with the release profile; returns the path of `sotto`. The others are in the
/// same folder.
pub(crate) fn build_programs(root: &Path) -> Result<PathBuf> {
    let mut arguments = vec!["build", "--release"];
    arguments.extend(PROGRAMS.iter().flat_map(|program| ["--package", program]));
    let built = executables(root, &arguments)?;
    let found = built.into_iter().find(|executable| executable.name == "sotto" && executable.kind == "bin");
    Ok(found.context("the build made no program named sotto")?.path)
}

/// Runs a build from the root; returns the executables that it made or found up to date.
fn executables(root: &Path, arguments: &[&str]) -> Result<Vec<Executable>> {
    Ok(messages(root, arguments)?.lines().filter_map(executable).collect())
}

/// Runs a build from the root; returns cargo's messages, one JSON document a line.
pub(crate) fn messages(root: &Path, arguments: &[&str]) -> Result<String> {
    let mut build = cargo();
    build.args(arguments).arg("--message-format=json-render-diagnostics").current_dir(root);
    let output = build.stderr(Stdio::inherit()).output().context("cannot start cargo")?;
    if !output.status.success() {
        bail!("`cargo {}` failed", arguments.join(" "));
    }
    String::from_utf8(output.stdout).context("cargo's messages are not UTF-8")
}

/// Reads one line of cargo's messages; None if it names neither an executable nor a `cdylib`.
pub(crate) fn executable(line: &str) -> Option<Executable> {
    let message: Value = serde_json::from_str(line).ok()?;
    let target = message.get("target")?;
    let kind = target.get("kind")?.get(0)?.as_str()?.to_owned();
    // cargo names a library's import libraries after it.
    let path =
        if kind == "cdylib" { message.get("filenames")?.get(0)? } else { message.get("executable")? };
    Some(Executable {
        folder: Path::new(message.get("manifest_path")?.as_str()?).parent()?.to_owned(),
        name: target.get("name")?.as_str()?.to_owned(),
        is_test: message.get("profile")?.get("test")?.as_bool()?,
        path: path.as_str()?.into(),
        kind,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_executables_are_read() {
        let line = |kind: &str, executable: &str| {
            format!(
                r#"{{"reason":"compiler-artifact","manifest_path":"/r/apps/sotto/Cargo.toml","target":{{"name":"sotto","kind":["{kind}"]}},"profile":{{"test":false}},"executable":{executable}}}"#
            )
        };
        let found = executable(&line("bin", "\"out/sotto\""));
        let found = found.map(|found| (found.folder, found.name, found.kind, found.is_test, found.path));
        let expected = ("/r/apps/sotto".into(), "sotto".into(), "bin".into(), false, "out/sotto".into());
        assert_eq!(found, Some(expected));
        assert!(executable(&line("lib", "null")).is_none());
        assert!(executable("not JSON").is_none());
    }
}
