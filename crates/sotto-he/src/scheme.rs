//! The facade's additions to a scheme: how values relate to real numbers.

use core::fmt::Debug;

use sotto_circuits::{CircuitError, Machine, Number, Table, table_chains};
use sotto_decrypt::{Decrypted, Decryptor, RangeError};
use sotto_ring::primes;
use sotto_rlwe::{
    Bfv, Bgv, ChainRequest, Ciphertext, Ckks, DefaultChain, EvalError, LevelRules, Log2, NoiseRules, Origin,
    ParameterSpec, Params, Scheme, SchemeId, Shape,
};

use crate::chains::{first_bits, precise, usual};
use crate::error::{Error, Result};

mod sealed {
    /// Limits [`Arithmetic`](super::Arithmetic) to the three schemes.
    ///
    /// Example: [`Arithmetic`](super::Arithmetic)
    pub trait Sealed {}
    impl Sealed for sotto_rlwe::Bfv {}
    impl Sealed for sotto_rlwe::Bgv {}
    impl Sealed for sotto_rlwe::Ckks {}
}

/// A scheme of the facade: [`Ckks`] for real numbers with a bound on the error, [`Bfv`] and [`Bgv`] for whole numbers,
/// exactly.
///
/// ```
/// use sotto::{Arithmetic, Ckks};
///
/// fn zero<S: Arithmetic>() -> S::Value {
///     S::Value::default()
/// }
/// assert_eq!(zero::<Ckks>(), 0.0);
/// ```
pub trait Arithmetic: LevelRules<Value: Number + Into<Real>> + sealed::Sealed {
    #[doc(hidden)]
    fn divided(values: &[Self::Value], unit: f64) -> Vec<Self::Value>;
    #[doc(hidden)]
    fn number(value: f64) -> Self::Value;
    #[doc(hidden)]
    fn plain_modulus(results_within: f64, degree: usize) -> Option<u64>;
    /// Chains to try at a degree, the best first; with the bits of the scale and the number of levels where both are given.
    #[doc(hidden)]
    fn chains(
        degree: usize,
        plain_modulus: u64,
        fixed: Option<(u64, usize)>,
    ) -> impl Iterator<Item = ParameterSpec>;
    /// Like `chains`; for whole numbers of a declared range those that are fast for tables.
    #[doc(hidden)]
    fn chains_for(degree: usize, plain_modulus: u64, tables: bool)
    -> Box<dyn Iterator<Item = ParameterSpec>>;
    /// Chains for a number of products and a sum, smallest degree first; None where the default chains serve.
    #[doc(hidden)]
    fn chains_by_depth(_depth: usize) -> Option<impl Iterator<Item = ParameterSpec>> {
        None::<core::iter::Empty<_>>
    }
    /// The chain of a degree with this scale, for real numbers.
    #[doc(hidden)]
    fn chain_of_scale(_degree: usize, _bits: u32, _levels: usize) -> Option<ParameterSpec> {
        None
    }
    /// Looks up slots of whole numbers in a table; refused for real numbers.
    #[doc(hidden)]
    fn look_up<M: Machine<Value = Self::Value>>(
        table: &Table,
        machine: &mut M,
        part: &M::Vector,
    ) -> Result<M::Vector, CircuitError>;
    #[doc(hidden)]
    fn slots(
        decryptor: &Decryptor<'_, Self>,
        part: &Ciphertext<Self>,
        period: Option<usize>,
        magnitude: f64,
        slot_error: f64,
    ) -> Result<Opened<Self>>;
    #[doc(hidden)]
    fn multiplied(values: &mut [Self::Value], unit: f64);
    /// Makes an encryption of zero of a ciphertext whose slots are within ±`within`.
    #[doc(hidden)]
    fn emptied<M: Machine<Value = Self::Value>>(
        params: &Params<Self>,
        machine: &mut M,
        part: &M::Vector,
        within: f64,
    ) -> Result<M::Vector, CircuitError>;
    /// A bound on the slots of a ciphertext; 0 for whole numbers.
    #[doc(hidden)]
    fn slot_bound(params: &Params<Self>, shape: &Shape<Self>) -> f64;
    /// The shape of a ciphertext of which every slot is known to be within ±`slots_within`: sums of slots that do not meet
    /// are bounded as if they did.
    #[doc(hidden)]
    fn bounded(params: &Params<Self>, shape: Shape<Self>, slots_within: f64) -> Shape<Self>;
}

/// A scheme of whole numbers, whose comparisons are exact: BFV or BGV.
///
/// ```
/// use sotto::{Bgv, Context, Encrypted, Exact};
///
/// fn too_hot<S: Exact>(x: &Encrypted<S>) -> sotto::Result<Encrypted<S>> {
///     x.greater_than(80)?.sum()
/// }
/// let context = Context::<Bgv>::for_comparisons(0..=120)?;
/// let (secret, _) = context.keys(&mut sotto::secure_rng()?)?;
/// assert_eq!(secret.decrypt(&too_hot(&secret.encrypt(&[79, 81, 90])?)?)?.value(), 2);
/// # Ok::<(), sotto::Error>(())
/// ```
pub trait Exact: Arithmetic<Value = i64> {}

impl Exact for Bfv {}
impl Exact for Bgv {}

/// A slot's value as f64: the nearest one for a whole number.
///
/// ```
/// assert_eq!(sotto::Real::from(-3_i64).0, -3.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Real(pub f64);

impl From<f64> for Real {
    fn from(value: f64) -> Self {
        Self(value)
    }
}

impl From<i64> for Real {
    fn from(value: i64) -> Self {
        Self(value as f64)
    }
}

/// Decrypted slots and the bound on their error.
#[doc(hidden)]
#[derive(Debug)]
pub struct Opened<S: Arithmetic> {
    pub(crate) values: Vec<S::Value>,
    pub(crate) error: f64,
}

/// Bits of the scales that are tried, the most precise first: more bits leave fewer levels. The last two are for an error
/// that no other scale reaches.
const SCALES: [u32; 10] = [50, 47, 44, 42, 40, 38, 36, 34, 53, 56];

/// The slots, or one period of a short vector's.
fn decrypted<S: Arithmetic>(
    decryptor: &Decryptor<'_, S>,
    part: &Ciphertext<S>,
    period: Option<usize>,
) -> Result<Decrypted<Vec<S::Value>>> {
    Ok(match period {
        Some(count) => decryptor.repeated(part, count)?,
        None => decryptor.slots(part)?,
    })
}

/// Plain moduli have less than 60 bits.
const LARGEST_PLAIN_MODULUS: f64 = (1_u64 << 58) as f64;

macro_rules! exact {
    ($scheme:ty) => {
        impl Arithmetic for $scheme {
            fn divided(values: &[i64], _unit: f64) -> Vec<i64> {
                values.to_vec()
            }

            fn number(value: f64) -> i64 {
                value as i64
            }

            fn plain_modulus(results_within: f64, degree: usize) -> Option<u64> {
                let floor = 2.0 * results_within + 1.0;
                if floor.is_nan() || floor >= LARGEST_PLAIN_MODULUS {
                    return None;
                }
                primes::above((floor as u64).max(2 * degree as u64), degree).next()
            }

            fn chains(
                degree: usize,
                plain_modulus: u64,
                fixed: Option<(u64, usize)>,
            ) -> impl Iterator<Item = ParameterSpec> {
                // Levels are dropped as noise allows: the default chain is the best one.
                let whole = fixed.is_none().then(|| DefaultChain::spec(Self::ID, degree, plain_modulus));
                whole.into_iter().flatten()
            }

            fn chains_for(
                degree: usize,
                plain_modulus: u64,
                tables: bool,
            ) -> Box<dyn Iterator<Item = ParameterSpec>> {
                if tables {
                    return Box::new(table_chains(Self::ID, degree, plain_modulus));
                }
                Box::new(Self::chains(degree, plain_modulus, None))
            }

            fn look_up<M: Machine<Value = i64>>(
                table: &Table,
                machine: &mut M,
                part: &M::Vector,
            ) -> Result<M::Vector, CircuitError> {
                table.evaluate(machine, part)
            }

            fn slots(
                decryptor: &Decryptor<'_, Self>,
                part: &Ciphertext<Self>,
                period: Option<usize>,
                magnitude: f64,
                _slot_error: f64,
            ) -> Result<Opened<Self>> {
                let values =
                    decrypted(decryptor, part, period)?.into_exact(magnitude).map_err(
                        |error| match error {
                            RangeError::MayWrap(wrap) => {
                                Error::Wraps { magnitude: wrap.magnitude, limit: wrap.plain_modulus / 2 }
                            }
                            beyond @ RangeError::Beyond => Error::Range(beyond),
                        },
                    )?;
                Ok(Opened { values, error: 0.0 })
            }

            fn multiplied(_values: &mut [i64], _unit: f64) {}

            fn emptied<M: Machine<Value = i64>>(
                params: &Params<Self>,
                machine: &mut M,
                part: &M::Vector,
                _within: f64,
            ) -> Result<M::Vector, CircuitError> {
                // t times the ciphertext, in summands that are not 0 modulo t: the mask stays, and the slots are 0.
                let half = ((params.plain_modulus() - 1) / 2) as i64;
                machine.weighted_sum(&[(part, half), (part, half), (part, 1)])
            }

            fn slot_bound(_params: &Params<Self>, _shape: &Shape<Self>) -> f64 {
                0.0
            }

            fn bounded(_params: &Params<Self>, shape: Shape<Self>, _slots_within: f64) -> Shape<Self> {
                shape
            }
        }
    };
}

exact!(Bfv);
exact!(Bgv);

impl Arithmetic for Ckks {
    fn divided(values: &[f64], unit: f64) -> Vec<f64> {
        values.iter().map(|value| value / unit).collect()
    }

    fn number(value: f64) -> f64 {
        value
    }

    fn plain_modulus(_results_within: f64, _degree: usize) -> Option<u64> {
        Some(0)
    }

    fn chains(
        degree: usize,
        _plain_modulus: u64,
        fixed: Option<(u64, usize)>,
    ) -> impl Iterator<Item = ParameterSpec> {
        let (scales, levels) = match fixed {
            Some((bits, levels)) => (vec![bits as u32], Some(levels)),
            None => (SCALES.to_vec(), None),
        };
        let request = move |bits: u32| ChainRequest {
            levels,
            first_bits: Some(first_bits(bits)),
            other_bits: Some(bits),
            ..ChainRequest::new(SchemeId::Ckks, degree, 0)
        };
        // One at a time: finding primes takes longer than most dry runs.
        scales.into_iter().filter_map(move |bits| request(bits).build().ok())
    }

    fn chains_for(
        degree: usize,
        plain_modulus: u64,
        _tables: bool,
    ) -> Box<dyn Iterator<Item = ParameterSpec>> {
        Box::new(Self::chains(degree, plain_modulus, None))
    }

    fn chains_by_depth(depth: usize) -> Option<impl Iterator<Item = ParameterSpec>> {
        Some(usual(depth))
    }

    fn chain_of_scale(degree: usize, bits: u32, levels: usize) -> Option<ParameterSpec> {
        precise(degree, bits, levels)
    }

    fn look_up<M: Machine<Value = f64>>(
        _table: &Table,
        _machine: &mut M,
        _part: &M::Vector,
    ) -> Result<M::Vector, CircuitError> {
        Err(EvalError::Unsupported { operation: "table", scheme: Self::ID }.into())
    }

    fn slots(
        decryptor: &Decryptor<'_, Self>,
        part: &Ciphertext<Self>,
        period: Option<usize>,
        magnitude: f64,
        slot_error: f64,
    ) -> Result<Opened<Self>> {
        // Rounded to a step no finer than the noise, so that an answer can be shared (docs/concepts/publishing.md).
        let decrypted = decrypted(decryptor, part, period)?.within(slot_error).within_magnitude(magnitude)?;
        let bits = decrypted.publishable_bits();
        let error = decrypted.published_error(bits);
        Ok(Opened { values: decrypted.publish(bits)?, error })
    }

    fn multiplied(values: &mut [f64], unit: f64) {
        values.iter_mut().for_each(|value| *value *= unit);
    }

    fn emptied<M: Machine<Value = f64>>(
        params: &Params<Self>,
        machine: &mut M,
        part: &M::Vector,
        within: f64,
    ) -> Result<M::Vector, CircuitError> {
        // The least constant that is not encoded as 0. The slots that it leaves are smaller than most errors.
        let least = 1.0 / params.scale(machine.level(part));
        let product = machine.multiply_constant(part, least)?;
        let error = machine.slot_error(&product) + within * least;
        Ok(machine.with_slot_bounds(product, error, error))
    }

    fn slot_bound(params: &Params<Self>, shape: &Shape<Self>) -> f64 {
        let bits = params.scale(shape.level).log2() * f64::from(shape.scaling.0);
        (shape.noise.message.0 - bits).exp2()
    }

    fn bounded(params: &Params<Self>, mut shape: Shape<Self>, slots_within: f64) -> Shape<Self> {
        let fresh = Self::Noise::fresh::<Log2>(params, Origin::SecretKey, slots_within);
        let (top, scale) = (params.scale(params.top_level()).log2(), params.scale(shape.level).log2());
        let rescaled = Log2(scale * f64::from(shape.scaling.0) - top);
        // The encoding's rounding, which a fresh bound has on top, is part of the error from here on.
        shape.noise.message = shape.noise.message.min(fresh.message * rescaled);
        shape
    }
}
