//! Values that do not add, as extremes: the windows of a stretch come one by one, and the values of each channel are kept
//! together, window after window.

use sotto_pack::{Placed, SumsPart};
use sotto_wire::StreamHeader;

use super::columns::Opened;
use super::{Read, Task};
use crate::error::OwnerError;
use crate::open::Numbers;
use crate::quantities::{InputRun, Inputs};
use crate::work::job::Results;

/// The most windows of a stretch. A window that comes later, or a question that begins later, asks for one stretch again.
pub(super) const STRETCH: usize = 128;

/// Returns the places of a part that hold values of a channel which do not add.
pub(super) fn places(part: &SumsPart, channel: u16) -> Vec<usize> {
    let (mut places, mut place) = (Vec::new(), 0);
    for placed in part.split().0 {
        let count = placed.quantity.places();
        if is_of(placed, channel) {
            places.extend(place..place + count);
        }
        place += count;
    }
    places
}

/// Returns the bits of the widest of these places.
pub(super) fn bits(part: &SumsPart, channel: u16) -> u8 {
    let placed = part.quantities.iter().filter(|placed| is_of(placed, channel));
    placed.map(|placed| placed.width).max().unwrap_or_default()
}

fn is_of(placed: &Placed, channel: u16) -> bool {
    !placed.quantity.adds() && placed.quantity.columns().0 == channel
}

impl Task {
    /// Returns the values that are kept together, by part and channel: those of a stretch by channel.
    pub(super) fn kept(&self) -> Vec<(u8, Option<u16>)> {
        if !self.each {
            return self.parts.iter().map(|part| (*part, None)).collect();
        }
        let mut kept: Vec<_> =
            self.read.iter().map(|read| (read.source.part, Some(read.source.channel()))).collect();
        kept.sort_unstable();
        kept.dedup();
        kept
    }

    /// Returns the positions of the windows of a stretch that have a reading of any of its channels. The values of the others
    /// are 0, and nobody asks for them.
    pub(super) fn with_readings(&self, inputs: &Inputs<'_>) -> Vec<usize> {
        let channels = self.kept();
        let has_reading = |run: &InputRun<'_>| {
            let present = |channel: u16| run.input.window.present.get(usize::from(channel));
            channels.iter().filter_map(|(_, channel)| present((*channel)?)).any(|count| *count > 0)
        };
        let mut at = self.windows.start;
        let of_run = |run: InputRun<'_>| {
            let windows = at..at + run.count as usize;
            at = windows.end;
            if has_reading(&run) { windows } else { 0..0 }
        };
        inputs.runs(self.windows.clone()).flat_map(of_run).collect()
    }

    /// Returns a window of a stretch by itself.
    pub(super) fn alone(&self, at: usize, read: Vec<Read>) -> Self {
        Self { windows: at..at + 1, parts: self.parts.clone(), read, weights: None, each: false, ..*self }
    }
}

/// Returns tasks with each window of a stretch by itself, in the order of their windows.
pub(super) fn all_alone(tasks: Vec<Task>, inputs: &Inputs<'_>) -> Vec<Task> {
    let mut all = Vec::with_capacity(tasks.len());
    for task in tasks {
        if task.each {
            all.extend(task.with_readings(inputs).into_iter().map(|at| task.alone(at, task.read.clone())));
        } else {
            all.push(task);
        }
    }
    all.sort_by_key(|task| task.windows.start);
    all
}

/// The values of a stretch, which come window by window.
pub(super) struct Stretch {
    columns: Vec<(Opened, Vec<usize>)>,
    /// Number of windows that are not there yet.
    left: usize,
}

impl Stretch {
    /// Begins with the values of the first windows, which were cached. The others are 0 until they come.
    pub(super) fn new(stream: &StreamHeader, task: &Task, before: &[Opened], left: usize) -> Self {
        let column = |(part, channel): (u8, Option<u16>)| {
            let described = stream.parts().get(usize::from(part));
            let places = described.zip(channel).map(|(part, channel)| places(part, channel));
            let places = places.unwrap_or_default();
            let before = before.iter().find(|before| (before.part, before.channel) == (part, channel));
            let mut values = before.map(|before| before.values.clone()).unwrap_or_default();
            values.resize(places.len() * task.windows.len(), 0);
            (Opened { part, channel, values }, places)
        };
        Self { columns: task.kept().into_iter().map(column).collect(), left }
    }

    /// Takes the values of a window, by its position.
    pub(super) fn take(&mut self, at: usize, window: &[Opened]) {
        for (column, places) in &mut self.columns {
            let Some(of_part) = window.iter().find(|of_part| of_part.part == column.part) else { continue };
            let of_window = column.values.chunks_exact_mut(places.len().max(1)).nth(at);
            for (value, place) in of_window.into_iter().flatten().zip(&*places) {
                *value = of_part.values.get(*place).copied().unwrap_or_default();
            }
        }
        self.left = self.left.saturating_sub(1);
    }

    pub(super) fn is_complete(&self) -> bool {
        self.left == 0
    }

    pub(super) fn values(self) -> Vec<Opened> {
        self.columns.into_iter().map(|(column, _)| column).collect()
    }
}

/// Adds the values of a stretch to the results of its part: to the number of each window.
pub(super) fn put(
    stream: &StreamHeader,
    task: &Task,
    opened: &[Opened],
    results: &mut Results,
) -> Result<(), OwnerError> {
    let too_large = || OwnerError::wrong("a sum is too large");
    for read in &task.read {
        let (part, channel) = (read.source.part, read.source.channel());
        let column = opened.iter().find(|column| (column.part, column.channel) == (part, Some(channel)));
        let Some((column, described)) = column.zip(stream.parts().get(usize::from(part))) else { continue };
        let places = places(described, channel);
        let at = places.iter().position(|place| *place == read.source.place());
        let (Some(at), Some(first)) = (at, read.window) else { continue };
        let Some((Numbers::Sums(numbers), _)) = results.get_mut(read.quantity) else { continue };
        let values = column.values.chunks_exact(places.len()).map(|of_window| of_window[at]);
        for (number, value) in numbers.iter_mut().skip(first).zip(values) {
            let value = i128::from(read.source.factor()) * i128::from(value);
            *number = number.checked_add(value).ok_or_else(too_large)?;
        }
    }
    Ok(())
}
