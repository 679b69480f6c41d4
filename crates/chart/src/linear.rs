//! Linear scales with round ticks.

/// A scale from `low` to `high`, all round numbers, with ticks `step` apart.
///
/// Example: [`crate`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Linear {
    /// The value of the lowest tick.
    pub low: f64,
    /// The value of the highest tick.
    pub high: f64,
    /// The distance of ticks.
    pub step: f64,
    /// Number of steps from `low` to `high`.
    pub steps: usize,
}

impl Linear {
    /// Returns the narrowest scale that covers `low` … `high`, whose step is 1, 2 or 5 times a power of ten, with at
    /// most `most` ≥ 2 steps. An extent too narrow for `f64` is widened by a tenth of its size.
    pub fn round(low: f64, high: f64, most: usize) -> Self {
        let size = low.abs().max(high.abs()).min(1e300);
        let (low, high) = (low.max(-1e300), high.min(1e300));
        let (low, high) = if high - low > (1e-12 * size).max(1e-290) {
            (low, high)
        } else {
            let margin = if size > 1e-280 { size / 10.0 } else { 1.0 };
            (low - margin, high + margin)
        };
        let exponent = ((high - low) / most as f64).log10().floor() as i32;
        let fitting = (exponent..)
            .flat_map(|exponent| [1.0, 2.0, 5.0].map(|digit| times_ten(digit, exponent)))
            .find_map(|step| {
                // A quotient within rounding error of an integer counts as that integer.
                let near = |quotient: f64| (quotient - quotient.round()).abs() < 1e-9;
                let under = |value: f64| {
                    if near(value / step) { (value / step).round() } else { (value / step).floor() }
                };
                let first = under(low);
                let steps = -under(-high) - first;
                (steps <= most as f64).then_some(Self {
                    low: first * step,
                    high: (first + steps) * step,
                    step,
                    steps: steps as usize,
                })
            });
        fitting.unwrap_or(Self { low, high, step: high - low, steps: 1 })
    }

    /// Returns the ticks, both ends included.
    pub fn ticks(self) -> impl DoubleEndedIterator<Item = f64> {
        (0..=self.steps).map(move |at| self.low + (self.high - self.low) * at as f64 / self.steps as f64)
    }

    /// Returns the position of a value: 0 at `low`, 1 at `high`.
    pub fn part(self, value: f64) -> f64 {
        ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
    }

    /// Formats a tick with enough digits to tell it from its neighbours.
    pub fn label(self, tick: f64) -> String {
        let digit = self.step.log10();
        // 0.9999… counts as 1: the step is a round number.
        let digit = (digit + 1e-9).floor();
        let size = self.low.abs().max(self.high.abs());
        let tick = if tick.abs() < self.step / 2.0 { 0.0 } else { tick };
        if size >= 1e6 || digit < -4.0 {
            if tick == 0.0 {
                return "0".to_owned();
            }
            let digits = (tick.abs().log10() + 1e-9).floor() - digit;
            return format!("{tick:.*e}", digits.clamp(0.0, 15.0) as usize);
        }
        format!("{tick:.*}", (-digit).max(0.0) as usize)
    }
}

/// Returns `digit` · 10^`exponent`, rounded once if `exponent` ≥ −22.
fn times_ten(digit: f64, exponent: i32) -> f64 {
    if exponent < 0 { digit / 10f64.powi(-exponent) } else { digit * 10f64.powi(exponent) }
}

/// Returns the smallest and the largest number. None if there is no number.
pub fn extent(numbers: impl IntoIterator<Item = f64>) -> Option<(f64, f64)> {
    numbers.into_iter().fold(None, |extent, number| match extent {
        None => Some((number, number)),
        Some((low, high)) => Some((low.min(number), high.max(number))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(low: f64, high: f64) -> Vec<String> {
        let scale = Linear::round(low, high, 5);
        assert!(scale.steps <= 5);
        scale.ticks().map(|tick| scale.label(tick)).collect()
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(labels(3.1, 8.9), ["2", "4", "6", "8", "10"]);
        assert_eq!(labels(0.0, 1.0), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(-0.3, 0.3), ["-0.4", "-0.2", "0.0", "0.2", "0.4"]);
        assert_eq!(labels(2e6, 4e6), ["2.0e6", "2.5e6", "3.0e6", "3.5e6", "4.0e6"]);
        assert_eq!(labels(0.0, 3e-6), ["0", "1e-6", "2e-6", "3e-6"]);
    }

    #[test]
    fn a_point_gets_room() {
        assert_eq!(labels(5.0, 5.0), ["4.5", "5.0", "5.5"]);
        assert_eq!(labels(0.0, 0.0), ["-1.0", "-0.5", "0.0", "0.5", "1.0"]);
    }

    #[test]
    fn extreme_values_have_a_scale() {
        for (low, high) in
            [(f64::MIN, f64::MAX), (0.0, 5e-324), (1e300, 1e300), (1e15, 1e15 + 1.0), (-0.0, 0.0)]
        {
            let scale = Linear::round(low, high, 6);
            assert!(scale.low < scale.high && (1..=6).contains(&scale.steps), "{low} {high}: {scale:?}");
        }
    }
}
