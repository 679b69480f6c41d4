//! Plaintexts prepared for the evaluator.

use sotto_ring::{Eval, Poly};

use crate::injection::Injection;
use crate::noise::PlainSize;
use crate::parameters::Params;
use crate::plaintext::Plaintext;
use crate::scheme::Scheme;

/// A plaintext prepared for sums at one level and scaling, in Eval form.
///
/// ```
/// # mod owner { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/owner/mod.rs")); }
/// # use owner::Owner;
/// # use sotto_ring::secure_rng;
/// # use sotto_rlwe::{Addend, Bfv, Evaluator, Multiplier, Params, Scheme};
/// # let params = Params::<Bfv>::default_chain(4096, 65_537)?;
/// # let owner = Owner::new(&params, 1);
/// # let top = params.top_level();
/// # let plaintext = Bfv::encode_slots(&params, &[215, 198], top)?;
/// # let celsius = owner.public_key().encrypt(&plaintext, &mut secure_rng()?)?;
/// // Tenths of a degree Celsius to fiftieths of a degree Fahrenheit: 9·x + 50·32.
/// let nine = Multiplier::new(&params, &Bfv::encode_scalar(&params, 9, top)?, top);
/// let offset = Addend::new(&params, &Bfv::encode_slots(&params, &[1600; 4096], top)?, top, ());
/// let evaluator = Evaluator::new(&params);
/// let fahrenheit = evaluator.add_plain(&evaluator.multiply_plain(&celsius, &nine)?, &offset)?;
/// assert_eq!(Bfv::decode_slots(&params, &owner.decrypt(&fahrenheit))?[..2], [3535, 3382]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Addend<S: Scheme> {
    pub(crate) poly: Poly<Eval>,
    pub(crate) level: usize,
    pub(crate) scaling: S::Scaling,
    /// The level and scaling that its plaintext was encoded for.
    pub(crate) encoded: (usize, S::Scaling),
    pub(crate) size: PlainSize,
    /// The parameters; None if the plaintext was encoded for others.
    pub(crate) params: Option<Params<S>>,
}

impl<S: Scheme> Addend<S> {
    /// Prepares. The evaluator refuses the result if a CKKS plaintext was encoded for another level or scaling.
    pub fn new(params: &Params<S>, plaintext: &Plaintext<S>, level: usize, scaling: S::Scaling) -> Self {
        let poly = match plaintext.coefficients() {
            [_] => constant_addend(params, plaintext, level, scaling),
            _ => {
                Injection::of_message(params, plaintext, level, scaling).polynomial(params, level).into_eval()
            }
        };
        let encoded = (plaintext.level(), plaintext.scaling());
        Self {
            poly,
            level,
            scaling,
            encoded,
            size: plaintext.addend_size(),
            params: plaintext.shared(params),
        }
    }
}

/// A plaintext prepared for products at one level, in Eval form.
///
/// Example: [`Addend`]
#[derive(Debug)]
pub struct Multiplier<S: Scheme> {
    pub(crate) poly: Poly<Eval>,
    pub(crate) level: usize,
    /// The level and scaling that its plaintext was encoded for.
    pub(crate) encoded: (usize, S::Scaling),
    pub(crate) size: PlainSize,
    /// The parameters; None if the plaintext was encoded for others.
    pub(crate) params: Option<Params<S>>,
}

impl<S: Scheme> Multiplier<S> {
    /// Prepares. The evaluator refuses the result if a CKKS plaintext was encoded for another level.
    pub fn new(params: &Params<S>, plaintext: &Plaintext<S>, level: usize) -> Self {
        let poly = match plaintext.coefficients() {
            [value] => constant(params, level, |limb| params.modulus(limb).from_signed(*value)),
            many => Poly::from_signed(params.ring(), params.limbs(level), many).into_eval(),
        };
        let encoded = (plaintext.level(), plaintext.scaling());
        Self { poly, level, encoded, size: plaintext.size(), params: plaintext.shared(params) }
    }
}

/// Returns a constant polynomial. All its entries in Eval form are the constant, so it takes no transform.
fn constant<S: Scheme>(params: &Params<S>, level: usize, residue: impl Fn(usize) -> u64) -> Poly<Eval> {
    let mut poly = Poly::unfilled(params.ring(), params.limbs(level));
    for limb in params.limbs(level) {
        poly.limb_mut(limb).fill(residue(limb));
    }
    poly
}

/// Returns the polynomial that puts a constant message into a phase.
fn constant_addend<S: Scheme>(
    params: &Params<S>,
    plaintext: &Plaintext<S>,
    level: usize,
    scaling: S::Scaling,
) -> Poly<Eval> {
    let (message, _) = S::message(params, plaintext, level, scaling);
    let value = message.first().copied().unwrap_or(0);
    constant(params, level, |limb| {
        let q = params.modulus(limb);
        q.multiply_factor(q.from_signed(value), S::divisor_inverse(params, limb))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schemes::{Bfv, Bgv, Ckks};

    fn constants<S: Scheme>(plain_modulus: u64, values: &[S::Value]) {
        let params = Params::<S>::default_chain(4096, plain_modulus).expect("a default chain");
        for level in 0..=params.top_level() {
            for value in values {
                let plaintext = S::encode_scalar(&params, *value, level).expect("encodes");
                let addend = Addend::new(&params, &plaintext, level, plaintext.scaling());
                let injected = Injection::of_message(&params, &plaintext, level, plaintext.scaling());
                let injected = injected.polynomial(&params, level).into_eval();
                let multiplier = Multiplier::new(&params, &plaintext, level);
                let signed = Poly::from_signed(params.ring(), params.limbs(level), plaintext.coefficients());
                let signed = signed.into_eval();
                for limb in params.limbs(level) {
                    assert_eq!(addend.poly.limb(limb), injected.limb(limb), "{value:?}");
                    assert_eq!(multiplier.poly.limb(limb), signed.limb(limb), "{value:?}");
                }
            }
        }
    }

    #[test]
    fn constants_without_a_transform_are_those_with_one() {
        constants::<Bfv>(65_537, &[0, 1, -1, 32_768, -32_768, 1234]);
        constants::<Bgv>(65_537, &[0, 1, -1, 32_768, -32_768, 1234]);
        constants::<Ckks>(0, &[0.0, 1.0, -1.0, 1e-3, -123.456]);
    }
}
