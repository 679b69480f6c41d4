//! What stays of windows whose readings are not kept any more: the last reading of each channel, and which ticks had one.

use zeroize::Zeroizing;

use super::code::{Damaged, Reader, Writer};
use super::window::{KeptHeld, KeptReading, read_held, read_runs, write_held, write_runs};
use crate::spool::Runs;

/// What stays of forgotten windows. Lists are by channel, in the order of the stream.
#[derive(Clone, Debug, PartialEq)]
pub struct Forgotten {
    /// The time before which nothing is known of readings, on the clock's ticks: the spool was lost.
    pub blind: i64,
    /// The last reading of each channel that holds.
    pub last: KeptHeld,
    /// For each channel with filled ticks, the ticks that had readings, on the clock's ticks. A repeated reading is told by
    /// them from a late one.
    pub reported: Vec<Runs>,
}

impl Forgotten {
    /// Makes it for this number of channels.
    pub(super) fn of(channels: usize) -> Self {
        let (last, reported) = (Zeroizing::new(vec![None; channels]), vec![Runs::default(); channels]);
        Self { blind: i64::MIN, last, reported }
    }

    /// Adds the readings of a channel.
    pub(super) fn add(&mut self, channel: usize, readings: &[KeptReading], tick: impl Fn(i64) -> (i64, i64)) {
        let (Some(last), Some(reported)) = (self.last.get_mut(channel), self.reported.get_mut(channel))
        else {
            return;
        };
        *last = (*last).max(readings.last().copied());
        for reading in readings {
            let (from, to) = tick(reading.at);
            reported.insert(from, to);
        }
    }

    pub(super) fn write(&self) -> Zeroizing<Vec<u8>> {
        let mut writer = Writer::default();
        writer.signed(self.blind);
        writer.length(self.last.len());
        for (channel, last) in self.last.iter().enumerate() {
            write_held(&mut writer, *last);
            write_runs(&mut writer, self.reported.get(channel));
        }
        writer.into_bytes()
    }

    pub(super) fn read(bytes: &[u8]) -> Result<Self, Damaged> {
        let (mut reader, mut all) = (Reader(bytes), Self::of(0));
        all.blind = reader.signed()?;
        for _ in 0..reader.length()? {
            all.last.push(read_held(&mut reader)?);
            all.reported.push(read_runs(&mut reader)?);
        }
        reader.finish()?;
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_reading_and_the_ticks_stay() {
        let mut all = Forgotten { blind: -7, ..Forgotten::of(2) };
        let tick = |at: i64| (at / 10 * 10, at / 10 * 10 + 10);
        let reading = |at, number| KeptReading { at, number };
        all.add(1, &[reading(5, 1), reading(18, 2), reading(31, 3)], tick);
        all.add(1, &[reading(7, 9)], tick);
        assert_eq!(all.last[..], [None, Some(reading(31, 3))]);
        assert_eq!(all.reported[1].iter().collect::<Vec<_>>(), [(0, 20), (30, 40)]);
        assert_eq!(Forgotten::read(&all.write()), Ok(all));
    }
}
