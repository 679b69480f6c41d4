//! Numbers with a bound and a unit, for arithmetic after decryption.

use crate::units::Conversion;

/// A number with a bound on its error.
///
/// ```
/// use sotto_owner::value::{Value, ValueError};
///
/// let of_unit = |value, unit: &str| Value { value, bound: 0.05, unit: unit.into() };
/// let rise = of_unit(71.0, "°C").plus(&of_unit(-4.0, "°C"))?;
/// assert_eq!((rise.value, rise.unit.as_str()), (67.0, "°C"));
/// assert!((rise.bound - 0.1).abs() < 1e-9);
/// let refused = of_unit(71.0, "°C").plus(&of_unit(3.0, "kW"));
/// assert!(matches!(refused, Err(ValueError::Units { .. })));
/// # Ok::<(), ValueError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// The number.
    pub value: f64,
    /// The largest possible distance of the true number; not negative.
    pub bound: f64,
    /// The unit; empty for a number without one.
    pub unit: String,
}

/// The reason why two results cannot be combined.
///
/// Example: [`Value`]
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ValueError {
    /// A sum or difference of different units.
    #[error("{left} and {right} cannot be added: their units differ")]
    Units {
        /// The first unit.
        left: String,
        /// The second unit.
        right: String,
    },
    /// A quotient whose divisor may be zero, or another value that cannot be determined.
    #[error("{0}")]
    Undetermined(&'static str),
    /// A value of an earlier group that does not exist, or is incomplete.
    #[error("{0}")]
    Earlier(String),
}

impl ValueError {
    /// The value of no readings.
    pub(crate) const NO_READING: Self = Self::Undetermined("there is no reading");
}

/// Relative rounding error of one operation in f64.
const ROUNDING: f64 = 4.0 * f64::EPSILON;

impl Value {
    /// Returns an exact number without a unit.
    #[must_use]
    pub fn exact(value: f64) -> Self {
        Self { value, bound: 0.0, unit: String::new() }
    }

    fn new(value: f64, bound: f64, unit: String) -> Self {
        Self { value, bound: bound + ROUNDING * value.abs(), unit }
    }

    /// Returns the smallest and the largest possible value.
    #[must_use]
    pub fn ends(&self) -> (f64, f64) {
        (self.value - self.bound, self.value + self.bound)
    }

    /// Returns −a.
    #[must_use]
    pub fn negated(self) -> Self {
        Self { value: -self.value, ..self }
    }

    /// Returns a + b. The units must be equal; a number without a unit combines with any unit.
    ///
    /// # Errors
    /// [`ValueError::Units`] if the units differ.
    pub fn plus(self, other: &Self) -> Result<Self, ValueError> {
        let unit = common(&self.unit, &other.unit)?;
        Ok(Self::new(self.value + other.value, self.bound + other.bound, unit))
    }

    /// Returns a · b.
    #[must_use]
    pub fn times(self, other: &Self) -> Self {
        let bound =
            self.value.abs() * other.bound + other.value.abs() * self.bound + self.bound * other.bound;
        Self::new(self.value * other.value, bound, product(&self.unit, &other.unit))
    }

    /// Returns a / b.
    ///
    /// # Errors
    /// [`ValueError::Undetermined`] if b may be zero.
    pub fn over(self, other: &Self) -> Result<Self, ValueError> {
        let (low, high) = other.ends();
        if low <= 0.0 && high >= 0.0 {
            return Err(ValueError::Undetermined("the divisor may be zero"));
        }
        let Bounded { value, bound } = quotient(self.bounded(), other.bounded());
        let unit = ratio(&self.unit, &other.unit);
        // A division without a remainder is exact.
        let is_exact = bound == 0.0 && (-value).mul_add(other.value, self.value) == 0.0;
        Ok(if is_exact { Self { value, bound, unit } } else { Self::new(value, bound, unit) })
    }

    /// Returns the value in another unit.
    pub(crate) fn converted(self, by: Conversion, unit: &str) -> Self {
        let Conversion { factor, add } = by;
        let unit = unit.to_owned();
        if factor == 1.0 && add == 0.0 {
            return Self { unit, ..self };
        }
        let value = self.value * factor + add;
        // A value that is exact but for the last digits stays so.
        let rounding =
            if self.bound == 0.0 { 0.0 } else { ROUNDING * ((self.value * factor).abs() + add.abs()) };
        Self { value, bound: self.bound * factor.abs() + rounding, unit }
    }

    /// Returns the value as a number.
    pub(crate) fn bare(self) -> Self {
        Self { unit: String::new(), ..self }
    }

    /// Returns the value without its unit.
    pub(crate) fn bounded(&self) -> Bounded {
        Bounded { value: self.value, bound: self.bound }
    }
}

/// A number and a bound on its error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bounded {
    pub(crate) value: f64,
    pub(crate) bound: f64,
}

/// Returns a / b and its bound, for intervals of which the second does not contain zero: the largest distance to the
/// four corners.
pub(crate) fn quotient(a: Bounded, b: Bounded) -> Bounded {
    let value = a.value / b.value;
    let ends = [a.value - a.bound, a.value + a.bound].into_iter();
    let corners = ends.flat_map(|end| [end / (b.value - b.bound), end / (b.value + b.bound)]);
    let bound = corners.map(|corner| (corner - value).abs()).fold(0.0, f64::max);
    Bounded { value, bound }
}

/// Returns the unit of a sum.
///
/// # Errors
/// [`ValueError::Units`] if both have a unit and these differ.
pub fn common(left: &str, right: &str) -> Result<String, ValueError> {
    match (left, right) {
        (unit, "") | ("", unit) => Ok(unit.to_owned()),
        (a, b) if a == b => Ok(a.to_owned()),
        (a, b) => Err(ValueError::Units { left: a.to_owned(), right: b.to_owned() }),
    }
}

/// Returns `unit²`, or `(unit)²` if the unit is compound.
#[must_use]
pub fn squared(unit: &str) -> String {
    let compound = unit.contains(['/', '·', ' ', '²']);
    match unit {
        "" => String::new(),
        unit if compound => format!("({unit})²"),
        unit => format!("{unit}²"),
    }
}

/// Returns the unit of a product: `W·h`, `W·h/m²`.
#[must_use]
pub fn product(left: &str, right: &str) -> String {
    match (left, right) {
        (unit, "") | ("", unit) => unit.to_owned(),
        (a, b) if a == b => squared(a),
        // A factor after a division could be understood as below the line.
        (a, b) => {
            let b = if has(b, &['/']) { format!("({b})") } else { b.to_owned() };
            let divided = a.match_indices('/').find(|(at, _)| !inside(a, *at));
            match divided.map(|(at, _)| a.split_at(at)) {
                Some((above, below)) => format!("{above}·{b}{below}"),
                None => format!("{a}·{b}"),
            }
        }
    }
}

/// Returns true if a character of a unit stands inside parentheses.
fn inside(unit: &str, at: usize) -> bool {
    unit[..at].matches('(').count() > unit[..at].matches(')').count()
}

/// Returns true if a unit has one of these signs outside of parentheses.
fn has(unit: &str, signs: &[char]) -> bool {
    unit.match_indices(signs).any(|(at, _)| !inside(unit, at))
}

/// Returns the unit of a quotient.
#[must_use]
pub fn ratio(left: &str, right: &str) -> String {
    let whole = |unit: &str| if has(unit, &['/', '·']) { format!("({unit})") } else { unit.to_owned() };
    match (left, right) {
        (a, "") => a.to_owned(),
        (a, b) if a == b => String::new(),
        ("", b) => format!("1/{}", whole(b)),
        (a, b) if has(a, &['/']) => format!("({a})/{}", whole(b)),
        (a, b) => format!("{a}/{}", whole(b)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(value: f64, bound: f64) -> Value {
        Value { value, bound, unit: String::new() }
    }

    proptest! {
        #[test]
        fn every_combination_stays_within_its_bound(
            a in -1e3..1e3f64, b in -1e3..1e3f64, da in 0.0..1.0f64, db in 0.0..1.0f64,
            ta in -1.0..1.0f64, tb in -1.0..1.0f64,
        ) {
            let (x, y) = (of(a, da), of(b, db));
            let (true_a, true_b) = (a + ta * da, b + tb * db);
            let within = |found: &Value, truth: f64| (found.value - truth).abs() <= found.bound + 1e-9;
            prop_assert!(within(&x.clone().plus(&y).expect("one unit"), true_a + true_b));
            prop_assert!(within(&x.clone().times(&y), true_a * true_b));
            if let Ok(quotient) = x.over(&y) {
                let truth = true_a / true_b;
                prop_assert!((quotient.value - truth).abs() <= quotient.bound * (1.0 + 1e-9) + 1e-9);
            } else {
                prop_assert!(b.abs() <= db);
            }
        }
    }

    #[test]
    fn a_division_without_a_remainder_is_exact() {
        let over = |a: f64, b: f64| of(a, 0.0).over(&of(b, 0.0)).expect("no zero");
        for (a, b) in [(12.0, 12.0), (6.0, 12.0), (0.0, 7.0), (-9.0, 4.0)] {
            assert_eq!(over(a, b).ends(), (a / b, a / b));
        }
        let third = over(1.0, 3.0);
        assert!(third.bound > 0.0 && third.bound < 1e-15);
        assert!(of(6.0, 0.5).over(&of(12.0, 0.0)).expect("no zero").bound > 0.04);
    }

    #[test]
    fn an_exact_value_stays_exact_in_another_unit() {
        let by = Conversion { factor: 0.001, add: 0.0 };
        let exact = Value { unit: "Wh".into(), ..of(1234.7, 0.0) }.converted(by, "kWh");
        assert_eq!((exact.bound, exact.unit.as_str()), (0.0, "kWh"));
        assert!(of(1234.7, 0.5).converted(by, "kWh").bound > 0.0005);
    }

    #[test]
    fn units_are_carried() {
        let celsius = Value { value: 2.0, bound: 0.0, unit: "°C".into() };
        let percent = Value { value: 3.0, bound: 0.0, unit: "%".into() };
        assert!(celsius.clone().plus(&percent).is_err());
        assert_eq!(celsius.clone().plus(&Value::exact(1.0)).expect("one unit").unit, "°C");
        assert_eq!(celsius.clone().times(&celsius).unit, "°C²");
        assert_eq!(celsius.over(&percent).expect("no zero").unit, "°C/%");
        assert_eq!(
            (squared("m/s"), product("a", "b"), product("", "b")),
            ("(m/s)²".into(), "a·b".into(), "b".into())
        );
        for (found, right) in [
            (product("W/m²", "h"), "W·h/m²"),
            (product("W/m²", "h/d"), "W·(h/d)/m²"),
            (product("(a/b)²", "h"), "(a/b)²·h"),
            (ratio("x", "(a/b)·c"), "x/((a/b)·c)"),
            (ratio("a/b", "c"), "(a/b)/c"),
            (ratio("a·b", "c"), "a·b/c"),
            (ratio("", "m·s"), "1/(m·s)"),
            (ratio("a", "(b/c)²"), "a/(b/c)²"),
        ] {
            assert_eq!(found, right);
        }
    }
}
