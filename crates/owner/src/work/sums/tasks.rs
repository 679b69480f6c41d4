//! The sums that quantities need, split into sums that the places hold.

use std::ops::Range;

use sotto_pack::Quantity as Sent;
use sotto_wire::{StreamHeader, SumBlocks};

use super::columns::{Source, parts_of, sources};
use super::cut::{cut, cut_always};
use super::each::STRETCH;
use super::weights::Weighted;
use super::{Read, Task, inputs_of};
use crate::quantities::{Inputs, Part, Quantity};
use crate::streams::capacity;

/// Returns the windows of all parts, and the sums and stretches that the quantities need, in the order of their windows.
/// Returns None if the windows do not hold them.
pub(super) fn tasks<'p>(
    stream: &StreamHeader,
    parts: &'p [Part],
    quantities: &[Quantity],
) -> Option<(Inputs<'p>, Vec<Task>)> {
    let (inputs, ranges) = inputs_of(parts);
    let mut tasks = Vec::new();
    for (part, windows) in ranges.into_iter().enumerate() {
        if !windows.is_empty() {
            Of { stream, part, windows, inputs: &inputs }.add(quantities, &mut tasks)?;
        }
    }
    tasks.sort_by_key(|task| task.windows.start);
    Some((inputs, tasks))
}

/// The windows of one part of a question.
struct Of<'o> {
    stream: &'o StreamHeader,
    part: usize,
    windows: Range<usize>,
    inputs: &'o Inputs<'o>,
}

impl Of<'_> {
    fn add(&self, quantities: &[Quantity], tasks: &mut Vec<Task>) -> Option<()> {
        let channels = 0..self.stream.layout().channels().len() as u16;
        let (mut plain, mut held): (Vec<Read>, Vec<Read>) = (Vec::new(), Vec::new());
        for (number, quantity) in quantities.iter().enumerate() {
            match quantity {
                Quantity::Sum => plain.extend(self.reads(number, channels.clone().map(Sent::Reading))?),
                Quantity::Square => plain.extend(self.reads(number, channels.clone().map(Sent::Square))?),
                Quantity::Product(x, y) => plain.extend(self.reads(number, [Sent::Product(*x, *y)])?),
                Quantity::Counts(channel) => {
                    let bins = crate::streams::bins_of(self.stream.parts(), *channel)?;
                    let sent = Sent::Bins { column: *channel, edges: bins.edges };
                    plain.extend(self.reads(number, [sent])?);
                }
                Quantity::Held(channel, quantity) => {
                    held.extend(self.reads(number, [quantity.sent(*channel)])?);
                }
                Quantity::Joint(x, y) => self.joint(number, (*x, *y), Sent::Reading, tasks)?,
                Quantity::JointSquare(x, y) => self.joint(number, (*x, *y), Sent::Square, tasks)?,
                Quantity::Weighted(weights) => {
                    let sources = self.sources(&Sent::Reading(weights.channel))?;
                    self.weighted(number, &sources)?.of_ticks(weights, tasks)?;
                }
                Quantity::AtLeast(..)
                | Quantity::Polynomial(..)
                | Quantity::Linear(_)
                | Quantity::Beyond(_) => return None,
            }
        }
        self.window_by_window(&held, tasks);
        self.plain(&plain, tasks)
    }

    /// Returns the places of a quantity that the device sends. Returns None if it does not.
    fn sources(&self, sent: &Sent) -> Option<Vec<Source>> {
        Some(sources(self.stream, sent)).filter(|sources| !sources.is_empty())
    }

    fn reads(&self, quantity: usize, sent: impl IntoIterator<Item = Sent>) -> Option<Vec<Read>> {
        let mut reads = Vec::new();
        for sent in sent {
            let read = |source| Read { quantity, source, ticks: None, window: None };
            reads.extend(self.sources(&sent)?.into_iter().map(read));
        }
        Some(reads)
    }

    /// Returns the largest Σ|c| that every place of these parts holds.
    fn capacity(&self, parts: &[u8]) -> Option<u64> {
        capacity(self.stream, parts.iter().map(|part| usize::from(*part)))
    }

    /// Adds one sum of all parts that hold these values, for as many windows as the places hold.
    fn plain(&self, read: &[Read], tasks: &mut Vec<Task>) -> Option<()> {
        let parts = parts_of(read.iter().map(|read| &read.source));
        if parts.is_empty() {
            return Some(());
        }
        // The same blocks of time for all parts: the cloud keeps sums of them.
        let of_stream = SumBlocks::of_stream(self.stream).map_or(u64::MAX, |(_, most)| most);
        let most = self.capacity(&parts)?.min(of_stream) as usize;
        for windows in cut(self.inputs, self.windows.clone(), most) {
            let (parts, read) = (parts.clone(), read.to_vec());
            tasks.push(Task { part: self.part, windows, parts, weights: None, factor: 1, read, each: false });
        }
        Some(())
    }

    /// Adds the windows in stretches of which each comes by itself: these values do not add.
    fn window_by_window(&self, read: &[Read], tasks: &mut Vec<Task>) {
        let parts = parts_of(read.iter().map(|read| &read.source));
        if parts.is_empty() {
            return;
        }
        for windows in cut_always(self.inputs, self.windows.clone(), STRETCH) {
            let window = Some(windows.start - self.windows.start);
            let read = read.iter().map(|read| Read { window, ..read.clone() }).collect();
            let (parts, weights) = (parts.clone(), None);
            tasks.push(Task { part: self.part, windows, parts, weights, factor: 1, read, each: true });
        }
    }

    /// Adds sums over the ticks at which both channels have a reading. A window in which one has a reading alone comes down
    /// by itself.
    fn joint(
        &self,
        quantity: usize,
        (x, y): (u16, u16),
        sent: impl Fn(u16) -> Sent,
        tasks: &mut Vec<Task>,
    ) -> Option<()> {
        let mut sources = self.sources(&sent(x))?;
        sources.extend(self.sources(&sent(y))?);
        let weighted = self.weighted(quantity, &sources)?;
        let (together, apart): (Vec<usize>, Vec<usize>) =
            self.windows.clone().partition(|at| self.inputs.at(*at).input.together(x, y) == Some(true));
        weighted.chosen(&together, None, tasks);
        for at in apart {
            let both = self.inputs.at(at).input.both(x, y).unwrap_or_default();
            let ticks: Vec<i64> = (0..both.end()).map(|tick| i64::from(both.contains(tick))).collect();
            weighted.alone(&[at], &ticks, tasks);
        }
        Some(())
    }

    fn weighted<'w>(&'w self, quantity: usize, sources: &'w [Source]) -> Option<Weighted<'w>> {
        let parts = parts_of(sources.iter());
        let (part, windows, inputs) = (self.part, self.windows.clone(), self.inputs);
        Some(Weighted { part, windows, inputs, quantity, sources, capacity: self.capacity(&parts)? })
    }
}
