//! Units of results, read and converted: `in °F`, `in kWh/m²`.

mod table;

use table::Base;

/// What a unit measures: exponents of metre, kilogram, second, ampere, kelvin, candela, mole, radian and bit, and the reactive part
/// of power.
type Dimension = [i8; 10];

/// Largest nesting of parentheses in a unit.
const NESTING: usize = 4;

/// A unit: `value · factor + offset` is in the units of the dimension.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Unit {
    factor: f64,
    /// The zero of the unit; other than 0 for °C and °F alone.
    offset: f64,
    dimension: Dimension,
    /// True if a unit with a zero of its own is a part of it, as in °C·h.
    has_zero: bool,
}

/// What a value says about a unit with a zero of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scale {
    /// A point of the scale, as a mean is: 20 °C is 68 °F.
    Point,
    /// A difference of two points, as a deviation is: 20 °C are 36 °F.
    Difference,
    /// Neither, as a sum of temperatures is.
    Other,
}

/// The reason why a value cannot be converted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NotConverted {
    #[error("{0:?} is no unit that sotto converts: docs/concepts/questions.md#units lists them")]
    Unknown(String),
    #[error("{from} cannot be converted to {to}: they measure different things{}", meant(from, to))]
    Other { from: String, to: String },
    #[error("the result has no unit, and cannot be converted to {0}")]
    Plain(String),
    #[error(
        "{from} cannot be converted to {to}, whose zero is another one: that works for one mean, smallest or largest value, quantile, \
         deviation or difference of two of them"
    )]
    Zero { from: String, to: String },
}

/// Names the unit of temperature that was probably meant.
fn meant(from: &str, to: &str) -> String {
    match [from, to].into_iter().find(|unit| matches!(*unit, "C" | "F")) {
        Some(unit) => format!("; {unit} is a unit of electricity, a temperature is in °{unit}"),
        None => String::new(),
    }
}

/// A conversion from one unit to another: `value · factor + add`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Conversion {
    pub(crate) factor: f64,
    pub(crate) add: f64,
}

impl Conversion {
    /// Finds the conversion of a value on a scale.
    ///
    /// # Errors
    /// [`NotConverted`].
    pub(crate) fn between(from: &str, to: &str, scale: Scale) -> Result<Self, NotConverted> {
        if from == to {
            return Ok(Self { factor: 1.0, add: 0.0 });
        }
        let target = Unit::read(to).ok_or_else(|| NotConverted::Unknown(to.to_owned()))?;
        let source = Unit::read(from).ok_or_else(|| NotConverted::Unknown(from.to_owned()))?;
        let (from, to) = (from.to_owned(), to.to_owned());
        if source.dimension != target.dimension {
            return Err(if from.is_empty() {
                NotConverted::Plain(to)
            } else {
                NotConverted::Other { from, to }
            });
        }
        let factor = source.factor / target.factor;
        let is_temperature = source.dimension == table::KELVIN;
        match scale {
            Scale::Point if is_temperature => {
                let add = (source.offset - target.offset) / target.factor;
                Ok(Self { factor, add })
            }
            Scale::Difference => Ok(Self { factor, add: 0.0 }),
            _ if source.has_zero || target.has_zero => Err(NotConverted::Zero { from, to }),
            _ => Ok(Self { factor, add: 0.0 }),
        }
    }
}

impl Unit {
    const ONE: Self = Self { factor: 1.0, offset: 0.0, dimension: [0; 10], has_zero: false };

    /// Reads a unit: `kWh/m²`, `m3/h`, `W·h`, `(km/h)²`, `%`; empty for a number. Returns None if it is not known, or may be
    /// understood in two ways, as a/b·c.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let mut reader = Reader { rest: text.trim(), nesting: 0 };
        if reader.rest.is_empty() {
            return Some(Self::ONE);
        }
        let unit = reader.product()?;
        reader.rest.is_empty().then_some(unit)
    }

    fn times(self, other: Self, sign: i8) -> Option<Self> {
        let mut dimension = self.dimension;
        for (left, right) in dimension.iter_mut().zip(other.dimension) {
            *left = left.checked_add(right.checked_mul(sign)?)?;
        }
        let factor = if sign > 0 { self.factor * other.factor } else { self.factor / other.factor };
        // A product has no zero of its own: °C·h counts degrees.
        Some(Self { factor, offset: 0.0, dimension, has_zero: self.has_zero || other.has_zero })
    }

    fn to_the(self, power: i8) -> Option<Self> {
        if power == 1 {
            return Some(self);
        }
        let sign = power.signum();
        (0..power.unsigned_abs()).try_fold(Self::ONE, |product, _| product.times(self, sign))
    }
}

/// Reads a unit from left to right.
struct Reader<'t> {
    rest: &'t str,
    nesting: usize,
}

impl Reader<'_> {
    fn product(&mut self) -> Option<Unit> {
        let mut product = self.power()?;
        let mut divided = false;
        loop {
            self.rest = self.rest.trim_start();
            let mut characters = self.rest.chars();
            match characters.next() {
                // After a division another factor could stand above or below the line.
                Some('·' | '*' | '⋅') if !divided => {
                    self.rest = characters.as_str();
                    product = product.times(self.power()?, 1)?;
                }
                Some('/') if !divided => {
                    self.rest = characters.as_str();
                    product = product.times(self.power()?, -1)?;
                    divided = true;
                }
                _ => return Some(product),
            }
        }
    }

    fn power(&mut self) -> Option<Unit> {
        self.rest = self.rest.trim_start();
        let of = if let Some(rest) = self.rest.strip_prefix('(') {
            if self.nesting == NESTING {
                return None;
            }
            (self.rest, self.nesting) = (rest, self.nesting + 1);
            let inside = self.product()?;
            self.nesting -= 1;
            self.rest = self.rest.trim_start().strip_prefix(')')?;
            inside
        } else {
            self.atom()?
        };
        of.to_the(self.exponent())
    }

    fn atom(&mut self) -> Option<Unit> {
        let ends = |c: char| {
            matches!(c, '·' | '*' | '⋅' | '/' | '(' | ')' | '^' | '²' | '³' | '⁻') || c.is_whitespace()
        };
        let length = self.rest.find(ends).unwrap_or(self.rest.len());
        let word = &self.rest[..length];
        let (unit, read) = match table::named(word) {
            Some(unit) => (unit, word.len()),
            None => {
                // m3, ft2; mmH2O is a name.
                let letters = word.trim_end_matches(['2', '3']);
                (table::named(letters)?, letters.len())
            }
        };
        self.rest = &self.rest[read..];
        Some(unit)
    }

    fn exponent(&mut self) -> i8 {
        const WRITTEN: [(&str, i8); 12] = [
            ("^-1", -1),
            ("^-2", -2),
            ("^2", 2),
            ("^3", 3),
            ("⁻¹", -1),
            ("⁻²", -2),
            ("²", 2),
            ("³", 3),
            ("2", 2),
            ("3", 3),
            ("^1", 1),
            ("¹", 1),
        ];
        for (written, power) in WRITTEN {
            if let Some(rest) = self.rest.strip_prefix(written) {
                self.rest = rest;
                return power;
            }
        }
        1
    }
}

impl From<Base> for Unit {
    fn from(base: Base) -> Self {
        let Base { factor, offset, dimension } = base;
        Self { factor, offset, dimension, has_zero: offset != 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn converted(value: f64, from: &str, to: &str, scale: Scale) -> f64 {
        let Conversion { factor, add } =
            Conversion::between(from, to, scale).unwrap_or_else(|error| panic!("{from} to {to}: {error}"));
        value * factor + add
    }

    /// The right sides are from the definitions (BIPM, The SI Brochure, 9th edition; NIST SP 811, appendix B).
    #[test]
    fn values_are_those_of_the_definitions() {
        for (value, from, to, scale, right) in [
            (100.0, "°C", "°F", Scale::Point, 212.0),
            (-40.0, "°F", "°C", Scale::Point, -40.0),
            (0.0, "°C", "K", Scale::Point, 273.15),
            (10.0, "°C", "°F", Scale::Difference, 18.0),
            (25.0, "°C²", "°F²", Scale::Difference, 81.0),
            (1.0, "kW·h", "kWh", Scale::Other, 1.0),
            (3.6, "MJ", "kWh", Scale::Other, 1.0),
            (1000.0, "Wh/m²", "kWh/m2", Scale::Other, 1.0),
            (1500.0, "W·h/m²", "kWh/m²", Scale::Other, 1.5),
            (36.0, "km/h", "m/s", Scale::Point, 10.0),
            (1.0, "(m/s)²", "(km/h)²", Scale::Other, 12.96),
            (1.0, "in", "mm", Scale::Other, 25.4),
            (1.0, "m³/h", "L/min", Scale::Point, 1000.0 / 60.0),
            (1013.25, "hPa", "atm", Scale::Point, 1.0),
            (1.0, "bar", "psi", Scale::Point, 14.503_773_773_020_92),
            (0.25, "", "%", Scale::Other, 25.0),
            (90.0, "min", "h", Scale::Other, 1.5),
            (1.0, "gal", "L", Scale::Other, 3.785_411_784),
            (180.0, "°", "rad", Scale::Point, std::f64::consts::PI),
            (3000.0, "rpm", "Hz", Scale::Point, 50.0),
            (5.0, "µg/m³", "mg/m³", Scale::Point, 0.005),
            (1.0, "kn", "m/s", Scale::Point, 1852.0 / 3600.0),
            (2.0, "1/h", "1/d", Scale::Other, 48.0),
            (8.0, "lm/m²", "lx", Scale::Other, 8.0),
            (1.0, "MB", "kbit", Scale::Other, 8000.0),
            (2.0, "kvarh", "var·h", Scale::Other, 2000.0),
        ] {
            let found = converted(value, from, to, scale);
            assert!((found - right).abs() <= 1e-12 * right.abs().max(1.0), "{value} {from} is {found} {to}");
        }
    }

    #[test]
    fn a_unit_with_a_zero_is_not_multiplied() {
        for (from, to, scale) in [
            ("°C", "°F", Scale::Other),
            ("°C·h", "°F·h", Scale::Other),
            ("°C", "K", Scale::Other),
            ("K", "°C", Scale::Other),
        ] {
            let refused = Conversion::between(from, to, scale);
            assert!(matches!(refused, Err(NotConverted::Zero { .. })), "{from}: {refused:?}");
        }
        assert_eq!(converted(3.0, "°C·h", "°C·d", Scale::Difference), 0.125);
        assert_eq!(converted(3.0, "°C", "°C", Scale::Other), 3.0);
    }

    #[test]
    fn what_is_no_unit_is_refused() {
        let long = "(".repeat(100);
        for wrong in
            ["x", "dB", "kk", "m/", "/m", "m//s", "a/b·c", "m/s·h", "m/s/h", "(m", "m)", "kmin", "m m", &long]
        {
            assert_eq!(Unit::read(wrong), None, "{wrong}");
        }
        let other = Conversion::between("kWh", "°F", Scale::Point);
        assert!(matches!(other, Err(NotConverted::Other { .. })), "{other:?}");
        for (from, to) in [("var", "W"), ("lm", "cd"), ("C", "°F")] {
            let other = Conversion::between(from, to, Scale::Point);
            assert!(matches!(other, Err(NotConverted::Other { .. })), "{other:?}");
        }
        let coulomb = Conversion::between("C", "°F", Scale::Point).unwrap_err();
        assert!(coulomb.to_string().contains("a temperature is in °C"), "{coulomb}");
        let plain = Conversion::between("", "m", Scale::Point);
        assert!(matches!(plain, Err(NotConverted::Plain(_))), "{plain:?}");
    }

    #[test]
    fn a_conversion_and_its_inverse_give_the_value_back() {
        for (from, to) in
            [("°C", "°F"), ("K", "°F"), ("kWh", "MJ"), ("psi", "bar"), ("ft", "m"), ("mph", "kn")]
        {
            for value in [-1e6, -40.0, 0.0, 1e-3, 20.5, 1e6] {
                let there = converted(value, from, to, Scale::Point);
                let back = converted(there, to, from, Scale::Point);
                assert!((back - value).abs() <= 1e-9 * (1.0 + value.abs()), "{value} {from}, {to}: {back}");
            }
        }
    }
}
