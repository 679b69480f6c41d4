//! BFV: phase = (Q/t)·m + v + Q·k; `error` is the size of v.

use super::Bfv;
use crate::noise::{Figure, Log2, Noise, NoiseRules, Origin, PlainSize, half_modulus};
use crate::parameters::Params;
#[cfg(not(feature = "std"))]
use num_traits::Float as _;

impl NoiseRules<Self> for Bfv {
    fn fresh<F: Figure>(params: &Params<Self>, origin: Origin, _magnitude: f64) -> Noise<F> {
        let norms = F::norms(params.norms());
        Noise {
            message: norms.any_message(params.plain_modulus()),
            error: norms.fresh_error(origin) + norms.any_rounding,
        }
    }

    fn add<F: Figure>(_params: &Params<Self>, a: Noise<F>, b: Noise<F>) -> Noise<F> {
        Noise { message: a.message, error: a.error + b.error }
    }

    fn add_plain<F: Figure>(params: &Params<Self>, a: Noise<F>, _plain: PlainSize) -> Noise<F> {
        Noise { message: a.message, error: a.error + F::norms(params.norms()).any_rounding }
    }

    fn multiply_plain<F: Figure>(_params: &Params<Self>, a: Noise<F>, plain: PlainSize) -> Noise<F> {
        Noise { message: a.message, error: a.error * F::plain(plain) }
    }

    /// t/Q·(Q/t·m1 + v1 + Q·k1)(Q/t·m2 + v2 + Q·k2) leaves m1·v2 + m2·v1 + t·(k1·v2 + k2·v1) + t/Q·v1·v2 and the
    /// rounding of three components (Fan and Vercauteren, ePrint 2012/144, section 4). k = (c0 + c1·s − …)/Q with
    /// centred c.
    fn multiply<F: Figure>(
        params: &Params<Self>,
        level: usize,
        a: Noise<F>,
        b: Noise<F>,
        same: bool,
    ) -> Noise<F> {
        let norms = F::norms(params.norms());
        let t = Log2::of(params.plain_modulus() as f64);
        let q = Log2(params.data_bits(level));
        let wraps =
            |x: Noise<F>| norms.uniform * norms.secret_powers(2) + x.message.over(t) + x.error.over(q);
        let cross = |x: Noise<F>, y: Noise<F>| (x.message + wraps(x).scaled(t)) * y.error;
        let crosses = if same { cross(a, a).twice() } else { cross(a, b).related(cross(b, a)) };
        let error = crosses + (a.error * b.error).scaled(t).over(q) + norms.division(3, 1);
        Noise { message: a.message, error }
    }

    fn room(params: &Params<Self>, level: usize, a: Noise) -> f64 {
        // |v| < Q/(2t)
        half_modulus(params, level) - (params.plain_modulus() as f64).log2() - a.error.0
    }
}
