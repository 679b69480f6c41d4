//! Where readings come from.

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

/// The name of the generator.
const GENERATOR: &str = "generator";

/// Where rows come from.
pub trait Source {
    /// The channels, with the range declared for each.
    fn channels(&self) -> &[Channel];

    /// The next row; waits for it if it has to. Rows of files may come in any order of times.
    ///
    /// # Errors
    /// [`SourceError::Ended`] after the last row, [`SourceError::Stopped`] when a stop was asked for meanwhile.
    fn next_row(&mut self) -> Result<Row, SourceError>;

    /// Takes the counts of readings left out with their rows since the last call: rows without a usable time count one reading for
    /// each channel, as [`sotto_pack::Reason::NoTime`] or [`sotto_pack::Reason::NoSuchTime`].
    fn take_left_out(&mut self) -> LeftOut {
        LeftOut::default()
    }

    /// True if rows come as time passes; false for a source that ends, such as a file.
    fn paced(&self) -> bool;
}

/// A source, and what people are told of it.
pub struct Opened {
    /// The source.
    pub source: Box<dyn Source>,
    /// `sensors`, `csv` or `generator`.
    pub name: &'static str,
}

impl Opened {
    /// True if the readings are made up.
    #[must_use]
    pub fn is_generated(&self) -> bool {
        self.name == GENERATOR
    }
}

/// Opens what the arguments ask for. A period is in milliseconds.
///
/// # Errors
/// [`SourceError`] when a file or the sensors cannot be read.
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
