//! Compact ciphertexts: the part of the body that is transmitted if the message is a polynomial in X^(n/k).

use alloc::vec::Vec;

#[cfg(not(feature = "std"))]
use num_traits::Float as _;
use sotto_ring::{Coeff, Eval, Poly, Seed, Wiped};
use zeroize::Zeroizing;

use crate::ciphertext::Seeded;
use crate::error::{EncodeError, EvalError};
use crate::evaluation_key::EvaluationKeys;
use crate::kept::Kept;
use crate::noise::{Figure, Log2, Origin, Typical, key_switch};
use crate::parameters::{KeyId, Params};
use crate::plaintext::Plaintext;
use crate::scheme::Scheme;
use crate::shape::Shape;
use crate::slot_value::SlotValue as _;

impl Kept {
    /// Refuses invalid numbers of places. Rotations by multiples of the number of values fix X^spacing only if it has
    /// at least four powers.
    fn check(self, degree: usize) -> Result<Self, EvalError> {
        let places = self.places();
        // Whole has k/2 values, which an odd k would round down.
        if places.is_power_of_two() && (2..=degree / 2).contains(&self.values()) {
            Ok(self)
        } else {
            Err(EvalError::Places { places, degree })
        }
    }
}

/// A fresh ciphertext whose message has few coefficients. Only the part [`Kept`] of its body is transmitted: n/k times
/// less than the body of a [`Seeded`] ciphertext.
///
/// A `Compact` is a linear function of an ordinary ciphertext, computed without a secret. The other places of its phase
/// are not small: it is not a [`Ciphertext`](crate::Ciphertext) until [`Evaluator::expand`](crate::Evaluator::expand)
/// makes one of it.
///
/// ```
/// # mod owner { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/owner/mod.rs")); }
/// # use owner::Owner;
/// # use sotto_ring::{Scratch, Seed};
/// # use sotto_rlwe::{Bfv, Evaluator, Kept, Params};
/// # let params = Params::<Bfv>::default_chain(4096, 65_537)?;
/// # let device = Owner::new(&params, 1);
/// # let keys = device.evaluation_keys(&params.expansion_steps(Kept::Folded(4))?);
/// let plaintext = params.encode_folded(&[215, 198, 187, 203], 1.0, params.top_level())?;
/// let sent = device.encrypt(&plaintext, Seed([3; 24]))?.compact(Kept::Folded(4))?;
/// assert_eq!(sent.limbs()[0].len(), 4);
/// // The cloud makes an ordinary ciphertext of it, with the Galois keys of `expansion_steps`.
/// let reading = Evaluator::new(&params).expand(&sent, &keys, &mut Scratch::new())?;
/// assert_eq!(params.decode_repeated(&device.decrypt(&reading), 4)?, [215, 198, 187, 203]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Compact<S: Scheme> {
    params: Params<S>,
    key: KeyId,
    shape: Shape<S>,
    seed: Seed,
    kept: Kept,
    /// k residues for each limb.
    limbs: Vec<Vec<u64>>,
}

impl<S: Scheme> Compact<S> {
    /// Makes a compact ciphertext from its parts: a fresh shape, and k residues for each of its limbs.
    ///
    /// # Errors
    /// [`EvalError::Places`] if the parameters do not allow this number of places, or if the number of limbs or
    /// residues is wrong.
    pub fn from_parts(
        params: &Params<S>,
        key: KeyId,
        shape: Shape<S>,
        seed: Seed,
        kept: Kept,
        limbs: Vec<Vec<u64>>,
    ) -> Result<Self, EvalError> {
        let places = kept.check(params.degree())?.places();
        if limbs.len() != shape.level + 1 || limbs.iter().any(|limb| limb.len() != places) {
            return Err(EvalError::Places { places, degree: params.degree() });
        }
        Ok(Self { params: params.clone(), key, shape, seed, kept, limbs })
    }

    /// Returns the parameters.
    pub fn params(&self) -> &Params<S> {
        &self.params
    }

    /// Returns the key that decrypts it.
    pub fn key(&self) -> KeyId {
        self.key
    }

    /// Returns the shape of the ciphertext that it is a part of.
    pub fn shape(&self) -> &Shape<S> {
        &self.shape
    }

    /// Returns the seed that expands to c1.
    pub fn seed(&self) -> &Seed {
        &self.seed
    }

    /// Returns which part of the body is transmitted.
    pub fn kept(&self) -> Kept {
        self.kept
    }

    /// Returns k residues for each limb.
    pub fn limbs(&self) -> &[Vec<u64>] {
        &self.limbs
    }

    /// Returns the shape after [`Evaluator::expand`](crate::Evaluator::expand) with these keys, without computing.
    ///
    /// # Errors
    /// As [`Evaluator::expand`](crate::Evaluator::expand).
    pub fn expandable(&self, keys: &EvaluationKeys<S>) -> Result<Shape<S>, EvalError> {
        if keys.params != self.params {
            return Err(EvalError::ParameterMismatch);
        }
        if keys.key != self.key {
            return Err(EvalError::KeyMismatch { left: self.key, right: keys.key });
        }
        for step in self.params.expansion_steps(self.kept)? {
            if !keys.can_rotate(step) {
                return Err(EvalError::missing_galois_key(step.into()));
            }
        }
        self.shape.expanded(&self.params, self.kept)
    }

    /// Returns the body with zeros at the places that were not transmitted.
    pub(crate) fn body(&self) -> Poly<Eval> {
        let spacing = self.kept.spacing(self.params.degree());
        let mut body = Poly::<Coeff>::zero(self.params.ring(), self.params.limbs(self.shape.level));
        for (out, limb) in body.limbs_mut().zip(&self.limbs) {
            limb.iter().enumerate().for_each(|(place, residue)| out[place * spacing] = *residue);
        }
        body.into_eval()
    }
}

impl<S: Scheme> Seeded<S> {
    /// Returns the part that carries the message. Does not check the message: if it does not fit [`Kept`], the rest of
    /// it is lost.
    ///
    /// # Errors
    /// [`EvalError::Places`] if the parameters do not allow this number of places.
    pub fn compact(&self, kept: Kept) -> Result<Compact<S>, EvalError> {
        let spacing = kept.check(self.params.degree())?.spacing(self.params.degree());
        let body = self.body.clone().into_coeff();
        let limb = |limb: usize| {
            let all: Vec<u64> = body.limb(limb).iter().copied().step_by(spacing).collect();
            let q = self.params.modulus(limb);
            match kept {
                Kept::Whole(_) => all,
                Kept::Folded(places) => {
                    let differences = (1..places).map(|j| q.subtract(all[j], all[2 * places - j]));
                    core::iter::once(all[0]).chain(differences).collect()
                }
            }
        };
        let limbs = self.params.limbs(self.shape.level).map(limb).collect();
        Compact::from_parts(&self.params, self.key, self.shape, self.seed, kept, limbs)
    }
}

impl<S: Scheme> Plaintext<S> {
    /// Returns the message m_i of Σ X^i·m_i, where each m_i repeats this many values: a polynomial in X^(n/k) with k
    /// twice the number. The canonical norm of m_i is at most that of the sum, because m_i is a mean of n/k conjugates
    /// of the sum times X^-i. The same holds for the error of m_i.
    ///
    /// # Errors
    /// [`EvalError::Places`] unless k is a power of two from 4 to n and i is below n/k.
    pub fn part(&self, values: usize, index: usize) -> Result<Self, EvalError> {
        let (params, degree) = (self.params(), self.params().degree());
        let spacing = Kept::Whole(2 * values).check(degree)?.spacing(degree);
        if index >= spacing {
            return Err(EvalError::Places { places: 2 * values, degree });
        }
        let mut part = Wiped::zeros(degree);
        for (at, coefficient) in self.coefficients().iter().enumerate().skip(index).step_by(spacing) {
            part[at - index] = *coefficient;
        }
        Ok(Self::recovered(params, part, self.level(), self.scaling()))
    }
}

impl<S: Scheme> Params<S> {
    /// Returns the steps of the automorphisms of [`Evaluator::expand`](crate::Evaluator::expand), whose keys are
    /// needed: first 0, the conjugation, if the body is folded; then rotations by n/4, n/8, … down to the number of
    /// values.
    ///
    /// # Errors
    /// [`EvalError::Places`] if the parameters do not allow this number of places.
    pub fn expansion_steps(&self, kept: Kept) -> Result<Vec<i32>, EvalError> {
        let values = kept.check(self.degree())?.values();
        let conjugation = matches!(kept, Kept::Folded(_)).then_some(0);
        let quarter = (self.degree() / 4) as i32;
        let halves = core::iter::successors(Some(quarter), |step| Some(step / 2));
        let rotations = halves.take_while(|step| step.unsigned_abs() as usize >= values);
        Ok(conjugation.into_iter().chain(rotations).collect())
    }

    /// Encodes half of each of k values, repeated to fill every row: the message of a [folded](Kept::Folded)
    /// ciphertext. Range: values of at most `magnitude`. In BFV and BGV, half of a value is its product with 1/2 modulo
    /// t.
    ///
    /// # Errors
    /// As [`Params::encode_repeated`].
    pub fn encode_folded(
        &self,
        values: &[S::Value],
        magnitude: f64,
        level: usize,
    ) -> Result<Plaintext<S>, EncodeError> {
        let halves: Zeroizing<Vec<_>> =
            Zeroizing::new(values.iter().map(|value| value.half(self.plain_modulus())).collect());
        Ok(self.encode_repeated(&halves, level)?.declare_magnitude(magnitude / 2.0))
    }
}

impl<S: Scheme> Shape<S> {
    /// Returns the shape of a fresh ciphertext of [`Params::encode_folded`] or [`Params::encode_repeated`] after its
    /// expansion, for values of at most this magnitude.
    ///
    /// # Errors
    /// [`EvalError::Places`]; [`EvalError::Noise`] if the noise bound passes the decryption limit.
    pub fn fresh_expanded(
        params: &Params<S>,
        origin: Origin,
        magnitude: f64,
        kept: Kept,
    ) -> Result<Self, EvalError> {
        let halves = if matches!(kept, Kept::Folded(_)) { 2.0 } else { 1.0 };
        Self::fresh(params, origin, magnitude / halves)?.expanded(params, kept)
    }

    /// Returns the shape after [`Evaluator::expand`](crate::Evaluator::expand). Adding the conjugate doubles a folded
    /// message and its error. Each step adds the noise of a key switch and doubles that of the steps before it.
    ///
    /// # Errors
    /// [`EvalError::Places`]; [`EvalError::Noise`] if the noise bound passes the decryption limit.
    pub fn expanded(&self, params: &Params<S>, kept: Kept) -> Result<Self, EvalError> {
        let places = kept.check(params.degree())?.places();
        if places == params.degree() {
            return Ok(*self);
        }
        params.require_key_switching(self.level)?;
        let times = (params.degree() / places - 1) as f64;
        let whole = match kept {
            Kept::Whole(_) => *self,
            Kept::Folded(_) => self.double(params)?,
        };
        let (mut noise, mut estimate) = (whole.noise, whole.estimate);
        let switch = key_switch::<Log2, S>(params, self.level);
        noise.error = noise.error + switch.scaled(Log2::of(times));
        let switch = key_switch::<Typical, S>(params, self.level);
        estimate.error = estimate.error + switch.scaled(Log2::of(times.sqrt()));
        Self { noise, estimate, ..*self }.checked(params)
    }
}
