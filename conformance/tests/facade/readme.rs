//! The README's Rust block is the example `ten_lines`, line by line.

#[test]
fn the_readme_shows_the_example_that_runs() {
    // Outside of the checkout there is no README.
    let Ok(readme) = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../README.md")) else {
        return;
    };
    let block = readme.split("```rust\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let code = |line: &str| line.split("//").next().unwrap_or("").trim().replace("_public", "public");
    let example: Vec<String> =
        include_str!("../../../crates/sotto-he/examples/ten_lines.rs").lines().map(code).collect();
    for line in block.lines().map(code).filter(|line| !line.is_empty()) {
        assert!(example.contains(&line), "the example lacks `{line}`");
    }
}
