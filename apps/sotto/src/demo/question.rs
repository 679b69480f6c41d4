//! The demo's questions, each with the formula that the clear value is computed by.

use sotto_owner::Range;
use sotto_owner::question::ExactScheme;

use super::input::{Input, Measured};

/// A question as it stands in `sotto.toml`.
#[derive(Clone, Debug)]
pub(super) struct Declared {
    pub(super) name: &'static str,
    pub(super) text: String,
    /// The scheme that it states, so that the demo shows both ways of exact results.
    pub(super) scheme: Option<ExactScheme>,
    pub(super) formula: Formula,
}

impl Declared {
    fn new(name: &'static str, text: String, formula: Formula) -> Self {
        Self { name, text, scheme: None, formula }
    }
}

/// The meaning of a question in the clear.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Formula {
    Mean(String),
    Deviation(String),
    Covariance(String, String),
    Correlation(String, String),
    /// A weighted mean with this half-life in milliseconds: a reading weighs half as much as one that is a half-life
    /// later.
    Recent(String, f64),
    /// The mean of a polynomial, lowest coefficient first.
    Curve(String, [f64; 3]),
}

/// Returns the questions about a source: about its first channel, and about the first two if it has two.
pub(super) fn declare(input: &Input) -> Vec<Declared> {
    let Some(Measured { name: x, channel, .. }) = input.channels.first() else { return Vec::new() };
    let (half_life, milliseconds) = half_life(input.span);
    let curve = curve(channel.range);
    let mut all = vec![
        Declared::new("level", format!("mean({x}) per device"), Formula::Mean(x.clone())),
        Declared {
            scheme: Some(ExactScheme::Bfv),
            ..Declared::new("spread", format!("stddev({x}) per device"), Formula::Deviation(x.clone()))
        },
        Declared::new("overall", format!("mean({x}) across devices"), Formula::Mean(x.clone())),
        Declared::new(
            "recent",
            format!("weighted_sum({x}, half_life {half_life}) across devices"),
            Formula::Recent(x.clone(), milliseconds),
        ),
        Declared::new(
            "curve",
            format!(
                "mean(polynomial({x}, [{}, {}, {}])) across devices",
                curve[0],
                curve[1],
                Decimal(curve[2])
            ),
            Formula::Curve(x.clone(), curve),
        ),
    ];
    if let Some(Measured { name: y, .. }) = input.channels.get(1) {
        // The generator's channels rise and fall together. A load may be constant, and then its correlation is
        // undefined.
        let (x, y) = (x.clone(), y.clone());
        let (function, formula) = if input.source == "generator" {
            ("correlation", Formula::Correlation(x.clone(), y.clone()))
        } else {
            ("covariance", Formula::Covariance(x.clone(), y.clone()))
        };
        let text = format!("{function}({x}, {y}) across devices");
        all.insert(3, Declared::new("together", text, formula));
    }
    all
}

/// A small number in the notation of the question language.
struct Decimal(f64);

impl std::fmt::Display for Decimal {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0.abs() < 1e-5 { write!(out, "{:e}", self.0) } else { write!(out, "{}", self.0) }
    }
}

/// Returns a quarter of the time, as text in a whole number of one unit and in milliseconds.
fn half_life(span: i64) -> (String, f64) {
    let seconds = (span / 4000).max(1);
    let units = [(86_400, 'd'), (3600, 'h'), (60, 'm'), (1, 's')];
    let (unit, letter) = units.into_iter().find(|(unit, _)| seconds >= *unit).unwrap_or((1, 's'));
    let count = seconds / unit;
    (format!("{count}{letter}"), (1000 * count * unit) as f64)
}

/// Returns the coefficients of a calibration curve, whose square adds at most a tenth of the largest reading.
fn curve(range: Range) -> [f64; 3] {
    let largest = range.minimum.abs().max(range.maximum.abs());
    let power = -(largest.log10().ceil() as i32) - 1;
    [0.5, 1.0, format!("1e{power}").parse().unwrap_or(0.0)]
}

impl Formula {
    /// Returns the kind of the stream that answers the question: exact or real.
    pub(super) fn stream(&self) -> &'static str {
        if matches!(self, Self::Curve(..)) { "real" } else { "exact" }
    }

    /// Returns true if its answers are means or spreads of readings, which compare with the width of the readings.
    pub(super) fn is_in_units_of_readings(&self) -> bool {
        matches!(self, Self::Mean(_) | Self::Deviation(_) | Self::Recent(..))
    }

    /// Returns the first channel of the question.
    pub(super) fn channel(&self) -> &str {
        match self {
            Self::Mean(x)
            | Self::Deviation(x)
            | Self::Covariance(x, _)
            | Self::Correlation(x, _)
            | Self::Recent(x, _)
            | Self::Curve(x, _) => x,
        }
    }

    /// Returns the owner's steps after decoding.
    pub(super) fn after_decoding(&self) -> &'static [&'static str] {
        match self {
            Self::Mean(_) | Self::Covariance(..) | Self::Curve(..) => &["divide-by-count"],
            Self::Deviation(_) => &["divide-by-count", "square-root"],
            Self::Correlation(..) => &["divide-by-count", "square-root", "divide"],
            Self::Recent(..) => &["divide-by-weights"],
        }
    }

    /// Returns the width of the interval of possible answers.
    pub(super) fn range(&self, input: &Input) -> f64 {
        let range = |name: &str| {
            let measured = input.channels.iter().find(|measured| measured.name == name);
            measured.map_or(Range { minimum: 0.0, maximum: 0.0 }, |measured| measured.channel.range)
        };
        let width = |name: &str| range(name).maximum - range(name).minimum;
        match self {
            Self::Mean(x) | Self::Recent(x, _) => width(x),
            Self::Deviation(x) => width(x) / 2.0,
            Self::Covariance(x, y) => width(x) * width(y) / 2.0,
            Self::Correlation(..) => 2.0,
            Self::Curve(x, c) => {
                let Range { minimum, .. } = range(x);
                let at = |i: i32| minimum + width(x) * f64::from(i) / 100.0;
                let values = (0..=100).map(|i| c[0] + at(i) * (c[1] + at(i) * c[2]));
                let (low, high) = values.fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(v), h.max(v)));
                high - low
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_lives_are_whole() {
        assert_eq!(half_life(4800), ("1s".into(), 1000.0));
        assert_eq!(half_life(7 * 86_400_000), ("1d".into(), 86_400_000.0));
        assert_eq!(half_life(86_400_000), ("6h".into(), 21_600_000.0));
    }

    #[test]
    fn curves_bend_a_little() {
        let of = |minimum, maximum| curve(Range { minimum, maximum })[2];
        assert_eq!((of(0.0, 100.0), of(-20.0, 60.0), of(0.0, 5e6)), (1e-3, 1e-3, 1e-8));
    }
}
