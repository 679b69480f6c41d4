//! Sums with weights, of days, and of the steps from each reading to the next.

use super::cell::Cell;
use super::house::CHANNELS;
use super::language::{By, Position};
use super::truth::{Outcome, Truth};

impl Cell<'_> {
    /// Returns the value of `increase` and `changes`, which look at the reading before each.
    pub(super) fn follows(&self, function: &str, x: Position) -> Outcome {
        self.steps(function, x, &|_| [1.0, 1.0])
    }

    /// Returns the cost of an increase. `price` has the lowest and the highest price between two readings.
    pub(crate) fn cost_of_increase(&self, x: Position, price: &dyn Fn(&[i64]) -> [f64; 2]) -> Outcome {
        self.steps("increase", x, price)
    }

    /// Returns the sum of the steps from each reading to the next, times a factor between two ends.
    pub(super) fn steps(&self, function: &str, x: Position, factor: &dyn Fn(&[i64]) -> [f64; 2]) -> Outcome {
        let period = CHANNELS[x].period;
        let (mut low, mut high, mut count) = (0.0, 0.0, 0);
        for device in self.measuring(&[x]) {
            let all = self.house.readings(device, x, self.first, self.limits.1);
            let from = self.from.max(self.limits.0);
            let inside = |at: &i64| (from..self.to).contains(at) && (self.counts)(*at);
            count += all.iter().filter(|reading| inside(&reading.at)).count();
            for two in all.windows(2) {
                let (before, after) = (two[0], two[1]);
                // The tick after the earlier reading, up to that of the later one, may have brought it.
                let ticks: Vec<i64> = (before.at + period..=after.at).step_by(period as usize).collect();
                let mut own: Vec<i64> = ticks.iter().copied().filter(inside).collect();
                if own.is_empty() {
                    continue;
                }
                let is_whole = own.len() == ticks.len();
                own.extend(is_whole.then_some(before.at));
                let step = match function {
                    "changes" => {
                        let differs = (after.rounded - before.rounded).abs() > CHANNELS[x].resolution / 2.0;
                        f64::from(u8::from(differs))
                    }
                    // Every fall is a new beginning.
                    _ if after.rounded < before.rounded => after.value - CHANNELS[x].low,
                    _ => after.value - before.value,
                };
                let [least, most] = factor(&own);
                low += if is_whole { step * least } else { 0.0 };
                high += step * most;
            }
        }
        (count > 0).then_some(Truth { low, high, most: f64::INFINITY }).into()
    }

    pub(super) fn degree_days(&self, x: Position, below: bool, base: f64) -> Outcome {
        let (from, to) = (self.from.max(self.limits.0), self.to.min(self.limits.1));
        let (mut sum, mut days) = (Truth::exact(0.0), 0);
        for (day, next) in self.clock.groups(By::Day, (from, to)) {
            let of_day = Cell { from: day.max(from), to: next.min(to), ..*self };
            let all = of_day.all(x);
            let whole = (next - day) as f64 / CHANNELS[x].period as f64;
            let expected = of_day.expected(x).max(whole);
            if all.is_empty() || 4.0 * (all.len() as f64) < 3.0 * expected {
                continue;
            }
            days += 1;
            let mean = all.iter().map(|reading| reading.value).sum::<f64>() / all.len() as f64;
            let beyond = if below { base - mean } else { mean - base };
            let off = of_day.rounded(x) / all.len() as f64 * CHANNELS[x].resolution / 2.0;
            sum = sum.plus(Truth::within(beyond.max(0.0), 2.0 * off));
        }
        (days > 0).then_some(sum).into()
    }

    /// Returns the weighted sum with a weight for each equal part of the group, those of each sign by themselves.
    pub(super) fn weights(&self, x: Position, weights: &[f64]) -> Outcome {
        let period = CHANNELS[x].period;
        let ticks = (self.to - self.from + period - 1) / period;
        let part = ticks as f64 / weights.len() as f64;
        let share = |tick: i64, of: &[f64]| -> f64 {
            let covered = |j: usize| {
                let (from, to) = (j as f64 * part, (j + 1) as f64 * part);
                (to.min((tick + 1) as f64) - from.max(tick as f64)).max(0.0) / part
            };
            of.iter().enumerate().map(|(j, weight)| weight * covered(j)).sum()
        };
        let mut total = Truth::exact(0.0);
        for side in [f64::max, f64::min] {
            let own: Vec<f64> = weights.iter().map(|weight| side(*weight, 0.0)).collect();
            if own.iter().all(|weight| *weight == 0.0) {
                continue;
            }
            match self.weighted(x, ticks, &|tick| share(tick, &own)) {
                Some(value) => total = total.plus(Truth::within(value, 0.0)),
                None => return Outcome::default(),
            }
        }
        Truth::within(total.low, f64::INFINITY).into()
    }

    pub(super) fn half_life(&self, x: Position, life: i64) -> Outcome {
        let all = self.all(x);
        let last = all.iter().map(|reading| reading.at).max().unwrap_or_default();
        let (mut sum, mut there) = (0.0, 0.0);
        for reading in &all {
            let weight = (-((last - reading.at) as f64) / life as f64).exp2();
            sum += weight * reading.value;
            there += weight;
        }
        (there > 0.0).then(|| Truth::within(sum / there, f64::INFINITY)).into()
    }

    /// Returns total · Σ w·x / Σ w over the readings that are there.
    fn weighted(&self, x: Position, ticks: i64, weight: &dyn Fn(i64) -> f64) -> Option<f64> {
        let (mut sum, mut there) = (0.0, 0.0);
        for reading in self.all(x) {
            let own = weight((reading.at - self.from) / CHANNELS[x].period);
            sum += own * reading.value;
            there += own;
        }
        let total: f64 = (0..ticks).map(weight).sum();
        (there != 0.0).then(|| total * sum / there)
    }
}
