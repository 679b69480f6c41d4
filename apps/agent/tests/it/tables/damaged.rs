//! Files that are cut off, or have other bytes in places: they end in words, never in a panic, and never with fewer rows.

use super::*;

const FILES: [&str; 16] = [
    "pandas.parquet",
    "gzip.parquet",
    "lz4.parquet",
    "zstd.parquet",
    "pages-2.parquet",
    "encodings.parquet",
    "kinds.parquet",
    "duckdb.parquet",
    "pandas.feather",
    "zstd.feather",
    "kinds.feather",
    "polars.arrow",
    "deltas.arrows",
    "openpyxl.xlsx",
    "heads.xlsx",
    "rows.sqlite",
];

/// Reads a file to its end or its first error.
fn attempt(path: &Path) -> Result<Vec<Row>, SourceError> {
    let options =
        FileOptions { paths: vec![path.to_owned()], time: vec!["time".into()], ..FileOptions::default() };
    // Three columns and a text, so that most of a file is read.
    let options = FileOptions { conditions: vec![("sensor".into(), "a".into())], ..options };
    let mut source = FileSource::open(options, &channels(&["temp", "hum", "power"]), Stop::new())?;
    let mut all = Vec::new();
    loop {
        match source.next_row() {
            Ok(row) if all.len() < 1000 => {
                all.push((row.at.to_string(), row.values.iter().map(|value| value.map(Ok)).collect()));
            }
            Ok(_) => return Ok(all),
            Err(SourceError::Ended) => return Ok(all),
            Err(error) => return Err(error),
        }
    }
}

#[test]
fn a_part_of_a_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("part");
    for file in FILES {
        let bytes = std::fs::read(data(file)).unwrap();
        let whole = attempt(&data(file)).unwrap();
        assert!(whole.len() >= 15, "{file}");
        let ends = (1..40).map(|step| bytes.len() * step / 40).chain(bytes.len() - 20..bytes.len());
        for end in ends {
            std::fs::write(&path, &bytes[..end]).unwrap();
            match attempt(&path) {
                Err(error) => {
                    assert!(
                        error.to_string().contains("cannot be read") || end < 20,
                        "{file} {end}: {error}"
                    );
                }
                // The last page of a database, or the end of a stream, may hold no row.
                Ok(rows) => assert_eq!(rows, whole, "{file} up to {end}"),
            }
        }
    }
}

#[test]
fn other_bytes_cause_no_panic() {
    let folder = tempfile::tempdir().unwrap();
    let mut state = 7_u64;
    let mut random = move |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let rounds: usize = std::env::var("SOTTO_MUTANTS").map_or(150, |rounds| rounds.parse().unwrap());
    for file in FILES {
        let bytes = std::fs::read(data(file)).unwrap();
        let path = folder.path().join(file);
        for round in 0..rounds {
            let mut other = bytes.clone();
            for _ in 0..=random(3) {
                // Half of the changes are where directories and heads are.
                let near = if round % 2 == 0 { bytes.len() } else { 600.min(bytes.len()) };
                let at = if round % 4 == 3 { random(near) } else { bytes.len() - 1 - random(near) };
                other[at] = match random(4) {
                    0 => 0xff,
                    1 => 0,
                    2 => other[at] ^ 1 << random(8),
                    _ => random(256) as u8,
                };
            }
            std::fs::write(&path, &other).unwrap();
            drop(attempt(&path));
        }
    }
}
