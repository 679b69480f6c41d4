//! Synthetic readings: a daily curve, noise, drift, anomalies.

use core::f64::consts::TAU;

use sotto_pack::{Channel, Period};

use super::{Row, Source, SourceError};

/// Ticks of a synthetic day: one every five minutes.
const DAY: f64 = 288.0;
/// The time of the first row: 2025-01-01 00:00 UTC. Times are synthetic too.
const START: i64 = 1_735_689_600_000;

/// Generates the readings of a room with a machine in it, without waiting. The same seed gives the same rows.
#[derive(Debug)]
pub struct Generator {
    channels: Vec<Channel>,
    seed: u64,
    random: SplitMix,
    period: Period,
    tick: u64,
    /// The drift of the temperature sensor so far.
    drift: f64,
    /// Remaining ticks of the current anomaly.
    anomaly: u32,
}

impl Generator {
    /// Creates a generator.
    #[must_use]
    pub fn new(seed: u64, period: Period) -> Self {
        let channel = |name: &str, unit: &str, minimum, maximum| Channel {
            name: name.to_owned(),
            unit: unit.to_owned(),
            minimum,
            maximum,
            resolution: None,
            ..Channel::default()
        };
        let channels = vec![
            channel("temperature", "°C", -20.0, 60.0),
            channel("humidity", "%", 0.0, 100.0),
            channel("vibration", "mm/s", 0.0, 50.0),
        ];
        Self { channels, seed, random: SplitMix(seed), period, tick: 0, drift: 0.0, anomaly: 0 }
    }
}

impl Source for Generator {
    fn channels(&self) -> &[Channel] {
        &self.channels
    }

    fn next_row(&mut self) -> Result<Row, SourceError> {
        let tick = self.tick;
        self.tick += 1;
        // Warmest in the afternoon, at 15:00.
        let sun = (TAU * (tick as f64 / DAY - 0.375)).sin();
        self.drift += 0.01 * self.random.normal();
        if self.anomaly > 0 {
            self.anomaly -= 1;
        } else if self.random.unit() < 1.0 / 150.0 {
            self.anomaly = 3 + (self.random.unit() * 6.0) as u32;
        }
        let fault = if self.anomaly > 0 { 1.0 } else { 0.0 };
        let values = [
            18.0 + 7.0 * sun + self.drift + 0.3 * self.random.normal() + 12.0 * fault,
            55.0 - 20.0 * sun + 1.5 * self.random.normal() - 15.0 * fault,
            2.0 + 0.6 * self.random.normal().abs() + (20.0 + 8.0 * self.random.unit()) * fault,
        ];
        // Like a sensor: rounded to hundredths, clamped to the declared range.
        let given = values.iter().zip(&self.channels).map(|(value, channel)| {
            Some(((value * 100.0).round() / 100.0).clamp(channel.minimum, channel.maximum))
        });
        let at = self.period.at(START, tick.cast_signed());
        Ok(Row::new(at, given.collect()))
    }

    fn paced(&self) -> bool {
        false
    }

    fn restart(&mut self) -> Result<(), SourceError> {
        *self = Self::new(self.seed, self.period);
        Ok(())
    }
}

/// SplitMix64 by Steele, Lea and Flood: fast, accepts any seed, and is not for secrets.
#[derive(Debug)]
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number in [0, 1).
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Returns an approximately normal number with mean 0 and standard deviation 1: the sum of twelve uniform ones,
    /// less 6.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.unit()).sum::<f64>() - 6.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(seed: u64, count: usize) -> Vec<Row> {
        let mut generator = Generator::new(seed, Period::from_milliseconds(1000));
        (0..count).map(|_| generator.next_row().unwrap()).collect()
    }

    #[test]
    fn a_seed_gives_the_same_rows_and_another_seed_others() {
        assert_eq!(rows(5, 600), rows(5, 600));
        assert_ne!(rows(5, 600), rows(6, 600));
        assert_eq!((rows(5, 3)[2].at, rows(5, 1)[0].at), (START + 2000, START));
    }

    #[test]
    fn rows_are_in_range_and_show_days_and_anomalies() {
        let channels = Generator::new(1, Period::from_milliseconds(1)).channels;
        let rows = rows(1, 20 * 288);
        for row in &rows {
            for (value, channel) in row.values.iter().zip(&channels) {
                assert!((channel.minimum..=channel.maximum).contains(&value.unwrap()), "{}", channel.name);
            }
        }
        let mean = |hour: usize| {
            let tick = hour * 12;
            let at = rows.iter().skip(tick).step_by(288).map(|row| row.values[0].unwrap());
            at.sum::<f64>() / 20.0
        };
        assert!(mean(15) > mean(3) + 8.0, "afternoons are warm");
        let shaken = rows.iter().filter(|row| row.values[2].unwrap() > 15.0).count();
        assert!((50..1000).contains(&shaken), "{shaken} anomalous rows");
    }
}
