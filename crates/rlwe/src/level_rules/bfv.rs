//! BFV: operands of a sum only need equal levels, as noise does not depend on the level.

use super::{Adjustment, LevelRules, centred, lower_of};
use crate::parameters::Params;
use crate::schemes::Bfv;
use crate::shape::Shape;

impl LevelRules for Bfv {
    const EXACT: bool = true;
    const RESCALES: bool = false;

    fn before_sum(_params: &Params<Self>, a: &Shape<Self>, b: &Shape<Self>) -> [Adjustment; 2] {
        lower_of(a, b)
    }

    fn replace_factor(_params: &Params<Self>, _shape: &mut Shape<Self>, _factor: i64) -> i64 {
        1
    }

    fn canonical(params: &Params<Self>, value: i64) -> i64 {
        centred(params, value)
    }

    fn as_integer(value: i64) -> Option<i64> {
        Some(value)
    }
}
