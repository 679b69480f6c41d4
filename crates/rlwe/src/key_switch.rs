//! Hybrid key switching (Gentry, Halevi and Smart, ePrint 2012/099, section 3; Han and Ki, ePrint 2019/688), once for
//! every scheme.

use sotto_ring::{Eval, Poly};

use crate::evaluation_key::KeySwitchKey;
use crate::parameters::Params;
use crate::scheme::Scheme;

/// The digits of a polynomial at a level: Eval form over special primes and level.
pub fn decompose<S: Scheme>(params: &Params<S>, level: usize, poly: &Poly<Eval>) -> Vec<Poly<Eval>> {
    let ring = params.ring();
    let kernels = ring.kernels();
    let coefficients = poly.clone().into_coeff();
    let digit = |tables: &crate::parameters::DigitTables| {
        let sources: Vec<&[u64]> = tables.own.clone().map(|i| coefficients.limb(i)).collect();
        let quotients = tables.conversion.prepare(kernels, &sources);
        let mut out = Poly::<Eval>::zero(ring, params.extended_limbs(level));
        for i in tables.own.clone() {
            out.limb_mut(i).copy_from_slice(poly.limb(i));
        }
        for (j, i) in tables.others.iter().enumerate() {
            tables.conversion.write(kernels, &quotients, j, out.limb_mut(*i));
            (kernels.ntt_forward)(ring.table(*i), out.limb_mut(*i));
        }
        out
    };
    params.level(level).digits.iter().map(digit).collect()
}

/// Σ digit · key over special primes and level, before the division.
pub fn accumulate<S: Scheme>(
    params: &Params<S>,
    level: usize,
    digits: &[Poly<Eval>],
    key: &KeySwitchKey,
) -> [Poly<Eval>; 2] {
    let mut sums = [(); 2].map(|()| Poly::<Eval>::zero(params.ring(), params.extended_limbs(level)));
    for (digit, (body, mask)) in digits.iter().zip(key.pairs()) {
        sums[0].add_product(digit, body);
        sums[1].add_product(digit, mask);
    }
    sums
}

/// (k0, k1) at the level with k0 + k1·s ≈ poly·s'. The parameters have special primes.
pub fn switch<S: Scheme>(
    params: &Params<S>,
    level: usize,
    poly: &Poly<Eval>,
    key: &KeySwitchKey,
) -> [Poly<Eval>; 2] {
    let digits = decompose(params, level, poly);
    let division = params.level(level).special.as_ref().expect("checked: the parameters have special primes");
    accumulate(params, level, &digits, key).map(|sum| division.apply(&sum))
}
