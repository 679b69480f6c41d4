//! BFV: operands of a sum only need equal levels, as noise does not depend on the level.

use super::Bfv;
use crate::level_rules::LevelRules;

impl LevelRules for Bfv {
    const RESCALES: bool = false;
}
