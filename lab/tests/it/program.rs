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
