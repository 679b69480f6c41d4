//! CKKS: phase = Δ^power·m + e; `message` is the size of the scaled message, `error` that of e, including the rounding
//! of the encoding.

use super::Ckks;
use crate::noise::{
    Figure, Log2, Noise, NoiseRules, Origin, PlainSize, Typical, canonical_bound, half_modulus,
};
use crate::parameters::Params;
use crate::reduction::Reduction;
use crate::scheme::Scheme;
#[cfg(not(feature = "std"))]
use num_traits::Float as _;

impl NoiseRules<Self> for Ckks {
    fn fresh<F: Figure>(params: &Params<Self>, origin: Origin, magnitude: f64) -> Noise<F> {
        let norms = F::norms(params.norms());
        // The margin covers the rounding of f64 when a plaintext's norm is compared with this bound.
        let margin = 1.0 + 1.0 / (1u64 << 20) as f64;
        let values = F::declared(Log2::of(magnitude * params.scale(params.top_level()) * margin));
        let error = norms.fresh_error(origin) + norms.any_rounding;
        Noise { message: values + F::exactly(params.norms().bound.any_rounding), error }
    }

    fn add<F: Figure>(_params: &Params<Self>, a: Noise<F>, b: Noise<F>) -> Noise<F> {
        Noise { message: a.message + b.message, error: a.error + b.error }
    }

    fn add_plain<F: Figure>(_params: &Params<Self>, a: Noise<F>, plain: PlainSize) -> Noise<F> {
        let rounding = F::rounding(plain);
        Noise { message: a.message + F::plain(plain) + rounding, error: a.error + rounding }
    }

    fn multiply_plain<F: Figure>(_params: &Params<Self>, a: Noise<F>, plain: PlainSize) -> Noise<F> {
        let (norm, rounding) = (F::plain(plain), F::rounding(plain));
        let error = a.error * norm + (a.message + a.error) * rounding;
        Noise { message: a.message * (norm + rounding), error }
    }

    fn multiply<F: Figure>(
        _params: &Params<Self>,
        _level: usize,
        a: Noise<F>,
        b: Noise<F>,
        same: bool,
    ) -> Noise<F> {
        if same {
            let error = (a.message * a.error).twice() + a.error.square();
            return Noise { message: a.message.square(), error };
        }
        let crosses = (a.message * b.error).related(b.message * a.error);
        let error = crosses + a.error * b.error;
        Noise { message: a.message * b.message, error }
    }

    fn scale_message<F: Figure>(message: F, by: Log2) -> F {
        message.scaled(by)
    }

    /// Uses the canonical norm, as slots depend on all coefficients of their result.
    fn reduction(params: &Params<Self>, level: usize, reduction: Reduction) -> Log2 {
        canonical_bound(params, level, reduction)
    }

    fn expected_reduction(params: &Params<Self>, level: usize, reduction: Reduction) -> Typical {
        canonical_bound(params, level, reduction)
    }

    fn room(params: &Params<Self>, level: usize, a: Noise) -> f64 {
        half_modulus(params, level) - (a.message + a.error).0
    }

    fn of_slots(
        params: &Params<Self>,
        level: usize,
        scaling: <Self as Scheme>::Scaling,
        within: f64,
        error: f64,
    ) -> Option<Noise> {
        // The margin covers the rounding of logarithms.
        let scaled = |value: f64| {
            Log2::of(value * (1.0 + 1.0 / (1u64 << 40) as f64)) * Log2(scale_bits(params, level, scaling))
        };
        Some(Noise { message: scaled(within), error: scaled(error) })
    }

    fn slot_error(params: &Params<Self>, level: usize, scaling: <Self as Scheme>::Scaling, a: Noise) -> f64 {
        // Decoding adds an error below 2^-45 of the largest slot.
        let decoding = (a.message + a.error) * Log2(-45.0);
        ((a.error + decoding) / Log2(scale_bits(params, level, scaling))).value()
    }
}

fn scale_bits(params: &Params<Ckks>, level: usize, scaling: <Ckks as Scheme>::Scaling) -> f64 {
    params.scale(level).log2() * f64::from(scaling.0)
}
