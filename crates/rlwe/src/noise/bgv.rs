//! BGV: phase = factor·m + t·e; `error` bounds the whole phase.

use super::{Log2, Noise, NoiseRules, Origin, half_modulus};
use crate::parameters::Params;
use crate::scheme::Scheme;
use crate::schemes::Bgv;

impl NoiseRules<Self> for Bgv {
    fn fresh(params: &Params<Self>, origin: Origin, _magnitude: f64) -> Noise {
        let norms = params.norms();
        let message = norms.any_message(params.plain_modulus());
        let error = norms.fresh_error(origin) * Log2::of(params.plain_modulus() as f64);
        Noise { message, error: message + error }
    }

    fn add(_params: &Params<Self>, a: Noise, b: Noise) -> Noise {
        Noise { message: a.message, error: a.error + b.error }
    }

    fn add_plain(_params: &Params<Self>, a: Noise, _norm: Log2, _rounding: Log2) -> Noise {
        // The plaintext is multiplied by the ciphertext's factor and centred: any message.
        Noise { message: a.message, error: a.error + a.message }
    }

    fn multiply_plain(_params: &Params<Self>, a: Noise, norm: Log2, _rounding: Log2) -> Noise {
        Noise { message: a.message, error: a.error * norm }
    }

    fn multiply(_params: &Params<Self>, _level: usize, a: Noise, b: Noise) -> Noise {
        Noise { message: a.message, error: a.error * b.error }
    }

    fn drop_prime(params: &Params<Self>, level: usize, components: usize, a: Noise) -> Noise {
        let q = Log2::of(params.data_prime(level) as f64);
        let rounding = params.norms().division(components, params.plain_modulus());
        Noise { message: a.message, error: a.error / q + rounding }
    }

    fn room(params: &Params<Self>, level: usize, a: Noise) -> f64 {
        half_modulus(params, level) - a.error.0
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
