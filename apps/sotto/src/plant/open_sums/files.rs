//! Files of sums, as engines write them.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::Field;
use serde_json::{Map, Value};
use sotto_owner::{SumCell, SummedRow};

/// Largest size of a file, in bytes: a row has some kilobytes, and there is one for each group.
const LARGEST: u64 = 1 << 30;
/// Largest number of rows in all files.
const MOST_ROWS: usize = 1 << 20;
/// The first bytes of a Parquet file.
const PARQUET: &[u8] = b"PAR1";

/// Reads the rows of some files, and of the files in some folders.
pub(super) fn rows(paths: &[PathBuf]) -> anyhow::Result<Vec<SummedRow>> {
    let mut rows = Vec::new();
    for path in paths {
        if path.is_dir() {
            for file in files_in(path)? {
                add(&file, &mut rows)?;
            }
        } else {
            add(path, &mut rows)?;
        }
    }
    ensure!(!rows.is_empty(), "there is no row of sums in these files");
    Ok(rows)
}

/// Returns the tables in a folder, by name; other files, as Spark's `_SUCCESS`, are left aside.
fn files_in(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let unread = || format!("{} cannot be read", folder.display());
    let entries = std::fs::read_dir(folder).with_context(unread)?.collect::<Result<Vec<_>, _>>();
    let paths = entries.with_context(unread)?.into_iter().map(|entry| entry.path());
    let is_table = |path: &PathBuf| {
        path.extension().is_some_and(|end| end == "csv" || end == "json" || end == "parquet")
    };
    let mut files: Vec<PathBuf> = paths.filter(is_table).collect();
    files.sort();
    Ok(files)
}

fn add(path: &Path, rows: &mut Vec<SummedRow>) -> anyhow::Result<()> {
    let unread = || format!("{} cannot be read", path.display());
    let mut file = File::open(path).with_context(unread)?;
    let size = file.metadata().with_context(unread)?.len();
    ensure!(size <= LARGEST, "{} has more than {LARGEST} bytes: it is no file of sums", path.display());
    let mut begin = Vec::new();
    file.by_ref().take(PARQUET.len() as u64).read_to_end(&mut begin).with_context(unread)?;
    let mut put = |at: usize, cells: Vec<(&str, SumCell)>| {
        ensure!(
            rows.len() < MOST_ROWS,
            "there are more than {MOST_ROWS} rows of sums: group by longer times"
        );
        rows.push(SummedRow::read(cells).with_context(|| format!("{}, row {at}", path.display()))?);
        Ok(())
    };
    // The first bytes are read already: a pipe gives them once.
    let whole = std::io::Cursor::new(&begin).chain(&file);
    match &begin[..] {
        PARQUET => parquet_rows(path, &file, &mut put),
        [b'[' | b'{', ..] => json_rows(path, whole, &mut put),
        _ => csv_rows(path, whole, &mut put),
    }
}

type Put<'p> = &'p mut dyn FnMut(usize, Vec<(&str, SumCell)>) -> anyhow::Result<()>;

fn csv_rows(path: &Path, file: impl Read, put: Put<'_>) -> anyhow::Result<()> {
    let unread = || format!("{} is no CSV file", path.display());
    let mut reader = csv::Reader::from_reader(file.take(LARGEST));
    let names = reader.headers().with_context(unread)?.clone();
    for (row, at) in reader.records().zip(1..) {
        let row = row.with_context(unread)?;
        put(at, names.iter().zip(row.iter().map(|text| SumCell::Text(text.to_owned()))).collect())?;
    }
    Ok(())
}

/// Reads an array of objects, or an object a line.
fn json_rows(path: &Path, file: impl Read, put: Put<'_>) -> anyhow::Result<()> {
    let unread = || format!("{} is no JSON array of rows, and no row a line", path.display());
    let mut text = String::new();
    file.take(LARGEST).read_to_string(&mut text).with_context(unread)?;
    let mut rows: Vec<Map<String, Value>> = Vec::new();
    if text.starts_with('[') {
        rows = serde_json::from_str(&text).with_context(unread)?;
    } else {
        for row in serde_json::Deserializer::from_str(&text).into_iter() {
            rows.push(row.with_context(unread)?);
        }
    }
    for (row, at) in rows.iter().zip(1..) {
        put(at, row.iter().map(|(name, value)| (name.as_str(), json_cell(value))).collect())?;
    }
    Ok(())
}

fn json_cell(value: &Value) -> SumCell {
    match value {
        Value::Null => SumCell::Absent,
        Value::String(text) => SumCell::Text(text.clone()),
        Value::Number(number) => {
            number.as_i64().map_or_else(|| SumCell::Other(number.to_string()), SumCell::Whole)
        }
        other => SumCell::Other(other.to_string()),
    }
}

fn parquet_rows(path: &Path, file: &File, put: Put<'_>) -> anyhow::Result<()> {
    let unread = || {
        format!("{} cannot be read: write it without compression or with snappy, or as CSV", path.display())
    };
    let reader = SerializedFileReader::new(file.try_clone()?).with_context(unread)?;
    for (row, at) in reader.get_row_iter(None).with_context(unread)?.zip(1..) {
        let row = row.with_context(unread)?;
        put(at, row.get_column_iter().map(|(name, field)| (name.as_str(), cell(field))).collect())?;
    }
    Ok(())
}

fn cell(field: &Field) -> SumCell {
    match field {
        Field::Null => SumCell::Absent,
        Field::Str(text) => SumCell::Text(text.clone()),
        Field::Byte(number) => SumCell::Whole((*number).into()),
        Field::Short(number) => SumCell::Whole((*number).into()),
        Field::Int(number) => SumCell::Whole((*number).into()),
        Field::Long(number) => SumCell::Whole(*number),
        Field::UByte(number) => SumCell::Whole((*number).into()),
        Field::UShort(number) => SumCell::Whole((*number).into()),
        Field::UInt(number) => SumCell::Whole((*number).into()),
        Field::ULong(number) => {
            i64::try_from(*number).map_or_else(|_| SumCell::Other(number.to_string()), SumCell::Whole)
        }
        Field::TimestampMillis(time) => SumCell::Whole(*time),
        Field::TimestampMicros(time) => SumCell::Whole(time.div_euclid(1000)),
        Field::Bytes(bytes) => match std::str::from_utf8(bytes.data()) {
            Ok(text) => SumCell::Text(text.to_owned()),
            Err(_) => SumCell::Bytes(bytes.data().to_vec()),
        },
        other => SumCell::Other(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_no_table_of_sums_is_refused_with_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sums.csv");
        std::fs::write(&path, "device,month\nkitchen,1\n").unwrap();
        let error = format!("{:#}", rows(std::slice::from_ref(&path)).unwrap_err());
        assert!(error.contains("sums.csv, row 1") && error.contains("group by device"), "{error}");
        std::fs::write(&path, "device\n").unwrap();
        assert!(rows(&[path]).unwrap_err().to_string().contains("no row of sums"));
        assert!(rows(&[folder.path().join("none.csv")]).unwrap_err().to_string().contains("cannot be read"));
        // A Parquet file that breaks off.
        let path = folder.path().join("sums.parquet");
        std::fs::write(&path, b"PAR1PAR1").unwrap();
        assert!(rows(&[path]).unwrap_err().to_string().contains("as CSV"));
    }
}
