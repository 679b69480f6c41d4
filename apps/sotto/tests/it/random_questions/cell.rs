//! The readings in the clear that a call is about in a row.

use super::clock::Clock;
use super::house::{CHANNELS, DEVICES, House, Reading};
use super::language::{By, Position};

/// The time of a row, and the devices that a call is about in it.
pub(crate) struct Cell<'c> {
    pub(crate) house: &'c House,
    pub(crate) clock: &'c Clock<'c>,
    pub(crate) from: i64,
    pub(crate) to: i64,
    /// The time of the question, which windows are cut to.
    pub(crate) limits: (i64, i64),
    /// The time from which on a reading may be the one before another.
    pub(crate) first: i64,
    /// True for readings that count, by the conditions and the recurring group.
    pub(crate) counts: &'c dyn Fn(i64) -> bool,
    pub(crate) devices: &'c [Position],
    /// True if the question has a tariff, whose prices divide windows.
    pub(crate) by_price: bool,
}

impl Cell<'_> {
    /// Returns the readings of a device's channel that count.
    pub(crate) fn of_device(&self, device: Position, channel: Position) -> Vec<Reading> {
        let (from, to) = (self.from.max(self.limits.0), self.to.min(self.limits.1));
        let all = self.house.readings(device, channel, from, to);
        all.iter().filter(|reading| (self.counts)(reading.at)).copied().collect()
    }

    /// Returns the devices of the cell that measure all these channels.
    pub(super) fn measuring(&self, channels: &[Position]) -> Vec<Position> {
        let measures = |device: &Position| channels.iter().all(|x| DEVICES[*device].channels.contains(x));
        self.devices.iter().copied().filter(measures).collect()
    }

    /// Returns the readings that count, device by device.
    pub(super) fn by_device(&self, channel: Position) -> Vec<Vec<Reading>> {
        self.measuring(&[channel]).into_iter().map(|device| self.of_device(device, channel)).collect()
    }

    pub(crate) fn all(&self, channel: Position) -> Vec<Reading> {
        self.by_device(channel).concat()
    }

    /// Returns the number of readings that bounds count as rounded: in each part of a window no more than the window has, and no
    /// more than the part has readings. Conditions, groups that recur and prices divide windows.
    pub(super) fn rounded(&self, channel: Position) -> f64 {
        let (period, mut total) = (CHANNELS[channel].period, 0);
        for device in self.measuring(&[channel]) {
            let own = self.of_device(device, channel);
            let follows = |one: &Reading, other: &Reading| {
                let between = (one.at..other.at).step_by(period as usize);
                let is_priced = self.by_price && self.clock.is_night(one.at) != self.clock.is_night(other.at);
                self.clock.group(By::Day, one.at) == self.clock.group(By::Day, other.at)
                    && !is_priced
                    && between.into_iter().all(|at| (self.counts)(at))
            };
            for part in own.chunk_by(follows) {
                let (from, to) = self.clock.group(By::Day, part[0].at);
                let of_window = self.house.readings(device, channel, from, to);
                total += part.len().min(of_window.iter().filter(|reading| reading.is_off()).count());
            }
        }
        total as f64
    }

    /// Returns the pairs of readings of one time, device by device.
    pub(super) fn pairs(&self, x: Position, y: Position) -> Vec<(Reading, Reading)> {
        let mut pairs = Vec::new();
        for device in self.measuring(&[x, y]) {
            let (one, other) = (self.of_device(device, x), self.of_device(device, y));
            pairs.extend(at_one_time(&one, &other));
        }
        pairs
    }

    /// Returns the number of ticks of a channel from each device's first window to its last.
    pub(crate) fn expected(&self, channel: Position) -> f64 {
        let period = CHANNELS[channel].period;
        let of_device = |device: Position| {
            let (first, last) = self.house.span(device);
            let (from, to) = (self.from.max(self.limits.0).max(first), self.to.min(self.limits.1).min(last));
            let first_tick = from + (-from).rem_euclid(period);
            (first_tick..to.max(first_tick)).step_by(period as usize).filter(|at| (self.counts)(*at)).count()
        };
        self.measuring(&[channel]).into_iter().map(of_device).sum::<usize>() as f64
    }

    /// Returns pairs of two devices: each reading of the longer period, and the mean of the other's readings in it.
    pub(super) fn of_two(&self, [x, y]: [(Position, Position); 2]) -> Vec<(Reading, Reading)> {
        let [one, other] = [x, y].map(|(channel, device)| self.of_device(device, channel));
        let [period_x, period_y] = [x.0, y.0].map(|channel| CHANNELS[channel].period);
        let means = |fine: &[Reading], coarse: &[Reading], period: i64| -> Vec<(Reading, Reading)> {
            let of = |reading: &Reading| {
                let inside = |other: &&Reading| (reading.at..reading.at + period).contains(&other.at);
                let own: Vec<&Reading> = fine.iter().filter(inside).collect();
                let mean =
                    |of: fn(&Reading) -> f64| own.iter().map(|x| of(x)).sum::<f64>() / own.len() as f64;
                let mean = Reading { at: reading.at, value: mean(|x| x.value), rounded: mean(|x| x.rounded) };
                (!own.is_empty()).then_some((mean, *reading))
            };
            coarse.iter().filter_map(of).collect()
        };
        match period_x.cmp(&period_y) {
            std::cmp::Ordering::Equal => at_one_time(&one, &other),
            std::cmp::Ordering::Less => means(&one, &other, period_y),
            std::cmp::Ordering::Greater => {
                means(&other, &one, period_x).into_iter().map(|(x, y)| (y, x)).collect()
            }
        }
    }
}

fn at_one_time(one: &[Reading], other: &[Reading]) -> Vec<(Reading, Reading)> {
    let of = |x: &Reading| {
        let at = other.partition_point(|y| y.at < x.at);
        other.get(at).filter(|y| y.at == x.at).map(|y| (*x, *y))
    };
    one.iter().filter_map(of).collect()
}
