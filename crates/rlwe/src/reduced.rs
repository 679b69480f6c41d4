//! Short answers: coefficients modulo a power of two, and of c0 only the selected ones.

use alloc::vec::Vec;

#[cfg(not(feature = "std"))]
use num_traits::Float as _;
use sotto_ring::{Coeff, Eval, Modulus, Poly};

use crate::ciphertext::Ciphertext;
use crate::error::EvalError;
use crate::noise::{Log2, Noise, NoiseRules};
use crate::parameters::{KeyId, Params};
use crate::reduction::{REDUCED_WIDTHS, Reduction, Selection};
use crate::scheme::Scheme;
use crate::shape::Shape;

impl Selection {
    fn check(self, degree: usize) -> Result<(), EvalError> {
        let Self { spacing, count } = self;
        let fits = spacing.is_power_of_two() && spacing <= degree && (1..=spacing).contains(&count);
        if fits && (count < spacing || spacing == 1) {
            Ok(())
        } else {
            Err(EvalError::Selection { spacing, count, degree })
        }
    }
}

impl Reduction {
    fn check<S: Scheme>(self, params: &Params<S>, level: usize) -> Result<(), EvalError> {
        self.selection.check(params.degree())?;
        let (width, most) = (self.width, params.data_bits(level));
        if REDUCED_WIDTHS.contains(&width) && f64::from(width) < most {
            Ok(())
        } else {
            Err(EvalError::Width { width, most: (most.ceil() as u32 - 1).min(*REDUCED_WIDTHS.end()) })
        }
    }
}

/// An answer with two components: each coefficient c is stored as round(c·2^w/Q) modulo 2^w, for all of c1 and the
/// selected ones of c0.
///
/// It can only be decrypted. [`Shape::reduced`] bounds its error.
///
/// ```
/// # mod owner { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/owner/mod.rs")); }
/// # use owner::Owner;
/// # use sotto_ring::secure_rng;
/// # use sotto_rlwe::{Bfv, Params, Reduction, Scheme, Selection};
/// # let params = Params::<Bfv>::default_chain(4096, 65_537)?;
/// # let owner = Owner::new(&params, 1);
/// # let plaintext = Bfv::encode_slots(&params, &[215, 198], params.top_level())?;
/// # let answer = owner.public_key().encrypt(&plaintext, &mut secure_rng()?)?;
/// let width = answer.shape().least_width(&params, Selection::ALL, 0.0).expect("a width");
/// assert!(f64::from(width) < params.data_bits(answer.level()));
/// // The cloud sends fewer bits of each coefficient; the owner lifts and decrypts.
/// let sent = answer.reduce(Reduction { width, selection: Selection::ALL })?;
/// let lifted = sent.lift()?;
/// assert_eq!(Bfv::decode_slots(&params, &owner.decrypt(&lifted))?[..2], [215, 198]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Reduced<S: Scheme> {
    params: Params<S>,
    key: KeyId,
    shape: Shape<S>,
    reduction: Reduction,
    body: Vec<u64>,
    mask: Vec<u64>,
}

impl<S: Scheme> Reduced<S> {
    /// Makes an answer from its parts: the shape of the ciphertext that was reduced, the coefficients of c0 by
    /// ascending exponent, and those of c1.
    ///
    /// # Errors
    /// As [`Shape::reduced`]; [`EvalError::Selection`] if the number of coefficients does not fit the reduction;
    /// [`EvalError::Width`] if a coefficient has too many bits; [`EvalError::Transparent`] if c1 is zero.
    pub fn from_parts(
        params: &Params<S>,
        key: KeyId,
        shape: Shape<S>,
        reduction: Reduction,
        [body, mask]: [Vec<u64>; 2],
    ) -> Result<Self, EvalError> {
        shape.reduced(params, reduction)?;
        let Reduction { width, selection } = reduction;
        let degree = params.degree();
        if body.len() != selection.coefficients(degree) || mask.len() != degree {
            let Selection { spacing, count } = selection;
            return Err(EvalError::Selection { spacing, count, degree });
        }
        if body.iter().chain(&mask).any(|x| x >> width != 0) {
            return Err(EvalError::Width { width, most: width });
        }
        if mask.iter().all(|x| *x == 0) {
            return Err(EvalError::Transparent);
        }
        Ok(Self { params: params.clone(), key, shape, reduction, body, mask })
    }

    /// Returns the parameters.
    pub fn params(&self) -> &Params<S> {
        &self.params
    }

    /// Returns the key that decrypts it.
    pub fn key(&self) -> KeyId {
        self.key
    }

    /// Returns the shape of the ciphertext before the reduction.
    pub fn shape(&self) -> &Shape<S> {
        &self.shape
    }

    /// Returns its form.
    pub fn reduction(&self) -> Reduction {
        self.reduction
    }

    /// Returns the transmitted coefficients of c0, by ascending exponent.
    pub fn body(&self) -> &[u64] {
        &self.body
    }

    /// Returns the coefficients of c1.
    pub fn mask(&self) -> &[u64] {
        &self.mask
    }

    /// Returns a ciphertext over the level's modulus, of the shape [`Shape::reduced`]: round(x·Q/2^w) for each
    /// coefficient x. Coefficients of c0 that were not transmitted are zero, so the phase is valid only at the
    /// coefficients of the [`Selection`]. For decryption alone: in BFV and BGV the bound holds by coefficient and is
    /// too small for further operations.
    ///
    /// # Errors
    /// As [`Shape::reduced`].
    pub fn lift(&self) -> Result<Ciphertext<S>, EvalError> {
        let shape = self.shape.reduced(&self.params, self.reduction)?;
        let selected = self.reduction.selection.exponents(self.params.degree());
        let components = [
            self.lifted(selected.zip(self.body.iter().copied())),
            self.lifted(self.mask.iter().copied().enumerate()),
        ];
        Ok(Ciphertext::from_parts(&self.params, self.key, shape, components))
    }

    /// round(x·Q/2^w) = (x·Q − r)/2^w, where r is the remainder of x·Q modulo 2^w nearest to zero: modulo each prime
    /// this is −r/2^w. BGV: times t.
    fn lifted(&self, coefficients: impl Iterator<Item = (usize, u64)>) -> Poly<Eval> {
        let (params, width) = (&self.params, self.reduction.width);
        let (ring, limbs) = (params.ring(), params.limbs(self.shape.level));
        let modulus = limbs.clone().fold(1u64, |product, i| product.wrapping_mul(params.modulus(i).value()));
        let left = u64::BITS - width;
        let mut rests = vec![0i64; params.degree()];
        for (at, x) in coefficients {
            rests[at] = -((x.wrapping_mul(modulus) << left) as i64 >> left);
        }
        let mut poly = Poly::<Coeff>::from_signed(ring, limbs, &rests);
        let factor = S::error_factor(params);
        poly.scale_by(|q| q.multiply(power_of_two_inverse(q, width), q.reduce(factor)));
        poly.into_eval()
    }
}

/// Returns 2^-width modulo q.
fn power_of_two_inverse(q: &Modulus, width: u32) -> u64 {
    q.invert_vartime(q.reduce(1 << width)).expect("primes are odd")
}

impl<S: Scheme> Ciphertext<S> {
    /// Returns the ciphertext as an answer for transmission. The time depends on the ciphertext, which is public.
    ///
    /// # Errors
    /// As [`Shape::reduced`]; [`EvalError::Transparent`] if every coefficient of c1 rounds to zero.
    pub fn reduce(&self, reduction: Reduction) -> Result<Reduced<S>, EvalError> {
        let (params, shape) = (self.params(), *self.shape());
        shape.reduced(params, reduction)?;
        let (components, width) = (self.components(), reduction.width);
        let body = fractions(params, &components[0]);
        let body = reduction.selection.exponents(params.degree()).map(|at| rounded(body[at], width));
        let mask = fractions(params, &components[1]);
        let parts = [body.collect(), mask.into_iter().map(|part| rounded(part, width)).collect()];
        Reduced::from_parts(params, self.key(), shape, reduction, parts)
    }
}

/// Returns c/Q modulo 1 for each coefficient c, in units of 2^-128: c/Q = Σ_i [c_i·(Q/q_i)^-1 modulo q_i]/q_i modulo 1,
/// each term truncated. BGV: of c/t.
fn fractions<S: Scheme>(params: &Params<S>, component: &Poly<Eval>) -> Vec<u128> {
    let limbs = component.limbs();
    let mut poly = component.clone().into_coeff();
    let factor = S::error_factor(params);
    poly.scale_by(|q| {
        let others = limbs.clone().map(|i| params.modulus(i)).filter(|other| *other != q);
        let by = others.fold(q.reduce(factor), |by, other| q.multiply(by, q.reduce(other.value())));
        q.invert_vartime(by).expect("distinct primes that do not divide t")
    });
    let mut sums = vec![0u128; params.degree()];
    for i in limbs {
        let q = params.modulus(i).value();
        for (sum, x) in sums.iter_mut().zip(poly.limb(i)) {
            *sum = sum.wrapping_add(fraction(*x, q));
        }
    }
    sums
}

/// Returns floor(x·2^128/q) for x < q.
fn fraction(x: u64, q: u64) -> u128 {
    let divide = |x: u128| (x << 64) / u128::from(q);
    let high = divide(x.into());
    // The remainder of the first division is below q.
    let rest = (u128::from(x) << 64) - high * u128::from(q);
    high << 64 | divide(rest)
}

/// Rounds a fraction in units of 2^-128 to the nearest multiple of 2^-width, modulo 1.
fn rounded(fraction: u128, width: u32) -> u64 {
    (fraction.wrapping_add(1 << (127 - width)) >> (128 - width)) as u64
}

impl<S: Scheme> Shape<S> {
    /// Returns the shape after [`Ciphertext::reduce`] and [`Reduced::lift`]. In BFV and BGV the error bound holds by
    /// coefficient; in CKKS it bounds the canonical norm of one result's coefficients: docs/concepts/noise.md.
    ///
    /// # Errors
    /// [`EvalError::Components`] for a product that was not relinearised; [`EvalError::Selection`] and
    /// [`EvalError::Width`] for a form that the parameters do not allow; [`EvalError::Noise`] if the answer does not
    /// fit this few bits.
    pub fn reduced(&self, params: &Params<S>, reduction: Reduction) -> Result<Self, EvalError> {
        if self.components != 2 {
            return Err(EvalError::Components { components: self.components });
        }
        reduction.check(params, self.level)?;
        let (mut noise, mut estimate) = (self.noise, self.estimate);
        noise.error = noise.error + S::Noise::reduction(params, self.level, reduction);
        estimate.error = estimate.error + S::Noise::expected_reduction(params, self.level, reduction);
        Self { noise, estimate, ..*self }.checked(params)
    }

    /// Returns a bound on the error that reducing adds to a decoded slot of one result; 0 for exact schemes.
    pub fn reduction_error(&self, params: &Params<S>, reduction: Reduction) -> f64 {
        let added = S::Noise::reduction(params, self.level, reduction);
        S::Noise::slot_error(params, self.level, self.scaling, Noise { message: Log2::ZERO, error: added })
    }

    /// Returns the least width that keeps an answer of this shape right and, in CKKS, increases its slot errors by at
    /// most `most_added`. Returns None if no width does.
    pub fn least_width(&self, params: &Params<S>, selection: Selection, most_added: f64) -> Option<u32> {
        REDUCED_WIDTHS.into_iter().find(|width| {
            let reduction = Reduction { width: *width, selection };
            let precise = || self.reduction_error(params, reduction) <= most_added;
            self.reduced(params, reduction).is_ok() && precise()
        })
    }
}
