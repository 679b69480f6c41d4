//! Encoding for devices that hold no [`Params`](crate::Params): needs only the numbers of a specification and one table
//! at a time; for the top level.

use sotto_ring::{Kernels, Modulus, SmallPoly};

use crate::error::EncodeError;
use crate::injection::Injection;
use crate::parameters::ParameterSpec;
use crate::scheme::Scheme;

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
    pub(crate) injection: Injection,
    pub(crate) error_factor: u64,
    /// [`Scheme::message_divisor`](crate::Scheme::message_divisor).
    pub(crate) divisor: u64,
}

/// A scheme in which devices encrypt without [`Params`](crate::Params).
///
/// Example: [`LeanInjection`]
pub trait LeanEncoding: Scheme {
    /// Encodes slots for the top level. Range for CKKS: magnitudes of at most `largest`.
    ///
    /// # Errors
    /// As [`LeanInjection::new`].
    fn lean_injection(
        spec: &ParameterSpec,
        values: SlotValues<'_>,
        largest: f64,
    ) -> Result<LeanInjection, EncodeError>;
}

impl LeanInjection {
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
