//! Installs the Python package as a user does, in an environment of its own, and runs its tests, also against a cloud of
//! real processes, type checks and style checks.

use anyhow::{Result, ensure};

use super::compile::{passes, side_target};
use super::venv::Venv;
use crate::suite::{Context, Outcome};

const PACKAGE: &str = "bindings/python";
const CONFIG: &str = "bindings/python/pyproject.toml";

/// Long tests, for the deep suite alone.
const LONG: [&str; 3] = [
    "--deselect=tests/test_notebooks.py::test_notebook[tenseal-tasks]",
    "--deselect=tests/test_notebooks.py::test_notebook[sensor-models]",
    "--deselect=tests/test_formulas.py::test_random_texts_and_functions_agree",
];

/// Random programs of the deep suite.
const EXPRESSIONS: &str = "20000";

/// Runs all tests, and compares many random programs with NumPy.
pub(crate) fn deep(context: &Context) -> Result<Outcome> {
    let mut check = installed(context)?.python();
    let programs = context.programs()?;
    check.args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "bindings/python/tests"]);
    check.env("SOTTO_EXPRESSIONS", EXPRESSIONS).env("PYTHONDONTWRITEBYTECODE", "1");
    check.env("SOTTO_PROGRAMS", std::path::absolute(programs)?).env("MPLBACKEND", "Agg");
    passes(context, check)
}

pub(crate) fn run(context: &Context) -> Result<Outcome> {
    let environment = installed(context)?;
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

/// Returns a virtual environment that holds the package and the tools of its tests.
fn installed(context: &Context) -> Result<Venv> {
    let environment = Venv::new(&side_target(context, "python")?)?;
    let mut install = environment.pip();
    install.arg(format!("./{PACKAGE}[test]")).current_dir(&context.root);
    // The workspace's target folder has most of the crates; pip would build in a temporary one.
    install.env("CARGO_TARGET_DIR", side_target(context, "")?);
    ensure!(install.status()?.success(), "pip cannot install ./{PACKAGE}");
    Ok(environment)
}
