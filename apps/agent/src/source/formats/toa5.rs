//! TOA5: tables of Campbell Scientific's loggers. The first line describes the station; names, units and ways of
//! aggregation follow in a line each.

use super::{Format, Opening, Rows, csv};
use crate::source::SourceError;
use crate::source::files::input::Input;

const BEGIN: &[u8] = b"\"TOA5\"";
/// The line of the names.
const NAMES: u64 = 2;

/// A table of a logger.
pub(super) struct Toa5;

impl Format for Toa5 {
    fn name(&self) -> &'static str {
        "toa5"
    }

    fn sniff(&self, begin: &[u8]) -> Option<bool> {
        match begin.get(..BEGIN.len()) {
            Some(bytes) => Some(bytes == BEGIN),
            None => (!BEGIN.starts_with(begin)).then_some(false),
        }
    }

    fn open(&self, input: Input, opening: &Opening<'_>) -> Result<Option<Box<dyn Rows>>, SourceError> {
        // Values stand between commas, names in the second line, also where none is a channel's.
        let line = (opening.header && opening.skip_lines < NAMES).then_some(NAMES);
        let (delimiter, header_line) = (opening.delimiter.or(Some(b',')), opening.header_line.or(line));
        csv::Csv.open(input, &Opening { delimiter, header_line, ..*opening })
    }
}
