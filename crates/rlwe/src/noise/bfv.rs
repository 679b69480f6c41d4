//! BFV: phase = (Q/t)·m + v + Q·k, where `error` bounds v.

use super::{Log2, Noise, NoiseRules, Origin, half_modulus};
use crate::parameters::Params;
use crate::scheme::Scheme;
use crate::schemes::Bfv;

impl NoiseRules<Self> for Bfv {
    fn fresh(params: &Params<Self>, origin: Origin, _magnitude: f64) -> Noise {
        let norms = params.norms();
        Noise {
            message: norms.any_message(params.plain_modulus()),
            error: norms.fresh_error(origin) + norms.any_rounding(),
        }
    }

    fn add(_params: &Params<Self>, a: Noise, b: Noise) -> Noise {
        Noise { message: a.message, error: a.error + b.error }
    }

    fn add_plain(params: &Params<Self>, a: Noise, _norm: Log2, _rounding: Log2) -> Noise {
        Noise { message: a.message, error: a.error + params.norms().any_rounding() }
    }

    fn multiply_plain(_params: &Params<Self>, a: Noise, norm: Log2, _rounding: Log2) -> Noise {
        Noise { message: a.message, error: a.error * norm }
    }

    /// t/Q·(Q/t·m1 + v1 + Q·k1)(Q/t·m2 + v2 + Q·k2) leaves m1·v2 + m2·v1 + t·(k1·v2 + k2·v1) + t/Q·v1·v2 and the rounding of
    /// three components (Fan and Vercauteren, ePrint 2012/144, section 4). k = (c0 + c1·s − …)/Q with centred c.
    fn multiply(params: &Params<Self>, level: usize, a: Noise, b: Noise) -> Noise {
        let norms = params.norms();
        let t = Log2::of(params.plain_modulus() as f64);
        let q = Log2(params.data_bits(level));
        let wraps = |x: Noise| norms.uniform * norms.secret_powers(2) + x.message / t + x.error / q;
        let cross = |x: Noise, y: Noise| (x.message + t * wraps(x)) * y.error;
        let error = cross(a, b) + cross(b, a) + t * a.error * b.error / q + norms.division(3, 1);
        Noise { message: a.message, error }
    }

    fn drop_prime(params: &Params<Self>, level: usize, components: usize, a: Noise) -> Noise {
        let q = Log2::of(params.data_prime(level) as f64);
        Noise { message: a.message, error: a.error / q + params.norms().division(components, 1) }
    }

    fn room(params: &Params<Self>, level: usize, a: Noise) -> f64 {
        // |v| < Q/(2t)
        half_modulus(params, level) - (params.plain_modulus() as f64).log2() - a.error.0
    }

    fn slot_error(
        _params: &Params<Self>,
        _level: usize,
        _scaling: <Self as Scheme>::Scaling,
        _a: Noise,
    ) -> f64 {
        0.0
    }
}
