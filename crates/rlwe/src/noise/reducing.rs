//! The noise of reducing an answer to few bits.

#[cfg(not(feature = "std"))]
use num_traits::Float as _;

use super::{Figure, Log2, Typical};
use crate::parameters::Params;
use crate::reduction::Reduction;
use crate::scheme::Scheme;

/// Returns a bound on the error that reducing and lifting add to a selected coefficient of the phase, times the
/// scheme's factor.
///
/// With u = Q/2^w each coefficient of a component is off by u·δ and, lifted, by η: |δ|, |η| ≤ 1/2. Errors of c0 count
/// directly. Those of c1 give Σ_j ±s_j·(u·δ_j + η_j). For a uniform c1, δ_j is uniform over the Q values x/Q with |x| <
/// Q/2, as 2^w is invertible modulo Q, independent of the others and of the secret; so is η_j, except for its mean,
/// which is below 2^-w. By Σ s_j² ≤ n the first sum is sub-Gaussian with √(n/12)·u, the second with √n/2 by Hoeffding's
/// lemma; both stay below T times that except with probability 2^-128, T by a union over the r selected coefficients.
/// Fractions are truncated at 2^-128: a coefficient is rounded to the other side with probability 2^-60, which adds
/// less than the margin.
pub(super) fn coefficient_bound<S: Scheme>(params: &Params<S>, level: usize, reduction: Reduction) -> Log2 {
    let (n, unit) = (params.degree() as f64, Log2(params.data_bits(level) - f64::from(reduction.width)));
    let read = reduction.selection.coefficients(params.degree()) as f64;
    let tail = (2.0 * ((4.0 * read).ln() + 128.0 * core::f64::consts::LN_2)).sqrt();
    let scaled = unit * Log2::of(0.5 + tail * (n / 12.0).sqrt());
    let lifted = Log2::of(0.5 + tail * n.sqrt() / 2.0 + n * (-f64::from(reduction.width)).exp2());
    (scaled + lifted) * Log2::of(MARGIN * S::error_factor(params) as f64)
}

/// Returns the largest error of this kind that one expects to see.
pub(super) fn coefficient_estimate<S: Scheme>(
    params: &Params<S>,
    level: usize,
    reduction: Reduction,
) -> Typical {
    let (n, unit) = (params.degree() as f64, Log2(params.data_bits(level) - f64::from(reduction.width)));
    let read = reduction.selection.coefficients(params.degree()) as f64;
    let spread = ((1.0 + 2.0 / 3.0 * n) / 12.0 * 2.0 * (2.0 * read).ln()).sqrt();
    Typical::exactly((unit + Log2::ONE) * Log2::of(spread * S::error_factor(params) as f64))
}

/// Covers the rounding of fixed point and of f64.
const MARGIN: f64 = 1.0 + 1.0 / (1u64 << 20) as f64;

/// Returns a bound on the canonical norm of that error over the k of n coefficients of one result. δ has n/k parts of k
/// coefficients; the value of a part at a root is sub-Gaussian with √(k/12). In a result, parts are multiplied by parts
/// of the secret, whose squares at a root add up to at most ‖s‖². So the bound is that of a uniform polynomial times
/// √(k/n).
pub(crate) fn canonical_bound<F: Figure, S: Scheme>(
    params: &Params<S>,
    level: usize,
    reduction: Reduction,
) -> F {
    let (n, unit) = (params.degree() as f64, Log2(params.data_bits(level) - f64::from(reduction.width)));
    let share = (1.0 / reduction.selection.spacing as f64).sqrt();
    let norms = F::norms(params.norms());
    // δ is uniform. For η only |η| ≤ 1/2 is known, so it counts √3 times, and its mean is added.
    let rounded = norms.uniform.scaled((unit + Log2::of(3f64.sqrt())) * Log2::of(share * MARGIN));
    let mean = F::exactly(Log2::of(n * (-f64::from(reduction.width)).exp2()));
    (rounded + mean) * norms.secret_powers(2)
}
