//! A kept window: its readings, and what held at its beginning.

use std::fmt;

use sotto_pack::{LeftOut, Reason};
use zeroize::{DefaultIsZeroes, Zeroizing};

use super::code::{Damaged, Reader, Writer};
use super::seal::Parts;
use crate::spool::Runs;

/// A reading as it is kept: its time on the clock's ticks in milliseconds since 1970, and its number in fixed point.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeptReading {
    /// The time.
    pub at: i64,
    /// The number.
    pub number: i64,
}

impl DefaultIsZeroes for KeptReading {}

/// Shows no reading.
impl fmt::Debug for KeptReading {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("KeptReading")
    }
}

/// The readings of a channel, in order of time and number. Wiped when dropped.
pub type KeptReadings = Zeroizing<Vec<KeptReading>>;

/// Facts about a kept window that stay in memory. Times are on the clock's ticks, in milliseconds since 1970.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeptHead {
    /// The start.
    pub start: i64,
    /// The end of the time that it covers.
    pub until: i64,
    /// The milliseconds from the clock's ticks to those of the stream.
    pub phase: i64,
    /// The numbers under which it was sent, ascending: of all windows in whose place it comes, and its own.
    pub numbers: Vec<u64>,
    /// When it was sent, by this machine's clock.
    pub sent_at: i64,
    /// True if readings of it are in no message yet.
    pub is_unsent: bool,
    /// The last reading of each channel before the window that may hold in it.
    pub held: KeptHeld,
    /// The last reading of each channel at its end.
    pub last: KeptHeld,
}

/// A window with its kept readings. Lists are by channel, in the order of the stream.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KeptWindow {
    /// Its times and numbers.
    pub head: KeptHead,
    /// Its readings; ticks that are filled have none.
    pub readings: Vec<KeptReadings>,
    /// Its ticks with a reading or a filled one, on the clock's ticks.
    pub presence: Vec<Runs>,
    /// The counts of readings left out.
    pub left_out: Vec<LeftOut>,
}

/// The last reading of each channel before a time.
pub type KeptHeld = Zeroizing<Vec<Option<KeptReading>>>;

impl KeptHead {
    pub(super) fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        let mut writer = Writer::default();
        self.write(&mut writer);
        writer.into_bytes()
    }

    pub(super) fn of_bytes(bytes: &[u8]) -> Result<Self, Damaged> {
        let mut reader = Reader(bytes);
        let head = Self::read(&mut reader)?;
        reader.finish()?;
        Ok(head)
    }

    fn write(&self, writer: &mut Writer) {
        let Self { start, until, phase, numbers, sent_at, is_unsent, held, last } = self;
        [*start, *until, *phase, *sent_at].into_iter().for_each(|time| writer.signed(time));
        writer.byte(u8::from(*is_unsent));
        writer.length(numbers.len());
        let mut before = 0;
        for number in numbers {
            writer.unsigned(number - before);
            before = *number;
        }
        writer.length(held.len());
        for channel in 0..held.len() {
            write_held(writer, held[channel]);
            write_held(writer, last.get(channel).copied().flatten());
        }
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, Damaged> {
        let (start, until, phase) = (reader.signed()?, reader.signed()?, reader.signed()?);
        let sent_at = reader.signed()?;
        let is_unsent = reader.byte()? != 0;
        let (count, mut before, mut numbers) = (reader.length()?, 0_u64, Vec::new());
        for _ in 0..count {
            before = before.checked_add(reader.unsigned()?).ok_or(Damaged)?;
            numbers.push(before);
        }
        let (mut held, mut last) = (KeptHeld::default(), KeptHeld::default());
        for _ in 0..reader.length()? {
            held.push(read_held(reader)?);
            last.push(read_held(reader)?);
        }
        Ok(Self { start, until, phase, numbers, sent_at, is_unsent, held, last })
    }
}

impl KeptWindow {
    pub(super) fn write(&self) -> Parts {
        let Self { head, readings, presence, left_out } = self;
        let facts = head.to_bytes();
        let mut writer = Writer::default();
        writer.length(readings.len());
        for (channel, readings) in readings.iter().enumerate() {
            let counts = left_out.get(channel).into_iter().flat_map(LeftOut::iter);
            let counts: Vec<(u8, u64)> =
                counts.filter_map(|(reason, count)| Some((place(reason)?, count))).collect();
            writer.length(counts.len());
            for (reason, count) in counts {
                writer.byte(reason);
                writer.unsigned(count);
            }
            write_runs(&mut writer, presence.get(channel));
            writer.length(readings.len());
            let mut before = KeptReading { at: head.start, number: 0 };
            for reading in readings.iter() {
                writer.signed(reading.at.wrapping_sub(before.at));
                writer.signed(reading.number.wrapping_sub(before.number));
                before = *reading;
            }
        }
        (facts, writer.into_bytes())
    }

    pub(super) fn read(head: &[u8], body: &[u8]) -> Result<Self, Damaged> {
        let head = KeptHead::of_bytes(head)?;
        let mut reader = Reader(body);
        let channels = reader.length()?;
        let mut window = Self { head, ..Self::default() };
        for _ in 0..channels {
            let mut left_out = LeftOut::default();
            for _ in 0..reader.length()? {
                let reason = *Reason::ALL.get(usize::from(reader.byte()?)).ok_or(Damaged)?;
                left_out.add(reason, reader.unsigned()?);
            }
            window.left_out.push(left_out);
            window.presence.push(read_runs(&mut reader)?);
            let count = reader.length()?;
            let mut readings = Zeroizing::new(Vec::with_capacity(count));
            let mut before = KeptReading { at: window.head.start, number: 0 };
            for _ in 0..count {
                before = KeptReading {
                    at: before.at.wrapping_add(reader.signed()?),
                    number: before.number.wrapping_add(reader.signed()?),
                };
                readings.push(before);
            }
            window.readings.push(readings);
        }
        reader.finish()?;
        Ok(window)
    }
}

fn place(reason: Reason) -> Option<u8> {
    Reason::ALL.iter().position(|other| *other == reason).map(|place| place as u8)
}

pub(super) fn write_runs(writer: &mut Writer, runs: Option<&Runs>) {
    let numbers: Vec<i64> = runs.cloned().unwrap_or_default().into();
    writer.length(numbers.len());
    numbers.into_iter().for_each(|number| writer.signed(number));
}

pub(super) fn read_runs(reader: &mut Reader<'_>) -> Result<Runs, Damaged> {
    let count = reader.length()?;
    let numbers = (0..count).map(|_| reader.signed()).collect::<Result<Vec<_>, _>>()?;
    Runs::try_from(numbers).map_err(|_| Damaged)
}

pub(super) fn write_held(writer: &mut Writer, held: Option<KeptReading>) {
    writer.byte(u8::from(held.is_some()));
    if let Some(KeptReading { at, number }) = held {
        writer.signed(at);
        writer.signed(number);
    }
}

pub(super) fn read_held(reader: &mut Reader<'_>) -> Result<Option<KeptReading>, Damaged> {
    Ok(match reader.byte()? {
        0 => None,
        _ => Some(KeptReading { at: reader.signed()?, number: reader.signed()? }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_comes_back_from_its_bytes_and_no_part_of_it_does() {
        let reading = |at, number| KeptReading { at, number };
        let head = KeptHead {
            start: -3_600_000,
            until: 0,
            phase: 7,
            numbers: vec![3, 900, 1 << 60],
            sent_at: 1_700_000_000_000,
            is_unsent: true,
            held: Zeroizing::new(vec![None, Some(reading(-90_000_000, 7))]),
            last: Zeroizing::new(vec![Some(reading(-20, i64::MIN)), None]),
        };
        let readings = vec![
            Zeroizing::new(vec![
                reading(-3_599_000, -5 << 15),
                reading(-20, i64::MAX),
                reading(-20, i64::MIN),
            ]),
            Zeroizing::default(),
        ];
        let mut left_out = vec![LeftOut::default(); 2];
        left_out[1].add(Reason::OutOfRange, 1 << 40);
        let mut presence = vec![Runs::default(); 2];
        presence[1].push(-3_600_000, -60_000);
        let window = KeptWindow { head, readings, presence, left_out };
        let (head, body) = window.write();
        assert_eq!(KeptWindow::read(&head, &body), Ok(window));
        assert!((0..body.len()).all(|end| KeptWindow::read(&head, &body[..end]).is_err()));
        assert!((0..head.len()).all(|end| KeptWindow::read(&head[..end], &body).is_err()));
    }
}
