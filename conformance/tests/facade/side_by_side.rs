//! docs/guides/side-by-side.md shows the programs that are run, and counts their lines.

use std::fs;
use std::path::Path;

const PROGRAMS: [&str; 5] = [
    "crates/sotto-he/examples/side_by_side.rs",
    "docs/guides/side-by-side/seal/side_by_side.py",
    "docs/guides/side-by-side/lattigo/program.go",
    "docs/guides/side-by-side/tfhe-rs/src/program.rs",
    "docs/guides/side-by-side/swift/Sources/SideBySide/Program.swift",
];

fn read(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    fs::read_to_string(root.join(path)).expect("a file of the checkout")
}

/// The lines between the marks.
fn program(text: &str) -> &str {
    let (_, after) = text.split_once("[program\n").expect("the first mark");
    let (inside, _) = after.rsplit_once("program]").expect("the last mark");
    inside.trim_end_matches(|last| last != '\n').trim()
}

fn counts(line: &&str) -> bool {
    let line = line.trim();
    !(line.is_empty() || ["//", "#", "\"\"\""].iter().any(|comment| line.starts_with(comment)))
}

#[test]
fn the_page_shows_every_program_and_counts_its_lines() {
    let page = read("docs/guides/side-by-side.md");
    let row = page.lines().find(|line| line.starts_with("| lines of the program |")).unwrap();
    // The program of sotto has two columns.
    let mut columns = row.split('|').skip(3).map(str::trim);
    for path in PROGRAMS {
        let text = read(path);
        let program = program(&text);
        assert!(page.contains(&format!("\n{program}\n```\n")), "the page does not show {path} as it is");
        let lines = program.lines().filter(counts).count().to_string();
        assert_eq!(columns.next(), Some(lines.as_str()), "{path}");
    }
}
