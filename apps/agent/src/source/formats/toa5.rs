//! TOA5: tables of Campbell Scientific's loggers. The first line describes the station; names, units and ways of
//! aggregation follow in a line each.

use super::{Format, Opening, Rows, csv};
use crate::source::SourceError;
use crate::source::files::input::Input;

/// A table of a logger.
pub(super) struct Toa5;

impl Format for Toa5 {
    fn name(&self) -> &'static str {
        "toa5"
    }

    fn sniff(&self, begin: &[u8]) -> Option<bool> {
        match begin.get(..csv::STATION.len()) {
            Some(bytes) => Some(bytes == csv::STATION),
            None => (!csv::STATION.starts_with(begin)).then_some(false),
        }
    }

    fn open(&self, input: Input, opening: &Opening<'_>) -> Result<Option<Box<dyn Rows>>, SourceError> {
        // Values stand between commas, and the search for the names passes the first line.
        csv::Csv.open(input, &Opening { delimiter: opening.delimiter.or(Some(b',')), ..*opening })
    }
}
