//! Values with a delimiter between them: the header, and rows as they arrive.

mod head;
mod split;
mod table;

use super::{Format, Opening, Rows};
use crate::source::SourceError;
use crate::source::files::input::Input;
use table::Table;

pub(super) use head::Header;

pub(super) const NAME: &str = "csv";
/// The beginning of a TOA5 table, whose first line describes the station.
pub(super) const STATION: &[u8] = b"\"TOA5\"";

/// Values with a delimiter between them.
pub(super) struct Csv;

impl Format for Csv {
    fn name(&self) -> &'static str {
        NAME
    }

    fn sniff(&self, _: &[u8]) -> Option<bool> {
        // Any text is a column at least.
        Some(true)
    }

    fn open(&self, input: Input, opening: &Opening<'_>) -> Result<Option<Box<dyn Rows>>, SourceError> {
        Ok(Table::open(input, opening)?.map(|table| Box::new(table) as Box<dyn Rows>))
    }
}
