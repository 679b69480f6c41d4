//! Encoding for devices that hold no [`Params`](crate::Params): needs only the numbers of a specification and one table
//! at a time; for the top level.

use sotto_ring::{
    Embedding, Kernels, LeanTransform, Modulus, SmallPoly, Wiped, all_within, primes, round_off,
};

use crate::error::EncodeError;
use crate::injection::Injection;
use crate::parameters::{ParameterSpec, SchemeId};
use crate::schemes::{bfv_rests, slot_places};

/// One value a slot; missing ones are zero.
///
/// Example: [`LeanInjection`]
#[derive(Clone, Copy)]
pub enum SlotValues<'v> {
    /// For BFV and BGV.
    Integers(&'v [i64]),
    /// For CKKS.
    Reals(&'v [f64]),
}

/// An encoded message to which an error is added, written limb by limb, with the same numbers as [`Injection`]. Secret.
///
/// ```
/// use sotto_ring::{Modulus, SmallPoly};
/// use sotto_rlwe::{DefaultChain, LeanInjection, SchemeId, SlotValues};
///
/// // A small device knows the numbers of the parameters and makes no tables of all limbs.
/// let spec = DefaultChain::spec(SchemeId::Bgv, 4096, 65_537)?;
/// let mut message = LeanInjection::new(&spec, SlotValues::Integers(&[21; 4096]), 1.0)?;
/// message.add_error(&SmallPoly::from_coefficients(vec![1; 4096]));
/// let mut residues = vec![0; 4096];
/// for prime in &spec.data {
///     message.write_limb(&Modulus::new(*prime)?, &mut residues).expect("t is prime to every modulus");
///     // Equal slots are a constant; the error is multiplied by t.
///     assert_eq!(residues[..2], [65_537 + 21, 65_537]);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct LeanInjection {
    injection: Injection,
    error_factor: u64,
    /// t for BFV, else 1.
    divisor: u64,
}

impl LeanInjection {
    /// Encodes. Range for CKKS: magnitudes of at most `largest`, which must be below 2^61/Δ.
    ///
    /// # Errors
    /// [`EncodeError`] if there are too many values, one is out of range or of the other kind, or t has no slots.
    pub fn new(spec: &ParameterSpec, values: SlotValues<'_>, largest: f64) -> Result<Self, EncodeError> {
        let t = spec.plain;
        let (injection, error_factor, divisor) = match (spec.scheme, values) {
            (SchemeId::Ckks, SlotValues::Reals(values)) => {
                (Injection::of_values(reals(spec, values, largest)?, u64::MAX), 1, 1)
            }
            (SchemeId::Bgv, SlotValues::Integers(values)) => {
                let (t, residues) = integers(spec, values)?;
                let mut centred = Wiped::zeros(spec.degree);
                (Kernels::best().centre)(&t, &mut centred, &residues);
                (Injection::of_values(centred, t.value() / 2), t.value(), 1)
            }
            (SchemeId::Bfv, SlotValues::Integers(values)) => {
                let (modulus, mut residues) = integers(spec, values)?;
                let product = |product, q: &u64| modulus.multiply(product, modulus.reduce(*q));
                let modulus_residue = spec.data.iter().fold(modulus.reduce(1), product);
                let rests = bfv_rests(&modulus, modulus_residue, &mut residues);
                (Injection::of_values(rests, t), t, t)
            }
            _ => return Err(EncodeError::NoSlots { plain_modulus: t, degree: spec.degree }),
        };
        Ok(Self { injection, error_factor, divisor })
    }

    /// Adds e times the scheme's error factor.
    pub fn add_error(&mut self, error: &SmallPoly) {
        self.injection.add(error, self.error_factor);
    }

    /// Writes the residues modulo a data prime, in coefficient form. Returns None if the prime divides t.
    pub fn write_limb(&self, q: &Modulus, out: &mut [u64]) -> Option<()> {
        let inverse = match self.divisor {
            1 => None,
            divisor => Some(q.factor(q.invert_vartime(divisor)?)),
        };
        self.injection.write_residues(&Kernels::SCALAR, q, inverse, out);
        Some(())
    }
}

/// Transforms slots of residues modulo t to coefficients.
fn integers(spec: &ParameterSpec, values: &[i64]) -> Result<(Modulus, Wiped<u64>), EncodeError> {
    let degree = spec.degree;
    let none = EncodeError::NoSlots { plain_modulus: spec.plain, degree };
    if values.len() > degree {
        return Err(EncodeError::TooMany { given: values.len(), slots: degree });
    }
    let t = Modulus::new(spec.plain).map_err(|_| none.clone())?;
    let limit = (t.value() - 1) as f64;
    if let Some(index) = values.iter().position(|value| value.unsigned_abs() >= t.value()) {
        return Err(EncodeError::OutOfRange { index, limit });
    }
    let mut residues = Wiped::zeros(degree);
    for (value, place) in values.iter().zip(slot_places(degree)) {
        residues[place as usize] = t.from_signed(*value);
    }
    let transform = LeanTransform::inverse(t, degree).filter(|_| primes::is_prime(t.value()));
    transform.ok_or(none)?.run(&mut residues);
    Ok((t, residues))
}

/// Transforms real slots to rounded coefficients of scale Δ.
fn reals(spec: &ParameterSpec, values: &[f64], largest: f64) -> Result<Wiped<i64>, EncodeError> {
    let slots = spec.degree / 2;
    if values.len() > slots {
        return Err(EncodeError::TooMany { given: values.len(), slots });
    }
    let scale = (1u64 << spec.plain.min(60)) as f64;
    let limit = largest.min(crate::schemes::limit_of(scale));
    if !all_within(values, limit) {
        let outside = |value: &f64| !value.is_finite() || value.abs() > limit;
        return Err(EncodeError::OutOfRange { index: values.iter().position(outside).unwrap_or(0), limit });
    }
    let none = EncodeError::NoSlots { plain_modulus: 0, degree: spec.degree };
    let embedding = Embedding::new(spec.degree).ok_or(none)?;
    let mut exact = embedding.real_to_coefficients(values, scale);
    let mut coefficients = Wiped::zeros(spec.degree);
    round_off(&mut exact, &mut coefficients);
    Ok(coefficients)
}
