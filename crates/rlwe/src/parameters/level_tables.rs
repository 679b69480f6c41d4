//! Precomputed tables of each level, for key switching and dropping primes.

use alloc::vec::Vec;
use core::ops::Range;

use sotto_ring::{Conversion, Division, Modulus, Ring, Rounding};

use super::spec::ParameterSpec;

#[derive(Debug)]
pub(crate) struct LevelTables {
    pub(crate) digits: Vec<DigitTables>,
    /// The division by the special primes; None without them.
    pub(crate) special: Option<Division>,
    /// The division that drops this level's last prime; None at level 0.
    pub(crate) last: Option<Division>,
    /// The division by the special primes, if any, and the last one; None at level 0.
    pub(crate) special_and_last: Option<Division>,
}

#[derive(Debug)]
pub(crate) struct DigitTables {
    /// The digit's limbs.
    pub(crate) own: Range<usize>,
    /// Converts from the digit's limbs to the other special primes and limbs of the level, in order.
    pub(crate) conversion: Conversion,
}

impl LevelTables {
    pub(super) fn new(spec: &ParameterSpec, ring: &Ring, level: usize, rounding: Rounding) -> Option<Self> {
        let special = spec.special.len();
        let limbs = special..special + level + 1;
        let digits = DigitTables::all(spec, ring, limbs.clone());
        let special_division =
            if special == 0 { None } else { Some(Division::new(ring, 0..special, limbs.clone(), rounding)?) };
        let last = if level == 0 {
            None
        } else {
            Some(Division::new(ring, limbs.end - 1..limbs.end, limbs.start..limbs.end - 1, rounding)?)
        };
        let special_and_last = if level == 0 {
            None
        } else {
            let dropped = (0..special).chain([limbs.end - 1]).collect();
            Some(Division::of_limbs(ring, dropped, limbs.start..limbs.end - 1, rounding)?)
        };
        Some(Self { digits, special: special_division, last, special_and_last })
    }
}

impl DigitTables {
    fn all(spec: &ParameterSpec, ring: &Ring, limbs: Range<usize>) -> Vec<Self> {
        limbs
            .clone()
            .step_by(spec.digit_primes)
            .map(|start| {
                let own = start..(start + spec.digit_primes).min(limbs.end);
                let others: Vec<usize> = (0..limbs.end).filter(|i| !own.contains(i)).collect();
                let targets: Vec<Modulus> = others.iter().map(|i| *ring.modulus(*i)).collect();
                let conversion = Conversion::new(&ring.moduli(own.clone()), &targets);
                Self { own, conversion }
            })
            .collect()
    }

    /// Returns the index of a limb among the conversion's targets, or None if it is the digit's own.
    pub(crate) fn target(&self, limb: usize) -> Option<usize> {
        if limb < self.own.start { Some(limb) } else { (limb >= self.own.end).then(|| limb - self.own.len()) }
    }
}
