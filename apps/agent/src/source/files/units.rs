//! Units: a channel's own unit in cells, and conversions between units of one quantity.

use super::conversion::{Conversion, quotient};

/// A unit: value · scale + offset is in the base unit of its quantity.
struct Unit {
    name: &'static str,
    quantity: u8,
    scale: f64,
    offset: f64,
}

/// Units that differ from others by more than a prefix.
const UNITS: &[Unit] = &[
    Unit { name: "°C", quantity: 0, scale: 1.0, offset: 273.15 },
    Unit { name: "K", quantity: 0, scale: 1.0, offset: 0.0 },
    Unit { name: "°F", quantity: 0, scale: 5.0 / 9.0, offset: 459.67 * 5.0 / 9.0 },
    Unit { name: "m/s", quantity: 1, scale: 1.0, offset: 0.0 },
    Unit { name: "km/h", quantity: 1, scale: 1.0 / 3.6, offset: 0.0 },
    Unit { name: "mph", quantity: 1, scale: 0.44704, offset: 0.0 },
    Unit { name: "kn", quantity: 1, scale: 1852.0 / 3600.0, offset: 0.0 },
    Unit { name: "Pa", quantity: 2, scale: 1.0, offset: 0.0 },
    Unit { name: "bar", quantity: 2, scale: 1e5, offset: 0.0 },
    Unit { name: "psi", quantity: 2, scale: 6_894.757_293_168, offset: 0.0 },
    Unit { name: "mmHg", quantity: 2, scale: 133.322_387_415, offset: 0.0 },
    Unit { name: "inHg", quantity: 2, scale: 3_386.388_640_341, offset: 0.0 },
    Unit { name: "m", quantity: 3, scale: 1.0, offset: 0.0 },
    Unit { name: "in", quantity: 3, scale: 0.0254, offset: 0.0 },
    Unit { name: "ft", quantity: 3, scale: 0.3048, offset: 0.0 },
    Unit { name: "Wh", quantity: 4, scale: 3600.0, offset: 0.0 },
    Unit { name: "J", quantity: 4, scale: 1.0, offset: 0.0 },
    Unit { name: "W", quantity: 5, scale: 1.0, offset: 0.0 },
    Unit { name: "V", quantity: 6, scale: 1.0, offset: 0.0 },
    Unit { name: "A", quantity: 7, scale: 1.0, offset: 0.0 },
    Unit { name: "Hz", quantity: 8, scale: 1.0, offset: 0.0 },
    Unit { name: "g", quantity: 9, scale: 1.0, offset: 0.0 },
    Unit { name: "lb", quantity: 9, scale: 453.592_37, offset: 0.0 },
    Unit { name: "l", quantity: 10, scale: 1.0, offset: 0.0 },
    Unit { name: "L", quantity: 10, scale: 1.0, offset: 0.0 },
    Unit { name: "m³", quantity: 10, scale: 1000.0, offset: 0.0 },
    Unit { name: "gal", quantity: 10, scale: 3.785_411_784, offset: 0.0 },
    Unit { name: "VA", quantity: 11, scale: 1.0, offset: 0.0 },
    Unit { name: "s", quantity: 12, scale: 1.0, offset: 0.0 },
    Unit { name: "min", quantity: 12, scale: 60.0, offset: 0.0 },
    Unit { name: "h", quantity: 12, scale: 3600.0, offset: 0.0 },
];

/// Prefixes of units.
const PREFIXES: &[(&str, f64)] = &[
    ("", 1.0),
    ("k", 1e3),
    ("M", 1e6),
    ("G", 1e9),
    ("h", 1e2),
    ("d", 1e-1),
    ("c", 1e-2),
    ("m", 1e-3),
    ("µ", 1e-6),
];

/// Spellings of units.
const SPELLINGS: &[(&str, &str)] = &[
    ("C", "°C"),
    ("degC", "°C"),
    ("Deg C", "°C"),
    ("ºC", "°C"),
    ("℃", "°C"),
    ("F", "°F"),
    ("degF", "°F"),
    ("ºF", "°F"),
    ("℉", "°F"),
    ("m3", "m³"),
    ("kmh", "km/h"),
    ("kph", "km/h"),
    ("kt", "kn"),
    ("percent", "%"),
];

/// Returns the usual spelling of a unit.
fn spelled(unit: &str) -> &str {
    let unit = unit.trim();
    SPELLINGS.iter().find(|(other, _)| *other == unit).map_or(unit, |(_, usual)| usual)
}

/// Returns true if two texts name the same unit.
pub(super) fn is_same(one: &str, other: &str) -> bool {
    spelled(one) == spelled(other)
}

/// Returns a unit's quantity, and its conversion to the base unit.
fn find(name: &str) -> Option<(u8, Conversion)> {
    let name = spelled(name);
    let of = |unit: &Unit, factor: f64| {
        let scale = Conversion::new(factor, 0.0).of(unit.scale);
        (unit.quantity, Conversion::new(scale, unit.offset))
    };
    let whole = UNITS.iter().find(|unit| unit.name == name).map(|unit| of(unit, 1.0));
    whole.or_else(|| {
        PREFIXES.iter().find_map(|(prefix, factor)| {
            let rest = name.strip_prefix(prefix).filter(|_| !prefix.is_empty())?;
            UNITS.iter().find(|unit| unit.name == rest && unit.offset == 0.0).map(|unit| of(unit, *factor))
        })
    })
}

/// Returns the conversion between two units; `None` if they are unknown or of different quantities.
pub(super) fn conversion(from: &str, to: &str) -> Option<Conversion> {
    if is_same(from, to) {
        return Some(Conversion::NONE);
    }
    let ((one, from), (other, to)) = (find(from)?, find(to)?);
    let apart = Conversion::new(1.0, -to.offset).of(from.offset);
    let conversion = Conversion::new(quotient(from.scale, to.scale), quotient(apart, to.scale));
    (one == other).then_some(conversion)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_one_quantity_are_converted() {
        for (from, value, to, expected) in [
            ("°F", 212.0, "°C", 100.0),
            ("F", -40.0, "°C", -40.0),
            ("K", 273.15, "degC", 0.0),
            ("°C", 100.0, "°F", 212.0),
            ("Wh", 1500.0, "kWh", 1.5),
            ("kWh", 1.0, "MJ", 3.6),
            ("hPa", 1013.25, "kPa", 101.325),
            ("mbar", 1013.25, "hPa", 1013.25),
            ("km/h", 36.0, "m/s", 10.0),
            ("in", 1.0, "mm", 25.4),
            ("m3", 1.0, "l", 1000.0),
            ("min", 2.0, "s", 120.0),
            ("mK", 273_150.0, "°C", 0.0),
            ("foo", 2.0, "foo", 2.0),
        ] {
            let found = conversion(from, to).unwrap().of(value);
            assert!((found - expected).abs() < 1e-9, "{value} {from} in {to}");
        }
        let exact = [("in", 0.01, "mm", 0.254), ("Wh", 1234.0, "kWh", 1.234), ("K", 273.25, "°C", 0.1)];
        for (from, value, to, expected) in exact {
            assert_eq!(conversion(from, to).unwrap().of(value), expected, "{value} {from} in {to}");
        }
        for (from, to) in [("°F", "%"), ("kWh", "kW"), ("foo", "bar")] {
            assert_eq!(conversion(from, to), None, "{from} {to}");
        }
        assert!(is_same("C", "°C") && is_same(" % ", "%") && !is_same("°F", "°C"));
    }
}
