//! Counts the files whose code names a scheme: a difference between schemes has one home (docs/concepts/a-new-scheme.md).

use crate::suites::sources::Source;

/// Most files that may name one.
const MOST: usize = 60;
const SCHEMES: [&str; 3] = ["Bfv", "Bgv", "Ckks"];

/// Returns a fault if more files than [`MOST`] name a scheme. Tests, benches and examples do not count.
pub(super) fn faults(code: &[&Source]) -> Vec<String> {
    let mut named: Vec<&str> =
        code.iter().filter(|source| names_scheme(source)).map(|source| source.path.as_str()).collect();
    named.sort_unstable();
    println!("{} files name a scheme", named.len());
    if named.len() <= MOST {
        return Vec::new();
    }
    vec![format!(
        "{} files name a scheme, {MOST} may: take with_scheme!, OfAnyScheme, S::EXACT or a trait on the slot's value\n  {}",
        named.len(),
        named.join("\n  ")
    )]
}

fn names_scheme(source: &Source) -> bool {
    let is_test = |part: &str| {
        let stem = part.strip_suffix(".rs").unwrap_or(part);
        ["tests", "benches", "examples", "conformance", "fuzz"].contains(&stem)
    };
    if !source.path.ends_with(".rs") || source.path.split('/').any(is_test) {
        return false;
    }
    let before_tests = source
        .text
        .lines()
        .take_while(|line| !line.starts_with("#[cfg(test") && !line.starts_with("#[cfg(all(test"));
    before_tests.filter(|line| !line.trim_start().starts_with("//")).any(|line| {
        line.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| SCHEMES.contains(&word))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str, text: &str) -> Source {
        Source { path: path.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn names_in_code_count() {
        assert!(names_scheme(&source("crates/a/src/b.rs", "use sotto_rlwe::{Bfv, Params};\n")));
        assert!(names_scheme(&source("crates/a/src/b.rs", "SchemeId::Ckks\n")));
        assert!(!names_scheme(&source(
            "crates/a/src/b.rs",
            "/// Like Bfv.\nstruct BfvLike; // Bgv_\n#[cfg(test)]\nuse Bgv;\n"
        )));
        assert!(!names_scheme(&source("crates/a/tests/it/b.rs", "Bfv")));
        assert!(!names_scheme(&source("crates/a/src/b/tests.rs", "Bfv")));
    }

    #[test]
    fn more_files_than_allowed_are_listed() {
        let many: Vec<Source> = (0..=MOST).map(|at| source(&format!("src/{at}.rs"), "Bgv")).collect();
        let many: Vec<&Source> = many.iter().collect();
        assert_eq!(faults(&many[..MOST]), Vec::<String>::new());
        assert!(faults(&many)[0].contains("src/60.rs"));
    }
}
