//! The formats of tables in a program without the feature `tables`: known, and refused with its name.

use super::magic::{ARROW, Magic, PARQUET, SQLITE, XLSX};
use super::{Format, Opening, Rows};
use crate::source::SourceError;
use crate::source::files::input::{Input, refused};

/// A format that this program does not read.
pub(super) struct Absent(&'static Magic);

#[cfg_attr(feature = "tables", allow(dead_code))]
pub(super) static ALL: [Absent; 4] = [Absent(&PARQUET), Absent(&ARROW), Absent(&XLSX), Absent(&SQLITE)];

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::files::columns::Wanted;
    use crate::stop::Stop;

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
