//! CKKS: phase = Δ^power·m + e; `message` bounds the scaled message, `error` bounds e, rounding of the encoding included.

use super::{Log2, Noise, NoiseRules, Origin, half_modulus};
use crate::parameters::Params;
use crate::scheme::Scheme;
use crate::schemes::Ckks;

impl NoiseRules<Self> for Ckks {
    fn fresh(params: &Params<Self>, origin: Origin, magnitude: f64) -> Noise {
        let rounding = params.norms().any_rounding();
        // The margin covers what f64 rounds off where a plaintext's norm is held against this.
        let margin = 1.0 + 1.0 / (1u64 << 20) as f64;
        let message = Log2::of(magnitude * params.scale(params.top_level()) * margin) + rounding;
        Noise { message, error: params.norms().fresh_error(origin) + rounding }
    }

    fn add(_params: &Params<Self>, a: Noise, b: Noise) -> Noise {
        Noise { message: a.message + b.message, error: a.error + b.error }
    }

    fn add_plain(_params: &Params<Self>, a: Noise, norm: Log2, rounding: Log2) -> Noise {
        Noise { message: a.message + norm + rounding, error: a.error + rounding }
    }

    fn multiply_plain(_params: &Params<Self>, a: Noise, norm: Log2, rounding: Log2) -> Noise {
        let error = a.error * norm + (a.message + a.error) * rounding;
        Noise { message: a.message * (norm + rounding), error }
    }

    fn multiply(_params: &Params<Self>, _level: usize, a: Noise, b: Noise) -> Noise {
        let error = a.message * b.error + b.message * a.error + a.error * b.error;
        Noise { message: a.message * b.message, error }
    }

    fn drop_prime(params: &Params<Self>, level: usize, components: usize, a: Noise) -> Noise {
        let q = Log2::of(params.data_prime(level) as f64);
        Noise { message: a.message / q, error: a.error / q + params.norms().division(components, 1) }
    }

    fn room(params: &Params<Self>, level: usize, a: Noise) -> f64 {
        half_modulus(params, level) - (a.message + a.error).0
    }

    fn slot_error(params: &Params<Self>, level: usize, scaling: <Self as Scheme>::Scaling, a: Noise) -> f64 {
        // Decoding itself is off by less than 2^-45 of the largest slot.
        let decoding = (a.message + a.error) * Log2(-45.0);
        ((a.error + decoding) / Log2(params.scale(level).log2() * f64::from(scaling.0))).value()
    }
}
