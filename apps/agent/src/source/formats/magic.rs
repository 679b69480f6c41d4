//! Formats of tables in binary files: their names and their first bytes.
//!
//! Without the feature `tables` such files are known by these bytes, and refused with the name of the feature.

/// A format, its name, and the bytes with which its files begin.
pub(super) struct Magic {
    pub(super) name: &'static str,
    begins: &'static [&'static [u8]],
}

/// The second beginning is that of encrypted files.
pub(super) const PARQUET: Magic = Magic { name: "parquet", begins: &[b"PAR1", b"PARE"] };
/// Files, streams, and files of the first version of Feather.
pub(super) const ARROW: Magic = Magic { name: "arrow", begins: &[b"ARROW1", &[0xff; 4], b"FEA1"] };
/// Archives, and workbooks of before 2007, which `open` refuses in words.
pub(super) const XLSX: Magic = Magic { name: "xlsx", begins: &[b"PK\x03\x04", &[0xd0, 0xcf, 0x11, 0xe0]] };
pub(super) const SQLITE: Magic = Magic { name: "sqlite", begins: &[b"SQLite format 3\0"] };

impl Magic {
    /// Returns true if a file that begins with these bytes has the format; `None` if more bytes decide.
    pub(super) fn fits(&self, begin: &[u8]) -> Option<bool> {
        if self.begins.iter().any(|magic| begin.starts_with(magic)) {
            return Some(true);
        }
        (!self.begins.iter().any(|magic| magic.starts_with(begin))).then_some(false)
    }
}

/// The formats, in a program without the feature.
#[cfg(any(test, not(feature = "tables")))]
pub(super) mod absent {
    use super::{ARROW, Magic, PARQUET, SQLITE, XLSX};
    use crate::source::SourceError;
    use crate::source::files::input::{Input, refused};
    use crate::source::formats::{Format, Opening, Rows};

    /// A format that this program does not read.
    pub(in crate::source::formats) struct Absent(&'static Magic);

    #[cfg_attr(feature = "tables", allow(dead_code))]
    pub(in crate::source::formats) static ALL: [Absent; 4] =
        [Absent(&PARQUET), Absent(&ARROW), Absent(&XLSX), Absent(&SQLITE)];

    impl Format for Absent {
        fn name(&self) -> &'static str {
            self.0.name
        }

        fn sniff(&self, begin: &[u8]) -> Option<bool> {
            self.0.fits(begin)
        }

        fn open(&self, input: Input, _: &Opening<'_>) -> Result<Option<Box<dyn Rows>>, SourceError> {
            let reason = format!(
                "it is a table in a binary file ({}), and this program was built without the feature tables: build \
                 sotto-agent with --features tables, or write the table as CSV",
                self.0.name
            );
            Err(refused(&input.path, reason))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::absent::ALL;
    use super::*;
    use crate::source::files::columns::Wanted;
    use crate::source::files::input::Input;
    use crate::source::formats::{Format, Opening};
    use crate::stop::Stop;

    #[test]
    fn first_bytes_tell_the_format() {
        for (bytes, fits) in [
            (&b"PAR1"[..], Some(true)),
            (b"PAR", None),
            (b"", None),
            (b"PAR2", Some(false)),
            (b"time,x\n", Some(false)),
        ] {
            assert_eq!(PARQUET.fits(bytes), fits, "{bytes:?}");
        }
        assert_eq!((ARROW.fits(b"ARROW1\0\0"), ARROW.fits(&[0xff; 5])), (Some(true), Some(true)));
        assert_eq!((XLSX.fits(b"PK\x03\x04\0"), SQLITE.fits(b"SQLite format 3\0")), (Some(true), Some(true)));
    }

    #[test]
    fn a_program_without_the_feature_names_it() {
        let folder = tempfile::tempdir().unwrap();
        let wanted = Wanted::default();
        for format in &ALL {
            let path = folder.path().join(format.name());
            std::fs::write(&path, b"any").unwrap();
            let input = Input::open(&path, false, false, &Stop::new()).unwrap();
            let opening = Opening {
                wanted: &wanted,
                delimiter: None,
                header: true,
                header_line: None,
                skip_lines: 0,
                table: None,
                before: None,
            };
            let why = format.open(input, &opening).err().unwrap().to_string();
            assert!(why.contains("--features tables") && why.contains(format.name()), "{why}");
        }
    }
}
