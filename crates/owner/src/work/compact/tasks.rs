//! The sums that quantities need, split into sums that the form supports.

use std::ops::Range;

use sotto_compact::Weights;
use sotto_pack::Column;

use super::{MOST_ENVELOPES, MOST_WEIGHTS, Opener, Task, Wanted};
use crate::quantities::{Input, Quantity};

/// Largest size of a weight's absolute value, in bits.
const WEIGHT_BITS: u32 = 17;

impl Opener {
    fn magnitude(&self, column: Column) -> f64 {
        let top = self.layout.magnitude();
        match column {
            Column::Reading(_) => top,
            Column::Square(_) | Column::Product(..) => top * top,
            Column::Bins(_) => self.layout.ticks().into(),
        }
    }

    /// Returns the largest number of windows in a sum of values of this magnitude.
    fn capacity(&self, magnitude: f64) -> u64 {
        let plain = ((self.profile.form().plain() as f64 - 1.0) / 2.0 / magnitude).floor();
        self.profile.most_windows().min(plain as u64)
    }

    /// Returns true if the form supports a sum of values of this magnitude with these weights.
    fn bears(&self, weights: Weights, magnitude: f64) -> bool {
        let plain = (self.profile.form().plain() as f64 - 1.0) / 2.0;
        // Products of masks are rounded one by one, which costs less than a millionth of a bit.
        self.profile.room(weights) > 1e-6 && weights.total() * magnitude <= plain
    }

    /// Adds the sums that the quantities of a part need. Returns None if the windows do not hold them.
    pub(super) fn tasks(
        &self,
        part: usize,
        windows: Range<usize>,
        inputs: &[&Input],
        quantities: &[Quantity],
        tasks: &mut Vec<Task>,
    ) -> Option<()> {
        let (mut plain, mut counts, mut weighted) = (Vec::new(), Vec::new(), Vec::new());
        for (number, quantity) in quantities.iter().enumerate() {
            match quantity {
                Quantity::Sum | Quantity::Square | Quantity::Product(..) => {
                    plain.extend(self.columns(quantity)?.into_iter().map(|wanted| (number, wanted)));
                }
                Quantity::Joint(x, y) | Quantity::JointSquare(x, y) => {
                    let wanted = self.columns(quantity)?.into_iter().map(|wanted| (number, wanted));
                    if inputs[windows.clone()].iter().all(|input| input.together(*x, *y) == Some(true)) {
                        plain.extend(wanted);
                    } else {
                        let mask = |input: &Input| {
                            let both = input.both(*x, *y).unwrap_or_default();
                            (0..self.ticks).map(|tick| i64::from(both.contains(tick))).collect()
                        };
                        let weights = by_window(inputs, &windows, mask);
                        weighted.extend(wanted.map(|wanted| (wanted, weights.clone())));
                    }
                }
                Quantity::Weighted(weights) => {
                    let of =
                        |input: &Input| (0..self.ticks).map(|tick| input.weight(weights, tick)).collect();
                    let wanted = (number, (Column::Reading(weights.channel), weights.channel));
                    self.places.first(&self.layout, self.ticks, wanted.1.0)?;
                    weighted.push((wanted, by_window(inputs, &windows, of)));
                }
                Quantity::Counts(channel) => {
                    self.places.bins_of(*channel)?;
                    counts.push((number, (Column::Bins(*channel), *channel)));
                }
                Quantity::AtLeast(..)
                | Quantity::Polynomial(..)
                | Quantity::Linear(_)
                | Quantity::Beyond(_) => return None,
            }
        }
        self.plain_tasks(part, &windows, &plain, tasks)?;
        // Apart from the columns, so that a question for counts alone takes few bytes.
        self.plain_tasks(part, &windows, &counts, tasks)?;
        for (wanted, weights) in weighted {
            self.weighted_tasks(part, &windows, wanted, &weights, tasks)?;
        }
        Some(())
    }

    /// Returns the columns of a quantity; None if they are not sent.
    fn columns(&self, quantity: &Quantity) -> Option<Vec<Wanted>> {
        let channels = 0..self.layout.channels().len() as u16;
        let columns: Vec<Wanted> = match quantity {
            Quantity::Sum => channels.map(|channel| (Column::Reading(channel), channel)).collect(),
            Quantity::Square => channels.map(|channel| (Column::Square(channel), channel)).collect(),
            Quantity::Product(x, y) => vec![(Column::Product(*x, *y), *x)],
            Quantity::Joint(x, y) => [*x, *y].map(|channel| (Column::Reading(channel), channel)).to_vec(),
            Quantity::JointSquare(x, y) => {
                [*x, *y].map(|channel| (Column::Square(channel), channel)).to_vec()
            }
            _ => return None,
        };
        let sent = |(column, _): &Wanted| self.places.first(&self.layout, self.ticks, *column).is_some();
        columns.iter().all(sent).then_some(columns)
    }

    /// Adds one sum of all requested columns, for as many windows as the form supports.
    fn plain_tasks(
        &self,
        part: usize,
        windows: &Range<usize>,
        read: &[(usize, Wanted)],
        tasks: &mut Vec<Task>,
    ) -> Option<()> {
        let ranges = || {
            read.iter().filter_map(|(_, (column, _))| {
                let first = self.places.first(&self.layout, self.ticks, *column)?;
                Some(first..first + self.places.length(self.ticks, *column))
            })
        };
        let (first, end) = (ranges().map(|range| range.start).min(), ranges().map(|range| range.end).max());
        let (Some(first), Some(end)) = (first, end) else { return Some(()) };
        let magnitude = read.iter().map(|(_, (column, _))| self.magnitude(*column)).fold(1.0, f64::max);
        let most = usize::try_from(self.capacity(magnitude)).unwrap_or(usize::MAX).min(MOST_ENVELOPES);
        if most == 0 {
            return None;
        }
        for start in windows.clone().step_by(most) {
            let windows = start..windows.end.min(start + most);
            tasks.push(Task {
                part,
                ticks: self.ticks,
                magnitude: windows.len() as f64 * magnitude,
                windows,
                places: first..end,
                weights: None,
                factor: 1,
                read: read.to_vec(),
            });
        }
        Some(())
    }

    /// Adds sums of one column with a weight for each window and tick. Weights are split into digits of few bits, so
    /// that the form supports the sums.
    fn weighted_tasks(
        &self,
        part: usize,
        windows: &Range<usize>,
        read: (usize, Wanted),
        weights: &[Vec<i64>],
        tasks: &mut Vec<Task>,
    ) -> Option<()> {
        let (_, (column, _)) = read;
        let first = self.places.first(&self.layout, self.ticks, column)?;
        let (magnitude, ticks) = (self.magnitude(column), self.ticks as usize);
        let largest = weights.iter().flatten().map(|weight| weight.unsigned_abs()).max().unwrap_or_default();
        let most = |bits: u32| (1i64 << bits) - 1;
        let windows_of = |bits| (0..8).fold(Weights::default(), |all, _| all.and(most(bits)));
        // Aim at eight windows per sum.
        let eight = (1..=WEIGHT_BITS).rev().find(|bits| self.bears(windows_of(*bits), magnitude));
        let bits = eight.unwrap_or(1);
        if largest >> WEIGHT_BITS != 0 || !self.bears(Weights::default().and(most(bits)), magnitude) {
            return None;
        }
        for shift in (0..u64::BITS - largest.leading_zeros()).step_by(bits as usize) {
            let digit = |weight: i64| {
                let digit = (weight.unsigned_abs() >> shift) & ((1 << bits) - 1);
                weight.signum() * digit as i64
            };
            let (mut start, mut total, mut digits) = (windows.start, Weights::default(), Vec::new());
            let mut push = |windows: Range<usize>, total: Weights, digits: Vec<i32>| {
                if total.total() > 0.0 {
                    tasks.push(Task {
                        part,
                        ticks: self.ticks,
                        windows,
                        places: first..first + ticks,
                        weights: Some(digits),
                        factor: 1 << shift,
                        read: vec![read],
                        magnitude: total.total() * magnitude,
                    });
                }
            };
            for (at, weights) in windows.clone().zip(weights) {
                let of: Vec<i32> = weights.iter().map(|weight| digit(*weight) as i32).collect();
                let size = of.iter().map(|digit| i64::from(digit.unsigned_abs())).max().unwrap_or_default();
                let full = !self.bears(total.and(size), magnitude) || digits.len() + ticks > MOST_WEIGHTS;
                if full && at > start {
                    push(start..at, total, std::mem::take(&mut digits));
                    (start, total) = (at, Weights::default());
                }
                total = total.and(size);
                digits.extend(of);
            }
            push(start..windows.end, total, digits);
        }
        Some(())
    }
}

fn by_window(inputs: &[&Input], windows: &Range<usize>, of: impl Fn(&Input) -> Vec<i64>) -> Vec<Vec<i64>> {
    inputs[windows.clone()].iter().map(|input| of(input)).collect()
}
