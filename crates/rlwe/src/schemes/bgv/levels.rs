//! BGV: primes are dropped if that leaves more room after a product; factors are matched before a sum.

use sotto_ring::Modulus;

use super::Bgv;
use crate::ciphertext::Ciphertext;
use crate::error::EvalError;
use crate::evaluator::Evaluator;
use crate::level_rules::{Adjustment, LevelRules, lower_of, product_room};
use crate::parameters::Params;
use crate::shape::Shape;

impl LevelRules for Bgv {
    const RESCALES: bool = false;

    /// Compares factors at the level of the sum, as dropping a prime changes them.
    fn before_sum(params: &Params<Self>, a: &Shape<Self>, b: &Shape<Self>) -> [Adjustment; 2] {
        let [mut for_a, mut for_b] = lower_of(a, b);
        let factor = |shape: &Shape<Self>| shape.lower(params, for_a.level).map(|s| s.scaling);
        // An operand that cannot be lowered is refused later, when it is lowered.
        if let (Ok(left), Ok(right)) = (factor(a), factor(b))
            && left != right
        {
            [for_a.factor, for_b.factor] = balance(params.plain_modulus(), left, right);
        }
        [for_a, for_b]
    }

    /// Tries every level that both can reach and returns the one with the most room after the relinearised product.
    fn product_level(params: &Params<Self>, a: &Shape<Self>, b: &Shape<Self>) -> Result<usize, EvalError> {
        let top = a.level.min(b.level);
        let best = (0..=top)
            .filter_map(|level| product_room(params, a, b, level).ok().map(|room| (level, room)))
            .max_by(|x, y| x.1.total_cmp(&y.1));
        Ok(best.map_or(top, |(level, _)| level))
    }

    fn replace_factor(params: &Params<Self>, shape: &mut Shape<Self>, factor: i64) -> i64 {
        let t = Modulus::new(params.plain_modulus()).expect("a checked plain modulus");
        t.centre(core::mem::replace(&mut shape.scaling, t.from_signed(factor)))
    }

    fn matched(params: &Params<Self>, shape: &Shape<Self>, factor: i64) -> Result<Shape<Self>, EvalError> {
        if factor == 1 { Ok(*shape) } else { shape.match_factor(params, factor) }
    }

    fn match_in_place(
        evaluator: &Evaluator<Self>,
        a: &mut Ciphertext<Self>,
        factor: i64,
    ) -> Result<(), EvalError> {
        if factor == 1 { Ok(()) } else { evaluator.match_factor_assign(a, factor) }
    }
}

/// Returns small integers x, y with left·x ≡ right·y (mod t), both invertible. Half of Euclid's algorithm on t and the
/// ratio right/left gives a pair of about √t; if that pair is not invertible, returns the ratio itself and 1.
fn balance(t: u64, left: u64, right: u64) -> [i64; 2] {
    let modulus = Modulus::new(t).expect("a checked plain modulus");
    let inverse = modulus.invert_vartime(left).expect("factors are invertible");
    let ratio = modulus.multiply(modulus.reduce(right), inverse);
    let (mut r0, mut r1) = (i128::from(t), i128::from(ratio));
    let (mut s0, mut s1) = (0i128, 1i128);
    while r1 * r1 > i128::from(t) {
        let quotient = r0 / r1;
        (r0, r1) = (r1, r0 - quotient * r1);
        (s0, s1) = (s1, s0 - quotient * s1);
    }
    let invertible = |x: i128| modulus.invert_vartime(modulus.from_signed(x as i64)).is_some();
    if r1 > 0 && invertible(r1) && invertible(s1) {
        [r1 as i64, s1 as i64]
    } else {
        [modulus.centre(ratio), 1]
    }
}

#[cfg(test)]
mod tests {
    use super::balance;

    #[test]
    fn factors_are_balanced_with_small_integers() {
        for t in [3u64, 257, 65537, 786_433, (1 << 40) + 15, 1000] {
            for (left, right) in [(1, 2), (7, t - 1), (t - 2, 11)] {
                let modulus = sotto_ring::Modulus::new(t).expect("a modulus");
                let coprime = |x: u64| modulus.invert_vartime(x % t).is_some();
                if !coprime(left) || !coprime(right) {
                    continue;
                }
                let [x, y] = balance(t, left % t, right % t);
                let residue = |f: u64, s: i64| (i128::from(f) * i128::from(s)).rem_euclid(i128::from(t));
                assert_eq!(residue(left % t, x), residue(right % t, y), "t = {t}");
                assert!(t % 5 == 0 || (x.unsigned_abs() as f64) <= (t as f64).sqrt() * 1.001);
            }
        }
    }
}
