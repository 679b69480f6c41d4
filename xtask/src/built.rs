//! The executables of the workspace and the compiled part of the Python package, built with one set of features.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::cargo::{self, Executable};

/// The calls: programs and tests, then the examples that suites run and the libraries, of which no test needs that of the
/// Python package. Other examples time something, and only `lints` compiles them.
#[rustfmt::skip]
const CALLS: [&[&str]; 2] = [
    &[
        "test", "--workspace", "--release", "--locked", "--no-run", "--tests",
    ],
    &[
        "build", "--workspace", "--release", "--locked", "--lib",
        "--example=firmware_device", "--example=paillier_lines",
        "--example=inner_product_two_devices", "--example=integers_bfv", "--example=matrix_vector",
        "--example=polynomial_ckks", "--example=powers_bgv", "--example=rotations",
    ],
];

/// A test executable.
pub(crate) struct Test {
    /// The folder of its package, from the root: `crates/ring`.
    pub(crate) package: String,
    /// The name of its target: `it`, or the library or program whose unit tests these are.
    pub(crate) target: String,
    /// `test`, `lib` or `bin`.
    kind: String,
    folder: PathBuf,
    executable: PathBuf,
}

impl Test {
    /// Returns true if it is no library's or program's unit tests.
    pub(crate) fn is_integration(&self) -> bool {
        self.kind == "test"
    }

    /// Returns the command that runs it as cargo does, in the folder of its package.
    pub(crate) fn command(&self) -> Command {
        let mut command = cargo::command(&self.executable);
        command.current_dir(&self.folder).env("CARGO_MANIFEST_DIR", &self.folder);
        command
    }
}

/// Test executables, programs, examples and libraries for other languages of the workspace.
pub(crate) struct Built {
    pub(crate) tests: Vec<Test>,
    /// Programs by name.
    programs: BTreeMap<String, PathBuf>,
    /// Examples by the folder of their package and their name.
    examples: BTreeMap<(String, String), PathBuf>,
    /// Libraries for other languages by the folder of their package.
    libraries: BTreeMap<String, PathBuf>,
    /// The lines of cargo that name them.
    lines: Vec<String>,
}

impl Built {
    /// Builds them with the release profile.
    pub(crate) fn make(root: &Path) -> Result<Self> {
        let [tests, examples] = CALLS.map(|call| cargo::messages(root, call));
        let (tests, examples) = (tests?, examples?);
        Ok(Self::of(root, tests.lines().chain(examples.lines())))
    }

    /// Writes them for another process.
    pub(crate) fn write(&self, list: &Path) -> Result<()> {
        fs::write(list, self.lines.join("\n")).with_context(|| format!("cannot write {}", list.display()))
    }

    /// Reads what [`Built::write`] wrote.
    pub(crate) fn read(root: &Path, list: &Path) -> Result<Self> {
        let lines = fs::read_to_string(list).with_context(|| format!("cannot read {}", list.display()))?;
        Ok(Self::of(root, lines.lines()))
    }

    fn of<'l>(root: &Path, lines: impl Iterator<Item = &'l str>) -> Self {
        let (programs, examples, libraries) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let mut built = Self { tests: Vec::new(), programs, examples, libraries, lines: Vec::new() };
        for line in lines {
            let Some(Executable { folder, name, kind, is_test, path }) = cargo::executable(line) else {
                continue;
            };
            built.lines.push(line.to_owned());
            let package = folder.strip_prefix(root).unwrap_or(&folder).to_string_lossy().replace('\\', "/");
            if is_test {
                built.tests.push(Test { package, target: name, kind, folder, executable: path });
            } else if kind == "bin" {
                built.programs.insert(name, path);
            } else if kind == "example" {
                built.examples.insert((package, name), path);
            } else if kind == "cdylib" {
                built.libraries.insert(package, path);
            }
        }
        built
    }

    pub(crate) fn program(&self, name: &str) -> Result<&Path> {
        let found = self.programs.get(name).map(PathBuf::as_path);
        found.with_context(|| format!("the build made no program named {name}"))
    }

    /// Returns the path of an example of the package in a folder.
    pub(crate) fn example(&self, package: &str, name: &str) -> Result<&Path> {
        let found = self.examples.get(&(package.to_owned(), name.to_owned())).map(PathBuf::as_path);
        found.with_context(|| format!("the build made no example {name} of {package}"))
    }

    /// Returns the library for other languages of the package in a folder.
    pub(crate) fn library(&self, package: &str) -> Result<&Path> {
        let found = self.libraries.get(package).map(PathBuf::as_path);
        found.with_context(|| format!("the build made no library of {package}"))
    }

    /// Returns the command that runs the tests of the package in a folder whose paths contain one of `filters`, with
    /// their output. Refuses filters that no test matches.
    pub(crate) fn tests_of(&self, package: &str, filters: &[&str]) -> Result<Command> {
        let mut list = self.target(package, "it")?;
        let listed = list.args(filters).arg("--list").output().context("a test executable does not start")?;
        let found = String::from_utf8_lossy(&listed.stdout).lines().any(|line| line.ends_with(": test"));
        ensure!(found, "no test of {package} is named {}", filters.join(" or "));
        let mut command = self.target(package, "it")?;
        command.args(filters).arg("--nocapture");
        Ok(command)
    }

    /// Returns the command that runs a test target of the package in a folder.
    pub(crate) fn target(&self, package: &str, target: &str) -> Result<Command> {
        let found = self.tests.iter().find(|test| test.package == package && test.target == target);
        Ok(found.with_context(|| format!("the build made no tests {target} of {package}"))?.command())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::Scratch;

    #[test]
    fn executables_are_found_by_package_and_kind() {
        let message = |folder: &str, name: &str, kind: &str, test: bool, executable: &str| {
            format!(
                r#"{{"reason":"compiler-artifact","manifest_path":"/r/{folder}/Cargo.toml","target":{{"name":"{name}","kind":["{kind}"]}},"profile":{{"test":{test}}},"filenames":["/t/lib{name}.so"],"executable":{executable}}}"#
            )
        };
        let messages = [
            message("crates/ring", "sotto_ring", "lib", false, "null"),
            message("crates/ring", "it", "test", true, "\"/t/it-1\""),
            message("apps/sotto", "sotto", "bin", false, "\"/t/sotto\""),
            message("apps/sotto", "sotto", "bin", true, "\"/t/sotto-1\""),
            message("examples", "rotations", "example", false, "\"/t/rotations\""),
            message("bindings/python", "_native", "cdylib", false, "null"),
            "not JSON".to_owned(),
        ];
        let scratch = Scratch::new().unwrap();
        let list = scratch.path().join("built");
        Built::of(Path::new("/r"), messages.iter().map(String::as_str)).write(&list).unwrap();
        let built = Built::read(Path::new("/r"), &list).unwrap();
        let tests: Vec<_> =
            built.tests.iter().map(|test| (test.package.as_str(), test.target.as_str())).collect();
        assert_eq!(tests, [("crates/ring", "it"), ("apps/sotto", "sotto")]);
        assert_eq!(built.program("sotto").unwrap(), Path::new("/t/sotto"));
        assert_eq!(built.example("examples", "rotations").unwrap(), Path::new("/t/rotations"));
        assert_eq!(built.library("bindings/python").unwrap(), Path::new("/t/lib_native.so"));
        assert!(built.library("crates/ring").is_err());
        assert!(built.program("sotto-cloud").is_err() && built.example("lab", "rotations").is_err());
        assert_eq!(built.target("crates/ring", "it").unwrap().get_program(), "/t/it-1");
        assert!(built.target("apps/sotto", "it").is_err());
    }
}
