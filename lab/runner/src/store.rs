//! Keeps rows: a folder with a file of rows and a file of gaps for each definition, and the machine's description.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::comparison_row::ComparisonRow;
use crate::error::RunnerError;
use crate::machine::Host;
use crate::row::{Gap, Row};

const MACHINE: &str = "machine.json";
const ROWS: &str = "rows.jsonl";
const GAPS: &str = "gaps.jsonl";
/// Kept runs are compressed by gzip.
const COMPRESSED: &str = ".gz";
/// Bytes of rows that are read at most: 1 GiB.
const LONGEST: u64 = 1 << 30;

/// The extent of a run. A report uses the last run of the greatest extent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Extent {
    /// Some engines, sizes or schemes of a definition, or an interrupted run.
    Part,
    /// Everything, with fewer repetitions.
    Quick,
    /// Everything.
    Full,
}

impl Extent {
    /// Returns the suffix of file names.
    fn suffix(self) -> &'static str {
        match self {
            Self::Part => "-part",
            Self::Quick => "-quick",
            Self::Full => "",
        }
    }
}

/// Files to which rows and gaps are appended. Their names mark a partial run until the run is finished.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    definition: String,
    extent: Extent,
    rows: (PathBuf, File),
    gaps: (PathBuf, File),
}

impl Store {
    /// Creates new files for rows and gaps, and one that describes the machine.
    ///
    /// # Errors
    /// `File` if a file cannot be created.
    pub fn create(
        folder: &Path,
        definition: &str,
        extent: Extent,
        machine: &Host,
    ) -> Result<Self, RunnerError> {
        fs::create_dir_all(folder).map_err(RunnerError::file(folder))?;
        let name = new_name(folder, definition, Extent::Part);
        let create = |kind: &str| {
            let path = folder.join(format!("{name}.{kind}"));
            let file = File::create_new(&path).map_err(RunnerError::file(&path))?;
            Ok::<_, RunnerError>((path, file))
        };
        let store = Self {
            folder: folder.to_owned(),
            definition: definition.to_owned(),
            extent,
            rows: create(ROWS)?,
            gaps: create(GAPS)?,
        };
        // The first run's machine stands for the folder; a later run's load and pinning have their own file.
        let path = folder.join(MACHINE);
        let path = if path.exists() { folder.join(format!("{name}.{MACHINE}")) } else { path };
        let mut file = File::create_new(&path).map_err(RunnerError::file(&path))?;
        file.write_all(written(machine).as_bytes()).map_err(RunnerError::file(&path))?;
        Ok(store)
    }

    /// Renames the files to those of a whole run, if it was one.
    ///
    /// # Errors
    /// `File` if a file cannot be renamed.
    pub fn finish(self) -> Result<(), RunnerError> {
        if self.extent == Extent::Part {
            return Ok(());
        }
        let name = new_name(&self.folder, &self.definition, self.extent);
        let old = self.rows.0.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let old = old.trim_end_matches(ROWS).to_owned();
        for kind in [ROWS, GAPS, MACHINE] {
            let from = self.folder.join(format!("{old}{kind}"));
            if from.exists() {
                fs::rename(&from, self.folder.join(format!("{name}.{kind}")))
                    .map_err(RunnerError::file(&from))?;
            }
        }
        Ok(())
    }

    /// Appends a row.
    ///
    /// # Errors
    /// `File` if it cannot be written.
    pub fn row(&mut self, row: &Row) -> Result<(), RunnerError> {
        append(&mut self.rows, row)
    }

    /// Appends the row of a comparison.
    ///
    /// # Errors
    /// `File` if it cannot be written.
    pub fn comparison(&mut self, row: &ComparisonRow) -> Result<(), RunnerError> {
        append(&mut self.rows, row)
    }

    /// Appends a gap.
    ///
    /// # Errors
    /// `File` if it cannot be written.
    pub fn gap(&mut self, gap: &Gap) -> Result<(), RunnerError> {
        append(&mut self.gaps, gap)
    }
}

fn append(file: &mut (PathBuf, File), what: &impl Serialize) -> Result<(), RunnerError> {
    let line = written(what);
    writeln!(file.1, "{line}").map_err(RunnerError::file(&file.0))
}

/// Serialises a row or gap, which cannot fail: neither has maps with keys other than strings.
fn written(what: &impl Serialize) -> String {
    serde_json::to_string(what).unwrap_or_default()
}

/// Returns an unused name for rows: definition and extent, with a number if the name is taken. Nothing is ever
/// overwritten.
fn new_name(folder: &Path, definition: &str, extent: Extent) -> String {
    let name = format!("{definition}{}", extent.suffix());
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    let mut names = std::iter::once(name.clone()).chain(numbered);
    names.find(|name| !folder.join(format!("{name}.{ROWS}")).exists()).unwrap_or(name)
}

/// The contents of a folder of rows.
#[derive(Clone, Debug, Default)]
pub struct Collection {
    /// The rows, in the order of the files' names.
    pub rows: Vec<Row>,
    /// One row for each engine and method that compared.
    pub comparisons: Vec<ComparisonRow>,
    /// The measurements that are missing.
    pub gaps: Vec<Gap>,
    /// The machine, if the folder describes it.
    pub machine: Option<Host>,
}

impl Collection {
    /// Reads a folder, or a single file of rows.
    ///
    /// # Errors
    /// `File` if a file cannot be read, `Row` if a line is not a row.
    pub fn read(path: &Path) -> Result<Self, RunnerError> {
        if path.is_file() {
            let (rows, comparisons) = kept(path)?;
            return Ok(Self { rows, comparisons, ..Self::default() });
        }
        let entries = fs::read_dir(path).map_err(RunnerError::file(path))?;
        let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        files.sort();
        let names: Vec<String> = files
            .iter()
            .filter_map(|file| Some(unpacked(file.file_name()?.to_str()?).to_owned()))
            .filter(|name| name.ends_with(ROWS))
            .collect();
        let superseded = |file: &PathBuf| {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            is_superseded(unpacked(&name), &names)
        };
        files.retain(|file| !superseded(file));
        let mut collection = Self::default();
        for file in files {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            let name = unpacked(&name);
            if name.ends_with(ROWS) {
                let (rows, comparisons) = kept(&file)?;
                collection.rows.extend(rows);
                collection.comparisons.extend(comparisons);
            } else if name.ends_with(GAPS) {
                collection.gaps.extend(lines::<Gap>(&file, |_| true)?);
            } else if name == MACHINE {
                let text = fs::read_to_string(&file).map_err(RunnerError::file(&file))?;
                collection.machine = serde_json::from_str(&text).ok();
            }
        }
        Ok(collection)
    }
}

/// Returns true if another run replaces this one in a report, which shows only a definition's last run of the greatest
/// extent. File names tell definition, extent and number.
fn is_superseded(name: &str, all: &[String]) -> bool {
    let Some((definition, extent, number)) = run_of(name) else { return false };
    let mut others = all.iter().filter_map(|other| run_of(other)).filter(|other| other.0 == definition);
    others.any(|other| (other.1, other.2) > (extent, number))
}

/// Parses a file name to definition, extent and number.
fn run_of(name: &str) -> Option<(String, Extent, u32)> {
    let stem = name.strip_suffix(ROWS).or_else(|| name.strip_suffix(GAPS))?.strip_suffix('.')?;
    let named = |stem: &str| {
        [Extent::Part, Extent::Quick, Extent::Full].into_iter().find_map(|extent| {
            let definition = stem.strip_suffix(extent.suffix())?;
            crate::definition::names().contains(&definition).then(|| (definition.to_owned(), extent))
        })
    };
    if let Some((definition, extent)) = named(stem) {
        return Some((definition, extent, 1));
    }
    let (before, number) = stem.rsplit_once('-')?;
    let (definition, extent) = named(before)?;
    Some((definition, extent, number.parse().ok()?))
}

/// A file's name without the ending of a compressed one.
fn unpacked(name: &str) -> &str {
    name.strip_suffix(COMPRESSED).unwrap_or(name)
}

/// Reads a text, compressed by gzip if its name says so.
fn text(path: &Path) -> io::Result<String> {
    if !path.to_string_lossy().ends_with(COMPRESSED) {
        return fs::read_to_string(path);
    }
    let mut text = String::new();
    GzDecoder::new(File::open(path)?).take(LONGEST).read_to_string(&mut text)?;
    Ok(text)
}

/// Reads a file of rows. Only the rows of comparisons have a field `comparison`.
fn kept(path: &Path) -> Result<(Vec<Row>, Vec<ComparisonRow>), RunnerError> {
    let compares = |line: &str| line.contains("\"comparison\":");
    Ok((lines(path, |line| !compares(line))?, lines(path, compares)?))
}

/// Parses the lines of a kind.
fn lines<T: DeserializeOwned>(path: &Path, is_of: impl Fn(&str) -> bool) -> Result<Vec<T>, RunnerError> {
    let text = text(path).map_err(RunnerError::file(path))?;
    let wrong = |line: usize, error: &serde_json::Error| RunnerError::Row {
        path: path.to_owned(),
        line,
        reason: error.to_string(),
    };
    let full = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty() && is_of(line));
    full.map(|(number, line)| serde_json::from_str(line).map_err(|error| wrong(number, &error))).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn what_is_kept_is_read_and_never_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let machine = Host { processor: "test".into(), ..Host::default() };
        let mut store = Store::create(folder.path(), "operations", Extent::Quick, &machine).unwrap();
        let row = Row::example("seal", "add", 4096, 2.0);
        store.row(&row).unwrap();
        let gap = Gap {
            definition: "operations".into(),
            engine: "lattigo".into(),
            scheme: None,
            n: None,
            parameters: None,
            operation: None,
            reason: "is not installed".into(),
            log: Some("line 1\nline 2".into()),
        };
        store.gap(&gap).unwrap();
        store.finish().unwrap();
        assert_eq!(new_name(folder.path(), "operations", Extent::Quick), "operations-quick-2");
        let read = Collection::read(folder.path()).unwrap();
        assert_eq!((&read.rows, &read.gaps, read.machine), (&vec![row], &vec![gap], Some(machine)));
        for name in ["operations-quick.rows.jsonl", "operations-quick.gaps.jsonl"] {
            let plain = folder.path().join(name);
            let packed = File::create(folder.path().join(format!("{name}{COMPRESSED}"))).unwrap();
            let mut packed = flate2::write::GzEncoder::new(packed, flate2::Compression::default());
            packed.write_all(&fs::read(&plain).unwrap()).unwrap();
            packed.finish().unwrap();
            fs::remove_file(plain).unwrap();
        }
        let again = Collection::read(folder.path()).unwrap();
        assert_eq!((again.rows, again.gaps), (read.rows, read.gaps), "compressed");
    }

    #[test]
    fn what_is_a_part_or_was_not_finished_hides_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let begin = |extent: Extent, median: f64| {
            let mut store = Store::create(folder.path(), "operations", extent, &Host::default()).unwrap();
            store.row(&Row::example("seal", "add", 4096, median)).unwrap();
            store
        };
        let read =
            || Collection::read(folder.path()).unwrap().rows.iter().map(|row| row.median_us).sum::<f64>();
        begin(Extent::Part, 1.0).finish().unwrap();
        assert_eq!(read(), 1.0, "better than nothing");
        begin(Extent::Full, 2.0).finish().unwrap();
        drop(begin(Extent::Full, 3.0));
        begin(Extent::Part, 4.0).finish().unwrap();
        assert_eq!(read(), 2.0);
        assert_eq!(folder.path().read_dir().unwrap().count(), 4 * 3, "of each rows, gaps and the machine");
    }

    #[test]
    fn the_last_full_run_of_a_definition_stands_for_it() {
        let folder = tempfile::tempdir().unwrap();
        let keep = |name: &str, median: f64| {
            let line = serde_json::to_string(&Row::example("seal", "add", 4096, median)).unwrap();
            fs::write(folder.path().join(format!("{name}.{ROWS}")), line).unwrap();
            fs::write(folder.path().join(format!("{name}.{GAPS}")), "").unwrap();
            Collection::read(folder.path()).unwrap().rows.iter().map(|row| row.median_us).collect::<Vec<_>>()
        };
        assert_eq!(keep("operations-quick", 1.0), [1.0]);
        assert_eq!(keep("operations-quick-2", 2.0), [2.0]);
        assert_eq!(keep("operations", 3.0), [3.0]);
        assert_eq!(keep("operations-10", 4.0), [4.0]);
        assert_eq!(keep("operations-9", 5.0), [4.0], "numbers, not letters");
        assert_eq!(keep("seal-2024", 6.0), [4.0, 6.0], "2024 is part of its name");
        assert_eq!(keep("seal-2024-quick-3", 7.0), [4.0, 6.0]);
    }

    #[test]
    fn a_line_that_is_no_row_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.rows.jsonl");
        fs::write(&path, "\n{\"engine\":1}\n").unwrap();
        let error = Collection::read(&path).unwrap_err().to_string();
        assert!(error.contains("x.rows.jsonl, line 2"), "{error}");
        assert!(Collection::read(&folder.path().join("none")).is_err());
    }
}
