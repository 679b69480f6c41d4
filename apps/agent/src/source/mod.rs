//! Sources of readings.

mod error;
pub mod files;
mod first;
mod generator;
mod pace;
mod row;
mod select;
mod sensors;
mod series;

use sotto_pack::{Channel, LeftOut};

pub use error::SourceError;
pub use files::{Encoding, FileOptions, FileSource, Format};
pub use first::first;
pub use generator::Generator;
pub(crate) use pace::now;
pub use row::Row;
pub use select::select;
pub use sensors::{NoSensors, Sensors};
pub use series::Series;

use crate::arguments::{SourceArguments, SourceKind};
use crate::stop::Stop;

/// The source name of the generator.
const GENERATOR: &str = "generator";

/// A source of rows.
pub trait Source {
    /// Returns the channels, each with its declared range.
    fn channels(&self) -> &[Channel];

    /// Returns the next row; blocks until there is one. Rows of files may come in any order of time.
    ///
    /// # Errors
    /// [`SourceError::Ended`] after the last row, [`SourceError::Stopped`] if a stop was requested meanwhile.
    fn next_row(&mut self) -> Result<Row, SourceError>;

    /// Returns and resets the counts of readings left out with their rows. A row without a usable time counts one
    /// reading per channel, as [`sotto_pack::Reason::NoTime`] or [`sotto_pack::Reason::NoSuchTime`].
    fn take_left_out(&mut self) -> LeftOut {
        LeftOut::default()
    }

    /// Returns true if rows arrive over time; false for a source that ends, such as a file.
    fn paced(&self) -> bool;
}

/// A source and its name.
pub struct Opened {
    /// The source.
    pub source: Box<dyn Source>,
    /// `sensors`, `csv` or `generator`.
    pub name: &'static str,
}

impl Opened {
    /// Returns true if the readings are synthetic.
    #[must_use]
    pub fn is_generated(&self) -> bool {
        self.name == GENERATOR
    }
}

/// Opens the source named by the arguments. `period` is in milliseconds.
///
/// # Errors
/// [`SourceError`] if a file or the sensors cannot be read.
pub fn open(arguments: &SourceArguments, period: u32, stop: &Stop) -> Result<Opened, SourceError> {
    let named = |source: Box<dyn Source>, name| Opened { source, name };
    match (arguments.source, &arguments.csv, &arguments.column) {
        (None | Some(SourceKind::Csv), Some(path), Some(column)) => {
            let declared = arguments.minimum.zip(arguments.maximum);
            let series = Series::open(path, column, arguments.rows, declared, period)?;
            Ok(named(Box::new(series), "csv"))
        }
        (Some(SourceKind::Sensors), Some(_), _) => Err(SourceError::Arguments("sensors")),
        (Some(SourceKind::Generate), Some(_), _) => Err(SourceError::Arguments("generate")),
        (Some(SourceKind::Generate), None, _) => {
            Ok(named(Box::new(Generator::new(arguments.seed, period)), GENERATOR))
        }
        _ => Ok(named(Box::new(Sensors::open(period, stop.clone())?), "sensors")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_does_not_go_with_another_source() {
        let arguments = SourceArguments {
            source: Some(SourceKind::Generate),
            csv: Some("f".into()),
            ..SourceArguments::default()
        };
        assert!(matches!(open(&arguments, 1, &Stop::new()), Err(SourceError::Arguments("generate"))));
    }
}
