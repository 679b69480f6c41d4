//! What is refused, and in which words.

use std::io::{Cursor, Write as _};
use std::path::PathBuf;

use rusqlite::Connection;
use sotto_agent::source::{Encoding, FormatName};
use tempfile::TempDir;
use zip::write::SimpleFileOptions;

use super::{none, read, same_as_csv, table, *};

#[track_caller]
fn refused(path: &Path, names: &[&str], change: impl FnOnce(&mut FileOptions), words: &[&str]) {
    let error =
        read(path, names, change).err().unwrap_or_else(|| panic!("{} is read", path.display())).to_string();
    assert!(words.iter().all(|word| error.contains(word)), "{error}");
}

/// Writes a file with these bytes.
fn written(folder: &TempDir, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn options_of_text_and_of_growing_files_do_not_fit() {
    let files = ["none.parquet", "zstd.feather", "deltas.arrows", "openpyxl.xlsx", "rows.sqlite"];
    for file in files {
        let path = data(file);
        refused(&path, &["temp"], |options| options.follow = true, &[file, "--follow"]);
        // With an encoding, the first bytes of a stream are letters.
        if file != "deltas.arrows" {
            refused(
                &path,
                &["temp"],
                |options| options.encoding = Some(Encoding::LATIN1),
                &[file, "--encoding"],
            );
        }
    }
    for file in ["none.parquet", "zstd.feather", "rows.sqlite"] {
        refused(&data(file), &["temp"], |options| options.skip_lines = 1, &[file, "--skip-lines"]);
        refused(&data(file), &["temp"], |options| options.header = false, &[file, "--no-header"]);
    }
    for file in ["none.parquet", "zstd.feather", "rows.csv"] {
        refused(&data(file), &["temp"], table("x"), &[file, "one table", "leave out --table"]);
    }
}

#[test]
fn compressed_files_are_read_if_their_format_allows() {
    let folder = tempfile::tempdir().unwrap();
    for file in ["none.parquet", "zstd.feather", "openpyxl.xlsx", "rows.sqlite"] {
        let packed = written(&folder, file, &gzip(&std::fs::read(data(file)).unwrap()));
        refused(&packed, &["temp"], none, &["compressed (gzip)", "decompress it first"]);
    }
    let bytes = std::fs::read(data("deltas.arrows")).unwrap();
    let zstandard = ruzstd::encoding::compress_to_vec(&*bytes, ruzstd::encoding::CompressionLevel::Fastest);
    for (packed, name) in [(gzip(&bytes), "gzip"), (zstandard, "Zstandard")] {
        let read = read(&written(&folder, "packed", &packed), &["temp"], none).unwrap();
        assert_eq!((read.facts.compression, read.rows.len()), (Some(name), 38));
    }
}

#[test]
fn tables_are_asked_for() {
    refused(
        &data("sheets.xlsx"),
        &["temp"],
        none,
        &["sheets \"First\", \"Second\" have the columns", "--table NAME"],
    );
    refused(
        &data("sheets.xlsx"),
        &["temp"],
        table("Fourth"),
        &["no sheet \"Fourth\"", "\"First\", \"Second\", \"Third\""],
    );
    refused(&data("sheets.xlsx"), &["pressure"], none, &["no column \"pressure\"", "\"temp\""]);
    refused(&data("sheets.xlsx"), &["temp"], table("Third"), &["no column \"temp\"", "\"note\""]);
    let time = |options: &mut FileOptions| options.columns = vec![("temp".into(), "power".into())];
    refused(&data("rows.sqlite"), &["temp"], time, &["tables \"readings\", \"reals\"", "--table"]);
    refused(
        &data("rows.sqlite"),
        &["temp"],
        table("nothing"),
        &["no table \"nothing\"", "\"joined\", \"meta\""],
    );
    refused(&data("rows.sqlite"), &["pressure"], none, &["no column \"pressure\""]);
}

#[test]
fn forms_that_are_not_read_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let note = |options: &mut FileOptions| options.conditions = vec![("note".into(), "x".into())];
    refused(&data("brotli.parquet"), &["temp"], none, &["BROTLI", "Zstandard"]);
    refused(&data("encodings.parquet"), &["temp"], note, &["DELTA_BYTE_ARRAY", "PLAIN"]);
    refused(
        &data("nested.parquet"),
        &["x"],
        |options| options.columns.push(("x".into(), "list.list.element".into())),
        &["holds lists"],
    );
    let encrypted = [b"PARE", &[0; 40][..], b"PARE"].concat();
    refused(&written(&folder, "a", &encrypted), &["temp"], none, &["encrypted"]);
    refused(&written(&folder, "b", b"FEA1 and more bytes"), &["temp"], none, &["version 1", "version 2"]);
    let before_2007 = [&[0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1][..], &[0; 600]].concat();
    refused(&written(&folder, "c", &before_2007), &["temp"], none, &["before 2007", "save it as .xlsx"]);
    let archive = zipped(&[("readings.csv", b"time,temp\n2026-01-01,1\n")]);
    refused(&written(&folder, "d", &archive), &["temp"], none, &["zip archive but no workbook", "unpack it"]);
}

/// Writes an archive.
fn zipped(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in parts {
        archive.start_file(*name, SimpleFileOptions::default()).unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

/// Returns a workbook with this sheet and these texts.
fn workbook(sheet: &[u8], texts: &[u8]) -> Vec<u8> {
    const MAIN: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    const PACKAGE: &str = "http://schemas.openxmlformats.org/package/2006";
    let types = format!("<Types xmlns=\"{PACKAGE}/content-types\"/>");
    let relations = |kind: &str, target: &str| {
        format!(
            "<Relationships xmlns=\"{PACKAGE}/relationships\"><Relationship Id=\"r1\" Type=\"{OFFICE}/{kind}\" \
             Target=\"{target}\"/></Relationships>"
        )
    };
    let book = format!(
        "<workbook xmlns=\"{MAIN}\" xmlns:r=\"{OFFICE}\"><sheets><sheet name=\"S\" sheetId=\"1\" r:id=\"r1\"/></sheets>\
         </workbook>"
    );
    zipped(&[
        ("[Content_Types].xml", types.as_bytes()),
        ("_rels/.rels", relations("officeDocument", "xl/workbook.xml").as_bytes()),
        ("xl/workbook.xml", book.as_bytes()),
        ("xl/_rels/workbook.xml.rels", relations("worksheet", "worksheets/sheet1.xml").as_bytes()),
        ("xl/worksheets/sheet1.xml", sheet),
        ("xl/sharedStrings.xml", texts),
    ])
}

const SHEET: &[u8] = b"<worksheet><sheetData><row r=\"1\"><c r=\"A1\" t=\"inlineStr\"><is><t>time</t></is></c>\
    <c r=\"B1\" t=\"inlineStr\"><is><t>temp</t></is></c></row>\
    <row r=\"1048576\"><c r=\"A1048576\" t=\"d\"><v>2026-03-01T06:00:00</v></c><c r=\"B1048576\"><v>21.5</v></c>\
    <c r=\"XFD1048576\"><v>1</v></c></row></sheetData></worksheet>";

#[test]
fn archives_that_grow_too_large_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let texts = b"<sst count=\"0\" uniqueCount=\"0\"></sst>";
    let fine = read(&written(&folder, "fine", &workbook(SHEET, texts)), &["temp"], none).unwrap();
    assert_eq!(
        fine.rows,
        [("2026-03-01T05:00:00Z".to_owned(), vec![Some(Ok(21.5))])],
        "far cells take no memory"
    );
    let large = [b"<sst>".to_vec(), b"<si><t>a</t></si>".repeat(8 << 20), b"</sst>".to_vec()].concat();
    let packed = workbook(SHEET, &large);
    assert!(packed.len() < 1 << 20, "a bomb is small: {}", packed.len());
    let refuse =
        |bytes: &[u8], words: &[&str]| refused(&written(&folder, "bomb", bytes), &["temp"], none, words);
    refuse(&packed, &["sharedstrings.xml", "128 MiB"]);
    refuse(&workbook(SHEET, b"<sst uniqueCount=\"1000000000000\"></sst>"), &["1000000000000 texts"]);
    let long = [b"<worksheet><a>".to_vec(), b"x".repeat(2 << 20), b"</a></worksheet>".to_vec()].concat();
    refuse(&workbook(&long, texts), &["sheet1.xml", "1 MiB"]);
    refuse(&workbook(b"<!DOCTYPE a [<!ENTITY b 'c'>]><worksheet/>", texts), &["declares"]);
}

/// Makes a database.
fn database(folder: &TempDir, name: &str, statements: &str) -> PathBuf {
    let path = folder.path().join(name);
    Connection::open(&path).unwrap().execute_batch(statements).unwrap();
    path
}

#[test]
fn cells_of_databases_have_bounds_and_reasons() {
    let folder = tempfile::tempdir().unwrap();
    let path = database(
        &folder,
        "cells",
        "CREATE TABLE t (time TEXT, x ANY); INSERT INTO t VALUES ('2026-03-01 06:00', 1.5), ('2026-03-01 06:01', x'00'),
         ('2026-03-01 06:02', 'off'), ('2026-03-01 06:03', '7.5'), ('2026-03-01 06:04', NULL), (x'00', 1), (NULL, 2);
         ALTER TABLE t ADD COLUMN y INTEGER DEFAULT 5; ALTER TABLE t ADD COLUMN z AS (y + 1)",
    );
    let read = read(&path, &["x", "y", "z"], none).unwrap();
    let x: Vec<_> = read.rows.iter().map(|(_, values)| values[0].unwrap()).collect();
    let (text, empty) = (Err(Reason::Text), Err(Reason::Empty));
    assert_eq!(x, [Ok(1.5), text, text, Ok(7.5), empty]);
    assert!(read.rows.iter().all(|(_, values)| values[1..] == [Some(Ok(5.0)), Some(Ok(6.0))]));
    assert_eq!(read.left_out.count(Reason::NoTime), 6, "two rows of three channels");
    let long = database(
        &folder,
        "long",
        "CREATE TABLE t (time TEXT, x REAL, note TEXT); INSERT INTO t VALUES ('2026-03-01 06:00', 1, zeroblob(3000000))",
    );
    assert_eq!(super::read(&long, &["x"], none).unwrap().rows.len(), 1, "the note is not read");
    refused(&long, &["x"], |options| options.conditions = vec![("note".into(), "a".into())], &["1 MiB"]);
    let whole = database(
        &folder,
        "whole",
        "CREATE TABLE t (time TEXT, x INTEGER); INSERT INTO t VALUES ('2026-03-01 06:00', 1), ('2026-03-01 07:00', 9007199254740993)",
    );
    let wide = |minimum, maximum| {
        let mut channels = channels(&["x"]);
        (channels[0].minimum, channels[0].maximum, channels[0].resolution) = (minimum, maximum, Some(1.0));
        let options = FileOptions { paths: vec![whole.clone()], ..FileOptions::default() };
        FileSource::open(options, &channels, Stop::new()).and_then(|mut source| rows(&mut source))
    };
    let error = wide(9.007e15, 9.008e15).unwrap_err().to_string();
    assert!(error.contains("row 2: 9007199254740993 is too large") && error.contains("coarser"), "{error}");
    assert_eq!(wide(0.0, 1000.0).unwrap().len(), 2, "out of range, and counted as such");
}

#[test]
fn unmerged_changes_of_a_database_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("open.db");
    let writer = Connection::open(&path).unwrap();
    writer.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE t (time TEXT, x REAL); INSERT INTO t VALUES ('2026-03-01', 1)").unwrap();
    refused(&path, &["x"], none, &["open.db-wal", "VACUUM INTO 'copy.db'"]);
    let copy = folder.path().join("copy.db");
    writer.execute("VACUUM INTO ?1", [copy.to_str().unwrap()]).unwrap();
    assert_eq!(read(&copy, &["x"], none).unwrap().rows.len(), 1);
    drop(writer);
    let journal = folder.path().join("copy.db-journal");
    std::fs::write(&journal, [0; 512]).unwrap();
    assert!(read(&copy, &["x"], none).is_ok(), "a journal without changes");
    std::fs::write(&journal, [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7, 0]).unwrap();
    refused(&copy, &["x"], none, &["copy.db-journal"]);
}

#[test]
fn a_format_may_be_named() {
    for (file, name) in [("none.parquet", "parquet"), ("zstd.feather", "arrow"), ("openpyxl.xlsx", "xlsx")] {
        same_as_csv(file, &["temp"], |options| options.format = Some(name.parse::<FormatName>().unwrap()));
        let other = if name == "xlsx" { "parquet" } else { "xlsx" };
        let error = read(&data(file), &["temp"], |options| options.format = Some(other.parse().unwrap()));
        assert!(error.is_err(), "{file} as {other}");
        refused(
            &data(file),
            &["temp"],
            |options| options.format = Some(FormatName::CSV),
            &["no csv", name, "--file"],
        );
    }
}
