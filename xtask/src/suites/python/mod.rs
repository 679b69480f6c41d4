//! Places the Python package in an environment of its own, with the compiled part from the workspace's build, and runs its
//! tests, also against a cloud of real processes, type checks and style checks. The deep suite installs the package as a
//! user does.

use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use super::compile::{passes, side_target};
use super::venv::Venv;
use crate::suite::{Context, Outcome};

const PACKAGE: &str = "bindings/python";
const CONFIG: &str = "bindings/python/pyproject.toml";
const SCRIPT: &str = include_str!("package.py");

/// Long tests, for the deep suite alone.
const LONG: [&str; 3] = [
    "--deselect=tests/test_notebooks.py::test_notebook[tenseal-tasks]",
    "--deselect=tests/test_notebooks.py::test_notebook[sensor-models]",
    "--deselect=tests/test_formulas.py::test_random_texts_and_functions_agree",
];

/// Random programs of the deep suite.
const EXPRESSIONS: &str = "20000";

/// Installs the package by pip, runs all tests, and compares many random programs with NumPy.
pub(crate) fn deep(context: &Context) -> Result<Outcome> {
    let mut check = installed(context)?.python();
    let programs = context.programs()?;
    check.args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "bindings/python/tests"]);
    check.env("SOTTO_EXPRESSIONS", EXPRESSIONS).env("PYTHONDONTWRITEBYTECODE", "1");
    check.env("SOTTO_PROGRAMS", std::path::absolute(programs)?).env("MPLBACKEND", "Agg");
    passes(context, check)
}

pub(crate) fn run(context: &Context) -> Result<Outcome> {
    let environment = placed(context)?;
    // Questions are asked of real processes.
    let programs = context.programs()?;
    let mut faults = Vec::new();
    let steps: [&[&str]; 5] = [
        &["-m", "pytest", "-q", "-p", "no:cacheprovider", "bindings/python/tests"],
        &["-m", "mypy", "--config-file", CONFIG, "--no-incremental", "--cache-dir", "/dev/null"],
        // The stubs of the compiled part against the module itself.
        &["-m", "mypy.stubtest", "sotto._native", "--mypy-config-file", CONFIG],
        &["-m", "ruff", "check", "--no-cache", PACKAGE],
        &["-m", "ruff", "format", "--no-cache", "--check", PACKAGE],
    ];
    for step in steps {
        let mut check = environment.python();
        check.args(step).env("PYTHONDONTWRITEBYTECODE", "1").env("MPLBACKEND", "Agg");
        if step.contains(&"pytest") {
            check.args(LONG);
        }
        check.env("SOTTO_PROGRAMS", std::path::absolute(programs)?);
        if !matches!(passes(context, check)?, Outcome::Passed) {
            faults.push(format!("`python {}` failed", step.join(" ")));
        }
    }
    Ok(Outcome::from_faults(faults))
}

/// Returns the environment with the sources of the package, the library that cargo built, and the tools of its tests.
fn placed(context: &Context) -> Result<Venv> {
    let environment = Venv::new(&side_target(context, "python")?)?;
    let package = context.root.join(PACKAGE);
    let listed = script(&environment).arg("requirements").arg(&package).output()?;
    ensure!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
    let listed = String::from_utf8(listed.stdout).context("the requirements are not UTF-8")?;
    environment.install(&listed.lines().collect::<Vec<_>>())?;
    let mut place = script(&environment);
    place.arg("place").arg(&package).arg(context.built()?.library(PACKAGE)?).arg(env!("CARGO_PKG_VERSION"));
    ensure!(place.status()?.success(), "{PACKAGE} cannot be placed in the environment");
    Ok(environment)
}

/// Returns the environment with the package as pip builds and installs it, and the tools of its tests.
fn installed(context: &Context) -> Result<Venv> {
    let environment = Venv::new(&side_target(context, "python")?)?;
    ensure!(script(&environment).arg("remove").status()?.success(), "{PACKAGE} cannot be removed");
    let mut install = environment.pip();
    install.arg(format!("./{PACKAGE}[test]")).current_dir(&context.root);
    // The workspace's target folder has most of the crates; pip would build in a temporary one.
    install.env("CARGO_TARGET_DIR", side_target(context, "")?);
    ensure!(install.status()?.success(), "pip cannot install ./{PACKAGE}");
    Ok(environment)
}

/// Returns the command that runs `package.py`: add its arguments.
fn script(environment: &Venv) -> Command {
    let mut python = environment.python();
    python.args(["-c", SCRIPT]);
    python
}
