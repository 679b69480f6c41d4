//! Quantities that single windows hold: from the windows themselves or, where a group or another window cuts them, from
//! their readings.

use std::ops::Range;

use sotto_pack::{Layout, Period, Quantity as OfWindow};

use super::exact::{ExactResults, readings_in};
use super::pieces::Piece;
use super::wanted::WantedHeld;
use crate::error::OwnerError;
use crate::gathered::distribution::Distribution;
use crate::gathered::{Ends, Held, Shape, Tally, WindowQuantity};
use crate::open::Numbers;
use crate::quantities::{Input, InputRun, Inputs, Quantity};

/// A quantity that windows sent, with the number of each.
type Sent<'n> = (WindowQuantity, &'n Numbers);

impl ExactResults<'_> {
    /// Adds the quantities that the windows of the piece hold.
    pub(super) fn add_held(&self, tally: &mut Tally) -> Result<(), OwnerError> {
        for wanted in &self.wanted.held {
            let windows = tally.windows.entry(wanted.need).or_default();
            self.held(wanted)?.into_iter().for_each(|held| windows.add(held));
        }
        Ok(())
    }

    fn held(&self, wanted: &WantedHeld<'_>) -> Result<Vec<Held>, OwnerError> {
        let WantedHeld { channel, quantities, .. } = *wanted;
        let sent = |quantity: &WindowQuantity| {
            self.of(&Quantity::Held(channel, *quantity)).map(|numbers| (*quantity, numbers))
        };
        let sent: Option<Vec<Sent<'_>>> = quantities.iter().map(sent).collect();
        match sent.filter(|_| self.is_whole()) {
            Some(sent) if quantities.iter().all(|quantity| quantity.compares()) => {
                Ok(self.extremes(channel, &sent)?.into_iter().collect())
            }
            Some(sent) => self.of_windows(channel, &sent),
            None if self.counts(channel).is_some() => {
                Ok(of_distribution(self.piece, quantities, &self.distribution(channel)?)
                    .into_iter()
                    .collect())
            }
            None => Ok(self.of_readings(channel, quantities)?.into_iter().collect()),
        }
    }

    /// Returns the extremes of all windows together; None if none has a reading.
    fn extremes(&self, channel: u16, sent: &[Sent<'_>]) -> Result<Option<Held>, OwnerError> {
        let (inputs, layout) = (self.piece.inputs, self.window.layout());
        let (mut at, mut readings, mut there) = (0, 0, Vec::with_capacity(inputs.len()));
        for input in inputs {
            let of_input = readings_in(std::slice::from_ref(input), layout, self.piece.ticks, channel)?;
            let windows = at..at + input.count as usize;
            at = windows.end;
            if of_input > 0 {
                there.push(windows);
            }
            readings += of_input;
        }
        if readings == 0 {
            return Ok(None);
        }
        let error = self.error(inputs, channel)?;
        let mut values = Vec::with_capacity(sent.len());
        for (quantity, numbers) in sent {
            let all = || there.iter().flat_map(Clone::clone).map(|window| numbers.whole(window));
            let ends = all().min().flatten().zip(all().max().flatten());
            let value = |sent: i128| quantity.of_sent(layout, channel, sent, error);
            // If both are in the declared range, all are.
            let ends = ends.and_then(|(least, largest)| value(least).zip(value(largest)));
            let (least, largest) = ends.ok_or_else(impossible)?;
            values.push((*quantity, if *quantity == WindowQuantity::Least { least } else { largest }));
        }
        let (from, to) = times(inputs, self.piece.ticks);
        Ok(Some(Held { from, to, readings, values, ends: None, shape: None }))
    }

    /// Returns the quantities as each window holds them.
    fn of_windows(&self, channel: u16, sent: &[Sent<'_>]) -> Result<Vec<Held>, OwnerError> {
        let layout = self.window.layout();
        let quantiser = layout.quantiser(channel).ok_or_else(impossible)?;
        let (mut all, mut first) = (Vec::new(), 0);
        for input in self.piece.inputs {
            let (inputs, windows) = (std::slice::from_ref(input), first..first + input.count as usize);
            first = windows.end;
            let readings = readings_in(inputs, layout, self.piece.ticks, channel)? / u64::from(input.count);
            if readings == 0 {
                continue;
            }
            let error = self.error(inputs, channel)?;
            let (ticks, period) = (end_ticks(input, self.piece.ticks, channel), input.window.period);
            let runs = Inputs::of(inputs);
            for (run, at) in runs.runs(0..windows.len()).flat_map(InputRun::each).zip(windows) {
                let value = |(quantity, numbers): &Sent<'_>| {
                    Some((*quantity, quantity.of_sent(layout, channel, numbers.whole(at)?, error)?))
                };
                let values = sent.iter().map(value).collect::<Option<Vec<_>>>().ok_or_else(impossible)?;
                let whole = |wanted| {
                    let (_, numbers) = sent.iter().find(|(quantity, _)| *quantity == wanted)?;
                    numbers.whole(at)
                };
                let reading = |wanted| i64::try_from(whole(wanted)?).ok();
                let first_and_last = (reading(WindowQuantity::First), reading(WindowQuantity::Last));
                let power = |exponent| whole(WindowQuantity::Power(exponent));
                let shape = Shape::of_powers(quantiser, readings, power, error);
                if shape.is_none() && power(1).is_some() {
                    return Err(impossible());
                }
                let start = run.start(0);
                let from = period.at(start, self.piece.ticks.start);
                let to = period.at(start, self.piece.ticks.end.min(input.window.ticks()));
                let ends = ticks
                    .and_then(|ticks| ends(layout, (start, period, error), ticks, channel, first_and_last));
                all.push(Held { from, to, readings, values, ends, shape });
            }
        }
        Ok(all)
    }

    /// Returns the quantities of the readings of a single window.
    fn of_readings(&self, channel: u16, quantities: &[WindowQuantity]) -> Result<Option<Held>, OwnerError> {
        let (readings, layout) = (self.readings_at(channel)?, self.window.layout());
        let error = self.error(self.piece.inputs, channel)?;
        let value = |quantity: &WindowQuantity| {
            Some((*quantity, quantity.of_readings(layout, channel, &readings, error)?))
        };
        let values: Option<Vec<_>> = quantities.iter().map(value).collect();
        if values.is_none() && !readings.is_empty() {
            return Err(OwnerError::Unanswerable(format!(
                "sums of powers of {} are too large: its range has more than 2^22 steps of its resolution",
                layout.channels()[usize::from(channel)].name
            )));
        }
        let (from, to) = times(self.piece.inputs, self.piece.ticks);
        let first_and_last = (readings.first().map(|(_, q)| *q), readings.last().map(|(_, q)| *q));
        let input = self.piece.inputs.first();
        let ends = input.and_then(|input| {
            let ticks = end_ticks(input, self.piece.ticks, channel)?;
            ends(layout, (input.window.start, input.window.period, error), ticks, channel, first_and_last)
        });
        let count = readings.len() as u64;
        let power = |exponent| {
            let wanted = quantities.contains(&WindowQuantity::Power(exponent));
            let all = readings.iter().map(|(_, q)| *q);
            wanted.then(|| OfWindow::sum_of_powers(all, exponent))
        };
        let shape =
            layout.quantiser(channel).and_then(|quantiser| Shape::of_powers(quantiser, count, power, error));
        Ok(values.map(|values| Held { from, to, readings: count, values, ends, shape }))
    }
}

/// Returns the first and the last of some ticks of a window at which a channel has a reading.
fn end_ticks(input: &Input, ticks: &Range<u32>, channel: u16) -> Option<(u32, u32)> {
    let presence = input.window.presence(channel)?;
    let mut there = presence.iter().filter(|tick| ticks.contains(tick));
    let first = there.next()?;
    Some((first, there.last().unwrap_or(first)))
}

/// Returns the first and the last reading of a channel in a window with this start, at these ticks, off by at most an error. Where they
/// are not known, as their quantities were not wanted, the middle of the range stands for them.
fn ends(
    layout: &Layout,
    (start, period, error): (i64, Period, f64),
    (first_tick, last_tick): (u32, u32),
    channel: u16,
    (first, last): (Option<i64>, Option<i64>),
) -> Option<Ends> {
    Some(Ends {
        first_at: period.at(start, first_tick),
        last_at: period.at(start, last_tick),
        first: first.unwrap_or_default(),
        last: last.unwrap_or_default(),
        period,
        quantiser: *layout.quantiser(channel)?,
        error,
        rule: layout.increase(channel)?,
    })
}

/// Returns the quantities of windows whose readings were counted in bins. Returns None if there are no readings.
pub(super) fn of_distribution(
    piece: &Piece<'_>,
    quantities: &[WindowQuantity],
    readings: &Distribution,
) -> Option<Held> {
    let value = |quantity: &WindowQuantity| Some((*quantity, quantity.of_distribution(readings)?));
    let values: Vec<_> = quantities.iter().map(value).collect::<Option<_>>()?;
    let (from, to) = times(piece.inputs, piece.ticks);
    Some(Held { from, to, readings: readings.count(), values, ends: None, shape: None })
}

/// Returns the time of some ticks of windows, from the first window to the last.
fn times(inputs: &[Input], ticks: &Range<u32>) -> (i64, i64) {
    let all = Inputs::of(inputs);
    let at = |run: &InputRun<'_>, index: u32, tick: u32| run.input.window.period.at(run.start(index), tick);
    let from = all.runs(0..all.len()).map(|run| at(&run, 0, ticks.start)).min();
    let end = |run: InputRun<'_>| at(&run, run.count - 1, ticks.end.min(run.input.window.ticks()));
    let to = all.runs(0..all.len()).map(end).max();
    (from.unwrap_or_default(), to.unwrap_or_default())
}

fn impossible() -> OwnerError {
    OwnerError::wrong("no readings of the declared range have these values")
}
