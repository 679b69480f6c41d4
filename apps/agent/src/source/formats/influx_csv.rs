//! InfluxDB's annotated CSV: lines that begin with `#` describe the columns of the tables behind them.

use super::{Format, Opening, Rows, csv};
use crate::source::SourceError;
use crate::source::files::input::Input;

/// The annotations, of which a file may begin with any.
const BEGINS: [&[u8]; 3] = [b"#group,", b"#datatype,", b"#default,"];

/// Tables with annotations.
pub(super) struct InfluxCsv;

impl Format for InfluxCsv {
    fn name(&self) -> &'static str {
        "influx-csv"
    }

    fn sniff(&self, begin: &[u8]) -> Option<bool> {
        if BEGINS.iter().any(|annotation| begin.starts_with(annotation)) {
            return Some(true);
        }
        (!BEGINS.iter().any(|annotation| annotation.starts_with(begin))).then_some(false)
    }

    fn open(&self, input: Input, opening: &Opening<'_>) -> Result<Option<Box<dyn Rows>>, SourceError> {
        // The annotations are comments; each table names its columns again.
        csv::Csv.open(input, &Opening { delimiter: Some(b','), ..*opening })
    }
}
