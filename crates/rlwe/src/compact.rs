//! Ciphertexts of few places: the coefficients that travel of a message that is a polynomial in X^(n/k).

use sotto_ring::{Coeff, Eval, Poly, Seed, Wiped};

use crate::ciphertext::Seeded;
use crate::error::EvalError;
use crate::evaluation_key::EvaluationKeys;
use crate::noise::{Figure, Log2, Typical};
use crate::parameters::{KeyId, Params};
use crate::plaintext::Plaintext;
use crate::scheme::Scheme;
use crate::shape::Shape;

/// A fresh ciphertext whose message has coefficients at multiples of n/k alone, and of whose body only these k coefficients are kept: n/k
/// times less than a [`Seeded`] one. k values that are [repeated](Params::encode_repeated) to fill every row are such a message, of at most
/// 2k coefficients.
///
/// It is a part of an ordinary ciphertext, chosen without a secret. The other places of its phase are not small: a `Compact` is no
/// [`Ciphertext`](crate::Ciphertext) before [`Evaluator::expand`](crate::Evaluator::expand) makes it one.
#[derive(Clone, Debug)]
pub struct Compact<S: Scheme> {
    params: Params<S>,
    key: KeyId,
    shape: Shape<S>,
    seed: Seed,
    /// For each limb, the k coefficients.
    limbs: Vec<Vec<u64>>,
}

impl<S: Scheme> Compact<S> {
    /// From its parts: a fresh shape, and for each of its limbs as many residues.
    ///
    /// # Errors
    /// [`EvalError::Places`] where the residues are no power of two from 4 to n a limb, or not the shape's limbs.
    pub fn from_parts(
        params: &Params<S>,
        key: KeyId,
        shape: Shape<S>,
        seed: Seed,
        limbs: Vec<Vec<u64>>,
    ) -> Result<Self, EvalError> {
        let places = limbs.first().map_or(0, Vec::len);
        check(places, params.degree())?;
        if limbs.len() != shape.level + 1 || limbs.iter().any(|limb| limb.len() != places) {
            return Err(EvalError::Places { places, degree: params.degree() });
        }
        Ok(Self { params: params.clone(), key, shape, seed, limbs })
    }

    /// The parameters.
    pub fn params(&self) -> &Params<S> {
        &self.params
    }

    /// The key that decrypts it.
    pub fn key(&self) -> KeyId {
        self.key
    }

    /// The shape of the ciphertext that it is a part of.
    pub fn shape(&self) -> &Shape<S> {
        &self.shape
    }

    /// Expands to c1.
    pub fn seed(&self) -> &Seed {
        &self.seed
    }

    /// k: coefficients of a limb.
    pub fn places(&self) -> usize {
        self.limbs[0].len()
    }

    /// For each limb, the coefficients of X^(j·n/k).
    pub fn limbs(&self) -> &[Vec<u64>] {
        &self.limbs
    }

    /// The shape that [`Evaluator::expand`](crate::Evaluator::expand) gives it with these keys. Nothing is computed.
    ///
    /// # Errors
    /// Those of [`Evaluator::expand`](crate::Evaluator::expand).
    pub fn expandable(&self, keys: &EvaluationKeys<S>) -> Result<Shape<S>, EvalError> {
        if keys.params != self.params {
            return Err(EvalError::ParameterMismatch);
        }
        if keys.key != self.key {
            return Err(EvalError::KeyMismatch { left: self.key, right: keys.key });
        }
        let steps = self.params.expansion_steps(self.places())?;
        if let Some(step) = steps.into_iter().find(|step| !keys.can_rotate(*step)) {
            return Err(EvalError::MissingKey(format!("Galois key of the rotation by {step}")));
        }
        self.shape.expanded(&self.params, self.places())
    }

    /// The body with zeros at the places that did not travel.
    pub(crate) fn body(&self) -> Poly<Eval> {
        let spacing = self.params.degree() / self.places();
        let mut body = Poly::<Coeff>::zero(self.params.ring(), self.params.limbs(self.shape.level));
        for (out, limb) in body.limbs_mut().zip(&self.limbs) {
            limb.iter().enumerate().for_each(|(place, residue)| out[place * spacing] = *residue);
        }
        body.into_eval()
    }
}

impl<S: Scheme> Seeded<S> {
    /// The part of it that carries a message in X^(n/k). The message is not looked at: of another one, the rest is lost.
    ///
    /// # Errors
    /// [`EvalError::Places`] where k is no power of two from 4 to n.
    pub fn compact(&self, places: usize) -> Result<Compact<S>, EvalError> {
        let degree = self.params.degree();
        check(places, degree)?;
        let body = self.body.clone().into_coeff();
        let limbs = self.params.limbs(self.shape.level);
        let kept = |limb: usize| body.limb(limb).iter().copied().step_by(degree / places).collect();
        Compact::from_parts(&self.params, self.key, self.shape, self.seed, limbs.map(kept).collect())
    }
}

impl<S: Scheme> Plaintext<S> {
    /// The message m_i of Σ X^i·m_i, where each m_i is a polynomial in X^(n/k) for k places. The canonical norm of m_i is at most that of
    /// the sum, because m_i is a mean of n/k conjugates of the sum times X^-i. The same holds for the error of m_i.
    ///
    /// # Errors
    /// [`EvalError::Places`] where k is no power of two from 4 to n, or i is not below n/k.
    pub fn part(&self, places: usize, index: usize) -> Result<Self, EvalError> {
        let (params, degree) = (self.params(), self.params().degree());
        check(places, degree)?;
        let spacing = degree / places;
        if index >= spacing {
            return Err(EvalError::Places { places, degree });
        }
        let mut part = Wiped::zeros(degree);
        for (at, coefficient) in self.coefficients().iter().enumerate().skip(index).step_by(spacing) {
            part[at - index] = *coefficient;
        }
        Ok(Self::recovered(params, part, self.level(), self.scaling()))
    }
}

impl<S: Scheme> Params<S> {
    /// The steps of the rotations whose keys [`Evaluator::expand`](crate::Evaluator::expand) takes for k places: n/4, n/8, …, k/2.
    ///
    /// # Errors
    /// [`EvalError::Places`] where k is no power of two from 4 to n.
    pub fn expansion_steps(&self, places: usize) -> Result<Vec<i32>, EvalError> {
        check(places, self.degree())?;
        let quarter = (self.degree() / 4) as i32;
        let halves = core::iter::successors(Some(quarter), |step| Some(step / 2));
        Ok(halves.take_while(|step| 2 * step.unsigned_abs() as usize >= places).collect())
    }
}

impl<S: Scheme> Shape<S> {
    /// After [`Evaluator::expand`](crate::Evaluator::expand) of k places: a switch's noise is added at each step, and doubled by each step after it.
    ///
    /// # Errors
    /// [`EvalError::Places`]; [`EvalError::Noise`] where the parameters do not bear it.
    pub fn expanded(&self, params: &Params<S>, places: usize) -> Result<Self, EvalError> {
        check(places, params.degree())?;
        if places == params.degree() {
            return Ok(*self);
        }
        params.require_special_primes()?;
        let times = (params.degree() / places - 1) as f64;
        let (mut noise, mut estimate) = (self.noise, self.estimate);
        let switch = Log2::norms(params.norms()).key_switch(params, self.level);
        noise.error = noise.error + switch.scaled(Log2::of(times));
        let switch = Typical::norms(params.norms()).key_switch(params, self.level);
        estimate.error = estimate.error + switch.scaled(Log2::of(times.sqrt()));
        Self { noise, estimate, ..*self }.checked(params)
    }
}

/// Rotations by multiples of k/2 are the automorphisms that leave X^(n/k) in its place, for k ≥ 4.
fn check(places: usize, degree: usize) -> Result<(), EvalError> {
    if places.is_power_of_two() && (4..=degree).contains(&places) {
        Ok(())
    } else {
        Err(EvalError::Places { places, degree })
    }
}
