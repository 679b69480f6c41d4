//! Maps the channels of a source to those of a bundle.

use sotto_pack::Channel;
use zeroize::Zeroizing;

use super::files::column_options::column_of;
use super::files::columns::check_channels;
use super::files::names::{self, Found};
use super::{Around, Row, Source, SourceError};

/// A source whose rows have the requested channels, in their order.
struct Selected {
    source: Box<dyn Source>,
    channels: Vec<Channel>,
    /// The position of each channel in the inner source.
    positions: Vec<usize>,
}

/// Returns a source with the given channels. `columns` pairs a channel's name with a name in the inner source; a
/// channel without a pair takes the name of its own. A name matches exactly, or ignoring case if only one name matches.
///
/// # Errors
/// [`SourceError::UnknownChannels`] lists the available names.
pub fn select(
    source: Box<dyn Source>,
    channels: &[Channel],
    columns: &[(String, String)],
) -> Result<Box<dyn Source>, SourceError> {
    check_channels(channels, columns)?;
    let there: Vec<String> = source.channels().iter().map(|channel| channel.name.clone()).collect();
    let (mut positions, mut unknown) = (Vec::new(), Vec::new());
    for channel in channels {
        let name = column_of(channel, columns);
        match names::find(&there, name) {
            Found::One(position) => positions.push(position),
            Found::None | Found::Several(_) => unknown.push(name.to_owned()),
        }
    }
    if !unknown.is_empty() {
        return Err(SourceError::UnknownChannels { names: unknown, there });
    }
    Ok(Box::new(Selected { source, channels: channels.to_vec(), positions }))
}

impl Around for Selected {
    fn inner(&self) -> &dyn Source {
        &*self.source
    }

    fn inner_mut(&mut self) -> &mut dyn Source {
        &mut *self.source
    }

    fn channels(&self) -> &[Channel] {
        &self.channels
    }

    fn next_row(&mut self) -> Result<Row, SourceError> {
        let row = self.source.next_row()?;
        let value = |position: &usize| row.values.get(*position).copied().flatten();
        let reason = |position: &usize| row.missing.get(*position).copied().flatten();
        Ok(Row {
            at: row.at,
            values: Zeroizing::new(self.positions.iter().map(value).collect()),
            missing: self.positions.iter().map(reason).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Generator;
    use sotto_pack::Period;

    fn channel(name: &str) -> Channel {
        Channel { name: name.to_owned(), minimum: 0.0, maximum: 1.0, ..Channel::default() }
    }

    #[test]
    fn channels_are_mapped_by_name() {
        let columns = [("air".to_owned(), "temperature".to_owned())];
        let wanted = [channel("Vibration"), channel("air")];
        let mut all = Generator::new(3, Period::from_milliseconds(1000));
        let mut some =
            select(Box::new(Generator::new(3, Period::from_milliseconds(1000))), &wanted, &columns).unwrap();
        assert_eq!(some.channels(), wanted);
        assert!(!some.paced());
        for _ in 0..10 {
            let (all, some) = (all.next_row().unwrap(), some.next_row().unwrap());
            assert_eq!((some.at, &some.values[..]), (all.at, &[all.values[2], all.values[0]][..]));
            assert_eq!(some.missing, [None, None]);
        }
    }

    #[test]
    fn unknown_names_list_the_names_there_are() {
        let refused = |channels: &[Channel], columns: &[(String, String)]| {
            select(Box::new(Generator::new(3, Period::from_milliseconds(1000))), channels, columns)
                .err()
                .unwrap()
                .to_string()
        };
        let why = refused(&[channel("pressure"), channel("humidity")], &[]);
        assert!(why.contains("pressure") && why.contains("temperature"), "{why}");
        let why = refused(&[channel("humidity")], &[("hum".to_owned(), "humidity".to_owned())]);
        assert!(why.contains("\"hum\"") && why.contains("\"humidity\""), "{why}");
    }
}
