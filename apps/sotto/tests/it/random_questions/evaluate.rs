//! The values of results in a row.

use super::cell::Cell;
use super::house::{CHANNELS, DAY_PRICE, HOUR, NIGHT_PRICE, QUARTER};
use super::interpreter::{Asked, OfRows, Time, measures};
use super::language::{Along, Call, Earlier, Expression, Position, Selected};
use super::truth::{Outcome, Truth};
use super::units;

impl Asked<'_> {
    pub(super) fn outcomes(
        &self,
        selected: &Selected,
        at: usize,
        subject: Option<&'static str>,
    ) -> Vec<Outcome> {
        if let Expression::Call(call, scope) = &selected.of
            && call.is_vector()
        {
            let of = OfRows { call, scope: *scope, subject };
            return self.in_cell(of, self.times[at], |cell| cell.values(call));
        }
        let outcome = self.evaluate(&selected.of, at, subject);
        vec![match selected.unit {
            None => outcome,
            Some(unit) => {
                let (factor, add) = units::conversion(&selected.of, unit).unwrap_or((1.0, 0.0));
                outcome.map(|truth| truth.scaled(factor, add))
            }
        }]
    }

    fn evaluate(&self, expression: &Expression, at: usize, subject: Option<&'static str>) -> Outcome {
        match expression {
            Expression::Number(number) => Truth::exact(*number).into(),
            Expression::Negate(of) => self.evaluate(of, at, subject).map(|truth| truth.scaled(-1.0, 0.0)),
            Expression::Two(sign, left, right) => {
                let right = self.evaluate(right, at, subject);
                self.evaluate(left, at, subject).with(*sign, &right)
            }
            Expression::Call(call, scope) => self.call(OfRows { call, scope: *scope, subject }, at),
            Expression::Along(along, call, scope) => {
                self.along(*along, OfRows { call, scope: *scope, subject }, at)
            }
            Expression::Offset(call, scope, earlier) => {
                self.offset(OfRows { call, scope: *scope, subject }, *earlier, at)
            }
            Expression::Tariff(call, scope) => {
                let of = OfRows { call, scope: *scope, subject };
                self.in_cell(of, self.times[at], |cell| cost(cell, call))
            }
        }
    }

    fn call(&self, of: OfRows<'_>, at: usize) -> Outcome {
        let Call::MovingAverage(x, groups) = of.call else {
            return self.in_cell(of, self.times[at], |cell| cell.value(of.call));
        };
        let Some(first) = (at + 1).checked_sub(*groups) else { return Outcome::default() };
        let readings =
            (first..=at).flat_map(|group| self.in_cell(of, self.times[group], |cell| cell.all(*x)));
        let values: Vec<f64> = readings.map(|reading| reading.value).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        (!values.is_empty()).then(|| Truth::within(mean, CHANNELS[*x].resolution / 2.0)).into()
    }

    fn along(&self, along: Along, of: OfRows<'_>, at: usize) -> Outcome {
        let own = self.call(of, at);
        if own.is_empty() {
            return own;
        }
        let upto =
            || (self.hidden..=at).map(|group| (group, self.call(of, group))).filter(|(_, of)| !of.is_empty());
        match along {
            Along::Cumulative => {
                upto().map(|(_, of)| of).reduce(|sum, of| sum.with('+', &of)).unwrap_or_default()
            }
            Along::Difference => match at.checked_sub(1) {
                Some(before) => own.with('-', &self.call(of, before)),
                None => Outcome::default(),
            },
            Along::Rate => {
                let spans = self.members(of).into_iter().map(|device| self.interpreter.house.span(device));
                let Some((first, last)) = spans.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))) else {
                    return own;
                };
                let Time { from, to, limits, .. } = self.times[at];
                let (from, to) = (from.max(first).max(limits.0), to.min(last).min(limits.1));
                let covered = (from..to).step_by(QUARTER as usize);
                let holds = |at: &i64| self.interpreter.clock.holds(&self.question.conditions, *at);
                let seconds =
                    covered.filter(holds).map(|at| (to - at).min(QUARTER)).sum::<i64>() as f64 / 1000.0;
                if seconds <= 0.0 {
                    Outcome::default()
                } else {
                    own.map(|truth| truth.scaled(1.0 / seconds, 0.0))
                }
            }
            Along::Alpha(_) | Along::HalfLife(_) => {
                let weight = |group: usize| match along {
                    Along::Alpha(alpha) => (1.0 - alpha).powi((at - group) as i32),
                    Along::HalfLife(hours) => (-((self.times[at].from - self.times[group].from) as f64)
                        / (f64::from(hours) * HOUR as f64))
                        .exp2(),
                    _ => 1.0,
                };
                let upto = || upto().filter(|(group, _)| weight(*group) > 0.0);
                let total: f64 = upto().map(|(group, _)| weight(group)).sum();
                let of =
                    |(group, of): (usize, Outcome)| of.map(|truth| truth.scaled(weight(group) / total, 0.0));
                upto().map(of).reduce(|sum, of| sum.with('+', &of)).unwrap_or_default()
            }
        }
    }

    /// Returns the value in an earlier group. The part that the time of the answer cuts off is cut off there, too.
    fn offset(&self, of: OfRows<'_>, earlier: Earlier, at: usize) -> Outcome {
        let Some(ends) = self.earlier(earlier, at) else { return Outcome::default() };
        let (time, clock) = (self.times[at], self.interpreter.clock);
        let counts = |at: i64| clock.holds(&self.question.conditions, at);
        if !(ends.0..ends.1).step_by(QUARTER as usize).any(counts) {
            return Outcome::default();
        }
        // A device with windows in the row needs windows of the whole earlier time, but for a tick at each end.
        let period = of.call.channels().iter().map(|x| CHANNELS[*x].period).max().unwrap_or_default();
        let lacks = |device: &Position| {
            let (from, to) = self.interpreter.house.span(*device);
            let (now_from, now_to) =
                (time.from.max(time.limits.0).max(from), time.to.min(time.limits.1).min(to));
            measures(of.call, *device)
                && now_from < now_to
                && (from > ends.0 + period || to < ends.1 - period)
        };
        if self.members(of).iter().any(lacks) {
            return Outcome::default();
        }
        let then = Time { from: ends.0, to: ends.1, limits: ends, first: i64::MIN, recurs: None };
        self.in_cell(of, then, |cell| cell.value(of.call))
    }

    /// Returns the earlier time of a row; None if there is none.
    fn earlier(&self, earlier: Earlier, at: usize) -> Option<(i64, i64)> {
        let (clock, time) = (self.interpreter.clock, self.times[at]);
        let ends = match self.question.by {
            None => match earlier {
                Earlier::Previous => (clock.before(self.limits), self.limits.0),
                earlier => (clock.back(self.limits.0, earlier), clock.back(self.limits.1, earlier)),
            },
            Some(by) => {
                let group = clock.earlier_group(by, (time.from, time.to), earlier)?;
                let is_cut = |at: i64| time.from < at && at < time.to;
                let there = |at: i64, otherwise: i64| match is_cut(at) {
                    true => clock.place(at, earlier, (time.from, time.to), group),
                    false => otherwise,
                };
                let (from, to) = (there(self.limits.0, group.0), there(self.limits.1, group.1));
                (from.max(group.0), to.min(group.1))
            }
        };
        (ends.0 < ends.1).then_some(ends)
    }
}

/// Returns the cost of the energy or the increase of a cell, in kWh at the price of the hour.
fn cost(cell: &Cell<'_>, call: &Call) -> Outcome {
    let price = |at: i64| if cell.clock.is_night(at) { NIGHT_PRICE } else { DAY_PRICE };
    let Call::Of("energy", x) = call else {
        // An increase over a change of the price costs something between both.
        return cell.cost_of_increase(call.channels()[0], &|ticks| {
            let prices = || ticks.iter().map(|at| price(*at));
            [prices().fold(f64::MAX, f64::min), prices().fold(f64::MIN, f64::max)]
        });
    };
    let all = cell.all(*x);
    let hours = CHANNELS[*x].period as f64 / HOUR as f64;
    let sum = all.iter().map(|reading| reading.value * hours / 1000.0 * price(reading.at)).sum();
    (!all.is_empty()).then_some(Truth::within(sum, f64::INFINITY)).into()
}
