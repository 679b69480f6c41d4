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

#[cfg(test)]
mod tests {
    use super::*;

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
}
