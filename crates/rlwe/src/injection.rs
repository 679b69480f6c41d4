//! The polynomial that encryption adds to −a·s or b·u: message and error as one integer polynomial, written limb by
//! limb.

use sotto_ring::{Coeff, Factor, Kernels, Modulus, Poly, SmallPoly, Target, Wiped};

use crate::parameters::Params;
use crate::plaintext::Plaintext;
use crate::scheme::Scheme;

/// An integer polynomial over the scheme's divisor ([`Scheme::message_divisor`]), which is inverted modulo each prime.
/// It is secret: wiped on drop, without Debug.
///
/// ```
/// use sotto_ring::SmallPoly;
/// use sotto_rlwe::{Bgv, Injection, Params};
///
/// // BGV multiplies an error by t.
/// let params = Params::<Bgv>::default_chain(4096, 65_537)?;
/// let mut error = vec![0; 4096];
/// error[0] = -2;
/// let injection = Injection::of_error(&params, &SmallPoly::from_coefficients(error));
/// let (limb, mut residues) = (params.limbs(0).start, vec![0; 4096]);
/// injection.write_limb(&params, limb, &mut residues);
/// assert_eq!(residues[0], params.modulus(limb).value() - 2 * 65_537);
/// # Ok::<(), sotto_rlwe::ParameterError>(())
/// ```
pub struct Injection {
    values: Wiped<i64>,
    /// A bound on all values that does not depend on secrets; u64::MAX if unknown.
    magnitude: u64,
    divided: bool,
    /// An error, and its factor, that does not fit into 63 bits together with the message.
    apart: Option<(Wiped<i64>, i64)>,
}

impl Injection {
    /// Makes f·error alone.
    pub fn of_error<S: Scheme>(params: &Params<S>, error: &SmallPoly) -> Self {
        let mut sum =
            Self { values: Wiped::zeros(params.degree()), magnitude: 0, divided: false, apart: None };
        sum.add(error, S::error_factor(params));
        sum
    }

    /// Takes a small polynomial without a factor.
    pub fn of_small(small: &SmallPoly) -> Self {
        Self {
            values: Wiped::copy(small.coefficients()),
            magnitude: small.limit(),
            divided: false,
            apart: None,
        }
    }

    /// Encodes the message for a phase of this level and scaling.
    pub fn of_message<S: Scheme>(
        params: &Params<S>,
        plaintext: &Plaintext<S>,
        level: usize,
        scaling: S::Scaling,
    ) -> Self {
        let (mut values, magnitude) = S::message(params, plaintext, level, scaling);
        if values.len() < params.degree() {
            let mut padded = Wiped::zeros(params.degree());
            padded[..values.len()].copy_from_slice(&values);
            values = padded;
        }
        Self { values, magnitude, divided: S::message_divisor(params) != 1, apart: None }
    }

    /// Takes given values of at most this magnitude.
    pub(crate) fn of_values(values: Wiped<i64>, magnitude: u64) -> Self {
        Self { values, magnitude, divided: false, apart: None }
    }

    /// Encodes message and error together, so that they share one transform.
    pub fn of_encryption<S: Scheme>(
        params: &Params<S>,
        plaintext: &Plaintext<S>,
        level: usize,
        scaling: S::Scaling,
        error: &SmallPoly,
    ) -> Self {
        let mut sum = Self::of_message(params, plaintext, level, scaling);
        sum.add(error, S::error_factor(params).saturating_mul(S::message_divisor(params)));
        sum
    }

    /// Computes self += error·factor. Panics unless the error has as many coefficients as self.
    pub(crate) fn add(&mut self, error: &SmallPoly, factor: u64) {
        assert_eq!(
            error.coefficients().len(),
            self.values.len(),
            "an error has as many coefficients as the ring"
        );
        assert!(self.apart.is_none(), "a second error that does not fit");
        let room = (1u64 << 62).checked_sub(error.limit().saturating_mul(factor));
        match room {
            Some(room) if self.magnitude <= room || self.magnitude == u64::MAX && factor == 1 => {
                (Target::best().streams.add_scaled)(&mut self.values, error.coefficients(), factor as i64);
                if self.magnitude != u64::MAX {
                    self.magnitude += error.limit() * factor;
                }
            }
            _ => self.apart = Some((Wiped::copy(error.coefficients()), factor as i64)),
        }
    }

    /// Returns the polynomial that is added to a phase at a level.
    pub fn polynomial<S: Scheme>(&self, params: &Params<S>, level: usize) -> Poly<Coeff> {
        let mut poly = Poly::unfilled(params.ring(), params.limbs(level));
        for limb in params.limbs(level) {
            self.write_limb(params, limb, poly.limb_mut(limb));
        }
        poly
    }

    /// Writes the residues modulo one prime of the parameters' ring, in coefficient form.
    pub fn write_limb<S: Scheme>(&self, params: &Params<S>, limb: usize, out: &mut [u64]) {
        let inverse = self.divided.then(|| S::divisor_inverse(params, limb));
        self.write_residues(params.ring().kernels(), params.modulus(limb), inverse, out);
    }

    /// Writes the residues modulo a prime, divided by the divisor if there is one.
    pub(crate) fn write_residues(
        &self,
        kernels: &Kernels,
        q: &Modulus,
        inverse: Option<Factor>,
        out: &mut [u64],
    ) {
        assert_eq!(self.values.len(), out.len(), "as many residues as coefficients");
        if self.magnitude < q.value() {
            (Target::best().streams.lift)(q, out, &self.values);
        } else {
            (kernels.from_signed)(q, out, &self.values);
        }
        if let Some((error, factor)) = &self.apart {
            let mut scaled = Wiped::zeros(out.len());
            (kernels.from_signed)(q, &mut scaled, error);
            (kernels.scale)(q, &mut scaled, q.factor(q.from_signed(*factor)));
            (kernels.add)(q, out, &scaled);
        }
        if let Some(inverse) = inverse {
            (kernels.scale)(q, out, inverse);
        }
    }
}
