//! BGV: phase = factor·m + t·e; `error` is the size of the whole phase.

use super::Bgv;
use crate::noise::{Figure, Log2, Noise, NoiseRules, Origin, PlainSize, half_modulus};
use crate::parameters::Params;

impl NoiseRules<Self> for Bgv {
    const WHOLE_PHASE: bool = true;

    fn fresh<F: Figure>(params: &Params<Self>, origin: Origin, _magnitude: f64) -> Noise<F> {
        let norms = F::norms(params.norms());
        let message = norms.any_message(params.plain_modulus());
        let error = norms.fresh_error(origin).scaled(Log2::of(params.plain_modulus() as f64));
        Noise { message, error: message + error }
    }

    fn add<F: Figure>(_params: &Params<Self>, a: Noise<F>, b: Noise<F>) -> Noise<F> {
        Noise { message: a.message, error: a.error + b.error }
    }

    fn add_plain<F: Figure>(_params: &Params<Self>, a: Noise<F>, _plain: PlainSize) -> Noise<F> {
        // The plaintext is multiplied by the ciphertext's factor and centred, so it may be any message.
        Noise { message: a.message, error: a.error + a.message }
    }

    fn multiply_plain<F: Figure>(_params: &Params<Self>, a: Noise<F>, plain: PlainSize) -> Noise<F> {
        Noise { message: a.message, error: a.error * F::plain(plain) }
    }

    fn multiply<F: Figure>(
        _params: &Params<Self>,
        _level: usize,
        a: Noise<F>,
        b: Noise<F>,
        same: bool,
    ) -> Noise<F> {
        Noise { message: a.message, error: if same { a.error.square() } else { a.error * b.error } }
    }

    fn room(params: &Params<Self>, level: usize, a: Noise) -> f64 {
        half_modulus(params, level) - a.error.0
    }
}
