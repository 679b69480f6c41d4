//! Runs the tests of kernels and ring with AVX-512: on this processor if it has the instructions, else on one that Bochs
//! emulates. qemu emulates AVX2 at most.

mod archive;
mod machine;

use std::fmt::Write as _;

use anyhow::{Context as _, Result};

use super::compile::passes;
use crate::cargo::{self, Executable};
use crate::suite::{self, Context, Outcome, PARTS};
use crate::tools::bochs::{BUSYBOX, has_avx512};

/// The tests: kernels compares every target with the scalar one, ring uses the fastest.
const TESTS: [&str; 6] =
    ["--release", "--locked", "--lib", "--tests", "--package=sotto-kernels", "--package=sotto-ring"];
/// Prints the targets that the processor can run.
const LIST: [&str; 4] = ["--release", "--locked", "--package=sotto-kernels", "--example=instructions"];
/// Lines of the list without which the tests have not run the code that they are for.
const TARGETS: [&str; 3] = ["target avx512-dq", "target avx512-ifma", "streams avx512-vbmi"];

pub(crate) fn run(context: &Context) -> Result<Outcome> {
    // Words that the names of tests contain.
    let mut parts = suite::parts().unwrap_or_default();
    parts.retain(|part| !part.is_empty());
    if has_avx512() {
        let mut test = cargo::cargo();
        test.arg("test").args(TESTS).arg("--").args(&parts);
        return passes(context, test);
    }
    let lists = executables(context, &["build"], &LIST)?;
    let list = lists.iter().find(|list| list.name == "instructions").context("no list of targets")?;
    let mut tests = executables(context, &["test", "--no-run"], &TESTS)?;
    tests.retain(|test| test.is_test);
    let mut script = format!("'{}' | {BUSYBOX} grep -v '^row '\n", list.path.display());
    let names: Vec<String> = tests.iter().map(name).collect();
    for (test, name) in tests.iter().zip(&names) {
        let path = test.path.display();
        writeln!(
            script,
            "echo '{name}:'; '{path}' --test-threads=1 {}; echo \"ended $? {name}\"",
            parts.join(" ")
        )?;
    }
    let programs = tests.iter().chain([list]).map(|program| program.path.as_path());
    let printed = machine::run(&script, programs.collect())?;
    Ok(Outcome::from_faults(faults(&printed, &names)))
}

fn executables(context: &Context, subcommand: &[&str], arguments: &[&str]) -> Result<Vec<Executable>> {
    let built = cargo::messages(&context.root, &[subcommand, arguments].concat())?;
    Ok(built.lines().filter_map(cargo::executable).collect())
}

/// Returns the name of a program of tests: `kernels/it`.
fn name(test: &Executable) -> String {
    let package = test.folder.file_name().unwrap_or_default().display();
    format!("{package}/{}", test.name)
}

/// Returns the missing targets, and the programs that failed or did not end.
fn faults(printed: &str, programs: &[String]) -> Vec<String> {
    let has = |line: &str| printed.lines().any(|other| other == line);
    let missing = TARGETS.iter().filter(|target| !has(target));
    let mut faults: Vec<String> =
        missing.map(|target| format!("the emulated processor has no {target}")).collect();
    let failed = programs.iter().filter(|program| !has(&format!("ended 0 {program}")));
    faults.extend(
        failed.map(|program| format!("a test of {program} failed, or the machine stopped before its end")),
    );
    if !printed.lines().any(|line| line.starts_with("test ")) {
        faults.push(format!("no test ran: does {PARTS} name one?"));
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_without_a_target_an_end_or_a_test_is_a_fault() {
        let programs = ["kernels/it", "ring/it"].map(str::to_owned);
        let targets = TARGETS.join("\r\n");
        let right = format!("{targets}\r\ntest add ... ok\r\nended 0 kernels/it\r\nended 0 ring/it\r\n");
        assert_eq!(faults(&right, &programs), [""; 0]);
        let failed = "a test of ring/it failed, or the machine stopped before its end";
        assert_eq!(faults(&right.replace("0 ring/it", "101 ring/it"), &programs), [failed]);
        assert_eq!(faults(right.split("ended 0 ring/it").next().unwrap(), &programs), [failed]);
        let slow = "the emulated processor has no target avx512-ifma";
        assert_eq!(faults(&right.replace("-ifma", "-none"), &programs), [slow]);
        assert_eq!(faults(&right.replace("test add", ""), &programs).len(), 1);
    }
}
