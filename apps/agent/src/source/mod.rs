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
use pace::Pace;

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
    /// Why it is not the one that was asked for.
    pub fallback_reason: Option<String>,
}

/// Opens what the arguments ask for. A period is in milliseconds.
///
/// # Errors
/// [`SourceError`] when a file cannot be used. Sensors that cannot be read are replaced by the generator.
pub fn open(arguments: &SourceArguments, period: u32, stop: &Stop) -> Result<Opened, SourceError> {
    let named = |source: Box<dyn Source>, name| Opened { source, name, fallback_reason: None };
    match (arguments.source, &arguments.csv, &arguments.column) {
        (None | Some(SourceKind::Csv), Some(path), Some(column)) => {
            let declared = arguments.minimum.zip(arguments.maximum);
            let series = Series::open(path, column, arguments.rows, declared, period)?;
            Ok(named(Box::new(series), "csv"))
        }
        (Some(SourceKind::Sensors), Some(_), _) => Err(SourceError::Arguments("sensors")),
        (Some(SourceKind::Generate), Some(_), _) => Err(SourceError::Arguments("generate")),
        (Some(SourceKind::Generate), None, _) => {
            Ok(named(Box::new(Generator::new(arguments.seed, period)), "generator"))
        }
        _ => Ok(or_generator(Sensors::open(period, stop.clone()), arguments.seed, period, stop)),
    }
}

/// The sensors, or the generator in their place and at their pace.
fn or_generator(sensors: Result<Sensors, NoSensors>, seed: u64, period: u32, stop: &Stop) -> Opened {
    match sensors {
        Ok(sensors) => Opened { source: Box::new(sensors), name: "sensors", fallback_reason: None },
        Err(reason) => {
            tracing::warn!("the generator takes the place of this machine's sensors: {reason}");
            let source =
                Paced { source: Generator::new(seed, period), pace: Pace::new(period, stop.clone()) };
            let fallback_reason = Some(reason.to_string());
            Opened { source: Box::new(source), name: "generator", fallback_reason }
        }
    }
}

/// A source that does not wait, made to.
struct Paced<S> {
    source: S,
    pace: Pace,
}

impl<S: Source> Source for Paced<S> {
    fn channels(&self) -> &[Channel] {
        self.source.channels()
    }

    fn next_row(&mut self) -> Result<Row, SourceError> {
        let at = self.pace.tick().ok_or(SourceError::Stopped)?;
        Ok(Row { at, ..self.source.next_row()? })
    }

    fn take_left_out(&mut self) -> LeftOut {
        self.source.take_left_out()
    }

    fn paced(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_takes_the_place_of_sensors_and_says_so() {
        let stop = Stop::new();
        let mut opened = or_generator(Err(NoSensors::Nothing), 7, 5, &stop);
        assert_eq!(opened.name, "generator");
        assert!(opened.fallback_reason.is_some_and(|reason| reason.contains("no load")));
        let (first, second) = (opened.source.next_row().unwrap(), opened.source.next_row().unwrap());
        assert_eq!(first.values.len(), opened.source.channels().len());
        assert!(second.at >= first.at + 5 && now() >= second.at, "it keeps the pace of sensors");
        stop.ask();
        assert!(matches!(opened.source.next_row(), Err(SourceError::Stopped)));
    }

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
