//! The noise of key switching.

use super::{Figure, Log2};
use crate::parameters::Params;
use crate::scheme::Scheme;

/// Returns the size that key switching adds: Σ digit·error/P, and the rounding if there are special primes.
pub(crate) fn key_switch<F: Figure, S: Scheme>(params: &Params<S>, level: usize) -> F {
    let (norms, factor) = (F::norms(params.norms()), S::error_factor(params));
    let error = norms.error.scaled(Log2::of(factor as f64));
    let special = Log2(params.special_bits());
    let digits = params.digits(level).map(|d| Log2(params.ring().product_bits(d)));
    let sum = digits
        .map(|digit| (norms.uniform * error).scaled(digit).over(special))
        .fold(F::exactly(Log2::ZERO), |sum, term| sum + term);
    // Digits may exceed half of their product by 2^-21 of it.
    let sum = sum.scaled(Log2(1.0 / 65536.0));
    if params.spec().special.is_empty() { sum } else { sum + norms.division(2, factor) }
}
