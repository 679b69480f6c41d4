//! Checks licence expressions of dependencies against the list of accepted licences.

/// Permissive licences, by SPDX identifier.
const ACCEPTED: [&str; 14] = [
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-1-Clause",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Zlib",
];

/// Returns true if an SPDX expression leaves a choice of accepted licences. AND binds tighter than OR; the old form
/// `MIT/Apache-2.0` means OR. An unreadable expression is not accepted.
pub(crate) fn accepted(expression: &str) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = words.as_slice();
    either(&mut rest) == Some(true) && rest.is_empty()
}

/// Parses `both (OR both)*`.
fn either(rest: &mut &[&str]) -> Option<bool> {
    let mut value = both(rest)?;
    while take(rest, "OR") {
        value |= both(rest)?;
    }
    Some(value)
}

/// Parses `one (AND one)*`.
fn both(rest: &mut &[&str]) -> Option<bool> {
    let mut value = one(rest)?;
    while take(rest, "AND") {
        value &= one(rest)?;
    }
    Some(value)
}

/// Parses `( either )` or `licence [WITH exception]`.
fn one(rest: &mut &[&str]) -> Option<bool> {
    if take(rest, "(") {
        let value = either(rest)?;
        return take(rest, ")").then_some(value);
    }
    let (licence, after) = rest.split_first()?;
    *rest = after;
    if !take(rest, "WITH") {
        return Some(ACCEPTED.contains(licence));
    }
    let (exception, after) = rest.split_first()?;
    *rest = after;
    Some(ACCEPTED.contains(&format!("{licence} WITH {exception}").as_str()))
}

fn take(rest: &mut &[&str], word: &str) -> bool {
    let found = rest.first() == Some(&word);
    if found {
        *rest = &rest[1..];
    }
    found
}

#[cfg(test)]
mod tests {
    use super::accepted;

    #[test]
    fn expressions() {
        for yes in [
            "MIT",
            "MIT/Apache-2.0",
            "MIT OR GPL-3.0-only",
            "(MIT OR Apache-2.0) AND Unicode-3.0",
            "MIT OR Apache-2.0 AND GPL-3.0-only",
            "CC0-1.0 OR Apache-2.0 OR Apache-2.0 WITH LLVM-exception",
        ] {
            assert!(accepted(yes), "{yes}");
        }
        for no in [
            "",
            "GPL-3.0-only",
            "MPL-2.0",
            "MIT AND GPL-3.0-only",
            "(MIT OR Apache-2.0) AND GPL-3.0-only",
            "GPL-2.0-only WITH Classpath-exception-2.0",
            "(MIT",
            "MIT Apache-2.0",
        ] {
            assert!(!accepted(no), "{no}");
        }
    }
}
