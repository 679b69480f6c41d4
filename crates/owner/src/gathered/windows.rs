//! Quantities that single windows hold, in order of time.

use sotto_pack::{ANGLE_STEPS, Angle, Increase, Period, Quantiser};

use super::between::Between;
use super::shape::Shape;
use super::window_quantity::WindowQuantity;
use crate::value::{Value, ValueError};

/// The quantities of one window of a device, or of those of its ticks that are in a group.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Held {
    /// The instant of its first tick, in milliseconds since 1970.
    pub(crate) from: i64,
    /// The end of its last tick.
    pub(crate) to: i64,
    /// The number of readings, at least 1.
    pub(crate) readings: u64,
    pub(crate) values: Vec<(WindowQuantity, Between)>,
    /// Its first and last reading; None if only counts by bin are known.
    pub(crate) ends: Option<Ends>,
    /// The shape of their distribution, if sums of their powers are wanted.
    pub(crate) shape: Option<Shape>,
}

/// The first and the last reading of a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ends {
    /// The instants of their ticks, in milliseconds since 1970.
    pub(crate) first_at: i64,
    pub(crate) last_at: i64,
    /// The readings as quantised numbers.
    pub(crate) first: i64,
    pub(crate) last: i64,
    /// The time between ticks.
    pub(crate) period: Period,
    pub(crate) quantiser: Quantiser,
    /// The largest distance of a reading of the window from the value that the device got.
    pub(crate) error: f64,
    /// The rule of increases.
    pub(crate) rule: Increase,
}

/// What lies between the last reading of a window and the first one of the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Crossing {
    pub(crate) increase: Between,
    /// 1 if the readings differ.
    pub(crate) changes: Between,
    /// The largest distance of both readings from the values that the device got.
    pub(crate) error: f64,
    /// The increase and the changes if the group has all of them.
    pub(crate) whole: (Between, Between),
    /// The positions of the groups of both readings, the smaller one first.
    pub(crate) groups: (usize, usize),
    /// True if the readings are of neighbouring ticks.
    pub(crate) is_next: bool,
}

impl Crossing {
    /// Returns true if both readings are in one group.
    pub(crate) fn is_inside(&self) -> bool {
        self.groups.0 == self.groups.1
    }

    fn new(increase: Between, changes: Between, error: f64) -> Self {
        Self { increase, changes, error, whole: (increase, changes), groups: (0, 0), is_next: true }
    }
}

impl Ends {
    /// Returns what lies between the last reading of a window and the first one of the next.
    pub(crate) fn crossing(&self, next: &Self) -> Crossing {
        // The ranges of both may differ, and their resolutions: then the last reading is rounded again.
        let last = self.quantiser.sum(1, self.last.into());
        let before =
            if self.quantiser == next.quantiser { Ok(self.last) } else { next.quantiser.quantise(last) };
        let step = next.quantiser.step();
        let is_same = self.quantiser == next.quantiser || next.quantiser.is_multiple(last);
        let again = if is_same { 0.0 } else { next.quantiser.value_error() };
        let (error, largest) = (self.error + next.error + again, self.error.max(next.error));
        // Both readings are ends of increases that are added, too: their rounding cancels out.
        let apart = f64::from(u8::from(self.quantiser != next.quantiser));
        let Ok(before) = before else {
            let most = step * next.rule.largest(1) as f64;
            let changes = Between { low: 0.0, high: 1.0, error: 0.0 };
            return Crossing::new(Between { low: 0.0, high: most, error }, changes, largest);
        };
        let ticks = self.ticks_to(next);
        let (increase, doubt) = next.rule.between(before, next.first, ticks);
        let falls = f64::from(u8::from(next.first < before));
        let grown = Between {
            low: next.quantiser.sum(0, increase.into()),
            high: next.quantiser.sum(0, (increase + doubt).into()),
            error: error * (apart + falls),
        };
        let changes = if again > 0.0 && before == next.first {
            Between { low: 0.0, high: 1.0, error: 0.0 }
        } else {
            Between::exactly(f64::from(u8::from(before != next.first)))
        };
        Crossing::new(grown, changes, largest)
    }

    /// Returns the ticks from its last reading to the first one of the next window, at least 1.
    pub(crate) fn ticks_to(&self, next: &Self) -> u32 {
        let apart = next.first_at.saturating_sub(self.last_at).max(0).unsigned_abs();
        u32::try_from(next.period.nearest_ticks(apart)).unwrap_or(u32::MAX).max(1)
    }
}

/// The quantities of a group's windows: for each device, those of its windows in order of time.
///
/// Windows of which only counts by bin are known are one entry, with the time from the first to the last.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Windows {
    devices: Vec<Vec<Held>>,
    /// What lies between windows, where the group has all of it or may have it.
    crossings: Vec<Crossing>,
    /// True if readings of one window lie between those of another: then neither tells how they follow each other.
    interleaved: bool,
}

impl Held {
    fn value(&self, quantity: WindowQuantity) -> Option<Between> {
        self.values.iter().find(|(held, _)| *held == quantity).map(|(_, value)| *value)
    }
}

impl Windows {
    /// Adds a window of the one device whose windows are added.
    pub(crate) fn add(&mut self, held: Held) {
        if self.devices.is_empty() {
            self.devices.push(Vec::new());
        }
        let of_device = &mut self.devices[0];
        let at = of_device.partition_point(|before| before.from <= held.from);
        of_device.insert(at, held);
    }

    /// Adds the windows of other devices.
    pub(crate) fn merge(&mut self, others: &Self) {
        self.devices.extend(others.devices.iter().cloned());
        self.crossings.extend(&others.crossings);
        self.interleaved |= others.interleaved;
    }

    /// Iterates over the windows of the one device whose windows were added, in order of time.
    pub(crate) fn of_device(&self) -> impl Iterator<Item = &Held> {
        self.devices.first().into_iter().flatten()
    }

    /// Iterates over what lies between windows.
    pub(crate) fn crossings(&self) -> impl Iterator<Item = &Crossing> {
        self.crossings.iter()
    }

    /// Joins what lies between windows in different parts of one row. Of a gap over several parts, the last one has it: all of it, if
    /// each part from the first to the last is one of the row, whose numbers `in_row` is true for. `at` is the number of this part.
    pub(crate) fn join_crossings(&mut self, at: usize, in_row: impl Fn(usize) -> bool) {
        self.crossings.retain_mut(|crossing| {
            let (first, last) = crossing.groups;
            if crossing.is_next || crossing.is_inside() {
                return true;
            }
            if (first..=last).all(&in_row) {
                (crossing.increase, crossing.changes) = crossing.whole;
            }
            !(at + 1..=last).any(&in_row)
        });
    }

    /// Leaves out what lies between windows of different groups.
    pub(crate) fn leave_out_crossings(&mut self) {
        self.crossings.retain(Crossing::is_inside);
    }

    /// Adds what lies between two windows.
    pub(crate) fn add_crossing(&mut self, crossing: Crossing) {
        self.crossings.push(crossing);
    }

    /// Notes that windows are interleaved.
    pub(crate) fn note_interleaved(&mut self) {
        self.interleaved = true;
    }

    /// Returns the increase of counters over all windows and what lies between them.
    ///
    /// # Errors
    /// [`ValueError`] if there is no window, or windows are interleaved.
    pub(crate) fn increase(&self, unit: &str) -> Result<Value, ValueError> {
        let of = |held: &Held| {
            let doubt = held.value(WindowQuantity::Doubt)?;
            let falls = held.value(WindowQuantity::Falls)?.high;
            let increase = held.value(WindowQuantity::Increase)?;
            // Both readings at each fall are rounded.
            let error = 2.0 * held.ends?.error * falls;
            Some(Between { low: increase.low, high: increase.high + doubt.high, error })
        };
        let total = self.total(of, |crossing| crossing.increase)?;
        let ends: f64 = self.devices.iter().map(|windows| self.error_of_ends(windows)).sum();
        Ok(Between { error: total.error + ends, ..total }.value(unit))
    }

    /// Returns the rounding of the first and the last reading of increases that follow each other, once for each
    /// quantiser. One reading has no increase. Either reading may be that of a window beside the group.
    fn error_of_ends(&self, windows: &[Held]) -> f64 {
        let quantiser = |held: &Held| held.ends.map(|ends| ends.quantiser);
        let of = |chain: &[Held]| {
            let grows = !self.crossings.is_empty() || chain.iter().any(|held| held.readings > 1);
            let quantiser = chain.first().and_then(quantiser).filter(|_| grows);
            let errors = chain.iter().filter_map(|held| held.ends).map(|ends| ends.error);
            let beside = self.crossings.iter().map(|crossing| crossing.error);
            quantiser.map_or(0.0, |_| 2.0 * errors.chain(beside).fold(0.0, f64::max))
        };
        windows.chunk_by(|before, next| quantiser(before) == quantiser(next)).map(of).sum()
    }

    /// Returns the number of readings that differ from the one before.
    ///
    /// # Errors
    /// [`ValueError`] if there is no window, or windows are interleaved.
    pub(crate) fn changes(&self) -> Result<Value, ValueError> {
        let of = |held: &Held| held.value(WindowQuantity::Changes);
        Ok(self.total(of, |crossing| crossing.changes)?.value(""))
    }

    fn total(
        &self,
        of: impl Fn(&Held) -> Option<Between>,
        between: impl Fn(&Crossing) -> Between,
    ) -> Result<Between, ValueError> {
        if self.interleaved {
            return Err(ValueError::Undetermined(
                "readings of one window lie between those of another, so that nobody knows how they follow each other",
            ));
        }
        let all = self.devices.iter().flatten().filter_map(of);
        let all = all.reduce(Between::plus).ok_or(ValueError::NO_READING)?;
        Ok(self.crossings.iter().map(between).fold(all, Between::plus))
    }

    /// Returns the mean direction, in the unit of a channel of angles.
    ///
    /// # Errors
    /// [`ValueError`] if there is no window, or the directions cancel out.
    pub(crate) fn direction(&self, unit: &str) -> Result<Value, ValueError> {
        let sum = |quantity| {
            self.devices.iter().flatten().filter_map(|held| held.value(quantity)).reduce(Between::plus)
        };
        let (cosine, sine) =
            sum(WindowQuantity::Cosine).zip(sum(WindowQuantity::Sine)).ok_or(ValueError::NO_READING)?;
        let readings = self.readings() as f64;
        let error = self.devices.iter().flatten().filter_map(|held| held.ends).map(|ends| ends.error);
        let (turn, error) = (Angle::turn(unit), error.fold(0.0, f64::max));
        let (x, y) = (cosine.low / readings, sine.low / readings);
        // Each reading is off by `error`, its cosine and sine by a step: so the mean of the vectors is within this.
        let off = std::f64::consts::TAU * error / turn + 2.0 / ANGLE_STEPS as f64;
        let length = x.hypot(y);
        if length <= off {
            return Err(ValueError::Undetermined("the directions cancel out"));
        }
        let value = (y.atan2(x) / std::f64::consts::TAU * turn).rem_euclid(turn);
        let bound = (off / length).asin() / std::f64::consts::TAU * turn;
        Ok(Value { value, bound, unit: unit.to_owned() })
    }

    /// Returns the skewness of the readings.
    ///
    /// # Errors
    /// [`ValueError`] if there are none, or they may be constant up to rounding.
    pub(crate) fn skewness(&self) -> Result<Value, ValueError> {
        self.shape().skewness()
    }

    /// Returns the kurtosis of the readings.
    ///
    /// # Errors
    /// [`ValueError`] if there are none, or they may be constant up to rounding.
    pub(crate) fn kurtosis(&self) -> Result<Value, ValueError> {
        self.shape().kurtosis()
    }

    fn shape(&self) -> Shape {
        let all = self.devices.iter().flatten().filter_map(|held| held.shape);
        all.fold(Shape::default(), |all, shape| all.merge(&shape))
    }

    /// Returns the number of readings in all windows.
    pub(crate) fn readings(&self) -> u64 {
        self.devices.iter().flatten().map(|held| held.readings).sum()
    }

    /// Returns the smallest value of a quantity over all windows.
    ///
    /// # Errors
    /// [`ValueError`] if there is no window.
    pub(crate) fn smallest(&self, quantity: WindowQuantity, unit: &str) -> Result<Value, ValueError> {
        self.extreme(quantity, f64::min, unit)
    }

    /// Returns the largest value of a quantity over all windows.
    ///
    /// # Errors
    /// [`ValueError`] if there is no window.
    pub(crate) fn largest(&self, quantity: WindowQuantity, unit: &str) -> Result<Value, ValueError> {
        self.extreme(quantity, f64::max, unit)
    }

    /// Both ends of the extreme are those of the ends, as an extreme is monotonic in each value.
    fn extreme(
        &self,
        quantity: WindowQuantity,
        of: fn(f64, f64) -> f64,
        unit: &str,
    ) -> Result<Value, ValueError> {
        let all = self.devices.iter().flatten().filter_map(|held| held.value(quantity));
        let all = all.reduce(|a, b| Between {
            low: of(a.low, b.low),
            high: of(a.high, b.high),
            error: a.error.max(b.error),
        });
        all.map(|all| all.value(unit)).ok_or(ValueError::NO_READING)
    }
}

#[cfg(test)]
mod tests {
    use sotto_pack::Counter;

    use super::*;

    fn held(from: i64, low: f64, high: f64) -> Held {
        let value = Between { low, high, error: 0.5 };
        Held {
            from,
            to: from + 10,
            readings: 3,
            values: vec![(WindowQuantity::Largest, value)],
            ends: None,
            shape: None,
        }
    }

    /// Values of whole steps are not always the nearest numbers to their decimals.
    #[test]
    fn what_lies_between_windows_is_exact_where_readings_are_multiples() {
        let quantiser =
            |minimum, maximum| Quantiser::with_resolution(minimum, maximum, 0.1).expect("a range");
        let (narrow, wider) = (quantiser(-20.0, 120.0), quantiser(-50.0, 130.0));
        let ends = |quantiser: Quantiser, reading: i64, at| Ends {
            first_at: at,
            last_at: at,
            first: reading,
            last: reading,
            period: Period::from_milliseconds(1000),
            quantiser,
            error: 0.0,
            rule: Increase::new(&Counter::default(), &quantiser),
        };
        for tenths in -200..=1200_i64 {
            // The middle of the range is 50.
            let (before, own) = (ends(narrow, tenths - 500, 0), tenths - 500);
            let same = before.crossing(&ends(narrow, own, 1000)).changes;
            assert_eq!(same, Between::exactly(0.0), "{tenths} tenths");
            let number = wider.quantise(tenths as f64 / 10.0).expect("in range");
            let other = before.crossing(&ends(wider, number, 1000)).changes;
            assert_eq!(other, Between::exactly(0.0), "{tenths} tenths in another range");
        }
    }

    #[test]
    fn the_largest_of_intervals_is_between_their_ends() {
        let mut all = Windows::default();
        // 12 exactly, and a bin from 8 to 16.
        all.add(held(20, 12.0, 12.0));
        all.add(held(0, 8.0, 16.0));
        let mut other = Windows::default();
        other.add(held(10, 2.0, 2.0));
        all.merge(&other);
        let largest = all.largest(WindowQuantity::Largest, "°C").expect("windows");
        assert!(largest.value == 14.0 && (largest.bound - 2.5).abs() < 1e-9, "12 to 16: {largest:?}");
        let smallest = all.smallest(WindowQuantity::Largest, "°C").expect("windows");
        assert_eq!((smallest.value, smallest.bound), (2.0, 0.5));
        assert!(all.largest(WindowQuantity::Least, "°C").is_err());
        let times: Vec<i64> = all.devices[0].iter().map(|held| held.from).collect();
        assert_eq!((times, all.devices.len(), all.readings()), (vec![0, 20], 2, 9));
    }
}
