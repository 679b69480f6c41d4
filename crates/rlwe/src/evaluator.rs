//! The evaluator: operations on ciphertexts, once for every scheme.

use core::sync::atomic::{AtomicU64, Ordering};
use std::collections::BTreeMap;

use sotto_ring::{Eval, Poly};

use crate::ciphertext::Ciphertext;
use crate::error::EvalError;
use crate::evaluation_key::EvaluationKeys;
use crate::key_switch;
use crate::parameters::Params;
use crate::plaintext::{Addend, Multiplier};
use crate::scheme::Scheme;
use crate::schemes::{Bgv, Ckks, ScalePower};
use crate::shape::Shape;

/// What the evaluator counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Operation {
    Add,
    Subtract,
    Negate,
    AddPlain,
    MultiplyPlain,
    MultiplyScalar,
    Multiply,
    Relinearise,
    Rotate,
    SwapRows,
    DropModulus,
    MatchScale,
    MatchFactor,
}

impl Operation {
    const ALL: [Self; 13] = [
        Self::Add,
        Self::Subtract,
        Self::Negate,
        Self::AddPlain,
        Self::MultiplyPlain,
        Self::MultiplyScalar,
        Self::Multiply,
        Self::Relinearise,
        Self::Rotate,
        Self::SwapRows,
        Self::DropModulus,
        Self::MatchScale,
        Self::MatchFactor,
    ];

    /// Its name, as plans and people write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Subtract => "subtract",
            Self::Negate => "negate",
            Self::AddPlain => "add-plain",
            Self::MultiplyPlain => "multiply-plain",
            Self::MultiplyScalar => "multiply-scalar",
            Self::Multiply => "multiply",
            Self::Relinearise => "relinearise",
            Self::Rotate => "rotate",
            Self::SwapRows => "swap-rows",
            Self::DropModulus => "drop-modulus",
            Self::MatchScale => "match-scale",
            Self::MatchFactor => "match-factor",
        }
    }
}

/// How often each operation ran.
#[derive(Debug, Default)]
pub struct Counters([AtomicU64; 13]);

impl Counters {
    fn count(&self, operation: Operation) {
        self.0[operation as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// Name and count of every operation that ran.
    pub fn totals(&self) -> BTreeMap<&'static str, u64> {
        let total = |o: &Operation| (o.name(), self.0[*o as usize].load(Ordering::Relaxed));
        Operation::ALL.iter().map(total).filter(|(_, count)| *count > 0).collect()
    }
}

/// Computes on ciphertexts of one parameter set. Every operation checks shapes and the noise bound before it computes.
#[derive(Debug)]
pub struct Evaluator<S: Scheme> {
    params: Params<S>,
    counters: Counters,
}

impl<S: Scheme> Evaluator<S> {
    /// An evaluator.
    pub fn new(params: &Params<S>) -> Self {
        Self { params: params.clone(), counters: Counters::default() }
    }

    /// The parameters.
    pub fn params(&self) -> &Params<S> {
        &self.params
    }

    /// What ran so far.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    fn belongs(&self, a: &Ciphertext<S>) -> Result<(), EvalError> {
        if *a.params() == self.params { Ok(()) } else { Err(EvalError::ParameterMismatch) }
    }

    fn pair(&self, a: &Ciphertext<S>, b: &Ciphertext<S>) -> Result<(), EvalError> {
        self.belongs(a)?;
        self.belongs(b)?;
        if a.key() != b.key() {
            return Err(EvalError::KeyMismatch { left: a.key(), right: b.key() });
        }
        Ok(())
    }

    fn result(&self, a: &Ciphertext<S>, shape: Shape<S>, components: Vec<Poly<Eval>>) -> Ciphertext<S> {
        Ciphertext::from_parts(&self.params, a.key(), shape, components)
    }

    /// a + b.
    pub fn add(&self, a: &Ciphertext<S>, b: &Ciphertext<S>) -> Result<Ciphertext<S>, EvalError> {
        self.combine(a, b, Operation::Add)
    }

    /// a − b.
    pub fn subtract(&self, a: &Ciphertext<S>, b: &Ciphertext<S>) -> Result<Ciphertext<S>, EvalError> {
        self.combine(a, b, Operation::Subtract)
    }

    fn combine(
        &self,
        a: &Ciphertext<S>,
        b: &Ciphertext<S>,
        what: Operation,
    ) -> Result<Ciphertext<S>, EvalError> {
        self.pair(a, b)?;
        let shape = a.shape().add(&self.params, b.shape())?;
        self.counters.count(what);
        let mut components = a.components().to_vec();
        components
            .resize_with(shape.components, || Poly::zero(self.params.ring(), self.params.limbs(shape.level)));
        for (c, d) in components.iter_mut().zip(b.components()) {
            if what == Operation::Add { c.add_assign(d) } else { c.subtract_assign(d) }
        }
        Ok(self.result(a, shape, components))
    }

    /// −a.
    pub fn negate(&self, a: &Ciphertext<S>) -> Result<Ciphertext<S>, EvalError> {
        self.belongs(a)?;
        self.counters.count(Operation::Negate);
        let mut components = a.components().to_vec();
        components.iter_mut().for_each(Poly::negate);
        Ok(self.result(a, *a.shape(), components))
    }

    /// a + a prepared plaintext.
    pub fn add_plain(&self, a: &Ciphertext<S>, b: &Addend<S>) -> Result<Ciphertext<S>, EvalError> {
        self.belongs(a)?;
        let shape = a.shape().add_plain(&self.params, (b.level, b.scaling), (b.norm, b.rounding))?;
        self.counters.count(Operation::AddPlain);
        let mut components = a.components().to_vec();
        components[0].add_assign(&b.poly);
        Ok(self.result(a, shape, components))
    }

    /// a · a prepared plaintext.
    pub fn multiply_plain(&self, a: &Ciphertext<S>, b: &Multiplier<S>) -> Result<Ciphertext<S>, EvalError> {
        self.belongs(a)?;
        let shape = a.shape().multiply_plain(&self.params, b.level, (b.norm, b.rounding))?;
        self.counters.count(Operation::MultiplyPlain);
        let components = a.components().iter().map(|c| c.product(&b.poly)).collect();
        Ok(self.result(a, shape, components))
    }

    /// a · an integer.
    pub fn multiply_scalar(&self, a: &Ciphertext<S>, scalar: i64) -> Result<Ciphertext<S>, EvalError> {
        self.belongs(a)?;
        let shape = a.shape().multiply_scalar(&self.params, scalar)?;
        self.counters.count(Operation::MultiplyScalar);
        let mut components = a.components().to_vec();
        components.iter_mut().for_each(|c| c.scale_signed(scalar));
        Ok(self.result(a, shape, components))
    }

    /// a · b, three components.
    pub fn multiply(&self, a: &Ciphertext<S>, b: &Ciphertext<S>) -> Result<Ciphertext<S>, EvalError> {
        self.pair(a, b)?;
        let shape = a.shape().multiply(&self.params, b.shape())?;
        self.counters.count(Operation::Multiply);
        let components = S::tensor(&self.params, shape.level, a.components(), b.components());
        Ok(self.result(a, shape, components))
    }

    /// Back to two components.
    pub fn relinearise(
        &self,
        a: &Ciphertext<S>,
        keys: &EvaluationKeys<S>,
    ) -> Result<Ciphertext<S>, EvalError> {
        self.belongs(a)?;
        self.keys_fit(a, keys)?;
        let shape = a.shape().relinearise(&self.params)?;
        let missing = || EvalError::MissingKey("relinearisation key".into());
        let key = keys.relinearisation.as_ref().ok_or_else(missing)?;
        self.counters.count(Operation::Relinearise);
        let [k0, k1] = key_switch::switch(&self.params, shape.level, &a.components()[2], key);
        let mut components = a.components()[..2].to_vec();
        components[0].add_assign(&k0);
        components[1].add_assign(&k1);
        Ok(self.result(a, shape, components))
    }

    fn keys_fit(&self, a: &Ciphertext<S>, keys: &EvaluationKeys<S>) -> Result<(), EvalError> {
        if keys.params != self.params {
            return Err(EvalError::ParameterMismatch);
        }
        if keys.key != a.key() {
            return Err(EvalError::KeyMismatch { left: a.key(), right: keys.key });
        }
        Ok(())
    }

    /// Rotates each row left by `step` (right if negative).
    pub fn rotate(
        &self,
        a: &Ciphertext<S>,
        step: i32,
        keys: &EvaluationKeys<S>,
    ) -> Result<Ciphertext<S>, EvalError> {
        if step == 0 {
            return Err(EvalError::Step { step, row: self.params.degree() / 2 });
        }
        self.automorphism(a, step, keys, Operation::Rotate)
    }

    /// Swaps the two rows (BFV, BGV); conjugates (CKKS).
    pub fn swap_rows(&self, a: &Ciphertext<S>, keys: &EvaluationKeys<S>) -> Result<Ciphertext<S>, EvalError> {
        self.automorphism(a, 0, keys, Operation::SwapRows)
    }

    fn automorphism(
        &self,
        a: &Ciphertext<S>,
        step: i32,
        keys: &EvaluationKeys<S>,
        what: Operation,
    ) -> Result<Ciphertext<S>, EvalError> {
        self.belongs(a)?;
        self.keys_fit(a, keys)?;
        let shape = a.shape().rotate(&self.params, step)?;
        let missing = || match step {
            0 => EvalError::MissingKey("Galois key of the row swap".into()),
            _ => EvalError::MissingKey(format!("Galois key of the rotation by {step}")),
        };
        let element = self.params.galois_element(step).ok_or_else(missing)?;
        let (map, key) = keys.galois.key(element).ok_or_else(missing)?;
        self.counters.count(what);
        let mut c0 = map.apply(&a.components()[0]);
        let [k0, k1] = key_switch::switch(&self.params, shape.level, &map.apply(&a.components()[1]), key);
        c0.add_assign(&k0);
        Ok(self.result(a, shape, vec![c0, k1]))
    }

    /// Drops the last prime: rescales a CKKS product, switches the modulus of BFV and BGV.
    pub fn drop_modulus(&self, a: &Ciphertext<S>) -> Result<Ciphertext<S>, EvalError> {
        self.belongs(a)?;
        let shape = a.shape().drop_prime(&self.params)?;
        let level = a.level();
        let division = self.params.level(level).last.as_ref().ok_or(EvalError::NoLevel { level })?;
        self.counters.count(Operation::DropModulus);
        let components = a.components().iter().map(|c| division.apply(c)).collect();
        Ok(self.result(a, shape, components))
    }
}

impl Shape<Ckks> {
    /// To a lower level's scale: see [`Evaluator::match_scale`].
    pub fn match_scale(&self, params: &Params<Ckks>, level: usize) -> Result<Self, EvalError> {
        let constant = match_constant(params, self, level)?;
        let restricted = self.restricted(params, level + 1)?;
        restricted
            .multiply_plain(params, level + 1, (constant.norm(), constant.rounding()))?
            .drop_prime(params)
    }
}

impl Evaluator<Ckks> {
    /// Brings a ciphertext of power 1 to the scale of a lower level, whatever the distance: limbs above `level` + 1 are left
    /// out, the rest is multiplied by Δ_level·q_{level+1}/Δ and rescaled once.
    pub fn match_scale(&self, a: &Ciphertext<Ckks>, level: usize) -> Result<Ciphertext<Ckks>, EvalError> {
        self.belongs(a)?;
        let shape = a.shape().match_scale(&self.params, level)?;
        let constant = match_constant(&self.params, a.shape(), level)?;
        self.counters.count(Operation::MatchScale);
        let division = self.params.level(level + 1).last.as_ref().ok_or(EvalError::NoLevel { level })?;
        let component = |c: &Poly<Eval>| {
            let mut c = c.restricted(self.params.limbs(level + 1));
            c.scale_signed(constant.coefficients()[0]);
            division.apply(&c)
        };
        let components = a.components().iter().map(component).collect();
        Ok(self.result(a, shape, components))
    }
}

impl Shape<Bgv> {
    /// Times an integer that is counted to the plaintext factor: the message stays.
    pub fn match_factor(&self, params: &Params<Bgv>, scalar: i64) -> Result<Self, EvalError> {
        let scaling =
            Bgv::multiply_factor(params, self.scaling, scalar).ok_or(EvalError::Factor { scalar })?;
        Ok(Self { scaling, ..self.multiply_scalar(params, scalar)? })
    }
}

impl Evaluator<Bgv> {
    /// Times an integer that is counted to the plaintext factor: the message stays, and two ciphertexts of different factors can
    /// be brought to one. The integer must be invertible modulo t.
    pub fn match_factor(&self, a: &Ciphertext<Bgv>, scalar: i64) -> Result<Ciphertext<Bgv>, EvalError> {
        self.belongs(a)?;
        let shape = a.shape().match_factor(&self.params, scalar)?;
        self.counters.count(Operation::MatchFactor);
        let mut components = a.components().to_vec();
        components.iter_mut().for_each(|c| c.scale_signed(scalar));
        Ok(self.result(a, shape, components))
    }
}

fn match_constant(
    params: &Params<Ckks>,
    shape: &Shape<Ckks>,
    level: usize,
) -> Result<crate::plaintext::Plaintext<Ckks>, EvalError> {
    if shape.level <= level {
        return Err(EvalError::LevelMismatch { left: shape.level, right: level });
    }
    if shape.scaling != ScalePower(1) {
        return Err(EvalError::ScalePower { power: shape.scaling.0 });
    }
    let scale = params.scale(level) * params.data_prime(level + 1) as f64 / params.scale(shape.level);
    Ok(params.encode_constant_at(1.0, scale, level + 1)?)
}
