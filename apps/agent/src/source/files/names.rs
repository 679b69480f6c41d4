//! Names of columns: found exactly or without regard to case, and the nearest one.

use std::path::Path;

use crate::source::SourceError;

/// Returns the position of a column. Proposes the most similar name that is not among `taken`.
pub(in crate::source) fn position(
    names: &[String],
    wanted: &str,
    taken: &[&str],
    path: &Path,
) -> Result<usize, SourceError> {
    let (path, column) = (path.to_owned(), wanted.trim().to_owned());
    match find(names, wanted) {
        Found::One(position) => Ok(position),
        Found::Several(count) => Err(SourceError::AmbiguousColumn { path, column, count }),
        Found::None => {
            let is_taken =
                |name: &String| taken.iter().any(|taken| taken.trim().eq_ignore_ascii_case(name.trim()));
            let free: Vec<String> = names.iter().filter(|name| !is_taken(name)).cloned().collect();
            let (columns, nearest) = (names.to_vec(), nearest(&free, wanted));
            Err(SourceError::NoColumn { path, column, columns, nearest })
        }
    }
}

/// Positions of a name in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::source) enum Found {
    /// At one position.
    One(usize),
    /// Nowhere.
    None,
    /// At several positions.
    Several(usize),
}

/// Finds a name, trimmed: the exact match, else a match that ignores case.
pub(in crate::source) fn find(names: &[String], wanted: &str) -> Found {
    let wanted = wanted.trim();
    let lower = wanted.to_lowercase();
    match positions(names, |name| name == wanted) {
        Found::None => positions(names, |name| name.to_lowercase() == lower),
        found => found,
    }
}

fn positions(names: &[String], matches: impl Fn(&str) -> bool) -> Found {
    let mut found = names.iter().enumerate().filter(|(_, name)| matches(name)).map(|(position, _)| position);
    match (found.next(), found.count()) {
        (None, _) => Found::None,
        (Some(position), 0) => Found::One(position),
        (Some(_), more) => Found::Several(more + 1),
    }
}

/// Returns the most similar name: one that contains the wanted name or is contained in it, else the one with the
/// smallest edit distance if that is small.
pub(in crate::source) fn nearest(names: &[String], wanted: &str) -> Option<String> {
    let short = |text: &str| text.trim().to_lowercase().chars().take(64).collect::<String>();
    let wanted = short(wanted);
    let distance = |name: &&String| {
        let name = short(name);
        let holds = |one: &str, other: &str| other.len() > 2 && one.contains(other);
        if holds(&name, &wanted) || holds(&wanted, &name) { 0 } else { changes(&name, &wanted) }
    };
    let name = names.iter().take(1000).min_by_key(distance)?;
    (distance(&name) <= wanted.chars().count().div_ceil(3)).then(|| name.clone())
}

/// Counts the letters to insert, remove or replace (Levenshtein distance).
fn changes(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, letter) in one.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, against) in other.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != *against);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn names_match_exactly_or_by_case_alone() {
        let there = names(&["Time", "Water flow [l/s]", "x", "X", "y", "y"]);
        assert_eq!(find(&there, " Water flow [l/s] "), Found::One(1));
        assert_eq!(find(&there, "time"), Found::One(0));
        assert_eq!(find(&there, "X"), Found::One(3));
        assert_eq!(find(&there, "y"), Found::Several(2));
        assert_eq!(find(&there, "Y"), Found::Several(2));
        assert_eq!(find(&there, "flow"), Found::None);
    }

    #[test]
    fn the_nearest_name_is_suggested() {
        let there = names(&["time", "Water flow [l/s]", "temperature", "humidity"]);
        for (wanted, nearest_name) in [
            ("flow", Some("Water flow [l/s]")),
            ("temprature", Some("temperature")),
            ("Humidty", Some("humidity")),
            ("pressure", None),
            ("", None),
        ] {
            assert_eq!(nearest(&there, wanted).as_deref(), nearest_name, "{wanted}");
        }
        assert_eq!(nearest(&[], "x"), None);
        assert_eq!((changes("kitten", "sitting"), changes("", "abc"), changes("abc", "abc")), (3, 3, 0));
    }
}
