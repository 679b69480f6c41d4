//! The table of units. Factors: BIPM, The SI Brochure, 9th edition; NIST SP 811 (2008), appendix B.

use super::{Dimension, Unit};

/// A unit without an exponent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Base {
    pub(super) factor: f64,
    pub(super) offset: f64,
    pub(super) dimension: Dimension,
}

const NONE: Dimension = [0; 10];
const METRE: Dimension = [1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
const AREA: Dimension = [2, 0, 0, 0, 0, 0, 0, 0, 0, 0];
const VOLUME: Dimension = [3, 0, 0, 0, 0, 0, 0, 0, 0, 0];
const KILOGRAM: Dimension = [0, 1, 0, 0, 0, 0, 0, 0, 0, 0];
const SECOND: Dimension = [0, 0, 1, 0, 0, 0, 0, 0, 0, 0];
const SPEED: Dimension = [1, 0, -1, 0, 0, 0, 0, 0, 0, 0];
const FREQUENCY: Dimension = [0, 0, -1, 0, 0, 0, 0, 0, 0, 0];
const FORCE: Dimension = [1, 1, -2, 0, 0, 0, 0, 0, 0, 0];
const PRESSURE: Dimension = [-1, 1, -2, 0, 0, 0, 0, 0, 0, 0];
const ENERGY: Dimension = [2, 1, -2, 0, 0, 0, 0, 0, 0, 0];
const POWER: Dimension = [2, 1, -3, 0, 0, 0, 0, 0, 0, 0];
const REACTIVE_ENERGY: Dimension = [2, 1, -2, 0, 0, 0, 0, 0, 0, 1];
const REACTIVE: Dimension = [2, 1, -3, 0, 0, 0, 0, 0, 0, 1];
const AMPERE: Dimension = [0, 0, 0, 1, 0, 0, 0, 0, 0, 0];
const CHARGE: Dimension = [0, 0, 1, 1, 0, 0, 0, 0, 0, 0];
const VOLT: Dimension = [2, 1, -3, -1, 0, 0, 0, 0, 0, 0];
const OHM: Dimension = [2, 1, -3, -2, 0, 0, 0, 0, 0, 0];
const SIEMENS: Dimension = [-2, -1, 3, 2, 0, 0, 0, 0, 0, 0];
const TESLA: Dimension = [0, 1, -2, -1, 0, 0, 0, 0, 0, 0];
pub(super) const KELVIN: Dimension = [0, 0, 0, 0, 1, 0, 0, 0, 0, 0];
const CANDELA: Dimension = [0, 0, 0, 0, 0, 1, 0, 0, 0, 0];
const LUMEN: Dimension = [0, 0, 0, 0, 0, 1, 0, 2, 0, 0];
const LUX: Dimension = [-2, 0, 0, 0, 0, 1, 0, 2, 0, 0];
const MOLE: Dimension = [0, 0, 0, 0, 0, 0, 1, 0, 0, 0];
const RADIAN: Dimension = [0, 0, 0, 0, 0, 0, 0, 1, 0, 0];
const BIT: Dimension = [0, 0, 0, 0, 0, 0, 0, 0, 1, 0];

/// Units that take prefixes.
const PREFIXED: [(&str, f64, Dimension); 28] = [
    ("m", 1.0, METRE),
    ("g", 1e-3, KILOGRAM),
    ("s", 1.0, SECOND),
    ("A", 1.0, AMPERE),
    ("K", 1.0, KELVIN),
    ("cd", 1.0, CANDELA),
    ("lm", 1.0, LUMEN),
    ("lx", 1.0, LUX),
    ("mol", 1.0, MOLE),
    ("rad", 1.0, RADIAN),
    ("Hz", 1.0, FREQUENCY),
    ("N", 1.0, FORCE),
    ("Pa", 1.0, PRESSURE),
    ("bar", 1e5, PRESSURE),
    ("J", 1.0, ENERGY),
    ("Wh", 3600.0, ENERGY),
    ("VAh", 3600.0, ENERGY),
    ("cal", 4.184, ENERGY),
    ("W", 1.0, POWER),
    ("VA", 1.0, POWER),
    ("C", 1.0, CHARGE),
    ("Ah", 3600.0, CHARGE),
    ("V", 1.0, VOLT),
    ("Ω", 1.0, OHM),
    ("S", 1.0, SIEMENS),
    ("T", 1.0, TESLA),
    ("L", 1e-3, VOLUME),
    ("l", 1e-3, VOLUME),
];

/// Units that take none, and names that a prefix would misread.
const PLAIN: [(&str, f64, Dimension); 57] = [
    ("1", 1.0, NONE),
    ("%", 1e-2, NONE),
    ("‰", 1e-3, NONE),
    ("ppm", 1e-6, NONE),
    ("ppb", 1e-9, NONE),
    ("in", 0.0254, METRE),
    ("inch", 0.0254, METRE),
    ("ft", 0.3048, METRE),
    ("yd", 0.9144, METRE),
    ("mi", 1609.344, METRE),
    ("nmi", 1852.0, METRE),
    ("ha", 1e4, AREA),
    ("acre", 4_046.856_422_4, AREA),
    ("gal", 3.785_411_784e-3, VOLUME),
    ("t", 1000.0, KILOGRAM),
    ("lb", 0.453_592_37, KILOGRAM),
    ("oz", 0.028_349_523_125, KILOGRAM),
    ("min", 60.0, SECOND),
    ("h", 3600.0, SECOND),
    ("d", 86_400.0, SECOND),
    ("mph", 0.447_04, SPEED),
    ("kph", 1.0 / 3.6, SPEED),
    ("kmh", 1.0 / 3.6, SPEED),
    ("kn", 1852.0 / 3600.0, SPEED),
    ("rpm", 1.0 / 60.0, FREQUENCY),
    ("lbf", 4.448_221_615_260_5, FORCE),
    ("psi", 6_894.757_293_168_361, PRESSURE),
    ("atm", 101_325.0, PRESSURE),
    ("mmHg", 133.322_387_415, PRESSURE),
    ("inHg", 3_386.388_640_341, PRESSURE),
    ("torr", 101_325.0 / 760.0, PRESSURE),
    ("mmH2O", 9.806_65, PRESSURE),
    ("inH2O", 249.088_91, PRESSURE),
    ("BTU", 1_055.055_852_62, ENERGY),
    ("Btu", 1_055.055_852_62, ENERGY),
    ("kvarh", 3.6e6, REACTIVE_ENERGY),
    ("varh", 3600.0, REACTIVE_ENERGY),
    ("hp", 745.699_871_582_270_2, POWER),
    ("PS", 735.498_75, POWER),
    ("var", 1.0, REACTIVE),
    ("kvar", 1000.0, REACTIVE),
    ("ohm", 1.0, OHM),
    ("kohm", 1000.0, OHM),
    ("cfm", 0.028_316_846_592 / 60.0, [3, 0, -1, 0, 0, 0, 0, 0, 0, 0]),
    ("gpm", 3.785_411_784e-3 / 60.0, [3, 0, -1, 0, 0, 0, 0, 0, 0, 0]),
    ("fc", 10.763_910_416_709_722, LUX),
    ("°", core::f64::consts::PI / 180.0, RADIAN),
    ("deg", core::f64::consts::PI / 180.0, RADIAN),
    ("bit", 1.0, BIT),
    ("kbit", 1e3, BIT),
    ("Mbit", 1e6, BIT),
    ("Gbit", 1e9, BIT),
    ("B", 8.0, BIT),
    ("kB", 8e3, BIT),
    ("MB", 8e6, BIT),
    ("GB", 8e9, BIT),
    ("TB", 8e12, BIT),
];

/// Units of temperature: value · factor + offset is in kelvin.
const TEMPERATURES: [(&str, f64, f64); 6] = [
    ("°C", 1.0, 273.15),
    ("degC", 1.0, 273.15),
    ("℃", 1.0, 273.15),
    ("°F", 5.0 / 9.0, 459.67 * 5.0 / 9.0),
    ("degF", 5.0 / 9.0, 459.67 * 5.0 / 9.0),
    ("℉", 5.0 / 9.0, 459.67 * 5.0 / 9.0),
];

const PREFIXES: [(&str, f64); 13] = [
    ("p", 1e-12),
    ("n", 1e-9),
    ("µ", 1e-6),
    ("μ", 1e-6),
    ("u", 1e-6),
    ("m", 1e-3),
    ("c", 1e-2),
    ("d", 1e-1),
    ("h", 1e2),
    ("k", 1e3),
    ("M", 1e6),
    ("G", 1e9),
    ("T", 1e12),
];

/// Returns the unit with this name.
pub(super) fn named(word: &str) -> Option<Unit> {
    let of = |factor, dimension| Base { factor, offset: 0.0, dimension }.into();
    if let Some((_, factor, offset)) = TEMPERATURES.iter().find(|(name, ..)| *name == word) {
        return Some(Base { factor: *factor, offset: *offset, dimension: KELVIN }.into());
    }
    let whole = PLAIN.iter().chain(&PREFIXED).find(|(name, ..)| *name == word);
    if let Some((_, factor, dimension)) = whole {
        return Some(of(*factor, *dimension));
    }
    PREFIXES.iter().find_map(|(prefix, times)| {
        let rest = word.strip_prefix(prefix)?;
        let (_, factor, dimension) = PREFIXED.iter().find(|(name, ..)| *name == rest)?;
        Some(of(factor * times, *dimension))
    })
}
