//! Published figures: tables in `lab/papers`, and the meaning of their columns.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::Scheme;

/// File name and text of each table.
const TABLES: &[(&str, &str)] = &[
    ("iot-device-2022.csv", include_str!("../../../papers/iot-device-2022.csv")),
    ("practical-processing-2022.csv", include_str!("../../../papers/practical-processing-2022.csv")),
    ("seal-2024.csv", include_str!("../../../papers/seal-2024.csv")),
    ("thesis-2018.csv", include_str!("../../../papers/thesis-2018.csv")),
];

/// A column of a published table, and the mapping of its rows to ours.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// The table's file in `lab/papers`.
    pub file: String,
    /// The column of microseconds.
    pub column: String,
    /// The measured library.
    pub library: String,
    /// The machine of the paper.
    pub machine: String,
    /// Maps the table's operations to ours: `operation`, or `operation/codec`.
    pub operations: BTreeMap<String, String>,
}

/// A published table that is shown unchanged.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paper {
    /// The table's file in `lab/papers`.
    pub file: String,
    /// The paper, and which of its tables.
    pub title: String,
    /// Where the paper measured.
    pub machine: String,
}

/// Times of sums and products of named numbers.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sizes {
    /// The table's file in `lab/papers`.
    pub file: String,
    /// Selects rows by the column `source`.
    pub source: String,
    /// The machine and library of the paper.
    pub machine: String,
}

impl Sizes {
    /// Returns the published microseconds from encryption to decryption of an operation, written as `3+4` or `3*4`.
    /// None if the table has none.
    pub fn published(&self, operation: &str) -> Option<f64> {
        let lines = csv_table(&self.file);
        let (heads, rows) = lines.split_first()?;
        let column = |name: &str| heads.iter().position(|head| head == name);
        let (source, named, total) = (column("source")?, column("operation")?, column("total_us")?);
        let row = rows.iter().find(|row| row[source] == self.source && row[named] == operation)?;
        row[total].parse().ok()
    }
}

/// Returns the lines of a published table, the heading first; empty if there is no table of this name.
pub fn csv_table(file: &str) -> Vec<Vec<String>> {
    let text = TABLES.iter().find(|(name, _)| *name == file).map_or("", |(_, text)| *text);
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
    let records = reader.records().map_while(Result::ok);
    records.map(|record| record.iter().map(str::to_owned).collect()).collect()
}

/// One published figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// The table, as the paper numbers it.
    pub source: String,
    /// The measured library.
    pub library: String,
    /// Where the paper measured.
    pub machine: String,
    /// The scheme of the operation.
    pub scheme: Scheme,
    /// n.
    pub degree: usize,
    /// The operation's name in the protocol.
    pub operation: String,
    /// Its codec, for `serialise` and `parse`.
    pub codec: Option<String>,
    /// The published time.
    pub microseconds: f64,
}

impl Published {
    /// Returns the figures of operations that we measure. Empty cells are skipped.
    pub fn figures(&self) -> Vec<Figure> {
        let Some((_, text)) = TABLES.iter().find(|(name, _)| *name == self.file) else { return Vec::new() };
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let Ok(header) = reader.headers().cloned() else { return Vec::new() };
        let rows = reader.records().map_while(Result::ok);
        rows.filter_map(|record| {
            let cell = |name: &str| {
                header.iter().position(|column| column == name).and_then(|at| record.get(at)).map(str::trim)
            };
            let ours = self.operations.get(cell("operation")?)?;
            let (operation, codec) = match ours.split_once('/') {
                Some((operation, codec)) => (operation, Some(codec.to_owned())),
                None => (ours.as_str(), None),
            };
            Some(Figure {
                source: cell("source")?.to_owned(),
                library: self.library.clone(),
                machine: self.machine.clone(),
                scheme: Scheme::named(&cell("scheme")?.to_lowercase())?,
                degree: cell("n")?.parse().ok()?,
                operation: operation.to_owned(),
                codec,
                microseconds: cell(&self.column)?.parse().ok()?,
            })
        })
        .collect()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use crate::definition::{Definition, Scheme};

    #[test]
    fn the_papers_tables_are_read_whole() {
        let of = |name: &str| {
            let definition = Definition::named(name).unwrap();
            definition.published.iter().flat_map(|table| table.figures()).collect::<Vec<_>>()
        };
        assert_eq!(of("seal-2024").len(), 96, "every row of the table");
        let device = of("iot-device-2022");
        assert_eq!(device.len(), 30, "fifteen rows, two libraries");
        let add = device.iter().find(|figure| {
            figure.library.contains("PALISADE") && figure.operation == "add" && figure.scheme == Scheme::Bgv
        });
        assert_eq!(add.unwrap().microseconds, 493.0);
        for name in crate::definition::names() {
            for paper in Definition::named(name).unwrap().papers {
                assert!(crate::definition::csv_table(&paper.file).len() > 1, "{name}: {}", paper.file);
            }
        }
    }
}
