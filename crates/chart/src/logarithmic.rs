//! Logarithmic scales.

use crate::linear::extent;

/// A logarithmic scale from `low` to `high`, both positive, with labelled ticks.
///
/// ```
/// use sotto_chart::Logarithmic;
///
/// let scale = Logarithmic::decades([30.0, 4000.0], |value| format!("{value} µs")).expect("positive values");
/// assert_eq!(scale.ticks[1], (100.0, "100 µs".to_owned()));
/// assert!((scale.part(100.0) - 1.0 / 3.0).abs() < 1e-12);
/// ```
#[derive(Clone, Debug)]
pub struct Logarithmic {
    /// The value at the low end.
    pub low: f64,
    /// The value at the high end.
    pub high: f64,
    /// Values and their labels.
    pub ticks: Vec<(f64, String)>,
}

impl Logarithmic {
    /// Returns a scale over the positive finite ones of these values, with a tick at every power of ten; with at most
    /// seven if there are many. None without such a value.
    pub fn decades(values: impl IntoIterator<Item = f64>, label: impl Fn(f64) -> String) -> Option<Self> {
        let (low, high) = positive(values)?;
        let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
        let last = last.max(first + 1);
        let step = ((last - first) as usize).div_ceil(6);
        let ticks = (first..=last).step_by(step).map(|power| 10f64.powi(power));
        let ticks = ticks.map(|value| (value, label(value))).collect();
        Some(Self { low: 10f64.powi(first), high: 10f64.powi(last), ticks })
    }

    /// Returns a scale over these values, with a tick at each of them. None without a positive finite one.
    pub fn at(values: &[f64], label: impl Fn(f64) -> String) -> Option<Self> {
        let (low, high) = positive(values.iter().copied())?;
        let ticks = values.iter().map(|value| (*value, label(*value))).collect();
        Some(Self { low: low / 1.2, high: high * 1.2, ticks })
    }

    /// Returns a scale without ticks for bars: from a quarter of the smallest positive value. None without one.
    pub fn bars(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let (low, high) = positive(values)?;
        Some(Self { low: low / 4.0, high: high * 1.05, ticks: Vec::new() })
    }

    /// Returns the position of a value: 0 at `low` and below, 1 at `high` and above.
    pub fn part(&self, value: f64) -> f64 {
        ((value / self.low).ln() / (self.high / self.low).ln()).clamp(0.0, 1.0)
    }
}

/// Returns the smallest and the largest of the positive finite values.
fn positive(values: impl IntoIterator<Item = f64>) -> Option<(f64, f64)> {
    extent(values.into_iter().filter(|value| value.is_finite() && *value > 0.0))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn an_axis_begins_and_ends_with_its_marks() {
        let axis = Logarithmic::decades([30.0, 4000.0], |v| v.to_string()).unwrap();
        assert_eq!((axis.low, axis.high, axis.ticks.len()), (10.0, 10_000.0, 4));
        assert!(axis.part(10.0).abs() < 1e-12 && (axis.part(10_000.0) - 1.0).abs() < 1e-12);
        assert!((axis.part(316.227_766) - 0.5).abs() < 1e-6, "logarithmic");
        let one = Logarithmic::decades([100.0], |v| v.to_string()).unwrap();
        assert_eq!((one.low, one.high), (100.0, 1000.0));
        assert!(Logarithmic::decades([0.0, f64::NAN], |v| v.to_string()).is_none());
        let wide = Logarithmic::decades([1e-3, 1e9], |v| v.to_string()).unwrap();
        assert!(wide.ticks.len() <= 7);
    }
}
