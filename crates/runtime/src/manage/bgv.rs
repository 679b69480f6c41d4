//! BGV: primes are dropped where that leaves more room after a product; factors are matched before a sum.

use sotto_program::{Register, Step};
use sotto_rlwe::{Bgv, Ciphertext, EncodeError, EvalError, Evaluator, Params, Plaintext, Shape};

use super::{Managed, foreign, level};
use crate::constants::encode_integers;
use crate::lower::Builder;

impl Managed for Bgv {
    const EXACT: bool = true;

    fn align(
        builder: &mut Builder<'_, Self>,
        a: Register,
        b: Register,
    ) -> Result<(Register, Register), EvalError> {
        let (a, b) = level(builder, a, b)?;
        let (left, right) = (builder.shape(a).scaling, builder.shape(b).scaling);
        if left == right {
            return Ok((a, b));
        }
        let [for_a, for_b] = balance(builder.params().plain_modulus(), left, right);
        let matched = |builder: &mut Builder<'_, Self>, of, scalar| match scalar {
            1 => Ok(of),
            _ => builder.push(Step::MatchFactor { of, scalar }),
        };
        Ok((matched(builder, a, for_a)?, matched(builder, b, for_b)?))
    }

    /// Tries every level that both can reach and takes the one that leaves most room after the relinearised product.
    fn before_product(
        builder: &mut Builder<'_, Self>,
        a: Register,
        b: Register,
    ) -> Result<(Register, Register), EvalError> {
        let params = builder.params().clone();
        let lower = |mut shape: Shape<Self>, level: usize| {
            while shape.level > level {
                shape = shape.drop_prime(&params)?;
            }
            Ok::<_, EvalError>(shape)
        };
        let room_at = |level: usize| {
            let (x, y) = (lower(*builder.shape(a), level)?, lower(*builder.shape(b), level)?);
            let product = x.multiply(&params, &y)?;
            Ok::<_, EvalError>(product.relinearise(&params).unwrap_or(product).room(&params))
        };
        let top = builder.shape(a).level.min(builder.shape(b).level);
        let best = (0..=top)
            .filter_map(|level| room_at(level).ok().map(|room| (level, room)))
            .max_by(|x, y| x.1.total_cmp(&y.1));
        let target = best.map_or(top, |(level, _)| level);
        let drop_to = |builder: &mut Builder<'_, Self>, mut of: Register| {
            while builder.shape(of).level > target {
                of = builder.push(Step::DropModulus { of, count: 1 })?;
            }
            Ok::<_, EvalError>(of)
        };
        let left = drop_to(builder, a)?;
        let right = if a == b { left } else { drop_to(builder, b)? };
        Ok((left, right))
    }

    fn encode(params: &Params<Self>, values: &[f64], level: usize) -> Result<Plaintext<Self>, EncodeError> {
        encode_integers(params, values, level)
    }

    fn follow_own(params: &Params<Self>, step: &Step, of: &Shape<Self>) -> Result<Shape<Self>, EvalError> {
        match step {
            Step::MatchFactor { scalar, .. } => of.match_factor(params, *scalar),
            _ => Err(foreign::<Self>(step)),
        }
    }

    fn run_own(
        evaluator: &Evaluator<Self>,
        step: &Step,
        of: &Ciphertext<Self>,
    ) -> Result<Ciphertext<Self>, EvalError> {
        match step {
            Step::MatchFactor { scalar, .. } => evaluator.match_factor(of, *scalar),
            _ => Err(foreign::<Self>(step)),
        }
    }
}

/// Integers x, y, small, with left·x ≡ right·y (mod t), both invertible: half of Euclid's algorithm on t and the ratio
/// right/left gives a pair of about √t; where that pair is not invertible the ratio itself is taken.
fn balance(t: u64, left: u64, right: u64) -> [i64; 2] {
    let modulus = sotto_ring::Modulus::new(t).expect("a checked plain modulus");
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
                let coprime = |x| (1..=x).rev().find(|d| x % d == 0 && t % d == 0) == Some(1);
                if left % t == 0 || right % t == 0 || t > 1 << 20 || !coprime(left % t) || !coprime(right % t)
                {
                    continue;
                }
                let [x, y] = balance(t, left % t, right % t);
                let residue = |f: u64, s: i64| (i128::from(f) * i128::from(s)).rem_euclid(i128::from(t));
                assert_eq!(residue(left % t, x), residue(right % t, y), "t = {t}");
                assert!(t == 1000 || (x.unsigned_abs() as f64) <= (t as f64).sqrt() * 1.001);
            }
        }
    }
}
