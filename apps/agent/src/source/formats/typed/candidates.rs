//! Which of several tables in a file is read.

use std::path::{Path, PathBuf};

use crate::source::SourceError;
use crate::source::files::input::refused;
use crate::source::files::names::{Found, find};

/// Maximum number of names that an error lists.
const LISTED: usize = 20;

/// The tables of a file that may be meant.
pub(in crate::source::formats) struct Candidates<T> {
    /// The word for a table: `table` or `sheet`.
    kind: &'static str,
    path: PathBuf,
    names: Vec<String>,
    found: Vec<(String, T)>,
    /// The number of names of the table that is most likely meant, and the error that names those that it lacks.
    likely: Option<(usize, SourceError)>,
}

impl<T> Candidates<T> {
    /// Begins with all tables, or the named one.
    ///
    /// # Errors
    /// [`SourceError`] if there is no table, or none of the name.
    pub(in crate::source::formats) fn new(
        kind: &'static str,
        path: &Path,
        all: &[String],
        named: Option<&str>,
    ) -> Result<Self, SourceError> {
        let names = match named.map(|name| (name, find(all, name))) {
            None if all.is_empty() => return Err(refused(path, format!("it has no {kind}"))),
            None => all.to_vec(),
            Some((_, Found::One(position))) => vec![all[position].clone()],
            Some((name, _)) => {
                return Err(refused(path, format!("it has no {kind} {name:?}; it has {}", listed(all))));
            }
        };
        Ok(Self { kind, path: path.to_owned(), names, found: Vec::new(), likely: None })
    }

    /// Returns the names of the tables to look at.
    pub(in crate::source::formats) fn names(&self) -> Vec<String> {
        self.names.clone()
    }

    /// Adds a table with the wanted columns.
    pub(in crate::source::formats) fn found(&mut self, name: &str, table: T) {
        self.found.push((name.to_owned(), table));
    }

    /// Adds a table without them. `names` is the number of its names.
    pub(in crate::source::formats) fn lacks(&mut self, names: usize, error: SourceError) {
        if self.likely.as_ref().is_none_or(|(most, _)| names > *most) {
            self.likely = Some((names, error));
        }
    }

    /// Returns the only table with the wanted columns.
    ///
    /// # Errors
    /// [`SourceError`] asks for `--table`, or names what the most likely table lacks.
    pub(in crate::source::formats) fn chosen(mut self) -> Result<(String, T), SourceError> {
        match (self.found.len(), self.likely) {
            (1, _) => Ok(self.found.remove(0)),
            (0, Some((_, error))) => Err(error),
            (0, None) => Err(refused(&self.path, format!("no {} of it has a row", self.kind))),
            _ => {
                let names: Vec<String> = self.found.into_iter().map(|(name, _)| name).collect();
                let reason = format!(
                    "the {}s {} have the columns: name one of them with --table NAME",
                    self.kind,
                    listed(&names)
                );
                Err(refused(&self.path, reason))
            }
        }
    }
}

fn listed(names: &[String]) -> String {
    let shown: Vec<String> = names
        .iter()
        .take(LISTED)
        .map(|name| format!("{:?}", name.chars().take(64).collect::<String>()))
        .collect();
    let more = names.len().saturating_sub(LISTED);
    if more > 0 { format!("{} and {more} more", shown.join(", ")) } else { shown.join(", ") }
}
