//! A bound on the error of each slot of a CKKS answer, derived from the randomness that its plan adds. It is for the
//! owner, who knows the plan.
//!
//! A [`Shape`] follows a single figure, the canonical norm of the error, and must assume any dependence between
//! operands: a sum over n/2 rotations multiplies it by n/2. Here each register's error is a linear combination of the
//! random polynomials that caused it. A random polynomial e with independent coefficients of variance V has
//! sub-Gaussian values with parameter √(nV) at the roots ζ_j. As the columns (ζ_j^i)_i are orthogonal, values at
//! different roots add as squares: Σ_r d_r·e(ζ_{j+r}) is sub-Gaussian with parameter √(nV·Σ_r |d_r|²). That is the
//! error which a sum of rotations of e leaves in slot j.
//!
//! Errors that may depend on each other add linearly: the errors of inputs, which may be the same ciphertext twice; all
//! contributions of one evaluation key in different steps; all rounding errors of rescaling. Errors that are not random
//! add linearly too: second-order terms of products, and the rounding of encodings. Of the latter only |ρ_i| ≤ 1/2 is
//! used, so that |Σ_r d_r·ρ(ζ_{j+r})| ≤ n/2·√(Σ_r |d_r|²) by Cauchy and Schwarz.
//!
//! Key switching adds Σ digit·error/P. A digit is bounded at every root by its tail. Over all roots of a row its
//! squares sum to at most n/2·n/4·q² by Parseval, as no coefficient exceeds q/2; for sums of many rotations this bound
//! is smaller.
//!
//! An evaluation key's error is independent of the digits that it is multiplied by as long as these come from masks
//! alone, which are drawn independently of errors. After a product of ciphertexts the masks depend on the keys used
//! before: later contributions of these keys count as not random, by their canonical norm. The tail at 2^-128 is that
//! of [`sotto_rlwe::Norms`], with its union over the roots. docs/concepts/noise.md has figures.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use sotto_program::{KeyNumber, Register, Step};
use sotto_ring::ERROR_VARIANCE;
use sotto_rlwe::{Kept, Log2, Origin, Params, PlainSize, SchemeId, Shape};

use crate::step_rules::StepRules;

/// A combination of more terms is replaced by its bound, which is still correct but coarser.
const MOST_TERMS: usize = 1 << 15;

/// A source of randomness. Sources of different kinds are independent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Source {
    /// The errors of fresh ciphertexts.
    Fresh,
    /// An evaluation key.
    Key(Key),
    /// Divisions by a prime.
    Rescaling,
    /// The rounding of encodings: bounded, not random.
    Encoding,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Key {
    Rotation(i32),
    Relinearisation,
    Rows,
    Transfer(KeyNumber),
}

/// One polynomial of a source, at a rotation.
type Term = (Source, Polynomial, i32);

/// A polynomial that a step adds to the error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Polynomial {
    /// Random with one factor for all roots, or bounded at each root.
    Of(u32),
    /// An evaluation key's errors times digits, with the bound of a digit at every root.
    Switched(u32),
}

/// The error of a register, in units of its scaled message.
#[derive(Clone, Debug, Default)]
struct Errors {
    /// For each polynomial and rotation: its sub-Gaussian parameter (for encodings its bound) times the largest factor
    /// of a slot.
    terms: HashMap<Term, f64>,
    /// A bound on all other errors.
    worst: f64,
    /// Evaluation keys used so far.
    used: BTreeSet<Key>,
    /// Evaluation keys that the masks may depend on.
    mixed: BTreeSet<Key>,
}

/// The errors of all registers of a plan under construction.
pub(super) struct SlotErrors {
    /// None for exact schemes, whose slots have no error.
    sizes: Option<Sizes>,
    all: Vec<Errors>,
}

/// The shapes and key numbers of all registers.
pub(super) struct Registers<'a, S: StepRules> {
    pub(super) shapes: &'a [Shape<S>],
    pub(super) keys: &'a [KeyNumber],
}

impl SlotErrors {
    /// Starts with the errors of `inputs` inputs of this origin, expanded if `kept` is given.
    pub(super) fn new<S: StepRules>(
        params: &Params<S>,
        inputs: usize,
        origin: Origin,
        kept: Option<Kept>,
    ) -> Self {
        if S::ID != SchemeId::Ckks {
            return Self { sizes: None, all: Vec::new() };
        }
        let sizes = Sizes::new(params);
        let expansion = kept.and_then(|kept| params.expansion_steps(kept).ok()).unwrap_or_default();
        let all = (0..inputs)
            .map(|input| sizes.expanded(sizes.fresh(input, origin), params, &expansion, input))
            .collect();
        Self { sizes: Some(sizes), all }
    }

    /// Follows the steps that write the next registers. `plain` returns the sizes of constants.
    pub(super) fn follow<S: StepRules>(
        &mut self,
        params: &Params<S>,
        steps: impl Iterator<Item = Step>,
        registers: &Registers<'_, S>,
        plain: impl Fn(sotto_program::ConstantId) -> Option<PlainSize>,
    ) {
        let Some(sizes) = &self.sizes else { return };
        for step in steps {
            let shape = &registers.shapes[self.all.len()];
            let errors = sizes.after(params, &step, &self.all, shape, registers, &plain);
            self.all.push(errors);
        }
    }

    /// Returns a bound on the error of a register's slots, or of its parts of `read` values. At most the shape's bound;
    /// 0 for exact schemes.
    pub(super) fn bound<S: StepRules>(
        &self,
        params: &Params<S>,
        register: Register,
        shape: &Shape<S>,
        read: Option<usize>,
    ) -> f64 {
        match &self.sizes {
            Some(sizes) => sizes.bound(params, &self.all[register.index()], shape, read),
            None => shape.slot_error(params),
        }
    }

    /// Like [`bound`](Self::bound), for a register after the step that brings it to a lower level, where its shape is
    /// `lowered`.
    pub(super) fn lowered<S: StepRules>(
        &self,
        params: &Params<S>,
        of: Register,
        shapes: &[Shape<S>],
        lowered: &Shape<S>,
        read: Option<usize>,
    ) -> f64 {
        let Some(sizes) = &self.sizes else { return lowered.slot_error(params) };
        if lowered.level == shapes[of.index()].level {
            return self.bound(params, of, lowered, read);
        }
        let step = Step::MatchScale { of, level: lowered.level as u8 };
        let registers = Registers { shapes, keys: &[] };
        let errors = sizes.after(params, &step, &self.all, lowered, &registers, |_| None);
        sizes.bound(params, &errors, lowered, read)
    }
}

impl Errors {
    fn plus(mut self, other: &Self) -> Self {
        for (term, size) in &other.terms {
            *self.terms.entry(*term).or_default() += size;
        }
        self.worst += other.worst;
        self.used.extend(&other.used);
        self.mixed.extend(&other.mixed);
        self
    }

    fn times(mut self, factor: f64) -> Self {
        self.terms.values_mut().for_each(|size| *size *= factor);
        self.worst *= factor;
        self
    }

    fn rotated(&self, by: i32, row: i32) -> Self {
        let turned = |((source, event, at), size): (&Term, &f64)| {
            ((*source, *event, (at + by).rem_euclid(row)), *size)
        };
        Self { terms: self.terms.iter().map(turned).collect(), ..self.clone() }
    }
}

/// Sub-Gaussian parameters and bounds of the polynomials.
struct Sizes {
    /// The canonical norm of a polynomial is below this value times its parameter.
    tail: f64,
    degree: f64,
    row: i32,
    // √(n·V) of errors and of uniform roundings.
    error: f64,
    uniform: f64,
    // Canonical norms.
    secret: f64,
    fresh_public: f64,
}

impl Sizes {
    fn new<S: StepRules>(params: &Params<S>) -> Self {
        let (degree, norms) = (params.degree() as f64, &params.norms().bound);
        let uniform = (degree / 12.0).sqrt();
        Self {
            tail: norms.uniform.value() / uniform,
            degree,
            row: (params.degree() / 2) as i32,
            error: (degree * ERROR_VARIANCE).sqrt(),
            uniform,
            secret: norms.secret.value(),
            fresh_public: norms.fresh_error(Origin::PublicKey).value(),
        }
    }

    /// Returns the error of the next register, which `step` writes and whose shape is `shape`.
    fn after<S: StepRules>(
        &self,
        params: &Params<S>,
        step: &Step,
        all: &[Errors],
        shape: &Shape<S>,
        &Registers { shapes, keys }: &Registers<'_, S>,
        plain: impl Fn(sotto_program::ConstantId) -> Option<PlainSize>,
    ) -> Errors {
        let of = step.operands().next().map_or(0, Register::index);
        let event = u32::try_from(all.len()).unwrap_or(u32::MAX);
        let mut errors = match *step {
            Step::Add(a, b) | Step::Sub(a, b) => all[a.index()].clone().plus(&all[b.index()]),
            // A power of X has absolute value 1 at every root.
            Step::Negate(a) | Step::MultiplyMonomial(a, _) => all[a.index()].clone(),
            Step::AddPlain(a, constant) => {
                let mut sum = all[a.index()].clone();
                sum.worst += plain(constant).map_or(f64::INFINITY, |size| size.rounding.value());
                sum
            }
            Step::MultiplyPlain(a, constant) => {
                let size = plain(constant);
                let (norm, rounding) =
                    size.map_or((f64::INFINITY, 0.0), |size| (size.norm.value(), size.rounding.value()));
                let mut product = all[a.index()].clone().times(norm + rounding);
                product.worst += shapes[of].noise.message.value() * rounding;
                product
            }
            Step::MultiplyScalar(a, scalar) => all[a.index()].clone().times(scalar.unsigned_abs() as f64),
            Step::Multiply(a, b) => self.product(all, shapes, a, b),
            Step::Relinearise(a) => {
                self.switched(&all[a.index()], params, shape.level, Key::Relinearisation, event)
            }
            Step::Rotate(a, by) => {
                let rotated = all[a.index()].rotated(by, self.row);
                self.switched(&rotated, params, shape.level, Key::Rotation(by), event)
            }
            Step::SwapRows(a) => self.switched(&all[a.index()], params, shape.level, Key::Rows, event),
            Step::SwitchKey(a) => {
                let key = keys.get(a.index()).copied().unwrap_or(KeyNumber::ANSWER);
                self.switched(&all[a.index()], params, shape.level, Key::Transfer(key), event)
            }
            Step::DropModulus { of, count } => {
                let before = &shapes[of.index()];
                let mut errors = all[of.index()].clone();
                for dropped in 0..usize::from(count) {
                    let prime = params.data_prime(before.level - dropped) as f64;
                    errors = self.rounded(errors.times(1.0 / prime), before.components, event);
                }
                errors
            }
            Step::MatchScale { of, level } => {
                let (before, level) = (&shapes[of.index()], usize::from(level));
                match S::scale_match(params, before.level, level) {
                    // Multiplied by a constant and divided by the prime above the level: one rounding.
                    Some(size) => {
                        let prime = params.data_prime(level + 1) as f64;
                        let (norm, rounding) = (size.norm.value(), size.rounding.value());
                        let mut errors = all[of.index()].clone().times((norm + rounding) / prime);
                        errors.worst += before.noise.message.value() * rounding / prime;
                        self.rounded(errors, before.components, event)
                    }
                    None => self.counted(shape, &all[of.index()]),
                }
            }
            // Corrections of factors use the evaluator's bound; only exact schemes look up tables.
            Step::MatchFactor { of, .. } | Step::Table { of, .. } => self.counted(shape, &all[of.index()]),
            // So do signs, whose products make the masks depend on all keys used.
            Step::Sign { of, .. } => {
                let mut errors = self.counted(shape, &all[of.index()]);
                errors.used.insert(Key::Relinearisation);
                errors.mixed.clone_from(&errors.used);
                errors
            }
        };
        if errors.terms.len() > MOST_TERMS {
            errors.worst = self.total(&errors);
            errors.terms.clear();
        }
        errors
    }

    /// Returns a bound on the error of a slot, at most the shape's.
    fn bound<S: StepRules>(
        &self,
        params: &Params<S>,
        errors: &Errors,
        shape: &Shape<S>,
        read: Option<usize>,
    ) -> f64 {
        let (own, error) = (shape.slot_error(params), Log2::of(self.of_parts(errors, read)));
        let noise = sotto_rlwe::Noise { error: error.min(shape.noise.error), ..shape.noise };
        let bound = Shape { noise, ..*shape }.slot_error(params);
        // The sum may overflow f64; then the shape's bound is used.
        if bound.is_nan() { own } else { bound.min(own) }
    }

    /// Returns 1 + |s| + |s|² + … with one term per component.
    fn secret_powers(&self, components: usize) -> f64 {
        (0..components).map(|power| self.secret.powi(power as i32)).sum()
    }

    fn fresh(&self, input: usize, origin: Origin) -> Errors {
        let event = u32::try_from(input).unwrap_or(u32::MAX);
        let mut errors = Errors::default();
        errors.terms.insert((Source::Encoding, Polynomial::Of(event), 0), self.degree / 2.0);
        match origin {
            Origin::SecretKey => {
                errors.terms.insert((Source::Fresh, Polynomial::Of(event), 0), self.error);
            }
            // Its terms are products of random polynomials.
            Origin::PublicKey => errors.worst = self.fresh_public,
        }
        errors
    }

    /// Adds the rounding error of a division by a prime. Several divisions in one step are separate polynomials, whose
    /// errors add linearly.
    fn rounded(&self, mut errors: Errors, components: usize, event: u32) -> Errors {
        let rounding = self.uniform * self.secret_powers(components);
        *errors.terms.entry((Source::Rescaling, Polynomial::Of(event), 0)).or_default() += rounding;
        errors
    }

    /// Returns an error that consists of the shape's bound alone.
    fn counted<S: StepRules>(&self, shape: &Shape<S>, before: &Errors) -> Errors {
        Errors { terms: HashMap::new(), worst: shape.noise.error.value(), ..before.clone() }
    }

    /// Returns the error of input number `input` after expansion. It is divided by 2^(number of rotations). Each step
    /// rotates or conjugates it, which keeps absolute values, adds the result to it, and adds the noise of one key
    /// switch.
    fn expanded<S: StepRules>(
        &self,
        fresh: Errors,
        params: &Params<S>,
        steps: &[i32],
        input: usize,
    ) -> Errors {
        let event = u32::try_from(input).unwrap_or(u32::MAX);
        let rotations = steps.iter().filter(|step| **step != 0).count();
        let divided = fresh.times((-(rotations as f64)).exp2());
        steps.iter().fold(divided, |errors, step| {
            let moved = errors.rotated(*step, self.row);
            let key = if *step == 0 { Key::Rows } else { Key::Rotation(*step) };
            errors.plus(&self.switched(&moved, params, params.top_level(), key, event))
        })
    }

    /// Returns a bound on the canonical norm of an error.
    fn total(&self, errors: &Errors) -> f64 {
        self.of_parts(errors, None)
    }

    /// Returns a bound on the canonical norm of a part of an error, i.e. of the coefficients of one merged result; of
    /// the whole error if `values` is None.
    ///
    /// The part is the mean of the error's rotations by multiples of `values`, each times a power of X.
    fn of_parts(&self, errors: &Errors, values: Option<usize>) -> f64 {
        let ring = values.map_or(self.row, |values| values as i32);
        let means = f64::from(self.row / ring);
        // Rotations that the mean identifies add linearly.
        let mut turned: BTreeMap<(Source, Polynomial, i32), f64> = BTreeMap::new();
        for ((source, polynomial, at), size) in &errors.terms {
            *turned.entry((*source, *polynomial, at.rem_euclid(ring))).or_default() += size;
        }
        // For each source and polynomial: squares add over rotations.
        let mut polynomials: BTreeMap<(Source, Polynomial), (f64, f64)> = BTreeMap::new();
        for ((source, polynomial, _), size) in turned {
            let (squares, largest) = polynomials.entry((source, polynomial)).or_default();
            *squares += size * size / means;
            *largest = largest.max(size / means);
        }
        let mut sources: BTreeMap<Source, f64> = BTreeMap::new();
        for ((source, polynomial), (squares, largest)) in polynomials {
            let size = match polynomial {
                Polynomial::Of(_) => squares.sqrt(),
                Polynomial::Switched(_) => {
                    squares.sqrt().min(largest * (1.5 * self.degree).sqrt() / self.tail)
                }
            };
            *sources.entry(source).or_default() += size;
        }
        let encoding = sources.remove(&Source::Encoding).unwrap_or_default();
        let random = sources.values().map(|size| size * size).sum::<f64>().sqrt();
        self.tail * random + encoding + errors.worst
    }

    /// Returns the error (m_a + e_a)(m_b + e_b) − m_a·m_b. Messages do not depend on the randomness, so they are
    /// constant factors.
    fn product<S: StepRules>(&self, all: &[Errors], shapes: &[Shape<S>], a: Register, b: Register) -> Errors {
        let [(left, left_message), (right, right_message)] =
            [a, b].map(|of| (&all[of.index()], shapes[of.index()].noise.message.value()));
        let mut product = left.clone().times(right_message).plus(&right.clone().times(left_message));
        product.worst += self.total(left) * self.total(right);
        product.mixed = product.mixed.union(&product.used).copied().collect();
        product
    }

    /// Adds the error of a key switch.
    fn switched<S: StepRules>(
        &self,
        before: &Errors,
        params: &Params<S>,
        level: usize,
        key: Key,
        event: u32,
    ) -> Errors {
        let mut errors = before.clone();
        let special = params.special_bits();
        // Digits are bounded at every root; the errors of the key's digits are independent of each other. A digit may
        // exceed half of its product by a factor of 1 + 2^-21.
        let digits = params.digits(level).map(|digit| {
            let size = self.tail
                * self.uniform
                * (params.ring().product_bits(digit) - special + 1.0 / 65536.0).exp2();
            (size * self.error).powi(2)
        });
        let (switched, rounding) = (digits.sum::<f64>().sqrt(), self.uniform * self.secret_powers(2));
        if errors.mixed.contains(&key) {
            let most = (params.digits(level).count() as f64).sqrt();
            errors.worst += self.tail * (switched * most + rounding);
        } else {
            for (polynomial, size) in
                [(Polynomial::Switched(event), switched), (Polynomial::Of(event), rounding)]
            {
                *errors.terms.entry((Source::Key(key), polynomial, 0)).or_default() += size;
            }
        }
        errors.used.insert(key);
        errors
    }
}
