//! Checks the house rules that a machine can check. CONTRIBUTING.md gives the reasons.

mod circles;
mod schemes;
mod words;

use super::sources::{self, Source};
use crate::suite::{Context, Outcome};
use anyhow::Result;
use std::path::Path;

const MEDIAN: usize = 180;
const NEARLY_ALL: usize = 500;
const LONGEST: usize = 700;
/// Names that say nothing about the content.
const EMPTY_NAMES: [&str; 6] = ["utils", "util", "helpers", "helper", "common", "manager"];
/// Folders of a single machine, which no document should name.
const MACHINE_PATHS: [&str; 5] = ["/work/", "/tmp/", "/home/", "/root/", "/Users/"];

pub(crate) fn run(context: &Context) -> Result<Outcome> {
    let sources = sources::all(&context.root)?;
    let (documents, code): (Vec<_>, Vec<_>) =
        sources.iter().partition(|source| source.has_extension(&["md"]));
    let mut faults = lengths(&code);
    faults.extend(circles::faults(&sources)?);
    faults.extend(schemes::faults(&code));
    faults.extend(words::riddles(&code));
    faults.extend(words::without_example(&code));
    faults.extend(code.iter().flat_map(|source| names(source)));
    faults.extend(documents.iter().flat_map(|source| machine_paths(source)));
    faults.extend(documents.iter().flat_map(|source| dead_links(&context.root, source)));
    Ok(Outcome::from_faults(faults))
}

fn lengths(code: &[&Source]) -> Vec<String> {
    let is_table = |path: &str| path.contains("vectors") || path.contains("tables");
    let mut lines: Vec<(usize, &str)> =
        code.iter().map(|source| (source.text.lines().count(), source.path.as_str())).collect();
    lines.sort_unstable();
    let at = |percent: usize| {
        lines.get((lines.len().saturating_sub(1) * percent).div_ceil(100)).map_or(0, |l| l.0)
    };
    println!(
        "{} files of code, lines: median {}, 95th percentile {}, longest {}",
        lines.len(),
        at(50),
        at(95),
        at(100)
    );
    let mut faults = Vec::new();
    for (percent, limit) in [(50, MEDIAN), (95, NEARLY_ALL)] {
        if at(percent) > limit {
            faults.push(format!(
                "{percent} % of the files should have at most {limit} lines; the one there has {}",
                at(percent)
            ));
        }
    }
    let long = lines.iter().filter(|(count, path)| *count > LONGEST && !is_table(path));
    faults.extend(long.map(|(count, path)| format!("{path} has {count} lines; {LONGEST} is the most")));
    faults
}

/// Returns files, folders, modules and functions named against the rules.
fn names(source: &Source) -> Vec<String> {
    let is_empty = |name: &str| EMPTY_NAMES.contains(&name);
    let mut faults = Vec::new();
    if source.path.split('/').any(|part| is_empty(part.split('.').next().unwrap_or(part))) {
        faults.push(format!("{}: the name says nothing about the content", source.path));
    }
    // Who implements a trait of another crate does not name its functions.
    let mut is_of_trait = false;
    for (number, line) in (1..).zip(source.text.lines()) {
        if line.starts_with("impl") || line.starts_with('}') {
            is_of_trait = line.starts_with("impl") && line.contains(" for ");
        }
        match declared(line) {
            Some(("mod", name)) if is_empty(name) => {
                faults.push(format!(
                    "{}:{number}: the module's name says nothing about the content",
                    source.path
                ));
            }
            Some(("fn" | "def", name)) if name.starts_with("get_") && !is_of_trait => {
                faults.push(format!(
                    "{}:{number}: name the function after its result, without get_",
                    source.path
                ));
            }
            _ => {}
        }
    }
    faults
}

/// Returns the keyword and the name, if the line declares a module or a function.
fn declared(line: &str) -> Option<(&str, &str)> {
    let qualifies = |word: &&str| {
        word.starts_with("pub") || ["async", "const", "unsafe", "extern", "\"C\""].contains(word)
    };
    let mut words = line.split_whitespace().skip_while(qualifies);
    let keyword = words.next().filter(|word| ["mod", "fn", "def"].contains(word))?;
    let name = words.next()?.split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
    Some((keyword, name))
}

fn machine_paths(source: &Source) -> Vec<String> {
    let mut faults = Vec::new();
    for (number, line) in (1..).zip(source.text.lines()) {
        let starts_path =
            |at: usize| !line[..at].ends_with(|c: char| c.is_alphanumeric() || "._-~$}".contains(c));
        for path in MACHINE_PATHS {
            if line.match_indices(path).any(|(at, _)| starts_path(at)) {
                faults.push(format!("{}:{number}: names the folder {path} of one machine", source.path));
            }
        }
    }
    faults
}

/// Returns links to files that the checkout lacks.
fn dead_links(root: &Path, source: &Source) -> Vec<String> {
    let folder = root.join(&source.path);
    let folder = folder.parent().unwrap_or(root);
    let mut faults = Vec::new();
    for (number, line) in (1..).zip(source.text.lines()) {
        for target in line.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let file = target.split('#').next().unwrap_or_default();
            let is_address = target.contains(':') || target.contains(char::is_whitespace);
            if !is_address && !file.is_empty() && !folder.join(file).exists() {
                faults.push(format!("{}:{number}: links to {file}, which is not there", source.path));
            }
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str, text: &str) -> Source {
        Source { path: path.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn empty_names_and_getters_are_found() {
        assert_eq!(names(&source("a/utils.rs", "")).len(), 1);
        assert_eq!(names(&source("a/common/mod.rs", "")).len(), 1);
        assert_eq!(
            names(&source("a.rs", "pub(crate) const fn get_it(x: u8) {}\npub mod helpers;\n")).len(),
            2
        );
        assert_eq!(names(&source("a.py", "def get_it(x):\n")).len(), 1);
        assert_eq!(
            names(&source(
                "commonly.rs",
                "// fn get_it() was here\nfn target_get() {}\nlet s = \"fn get_it\";\n"
            )),
            Vec::<String>::new()
        );
    }

    #[test]
    fn machine_paths_are_found_where_a_path_starts() {
        assert_eq!(machine_paths(&source("a.md", "see `/home/somebody/sotto`\n")).len(), 1);
        assert!(machine_paths(&source("a.md", "the folder paper/home/notes\n")).is_empty());
    }

    #[test]
    fn dead_links_are_found() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        assert!(
            dead_links(root, &source("a.md", "[x](Cargo.toml#y) [z](#here) [w](https://example.org)\n"))
                .is_empty()
        );
        assert_eq!(dead_links(root, &source("a.md", "[x](missing.md)\n")).len(), 1);
    }

    #[test]
    fn long_files_are_found() {
        let long = source("long.rs", &"\n".repeat(LONGEST + 1));
        let table = source("vectors.rs", &"\n".repeat(LONGEST + 1));
        assert_eq!(lengths(&[&long]).len(), 3);
        assert_eq!(lengths(&[&table]).len(), 2, "only the limit for one file is lifted");
    }
}
