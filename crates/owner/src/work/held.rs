//! Quantities that single windows hold: from the windows themselves or, where a group or another window cuts them, from
//! their readings.

use std::ops::Range;

use sotto_pack::{Layout, Quantity as Sent};

use super::exact::{ExactResults, readings_in};
use super::pieces::Piece;
use super::wanted::WantedHeld;
use crate::error::OwnerError;
use crate::gathered::distribution::Distribution;
use crate::gathered::{Ends, Held, Shape, Tally, WindowQuantity};
use crate::open::Numbers;
use crate::quantities::{Input, Quantity};

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
        let sent: Option<Vec<(WindowQuantity, &Numbers)>> = quantities.iter().map(sent).collect();
        match sent.filter(|_| self.is_whole()) {
            Some(sent) => self.of_windows(channel, &sent),
            None if self.counts(channel).is_some() => {
                Ok(of_distribution(self.piece, quantities, &self.distribution(channel)?)
                    .into_iter()
                    .collect())
            }
            None => Ok(self.of_readings(channel, quantities)?.into_iter().collect()),
        }
    }

    /// Returns the quantities as each window holds them.
    fn of_windows(&self, channel: u16, sent: &[(WindowQuantity, &Numbers)]) -> Result<Vec<Held>, OwnerError> {
        let impossible = || OwnerError::wrong("no readings of the declared range have these values");
        let mut all = Vec::with_capacity(self.piece.inputs.len());
        for (at, input) in self.piece.inputs.iter().enumerate() {
            let inputs = std::slice::from_ref(input);
            let readings = readings_in(inputs, self.window.layout(), self.piece.ticks, channel)?;
            if readings == 0 {
                continue;
            }
            let (layout, error) = (self.window.layout(), self.error(inputs, channel)?);
            let value = |(quantity, numbers): &(WindowQuantity, &Numbers)| {
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
            let quantiser = layout.quantiser(channel).ok_or_else(impossible)?;
            let shape = Shape::of_powers(quantiser, readings, power, error);
            if shape.is_none() && power(1).is_some() {
                return Err(impossible());
            }
            let (from, to) = times(inputs, self.piece.ticks);
            let ends = ends(layout, (input, error), self.piece.ticks, channel, first_and_last);
            all.push(Held { from, to, readings, values, ends, shape });
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
        let ends =
            input.and_then(|input| ends(layout, (input, error), self.piece.ticks, channel, first_and_last));
        let count = readings.len() as u64;
        let power = |exponent| {
            let wanted = quantities.contains(&WindowQuantity::Power(exponent));
            let all = readings.iter().map(|(_, q)| *q);
            wanted.then(|| Sent::sum_of_powers(all, exponent))
        };
        let shape =
            layout.quantiser(channel).and_then(|quantiser| Shape::of_powers(quantiser, count, power, error));
        Ok(values.map(|values| Held { from, to, readings: count, values, ends, shape }))
    }
}

/// Returns the first and the last reading of a channel among some ticks of a window, off by at most an error. Where they are not known, as their
/// quantities were not wanted, the middle of the range stands for them.
fn ends(
    layout: &Layout,
    (input, error): (&Input, f64),
    ticks: &Range<u32>,
    channel: u16,
    (first, last): (Option<i64>, Option<i64>),
) -> Option<Ends> {
    let presence = input.window.presence(channel)?;
    let (mut there, period) = (presence.iter().filter(|tick| ticks.contains(tick)), input.window.period);
    let first_tick = there.next()?;
    let last_tick = there.last().unwrap_or(first_tick);
    let at = |tick: u32| period.at(input.window.start, tick);
    Some(Ends {
        first_at: at(first_tick),
        last_at: at(last_tick),
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
    let at = |input: &Input, tick: u32| input.window.period.at(input.window.start, tick);
    let from = inputs.iter().map(|input| at(input, ticks.start)).min();
    let to = inputs.iter().map(|input| at(input, ticks.end.min(input.window.ticks()))).max();
    (from.unwrap_or_default(), to.unwrap_or_default())
}
