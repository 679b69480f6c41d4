//! Conditions on polynomials and models, decided reading by reading.

use crate::language::Condition;

/// Returns whether a condition holds for a value that is known to within `bound`; None if it may hold or not.
pub(super) fn decide(condition: &Condition, value: f64, bound: f64) -> Option<bool> {
    if !((value - bound).is_finite() && (value + bound).is_finite()) {
        return None;
    }
    condition.decides(value - bound, value + bound)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::Comparison;

    #[test]
    fn decisions_are_certain() {
        let above = |limit| Condition::new("x", Comparison::Greater, limit);
        assert_eq!(decide(&above(80.0), 80.2, 0.1), Some(true));
        assert_eq!(decide(&above(80.0), 80.0, 0.1), None);
        assert_eq!(decide(&above(80.0), 79.875, 0.125), Some(false), "79.75 to 80");
        assert_eq!(decide(&above(80.1), 79.9, 0.1), Some(false));
        assert_eq!(decide(&above(80.0), 80.0, 0.0), Some(false), "a value that is known exactly");
        let at_most = Condition::new("x", Comparison::AtMost, 80.0);
        assert_eq!(decide(&at_most, 80.0, 0.0), Some(true));
        let equal = Condition::new("x", Comparison::Equal, 80.0);
        assert_eq!(decide(&equal, 80.0, 0.1), None, "79.9 to 80.1");
        assert_eq!((decide(&equal, 80.0, 0.0), decide(&equal, 80.2, 0.1)), (Some(true), Some(false)));
        for (value, bound) in [(f64::NAN, 0.1), (1.0, f64::INFINITY), (f64::NEG_INFINITY, 0.0)] {
            assert_eq!(decide(&at_most, value, bound), None, "{value} {bound}");
        }
    }
}
