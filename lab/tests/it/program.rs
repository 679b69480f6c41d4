//! Runs `sotto-lab` as a program, with its built-in engine.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn lab(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sotto-lab"))
        .args(arguments)
        .current_dir(folder)
        .env("SOTTO_CACHE", folder.join("cache"))
        .output()
        .unwrap()
}

#[test]
fn a_quick_run_prints_rows_and_nothing_else_and_its_report_is_a_page() {
    let folder = tempfile::tempdir().unwrap();
    let run = ["run", "operations", "--quick", "--n", "4096", "--schemes", "ckks", "--json", "--out", "out"];
    let output = lab(folder.path(), &run);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let operations: BTreeSet<&str> = rows.iter().map(|row| row["operation"].as_str().unwrap()).collect();
    assert_eq!(operations.len(), rows.len(), "one row each");
    for operation in ["keygen", "encrypt_public", "multiply_relin", "rotate_hoisted", "rescale", "serialise"]
    {
        assert!(operations.contains(operation), "{operation}");
    }
    assert!(rows.iter().all(|row| row["verified"] == true && row["engine"] == "sotto"));
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("gap: seal: is not installed: `sotto-lab install seal` does it"), "{told}");
    let kept = std::fs::read_to_string(folder.path().join("out/operations-part.rows.jsonl")).unwrap();
    assert_eq!(kept, text, "the same rows");
    assert!(folder.path().join("cache/results").read_dir().unwrap().count() == 1);
    assert!(!folder.path().join("results").exists(), "only where it was told");
    assert!(lab(folder.path(), &["report", "out"]).status.success());
    assert!(folder.path().join("out/report.html").is_file());
    let compared = lab(folder.path(), &["compare", "out", "out"]);
    let compared = String::from_utf8(compared.stdout).unwrap();
    assert!(compared.contains("geometric mean of after / before: 1.000"), "{compared}");
}

#[test]
fn a_quick_run_of_comparisons_counts_every_answer_and_its_tables_go_into_a_page() {
    let folder = tempfile::tempdir().unwrap();
    let run = ["run", "comparisons", "--quick", "--engines", "sotto", "--json", "--out", "out"];
    let output = lab(folder.path(), &run);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows.len(), 5, "{text}");
    for row in &rows {
        assert!(row["readings"].as_u64().unwrap() >= 16384 && row["wrong"] == 0, "{row}");
        assert!(row["undecided_outside"] == 0 && row["security_bits"] == 128, "{row}");
    }
    let page = folder.path().join("page.md");
    std::fs::write(&page, "<!-- lab comparisons: begin --><!-- lab comparisons: end -->").unwrap();
    assert!(lab(folder.path(), &["report", "out", "--comparisons", "page.md"]).status.success());
    assert!(std::fs::read_to_string(&page).unwrap().contains("| sotto table bgv |"));
}

#[test]
fn mistakes_are_told_before_anything_is_measured() {
    let folder = tempfile::tempdir().unwrap();
    let error = |arguments: &[&str]| {
        let output = lab(folder.path(), arguments);
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(error(&["run", "nothing"]).contains("operations"));
    assert!(error(&["run", "operations", "--engines", "helib"]).contains("there is no engine helib"));
    assert!(error(&["run", "operations", "--n", "5000"]).contains("nothing of operations is left"));
    assert!(error(&["install", "helib"]).contains("there is no engine helib"));
    assert!(!folder.path().join("cache/results").exists());
}

#[cfg(unix)]
#[test]
fn the_doctor_names_for_every_engine_what_is_missing_and_the_next_step() {
    let folder = tempfile::tempdir().unwrap();
    let program = |arguments: &[&str], path: &Path| {
        Command::new(env!("CARGO_BIN_EXE_sotto-lab"))
            .args(arguments)
            .current_dir(folder.path())
            .env("SOTTO_CACHE", folder.path().join("cache"))
            .env("PATH", path)
            .output()
            .unwrap()
    };
    let empty = folder.path().join("empty");
    std::fs::create_dir(&empty).unwrap();
    let output = program(&["doctor", "--json"], &empty);
    assert_eq!(output.status.code(), Some(1));
    let lines = String::from_utf8(output.stdout).unwrap();
    let told: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(told.len(), sotto_harness::ENGINES.len());
    for one in &told {
        let ours = one["engine"] == "sotto";
        assert_eq!(one["state"], if ours { "ready" } else { "unavailable" }, "{one}");
        assert!(ours || (one["reason"].is_string() && one["advice"].is_string()), "{one}");
    }
    let reason = |engine: &str| told.iter().find(|one| one["engine"] == engine).unwrap()["reason"].clone();
    assert_eq!(reason("lattigo"), "Go is missing");
    assert_eq!(reason("openfhe"), "Python 3.10 is missing");
    assert_eq!(reason("fhe-rs"), "cargo is missing");
    // Programs of these names that only tell a version are enough: the doctor builds nothing.
    let go = folder.path().join("go");
    std::fs::create_dir(&go).unwrap();
    script(&go.join("go"), "echo go version go1.99.1 linux/amd64");
    script(&go.join("rustup"), "[ \"$1\" = --version ] && echo rustup 1.99.1");
    let told = String::from_utf8(program(&["doctor"], &go).stdout).unwrap();
    let line = told.lines().find(|line| line.contains("poulpy")).unwrap();
    assert!(
        line.contains("unavailable  Rust's toolchain nightly is missing; next: rustup toolchain"),
        "{line}"
    );
    let line = told.lines().find(|line| line.contains("lattigo")).unwrap();
    assert!(
        line.contains("installable") && line.contains("not run; found Go 1.99.1; next: sotto-lab install"),
        "{line}"
    );
    // An engine without its toolchain is a gap, not a failure.
    let run =
        ["run", "operations", "--quick", "--n", "4096", "--schemes", "ckks", "--engines", "poulpy", "--json"];
    let output = program(&run, &go);
    let gaps = String::from_utf8(output.stderr).unwrap();
    assert!(
        output.status.success() && gaps.contains("gap: poulpy: is not installed: Rust's toolchain nightly"),
        "{gaps}"
    );
    assert!(
        told.ends_with(&format!(
            "1 started and answered, 1 only checked (nothing was built or run), {} unavailable\n",
            lines.lines().count() - 2
        )),
        "{told}"
    );
}

#[cfg(unix)]
fn script(path: &Path, line: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::write(path, format!("#!/bin/sh\n{line}\n")).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}
