//! Angles: directions.

use alloc::string::String;

use serde::{Deserialize, Serialize};

use super::{Rules, Several};
#[cfg(not(feature = "std"))]
use num_traits::Float as _;

/// The numbers that cosine and sine of an angle are: −2^16 to 2^16 for −1 to 1.
pub const ANGLE_STEPS: i64 = 1 << 16;

/// A direction, as that of wind. Its cosine and its sine are sent beside it, whose sums give the mean direction.
///
/// Example: [`crate::ChannelKind`]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Angle {
    /// What a tick with several readings holds: by default the last, as a mean of angles has none of their directions.
    #[serde(default = "last")]
    pub several: Several,
}

fn last() -> Several {
    Several::Last
}

impl Default for Angle {
    fn default() -> Self {
        Self { several: Several::Last }
    }
}

impl Angle {
    /// Returns a full turn in a unit: 360, or 2π for rad.
    #[must_use]
    pub fn turn(unit: &str) -> f64 {
        if unit == "rad" { core::f64::consts::TAU } else { 360.0 }
    }

    /// Returns cosine and sine of an angle, given in turns, in numbers of [`ANGLE_STEPS`]: rounded, and off by at most one
    /// step. No branch depends on the angle.
    ///
    /// ```
    /// use sotto_pack::Angle;
    ///
    /// assert_eq!(Angle::cosine_and_sine(0.25), [0, 65_536]);
    /// assert_eq!(Angle::cosine_and_sine(-0.5), [-65_536, 0]);
    /// ```
    #[must_use]
    pub fn cosine_and_sine(turns: f64) -> [i64; 2] {
        [turns, turns - 0.25].map(|turns| {
            // cos 2πu = sin 2π(1/4 − |u|), with |u| ≤ 1/2.
            let within = turns - turns.round();
            (sine(core::f64::consts::TAU * (0.25 - within.abs())) * ANGLE_STEPS as f64).round() as i64
        })
    }
}

/// Returns the sine of −π/2 to π/2, by the Taylor polynomial of degree 15: the rest is below (π/2)^17 / 17! = 6.1e-12.
fn sine(x: f64) -> f64 {
    let square = x * x;
    let mut sum = 1.0;
    for factor in [210.0, 156.0, 110.0, 72.0, 42.0, 20.0, 6.0] {
        sum = 1.0 - square / factor * sum;
    }
    x * sum
}

impl Rules for Angle {
    fn word(&self) -> &'static str {
        "angle"
    }

    fn samples(&self) -> bool {
        true
    }

    fn several(&self) -> Several {
        self.several
    }

    fn check(&self, unit: &str, _: (f64, f64), _: Option<f64>) -> Result<(), String> {
        if matches!(unit, "°" | "deg" | "degree" | "degrees" | "rad" | "") {
            Ok(())
        } else {
            Err("the unit of an angle is ° or rad".into())
        }
    }
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;

    #[test]
    fn cosine_and_sine_are_right_to_a_step() {
        for at in -7200..=7200 {
            let turns = f64::from(at) / 3600.0;
            let truth = (core::f64::consts::TAU * turns).sin_cos();
            let [cosine, sine] = Angle::cosine_and_sine(turns);
            let off = |found: i64, truth: f64| (found as f64 - truth * ANGLE_STEPS as f64).abs();
            assert!(off(cosine, truth.1) <= 0.501 && off(sine, truth.0) <= 0.501, "{turns}");
        }
    }
}
