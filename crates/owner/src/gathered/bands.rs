//! The power of readings in bands of frequency.

use super::fourier::power;
use super::{OnLines, Readings};
use crate::value::{Value, ValueError};

/// Milliseconds of a day.
const DAY: f64 = 86_400_000.0;
/// The largest share of ticks that lines stand for.
const MOST_FILLED: f64 = 0.05;
/// The fewest ticks with a spectrum.
const FEWEST: usize = 4;

/// The power of one device's readings by band.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bands {
    /// The ends of the bands, in cycles a day, ascending.
    pub(crate) edges: Vec<f64>,
    /// The power in each band, without a unit. Its frequencies are from the first edge on, below the second; those of the last band
    /// include the last edge.
    pub(crate) power: Vec<Value>,
    /// Number of ticks without a reading.
    pub(crate) filled: u64,
}

impl Bands {
    /// Returns at most `most` bands: the first one from once in the time of the readings to twice, the next one to four times; the
    /// last one to once in two ticks.
    ///
    /// # Errors
    /// [`ValueError`] if there is no reading, of several devices or periods, or more than 5 % of the ticks have none.
    pub(crate) fn of(readings: &Readings, most: u32) -> Result<Self, ValueError> {
        let undetermined = |reason| Err(ValueError::Undetermined(reason));
        let lines = OnLines::of(readings, i64::MAX)?;
        let ticks = lines.values.len();
        if lines.between as f64 > MOST_FILLED * ticks as f64 {
            return undetermined(
                "more than 5 % of the ticks have no reading: ask for a time with fewer gaps",
            );
        }
        if ticks < FEWEST {
            return undetermined("a spectrum takes four readings or more: ask for a longer time");
        }
        let period = lines.values[0].period;
        let even = lines.values.windows(2).all(|two| two[1].at == two[0].until && two[1].period == period);
        if !even {
            return undetermined(
                "the readings are not one period apart: ask for a time without a break, and of one period",
            );
        }
        let series: Vec<f64> = lines.values.iter().map(|line| line.value).collect();
        // The root of the mean square of the readings' bounds.
        let off =
            (lines.values.iter().map(|line| line.bound * line.bound).sum::<f64>() / ticks as f64).sqrt();
        let spectrum = power(&series);
        let (highest, first) = (spectrum.len(), DAY / period.milliseconds_of(ticks as u64));
        let doublings = highest.ilog2() + 1;
        let bands = most.clamp(1, doublings);
        let mut edges: Vec<f64> = (0..bands).map(|band| f64::from(1u32 << band) * first).collect();
        edges.push(highest as f64 * first);
        let total: f64 = spectrum.iter().sum();
        let of = |band: u32| {
            let from = (1usize << band) - 1;
            let to = if band + 1 == bands { highest } else { (1usize << (band + 1)) - 1 };
            let value: f64 = spectrum[from..to].iter().sum();
            // |‖X + E‖² − ‖X‖²| ≤ 2‖X‖‖E‖ + ‖E‖², and ‖E‖ is at most that of all frequencies.
            let rounding = 1e-12 * total;
            Value { value, bound: 2.0 * value.sqrt() * off + off * off + rounding, unit: String::new() }
        };
        Ok(Self { edges, power: (0..bands).map(of).collect(), filled: lines.between })
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::TAU;

    use super::super::minutes;
    use super::*;

    fn wave(ticks: u32, cycles: f64) -> Readings {
        let value = |tick: u32| 50.0 + 20.0 * (TAU * cycles * f64::from(tick) / f64::from(ticks)).sin();
        let values: Vec<Option<f64>> =
            (0..ticks).map(|tick| Some(value(tick)).filter(|_| tick % 50 != 7)).collect();
        let mut readings = Readings::default();
        readings.add("a", minutes(0, &values));
        readings
    }

    #[test]
    fn a_wave_is_in_the_band_of_its_frequency() {
        // 5 cycles in a day of minutes: in the band from 4 to 8 a day.
        let found = Bands::of(&wave(1440, 5.0), 8).expect("a spectrum");
        assert_eq!((found.edges.len(), found.filled), (9, 29));
        let right = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 720.0];
        assert!(
            found.edges.iter().zip(right).all(|(edge, right)| (edge - right).abs() < 1e-9),
            "{:?}",
            found.edges
        );
        for (band, power) in found.power.iter().enumerate() {
            // Half of the square of the amplitude; lines and roundings to 0.5 take a little.
            let truth = if band == 2 { 200.0 } else { 0.0 };
            assert!((power.value - truth).abs() <= power.bound + 0.1, "{band}: {power:?}");
        }
        let total: f64 = found.power.iter().map(|power| power.value).sum();
        assert!((total - 200.0).abs() < 1.0, "{total}");
    }

    #[test]
    fn what_has_no_spectrum_says_why() {
        let reason = |readings: &Readings| Bands::of(readings, 8).unwrap_err().to_string();
        let mut few = Readings::default();
        few.add("a", minutes(0, &[Some(1.0), Some(2.0), Some(3.0)]));
        assert!(reason(&few).contains("four readings"));
        few.add("a", minutes(600_000, &[Some(1.0)]));
        assert!(reason(&few).contains("a break"), "times that are not asked for lie between them");
        let mut gaps = Readings::default();
        gaps.add("a", minutes(0, &[Some(1.0), None, Some(3.0), Some(1.0), Some(2.0)]));
        assert!(reason(&gaps).contains("5 %"));
        // As many bands as there are.
        assert_eq!(Bands::of(&wave(5, 1.0), 8).expect("a spectrum").power.len(), 2);
    }
}
