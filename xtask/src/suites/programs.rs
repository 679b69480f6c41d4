//! Compiles the Rust programs of README and of the guide as copied: each is the `main.rs` of a package of its own, outside of
//! the workspace, with `sotto-he` alone. Then runs them.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};

use super::compile::{passes, side_target};
use crate::cargo;
use crate::process::Scratch;
use crate::suite::{Context, Outcome};

/// Pages whose blocks are programs.
const PAGES: [&str; 3] = ["README.md", "docs/guides/rust.md", "crates/sotto-he/README.md"];

pub(crate) fn run(context: &Context) -> Result<Outcome> {
    let scratch = Scratch::new()?;
    let mut names = Vec::new();
    let mut manifest = manifest(&context.root);
    for page in PAGES {
        let text = fs::read_to_string(context.root.join(page)).with_context(|| page.to_owned())?;
        let blocks = blocks(&text);
        ensure!(!blocks.is_empty(), "{page} has no program in Rust");
        for (line, block) in blocks {
            let name = name(page, line);
            fs::write(scratch.path().join(format!("{name}.rs")), block)?;
            writeln!(manifest, "\n[[bin]]\nname = \"{name}\"\npath = \"{name}.rs\"")?;
            names.push(name);
        }
    }
    fs::write(scratch.path().join("Cargo.toml"), manifest)?;
    // The workspace's versions: no registry is asked.
    fs::copy(context.root.join("Cargo.lock"), scratch.path().join("Cargo.lock"))?;
    let target = side_target(context, "programs")?;
    let mut build = cargo::cargo();
    build.args(["build", "--quiet", "--release", "--offline", "--manifest-path"]);
    build.arg(scratch.path().join("Cargo.toml")).env("CARGO_TARGET_DIR", &target);
    // A program that people copy compiles without a warning.
    build.env("RUSTFLAGS", "-Dwarnings");
    if let failed @ Outcome::Failed(_) = passes(context, build)? {
        return Ok(failed);
    }
    let mut faults = Vec::new();
    for name in names {
        println!("{name}:");
        let program = cargo::command(target.join("release").join(&name));
        if let Outcome::Failed(found) = passes(context, program)? {
            faults.extend(found);
        }
    }
    Ok(Outcome::from_faults(faults))
}

/// The manifest of a package of its own, with one dependency. Little is computed: level 1 compiles in half the time.
fn manifest(root: &Path) -> String {
    let path = root.join("crates/sotto-he");
    format!(
        "[package]\nname = \"programs\"\nversion = \"0.0.0\"\nedition = \"2024\"\npublish = false\n\n[workspace]\n\n\
         [profile.release]\nopt-level = 1\n\n[dependencies]\nsotto-he = {{ path = {:?} }}\n",
        path.display().to_string()
    )
}

/// Returns the name of the program at a line of a page: `readme-44`.
fn name(page: &str, line: usize) -> String {
    let stem = page.trim_end_matches(".md").replace('/', "-").to_lowercase();
    format!("{stem}-{line}")
}

/// Returns the line and text of each block that a page marks as Rust.
fn blocks(page: &str) -> Vec<(usize, String)> {
    let mut blocks: Vec<(usize, String)> = Vec::new();
    let mut inside = false;
    for (number, line) in page.lines().enumerate() {
        match line {
            "```rust" => {
                inside = true;
                blocks.push((number + 2, String::new()));
            }
            "```" => inside = false,
            _ => {
                if let Some((_, text)) = blocks.last_mut().filter(|_| inside) {
                    text.push_str(line);
                    text.push('\n');
                }
            }
        }
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::{blocks, name};

    #[test]
    fn blocks_of_rust_are_found_with_their_line() {
        let page = "# Title\n\n```rust\nfn main() {\n}\n```\n\n```sh\nls\n```\n```rust\nuse a;\n```\n";
        let found = blocks(page);
        assert_eq!(found, [(4, "fn main() {\n}\n".to_owned()), (12, "use a;\n".to_owned())]);
        assert_eq!(name("docs/guides/rust.md", 4), "docs-guides-rust-4");
    }
}
