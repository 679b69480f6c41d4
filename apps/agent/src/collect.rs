//! Packs rows into windows.

use std::time::{Duration, Instant};

use sotto_pack::{Channel, Layout, LeftOut, PackError, Packed, Reason, Window};
use zeroize::Zeroizing;

use crate::progress::Progress;
use crate::source::{Row, Source, SourceError};
use crate::stop::Stop;
use crate::windows::Windows;

/// A window of readings.
pub struct Collected {
    /// The slots.
    pub packed: Packed,
    /// When the first reading was taken: milliseconds since 1970.
    pub started_at: i64,
    /// When the last reading was taken.
    pub ended_at: i64,
    /// Packing time, without the time to read.
    pub pack_time: Duration,
    /// The readings tick by tick, if the clear log is on; else empty.
    pub clear: Vec<Zeroizing<Vec<Option<f64>>>>,
}

/// Reason why there are no more windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The source has no more rows.
    Source,
    /// A stop was requested.
    Stop,
}

/// Reason why readings cannot be collected. Contains no reading.
#[derive(Debug, thiserror::Error)]
pub enum CollectError {
    /// The source cannot be read.
    #[error(transparent)]
    Source(SourceError),
    /// The readings cannot be packed.
    #[error("the readings cannot be packed: {0}")]
    Pack(String),
}

/// Counts of readings that are not in any slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Left {
    /// The source had no value, or the tick was missed.
    pub missing: u64,
    /// The value was outside the declared range; it is packed as missing.
    pub out_of_range: u64,
}

impl Left {
    /// Returns the counts of windows that follow the clock.
    #[must_use]
    pub fn of(windows: &Windows) -> Self {
        let mut all = LeftOut::default();
        windows.taken().iter().for_each(|taken| all.merge(&taken.totals.left_out()));
        let missing = [Reason::Empty, Reason::NotANumber, Reason::Text];
        let missing = missing.into_iter().map(|reason| all.count(reason)).sum();
        Self { missing, out_of_range: all.count(Reason::OutOfRange) }
    }
}

/// Takes rows from a source and fills windows.
pub struct Collector {
    source: Box<dyn Source>,
    period: u32,
    stop: Stop,
    keep_clear: bool,
    /// A row, already read, of the next window.
    ahead: Option<Row>,
    end: Option<End>,
    left: Left,
    progress: Progress,
}

impl Collector {
    /// Creates a collector of rows that are `period` milliseconds apart. `keep_clear` also keeps the readings in the
    /// clear.
    #[must_use]
    pub fn new(source: Box<dyn Source>, period: u32, stop: Stop, keep_clear: bool) -> Self {
        let progress = Progress::on_terminal();
        Self { source, period, stop, keep_clear, ahead: None, end: None, left: Left::default(), progress }
    }

    /// Returns the channels of the source.
    #[must_use]
    pub fn channels(&self) -> &[Channel] {
        self.source.channels()
    }

    /// Returns the counts of readings that are in no slot so far.
    #[must_use]
    pub fn left(&self) -> Left {
        self.left
    }

    /// Returns the reason why there are no more windows; `None` while there are.
    #[must_use]
    pub fn end(&self) -> Option<End> {
        self.end
    }

    /// Fills the next window. It is filled only partly at the end of the source, after a stop, and before a gap longer
    /// than the rest of the window. Returns `None` if there are no more readings.
    ///
    /// # Errors
    /// [`CollectError`] if the source cannot be read.
    pub fn window(&mut self, layout: &Layout) -> Result<Option<Collected>, CollectError> {
        loop {
            let Some(first) = self.row()? else { return Ok(None) };
            let collected = self.fill(first, layout)?;
            // A window without any reading carries no information: skip it.
            if collected.packed.readings() > 0 {
                return Ok(Some(collected));
            }
        }
    }

    fn fill(&mut self, first: Row, layout: &Layout) -> Result<Collected, CollectError> {
        let start = first.at;
        let window = Window::new(layout.clone(), start, self.period).map_err(unpackable)?;
        let mut open =
            Open { window, span: None, pack_time: Duration::ZERO, clear: self.keep_clear.then(Vec::new) };
        self.progress.begin(layout.ticks());
        let mut next = Some(first);
        while let Some(row) = next {
            let passed = row.at.saturating_sub(start) / i64::from(self.period);
            if passed >= i64::from(layout.ticks()) {
                self.ahead = Some(row);
                break;
            }
            self.put(&mut open, row, passed)?;
            self.progress.at(open.window.filled());
            next = if open.window.is_full() { None } else { self.row()? };
        }
        self.progress.end();
        Ok(open.close())
    }

    /// Puts a row at its tick. Ticks skipped before it become missing readings.
    fn put(&mut self, open: &mut Open, mut row: Row, tick: i64) -> Result<(), CollectError> {
        let channels = self.source.channels();
        let nothing = Zeroizing::new(vec![None; channels.len()]);
        while i64::from(open.window.filled()) < tick {
            self.left.missing += channels.len() as u64;
            open.push(nothing.clone(), None)?;
        }
        for (value, channel) in row.values.iter_mut().zip(channels) {
            match value {
                None => self.left.missing += 1,
                Some(number) if !(channel.minimum..=channel.maximum).contains(number) => {
                    self.left.out_of_range += 1;
                    *value = None;
                }
                Some(_) => {}
            }
        }
        open.push(row.values, Some(row.at))
    }

    /// Returns the next row; `None` if there are no more.
    fn row(&mut self) -> Result<Option<Row>, CollectError> {
        if let Some(row) = self.ahead.take() {
            return Ok(Some(row));
        }
        if self.stop.is_asked() {
            self.end = Some(End::Stop);
        }
        if self.end.is_some() {
            return Ok(None);
        }
        match self.source.next_row() {
            Ok(row) => return Ok(Some(row)),
            Err(SourceError::Ended) => self.end = Some(End::Source),
            Err(SourceError::Stopped) => self.end = Some(End::Stop),
            Err(error) => return Err(CollectError::Source(error)),
        }
        Ok(None)
    }
}

/// A window that takes readings.
struct Open {
    window: Window,
    /// The times of the first and the last reading.
    span: Option<(i64, i64)>,
    pack_time: Duration,
    clear: Option<Vec<Zeroizing<Vec<Option<f64>>>>>,
}

impl Open {
    fn push(&mut self, values: Zeroizing<Vec<Option<f64>>>, at: Option<i64>) -> Result<(), CollectError> {
        let begin = Instant::now();
        self.window.push_row(&values).map_err(unpackable)?;
        self.pack_time += begin.elapsed();
        if let Some(at) = at.filter(|_| values.iter().any(Option::is_some)) {
            self.span = Some((self.span.map_or(at, |(first, _)| first), at));
        }
        if let Some(clear) = &mut self.clear {
            clear.push(values);
        }
        Ok(())
    }

    fn close(self) -> Collected {
        let packed = self.window.close();
        let (started_at, ended_at) = self.span.unwrap_or((packed.start, packed.start));
        let clear = self.clear.unwrap_or_default();
        Collected { packed, started_at, ended_at, pack_time: self.pack_time, clear }
    }
}

/// Converts the error, dropping the value: it may be a reading.
pub(crate) fn unpackable(error: PackError) -> CollectError {
    CollectError::Pack(match error {
        PackError::Value { channel, .. } => format!("a value of channel {channel} is out of range"),
        other => other.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use sotto_pack::Encoding;

    /// A source of one channel in 0 … 10 with given times and values.
    struct Script(Vec<Channel>, std::vec::IntoIter<(i64, Option<f64>)>);

    impl Source for Script {
        fn channels(&self) -> &[Channel] {
            &self.0
        }

        fn next_row(&mut self) -> Result<Row, SourceError> {
            let (at, value) = self.1.next().ok_or(SourceError::Ended)?;
            Ok(Row { at, values: Zeroizing::new(vec![value]), missing: vec![None] })
        }

        fn paced(&self) -> bool {
            false
        }
    }

    fn collector(rows: Vec<(i64, Option<f64>)>) -> (Collector, Layout) {
        let channel =
            Channel { name: "x".into(), unit: String::new(), minimum: 0.0, maximum: 10.0, resolution: None };
        let layout = Layout::smallest(vec![channel.clone()], 4, 8, 1, Encoding::Integer { bits: 8 }).unwrap();
        let script = Script(vec![channel], rows.into_iter());
        (Collector::new(Box::new(script), 10, Stop::new(), true), layout)
    }

    fn clear(collected: &Collected) -> Vec<Option<f64>> {
        collected.clear.iter().map(|row| row[0]).collect()
    }

    #[test]
    fn missed_ticks_and_values_out_of_range_are_missing_readings() {
        let rows = vec![
            (100, None),
            (120, Some(5.0)),
            (130, Some(11.0)),
            (140, Some(1.0)),
            (150, Some(f64::NAN)),
            // After the end of the window that began at 140.
            (190, Some(2.0)),
        ];
        let (mut collector, layout) = collector(rows);
        let first = collector.window(&layout).unwrap().unwrap();
        assert_eq!(clear(&first), [None, None, Some(5.0), None]);
        assert_eq!((first.packed.start, first.started_at, first.ended_at), (100, 120, 120));
        assert_eq!(first.packed.present, [1]);
        let second = collector.window(&layout).unwrap().unwrap();
        assert_eq!(clear(&second), [Some(1.0), None]);
        assert_eq!(collector.end(), None);
        let third = collector.window(&layout).unwrap().unwrap();
        assert_eq!((clear(&third), third.packed.start), (vec![Some(2.0)], 190));
        assert!(collector.window(&layout).unwrap().is_none());
        assert_eq!(collector.end(), Some(End::Source));
        assert_eq!(collector.left(), Left { missing: 2, out_of_range: 2 });
    }

    #[test]
    fn a_window_without_readings_is_left_out() {
        let rows = (0..6).map(|tick| (tick * 10, (tick > 3).then_some(1.0))).collect();
        let (mut collector, layout) = collector(rows);
        let window = collector.window(&layout).unwrap().unwrap();
        assert_eq!((window.packed.start, clear(&window)), (40, vec![Some(1.0), Some(1.0)]));
    }

    #[test]
    fn a_stop_ends_the_window_that_has_begun() {
        let (mut collector, layout) = collector(vec![(0, Some(1.0)), (10, Some(2.0))]);
        collector.ahead = collector.row().unwrap();
        collector.stop.ask();
        let window = collector.window(&layout).unwrap().unwrap();
        assert_eq!(clear(&window), [Some(1.0)]);
        assert!(collector.window(&layout).unwrap().is_none());
        assert_eq!(collector.end(), Some(End::Stop));
    }
}
