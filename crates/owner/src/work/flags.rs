//! Comparisons of polynomials and models with a limit in the cloud: yes, no or undecided.

use std::ops::Range;

use sotto_circuits::Sign;

use super::curve::Curve;
use super::decide::decide;
use crate::error::OwnerError;
use crate::language::{Comparison, Condition};
use crate::open::Numbers;
use crate::quantities::{Beyond, Input, Quantity};

/// A comparison that needs no value of its polynomial or model.
pub(super) struct CloudComparison<'c> {
    curve: &'c Curve,
    comparison: Comparison,
    limit: Limit,
}

enum Limit {
    /// The cloud compares.
    Within(Beyond, Sign),
    /// All values decide alike.
    Beyond(Option<bool>),
}

impl<'c> CloudComparison<'c> {
    /// Returns the comparisons of a condition; None if the cloud would have to compare, and there is no gap.
    pub(super) fn all(curve: &'c Curve, condition: &Condition, gap_bits: Option<u8>) -> Option<Vec<Self>> {
        let side = |(comparison, limit)| {
            Self::new(curve, &Condition::new(condition.reading.clone(), comparison, limit), gap_bits)
        };
        condition.sides().map(side).collect()
    }

    /// Returns the comparison with this gap; None if the cloud would have to compare, and there is no gap.
    fn new(curve: &'c Curve, condition: &Condition, gap_bits: Option<u8>) -> Option<Self> {
        let Curve { constant, scale, rounding, .. } = curve;
        let comparison = condition.comparison;
        let limit = (condition.limit - constant) / scale;
        // At the ends of the range the rounding in f64 decides nothing.
        let beyond = limit.abs() * (1.0 - 8.0 * f64::EPSILON) > 1.0 + rounding / scale;
        let limit = if *scale == 0.0 {
            Limit::Beyond(decide(condition, *constant, *rounding))
        } else if beyond {
            Limit::Beyond(Some(comparison.holds(-limit.signum(), 0.0)))
        } else {
            let gap_bits = gap_bits?;
            let sign = Sign::with_gap(f64::from(-i32::from(gap_bits)).exp2()).ok()?;
            Limit::Within(Beyond { of: Box::new(curve.quantity.clone()), limit, gap_bits }, sign)
        };
        Some(Self { curve, comparison, limit })
    }

    /// Returns the quantity that the cloud computes.
    pub(super) fn quantity(&self) -> Option<Quantity> {
        match &self.limit {
            Limit::Within(beyond, _) => Some(Quantity::Beyond(beyond.clone())),
            Limit::Beyond(_) => None,
        }
    }

    /// Returns the distance from the limit at which every value is decided.
    pub(super) fn within(&self) -> f64 {
        match &self.limit {
            Limit::Within(beyond, sign) => sign.gap() * beyond.reach() * self.curve.scale,
            Limit::Beyond(_) => 0.0,
        }
    }

    /// Returns whether the condition holds at each reading of one window, from the quantity's numbers and their error; None
    /// where that is undecided.
    ///
    /// # Errors
    /// [`OwnerError::WrongAnswer`] if the numbers are no comparison's, or their error hides it.
    pub(super) fn flags(
        &self,
        input: &Input,
        result: Option<&(Numbers, f64)>,
        ticks: &Range<u32>,
    ) -> Result<Vec<Option<bool>>, OwnerError> {
        let flag = |side: Side| match side {
            Side::Above => Ok(Some(self.comparison.holds(1.0, 0.0))),
            Side::Below => Ok(Some(self.comparison.holds(-1.0, 0.0))),
            Side::Open => Ok(None),
            Side::Impossible => Err(OwnerError::wrong("no comparison with a limit has this result")),
        };
        match &self.limit {
            Limit::Beyond(holds) => Ok(vec![*holds; self.curve.ticks(input, ticks)?.len()]),
            Limit::Within(_, sign) => {
                let (numbers, error) = result.ok_or_else(|| OwnerError::wrong("a comparison is missing"))?;
                let sides = Sides::new(sign.error(), *error).ok_or_else(|| {
                    OwnerError::wrong("its noise is too large to tell the sides of a limit apart")
                })?;
                let slots = self.curve.slots(input, numbers, ticks)?;
                slots.into_iter().map(|(_, number)| flag(sides.of(number))).collect()
            }
        }
    }
}

/// The side of the limit on which a value lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Above,
    Below,
    /// Too near to the limit.
    Open,
    /// The number is no comparison's.
    Impossible,
}

/// The decrypted numbers that stand for the sides.
///
/// A number is off by at most `error` from the approximation of the sign, which is within `approximation` of ±1 outside of
/// the gap, within 1 + `approximation` everywhere, and has the sign of the value. So each value outside of the gap is
/// decided, and a number of at least 1 − approximation − error comes from a positive value, as long as it is above the error.
struct Sides {
    least: f64,
    most: f64,
}

impl Sides {
    /// Returns None if the error is too large to tell the sides apart.
    fn new(approximation: f64, error: f64) -> Option<Self> {
        let off = approximation + error;
        (off + error < 1.0).then_some(Self { least: 1.0 - off, most: 1.0 + off })
    }

    fn of(&self, number: f64) -> Side {
        match number.abs() {
            size if size.is_nan() || size > self.most => Side::Impossible,
            size if size < self.least => Side::Open,
            _ if number > 0.0 => Side::Above,
            _ => Side::Below,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::Measurand;
    use sotto_pack::{Channel, Encoding, Layout};

    /// Limits at and beyond the ends of the range, which is 9 to 11, and constants.
    #[test]
    fn only_limits_within_the_range_are_compared() {
        let channel = Channel {
            name: "x".into(),
            unit: String::new(),
            minimum: 0.0,
            maximum: 2.0,
            resolution: None,
            ..Channel::default()
        };
        let layout = Layout::smallest(vec![channel], 4, 8, 1, Encoding::Real).expect("a layout");
        let of = |coefficients: [f64; 2]| {
            Curve::of(&Measurand::polynomial("x", coefficients), &layout).expect("a curve")
        };
        let (curve, constant) = (of([9.0, 1.0]), of([9.5, 0.0]));
        let known = |curve: &Curve, comparison: Comparison, limit: f64| {
            let condition = Condition::new(Measurand::polynomial("x", [9.0, 1.0]), comparison, limit);
            match CloudComparison::new(curve, &condition, Some(4)).expect("a comparison").limit {
                Limit::Within(beyond, _) => Err(beyond.limit),
                Limit::Beyond(holds) => Ok(holds),
            }
        };
        assert_eq!(known(&curve, Comparison::Greater, 10.5), Err(0.5));
        assert_eq!(known(&curve, Comparison::AtLeast, 11.0), Err(1.0));
        for limit in [11.0001, 1e300, f64::INFINITY] {
            assert_eq!(known(&curve, Comparison::AtLeast, limit), Ok(Some(false)), "{limit}");
            assert_eq!(known(&curve, Comparison::Less, limit), Ok(Some(true)), "{limit}");
            assert_eq!(known(&curve, Comparison::Less, 10.0 - limit), Ok(Some(false)), "{limit}");
        }
        assert_eq!(known(&constant, Comparison::Greater, 9.25), Ok(Some(true)));
        assert_eq!(known(&constant, Comparison::Greater, 9.5), Ok(None));
        let condition = Condition::new("x", Comparison::Greater, 10.5);
        assert!(CloudComparison::new(&curve, &condition, None).is_none());
    }

    #[test]
    fn sides_are_certain() {
        let sides = Sides::new(0.0625, 0.1875).expect("room");
        for (number, side) in [
            (0.75, Side::Above),
            (1.25, Side::Above),
            (-0.75, Side::Below),
            (0.74, Side::Open),
            (0.0, Side::Open),
            (-1.26, Side::Impossible),
            (f64::NAN, Side::Impossible),
        ] {
            assert_eq!(sides.of(number), side, "{number}");
        }
        assert!(Sides::new(0.0625, 0.5).is_none() && Sides::new(0.0, f64::NAN).is_none());
    }
}
